package cascades

import "testing"

func TestChosen(t *testing.T) {
	own, file := Model{{Name: "a", Attempts: 2}, {Name: "b", Attempts: 1}}, Model{{Name: "f", Attempts: 1}}
	for _, c := range []struct {
		chosen    Chosen
		own, file Model
		want      string
	}{
		{"", own, file, "a → b"}, {"", nil, file, "f"}, {"", nil, nil, ""},
		{"n", own, file, "a → b"}, {"n", nil, file, "n"}, {"n", nil, nil, "n"},
		{"a=x", own, file, "x → b"}, {"a=x", nil, file, "f"}, {"a=b\nb=a", own, nil, "b → a"}, {"f=x\nn", nil, file, "n"},
		{"*=x", own, file, "x → x"}, {"*=x", nil, nil, "x"}, {"*=x\nb=y", own, nil, "x → y"},
		{"scripted:s=1.yaml", own, file, "scripted:s=1.yaml → scripted:s=1.yaml"}, {"replay:r", nil, file, "replay:r"}, {"replay:r\na=x", own, nil, "x → replay:r"}, {"*=x\nn", nil, file, "n"}, {"n=x\nn", nil, file, "n"},
	} {
		if got := c.chosen.Of(c.own, c.file).String(); got != c.want {
			t.Errorf("%q of %v, %v: got %s, want %s", c.chosen, c.own, c.file, got, c.want)
		}
	}
	for attempt, want := range map[int]string{0: "a → b", 1: "a → b", 2: "a → b", 3: "b", 9: "b"} {
		if got := own.From(attempt).String(); got != want {
			t.Errorf("attempt %d: %s", attempt, got)
		}
	}
}

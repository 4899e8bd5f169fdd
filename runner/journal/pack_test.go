package journal

import "testing"

// A finding that is said by its verdict has one behind it: where it points
// elsewhere, at less or at nothing, the pack is damaged.
func TestFindingWithoutItsVerdict(t *testing.T) {
	const verdict = `["v","p/ward[0]",0,"p",1,0,"post","tone","retry",true,"so"]`
	for other, ok := range map[string]bool{
		verdict:                             true,
		`["v","p/ward[0]",0,"p"]`:           false,
		`["feedback","p",0,0,null,{"a":1}]`: false,
		`["v"`:                              false,
		`{}`:                                false,
	} {
		lines := [][]byte{[]byte(`["f",1]`), []byte(other)}
		var l logged
		l.kind = findingEffect
		if got := new(pack).read(&l, shapeBy("f"), lines, 0); got != ok || ok && (string(l.path) != "p/ward[0]" || len(l.json()) == 0) {
			t.Errorf("%s: got %v, %+v", other, got, l)
		}
	}
	for _, behind := range []string{"0", "-1", "2", `"1"`} {
		lines := [][]byte{[]byte(`["f",` + behind + `]`), []byte(verdict)}
		if l := (logged{kind: findingEffect}); new(pack).read(&l, shapeBy("f"), lines, 0) {
			t.Errorf("a verdict %s behind is found", behind)
		}
	}
}

// What all paths of a pack begin with stands there once, in whole characters.
func TestCommon(t *testing.T) {
	for _, c := range [][3]string{
		{"p/a", "p/b", "p/"}, {"p", "p/x", "p"}, {"p/x", "p", "p"}, {"a", "b", ""}, {"a", "a", "a"}, {"aé", "aè", "a"}, {"é", "è", ""}, {"aé", "a", "a"}, {"", "a", ""},
	} {
		if got := common(c[0], c[1]); got != c[2] {
			t.Errorf("%q and %q begin with %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

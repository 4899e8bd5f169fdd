package stats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

var (
	textA = stats.TextDigest("a")
	textB = stats.TextDigest("b")
	noon  = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
)

func label(text, gate, by string, good bool, after time.Duration) stats.Label {
	return stats.Label{Text: text, Phase: "draft", Gate: gate, By: by, Good: good, Time: noon.Add(after)}
}

func TestReadLabels(t *testing.T) {
	line, err := label(textA, "all", "ann", true, 0).Line()
	if err != nil {
		t.Fatal(err)
	}
	good := strings.TrimSpace(string(line))
	for _, test := range []struct{ name, text, wrong string }{
		{"a label", good, ""},
		{"a blank line and no line end", good + "\n\n \n" + good, ""},
		{"a byte order mark and CRLF", "\uFEFF" + good + "\r\n", ""},
		{"sha256: in front", strings.Replace(good, textA, "sha256:"+textA, 1), ""},
		{"no gate is all", strings.Replace(good, `"gate":"all",`, "", 1), ""},
		{"not JSON", good + "\nhello", "line 2"},
		{"a list", "[]", "a label is an object"},
		{"without good", strings.Replace(good, `"good":true,`, "", 1), "it has no good"},
		{"good is a text", strings.Replace(good, `"good":true`, `"good":"true"`, 1), "good"},
		{"a key of another format", strings.Replace(good, `"by"`, `"stars":5,"by"`, 1), "stars"},
		{"some other line of JSON", `{"seq":1,"kind":"verdict"}`, "it has no text"},
		{"a short digest", strings.Replace(good, textA, textA[:40], 1), "SHA-256"},
		{"an upper-case digest", strings.Replace(good, textA, strings.ToUpper(textA), 1), "lower-case"},
		{"no phase", strings.Replace(good, "draft", "", 1), "no phase"},
		{"good and planted", strings.Replace(good, `"by"`, `"planted":"number_digit","by"`, 1), "cannot be good"},
		{"sure without planted", strings.Replace(good, `"by"`, `"sure":"always","by"`, 1), "planted faults alone"},
		{"an unknown surety", strings.Replace(strings.Replace(good, "true", "false", 1), `"by"`, `"planted":"x","sure":"perhaps","by"`, 1), "always or usually"},
		{"a line without end", `{"text":"` + strings.Repeat("x", 3<<20), "at most"},
	} {
		labels, wrong, err := stats.ReadLabels(strings.NewReader(test.text))
		switch {
		case err != nil:
			t.Errorf("%s: %v", test.name, err)
		case test.wrong == "" && (len(wrong) > 0 || len(labels) == 0 || labels[0].Gate != "all" || labels[0].Text != textA):
			t.Errorf("%s: got %v, wrong %v", test.name, labels, wrong)
		case test.wrong != "" && (len(wrong) != 1 || !strings.Contains(wrong[0].Error(), test.wrong)):
			t.Errorf("%s: told %v, want %q", test.name, wrong, test.wrong)
		}
	}
}

func TestLedger(t *testing.T) {
	planted := label(textB, "all", "mutate", false, 0)
	planted.Planted = "number_digit"
	labels := []stats.Label{
		label(textA, "all", "ann", false, 0),
		label(textA, "all", "ann", true, time.Hour), // the latest label of a person counts
		label(textA, "all", "bob", true, 0),
		label(textA, "tone", "ann", false, 0),
		label(textB, "all", "ann", true, 0),
		label(textB, "all", "bob", false, 0),
		planted,
	}
	for range 2 {
		g := stats.NewLedger(labels)
		for _, test := range []struct {
			text, phase, gate string
			want              stats.Known
		}{
			{textA, "draft", "long", stats.Known{Good: true, Labelled: true}},
			{textA, "draft", "tone", stats.Known{Labelled: true}}, // the label of the gate is preferred
			{textA[:stats.TextDigits], "draft", "all", stats.Known{Good: true, Labelled: true}},
			{textA, "other", "all", stats.Known{}},
			{textB, "draft", "long", stats.Known{}}, // people disagree, and a planted fault is no label of a person
		} {
			if got := g.Of(test.text, test.phase, test.gate); got != test.want {
				t.Errorf("%s: got %+v, want %+v", test.gate, got, test.want)
			}
		}
		c := g.Contradictions()
		if len(c) != 1 || c[0].Text != textB || strings.Join(c[0].Good, " ") != "ann" || strings.Join(c[0].Bad, " ") != "bob" {
			t.Errorf("contradictions %+v", c)
		}
		p := g.Pairs()
		if len(p) != 1 || p[0].First != "ann" || p[0].Confusion != (stats.Confusion{GoodPassed: 1, GoodRefused: 1}) {
			t.Errorf("pairs %+v", p)
		}
		if got := g.Planted(); len(got) != 1 || got[0].Planted != "number_digit" {
			t.Errorf("planted %+v", got)
		}
		// The order of labels does not matter.
		for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
			labels[i], labels[j] = labels[j], labels[i]
		}
	}
}

func FuzzReadLabels(f *testing.F) {
	line, _ := label(textA, "all", "ann", true, 0).Line()
	f.Add(string(line))
	f.Add(`{"text":1}` + "\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		labels, _, err := stats.ReadLabels(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range labels {
			again, err := l.Line()
			if err != nil {
				t.Fatalf("%+v was read and cannot be written: %v", l, err)
			}
			back, wrong, _ := stats.ReadLabels(strings.NewReader(string(again)))
			if len(back) != 1 || len(wrong) > 0 {
				t.Fatalf("%s does not read back: %v", again, wrong)
			}
		}
	})
}

package markers

import (
	"strings"
	"testing"
)

func TestMarkers(t *testing.T) {
	tests := []struct {
		format, text string
		good, bad    int
	}{
		{"[GAP: <what is missing>]", "a [GAP: why this holds] b", 1, 0},
		{"[GAP: <what is missing>]", "a [GAP:\n  two lines\n  of it] b [GAP: x]", 2, 0},
		{"[GAP: <what is missing>]", "a [GAP] b [GAP: ] c [GAP why] d", 0, 3},
		{"[GAP: <what is missing>]", "(GAP: round) {GAP: curly} GAP: bare <!-- GAP: hidden -->", 0, 4},
		{"[GAP: <what is missing>]", "[gap: small]", 0, 1},
		{"[GAP: <what is missing>]", "[Gap analysis](gap.md) minds the gap: it is a GAP of years", 0, 0},
		{"[GAP: <what is missing>]", "[GAP: never closed", 0, 1},
		{"[GAP: what is missing]", "[GAP: anything at all]", 1, 0},
		{"[GAP: ...]", "[GAP: anything]", 1, 0},
		{"Write [GAP: {reason}] in the text.", "[GAP: r] GAP: r", 1, 1},
		{"[GAP:<id>:<text>]", "[GAP:G1: why] [GAP: why]", 1, 1},
		{"[[GAP <id>: <text>]]", "[[GAP G1: why]] [GAP G1: why]", 1, 1},
		{"<!-- GAP: <why> -->", "<!-- GAP: because --> [GAP: because]", 1, 1},
		{"<!-- GAP: ... -->", "<!--GAP: because-->", 1, 0},
		{"{GAP: <why>}", "{GAP: because} [GAP: because]", 1, 1},
		{"GAP: <why>", "GAP: because of this\nnext", 1, 0},
		{"[TODO: <what>]", "[TODO: this] [GAP: that] TODO: bare", 1, 2},
		{"[OPEN <n>]", "[OPEN 7] [open door](x)", 1, 0},
		{"[GAP: <what>]", "a\n```yaml\nGAP: x\n\n[GAP why]\n```\nb [GAP: why]", 1, 0},
		{"[GAP: <what>]", "- a\n  ~~~~\n  ~~~\n  [GAP why]\n  ```\n  [GAP too]\n  ~~~~\n  [GAP so]", 0, 1},
		{"[GAP: <what>]", "```\n[GAP why]", 0, 1},
		{"[GAP: <what>]", "```code``` [GAP why]\n```", 0, 1},
		{"[GAP: <what>]", "```\n[GAP why]\n``` no end\n[GAP so]\n```", 0, 0},
		{"", "[GAP: x]", 0, 1},
		{"<>", "[GAP: x]", 0, 1},
		{"[GAP: <what>]", "", 0, 0},
	}
	for _, test := range tests {
		good, bad := Parse(test.format).New("", test.text)
		if len(good) != test.good || len(bad) != test.bad {
			t.Errorf("%q in %q: got %q and %q", test.format, test.text, good, bad)
		}
	}
}

// Markers that the source has are not new, wherever they move and however they
// are broken into lines; a second one of the same is.
func TestOnlyNewMarkersCount(t *testing.T) {
	m := Parse("[GAP: <what>]")
	source := "a [GAP: one thing] b (GAP: odd)"
	good, bad := m.New(source, "(GAP:\nodd) a\n\n[GAP: one\nthing] and [GAP: one thing] (GAP: new)")
	if strings.Join(good, ",") != "[GAP: one thing]" || len(bad) != 1 || bad[0] != "(GAP: new)" {
		t.Errorf("got %q and %q", good, bad)
	}
}

func FuzzFormat(f *testing.F) {
	f.Add("[GAP: <what is missing>]", "a [GAP: why] b [GAP")
	f.Add("<!-- GAP {id}: ... -->", "<!-- GAP 1: x -->")
	f.Add("[[TODO(…)", "[[TODO(\xff")
	f.Fuzz(func(t *testing.T, format, text string) {
		if len(format) > MaxFormat || len(text) > 10_000 {
			return
		}
		m := Parse(format)
		good, bad := m.New(text, text)
		if len(good)+len(bad) > 0 {
			t.Errorf("%q: %q and %q are new to their own text %q", format, good, bad, text)
		}
	})
}

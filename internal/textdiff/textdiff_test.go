package textdiff

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/tables"
)

// diff returns the hunks between two texts, each as old | new.
func diff(t *testing.T, old, now string, sentences bool) []string {
	t.Helper()
	var units [2][]Unit
	for i, text := range []string{old, now} {
		d, err := reading.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		units[i] = Units(d, sentences)
	}
	var out []string
	for _, h := range Diff(units[0], units[1]) {
		line := strings.Join(contents(h.Old), " + ") + " | " + strings.Join(contents(h.New), " + ")
		if h.Moved {
			line = "moved: " + line
		}
		out = append(out, line)
	}
	return out
}

func TestDiff(t *testing.T) {
	for _, test := range []struct{ name, old, now, want string }{
		{"the same", "One. Two.", "One.\nTwo.", ""},
		{"emphasis", "One *two* three.", "One **two** three.", ""},
		{"quotation marks", "He said “no”.", `He said "no".`, ""},
		{"a paragraph made two", "One. Two.", "One.\n\nTwo.", ""},
		{"a word", "One is here. Two is there. Three.", "One is here. Two was there. Three.", "Two is there. | Two was there."},
		{"a sentence made two", "We open at nine and close at ten. Bye.", "We open at nine. We close at ten. Bye.", "We open at nine and close at ten. | We open at nine. + We close at ten."},
		{"a sentence gone", "One here. Two there. Three.", "One here. Three.", "Two there. | "},
		{"two edits", "A cat sat. B runs. C hops.", "A cat sits. B runs. C hopped.", "A cat sat. | A cat sits.; C hops. | C hopped."},
		{"items in another order", "1. weigh\n2. dry\n3. seal\n", "1. weigh\n2. seal\n3. dry\n", "moved: dry + seal | seal + dry"},
		{"another bullet", "- a\n- b\n", "* a\n* b\n", "a + b | a + b"},
		{"a sentence elsewhere", "Mine is long. Two.\n\nThree.\n\nFour.", "Two.\n\nThree.\n\nFour. Mine is long.", "moved: Mine is long. | Mine is long."},
		{"a repeated line", "Ask.\n\nOne here.\n\nAsk.\n\nAsk.", "Ask.\n\nOne there.\n\nAsk.\n\nAsk.", "One here. | One there."},
		{"a cell", "| a | b |\n|---|---|\n| 1 | 2 |\n", "| a | b |\n|---|---|\n| 1 | 3 |\n", "| 1 | 2 | | | 1 | 3 |"},
		{"an alignment", "| a |\n|---|\n| 1 |\n", "| a |\n|--:|\n| 1 |\n", "|---| | |--:|"},
		{"code", "```\na  b\n```\n", "```\na b\n```\n", "```\na  b\n``` | ```\na b\n```"},
	} {
		if got := strings.TrimSpace(strings.Join(diff(t, test.old, test.now, true), "; ")); got != strings.TrimSpace(test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := diff(t, "One. Two.", "One.\n\nTwo.", false); len(got) == 0 {
		t.Errorf("paragraph by paragraph: got %q", got)
	}
}

func TestNormal(t *testing.T) {
	for text, want := range map[string]string{
		" a\n\tb\u00a0 c ": "a b c", "“a” ‘b’": `"a" 'b'`, "rel\u200bease\u00ad": "release", "Cafe\u0301": "Café",
		"аll": "all", "Ѕее": "Ѕее", "a  \nb": `a\ b`, "\U0001F469\u200d\U0001F680": "\U0001F469\u200d\U0001F680",
	} {
		if got := Normal(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestUnseen(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "", "a\u200bb": "U+200B", "a\u00a0b": "U+00A0", "a\u202eb": "U+202E", "a&#x200b;b": "U+200B", "a &amp; b": "", "а pаypal": "pаypal", "Где": "", "a\rb": "U+000D", "a\r\nb": "",
	} {
		var got []string
		for _, h := range Unseen("old", text) {
			got = append(got, h.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
		if again := Unseen(text, text+" more"); len(again) > 0 {
			t.Errorf("%q: what the old text has is new: %v", text, again)
		}
	}
}

func TestLookalikeRows(t *testing.T) {
	for _, row := range tables.Rows(lookalikeTable) {
		if len([]rune(row["letters"])) != len([]rune(row["twins"])) {
			t.Errorf("%s: the letters and twins differ in number", row["script"])
		}
	}
	if err := tables.Check(lookalikeTable, func(_ tables.Row, line string) bool { return len(mixedWords(line)) > 0 }); err != nil {
		t.Error(err)
	}
}

func TestFinder(t *testing.T) {
	text := "The verifier, at the end,\n  Decides: ÉTÉ and “rules”."
	f := NewFinder(text)
	for quotation, want := range map[string]Match{
		"": "", " … ": "", "at the end": ExactMatch, "The verifier … Decides": ExactMatch, "Decides … The verifier": NoMatch,
		"end, decides": FoldedMatch, "the verifier ... été": FoldedMatch, "the verifier never decides": NoMatch, `"RULES"`: FoldedMatch,
	} {
		s, got := f.Find(quotation)
		if got != want {
			t.Errorf("%q: got %q, want %q", quotation, got, want)
		}
		if want == FoldedMatch && !strings.Contains(text, s.In(text)) {
			t.Errorf("%q: got %v", quotation, s)
		}
	}
	if s, _ := f.Find("DECIDES"); s.In(text) != "Decides" {
		t.Errorf("got %q", s.In(text))
	}
}

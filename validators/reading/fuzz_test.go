package reading

import (
	"reflect"
	"strings"
	"testing"
)

// FuzzCompare wants that no text breaks the reading, that a text differs in
// nothing from itself, and that two differ in the same each time.
func FuzzCompare(f *testing.F) {
	f.Add("a 1 `b` [c](d)", "a 2 s “b”[^1]\n\n[^1]: c")
	f.Add("| a | b |\n|---|---|\n| 1 | 2 |", "- [ ] must not\n  > x\n\n```go\ny\n```\n")
	f.Add("\u200b\u202e&shy;аb \r\n", "---\n<!-- x")
	f.Add("[//]: # (x)\n~~y~~ \\\n", "two hundred and -5 % of 14 March 2025")
	f.Fuzz(func(t *testing.T, a, b string) {
		old, err := Read(a)
		if err != nil {
			return
		}
		if c := append(Compare(old, old), Unseen(a, a)...); len(c) > 0 {
			t.Fatalf("%q differs from itself in %v", a, c)
		}
		if said := old.Said(); strings.Contains(said, standIn) && !strings.Contains(a, standIn) && !strings.Contains(a, "&#") && len(old.Of(Tables)) == 0 {
			t.Errorf("%q is said as %q", a, said)
		}
		for _, q := range old.Quoted() {
			if q.Line < 1 {
				t.Errorf("%q: %+v", a, q)
			}
		}
		now, err := Read(b)
		if err != nil {
			return
		}
		first := append(Compare(old, now), Unseen(a, b)...)
		if again := append(Compare(old, now), Unseen(a, b)...); !reflect.DeepEqual(first, again) {
			t.Fatalf("%v, then %v", first, again)
		}
		for _, c := range first {
			if c.Line < 1 || c.Kind == "" || c.String() == "" {
				t.Fatalf("%+v", c)
			}
		}
		if once := Visible(a); Visible(once) != once {
			t.Errorf("%q: %q, then %q", a, once, Visible(once))
		}
	})
}

// FuzzMay wants that a finder finds nothing in words that it is not asked about.
func FuzzMay(f *testing.F) {
	for _, words := range []string{
		"see http:example, Mailto:x or wWw.example.com", "a@b.c", "{{ x }} %d <name>", "[^1] [12] (Smith, 2020) Smith (2020) @key", "~~y~~ “b” 'c' ‘d’ »e«",
		"5 May, Thursdays, noon at 3:05 pm in June", "must not, may, can’t, darf nicht", "two hundred and ½ of ⅓, 10⁄3", "Q3 and snake_case",
	} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, words string) {
		for _, finder := range finders {
			if finder.may(words) {
				continue
			}
			if found, rest := finder.find(words); len(found) > 0 || rest != words {
				t.Errorf("%s, not asked about %q, finds %q and leaves %q", finder.kind, words, found, rest)
			}
		}
	})
}

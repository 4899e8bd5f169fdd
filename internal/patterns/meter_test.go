package patterns

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// patterns, and texts to hold them against.
var (
	patternsHeld = []string{
		`TODO|FIXME`, `(?i)as an ai`, `[0-9]{3}-[0-9]{4}`, `\bzebra\b`, `(?m)^#+ `, `^abc`, `abc$`, `(?m)abc$`, `a.c`, `(?s)a.c`, `a\nb`, `a[^x]b`, `(ab)+c`, `x*`, ``, `(?i)kiss`, `(?i)straße`,
		`\Bbc`, `a{2,}b`, `(foo|ba[rz])qux`, `\Aabc\z`, "a\ufffdb", `(?i)k`, `(?-m)^a`, `(?m)^$`, `a|`, `(?U)a+b`, `[\n]x`, `\s+x`, `\x00`,
	}
	textsHeld = []string{
		"", "a", "abc", "xabc", "abc\n", "x\nabc", "x\nabc\ny", "a\nc", "a\nb", "a\r\nb", "TODO", "say: FIXME\n", "As An AI", "as an \u212aiss", "KI\u017fS", "kiss", "STRASSE straße", "123-4567", "12-34\n123-4567",
		"zebra", "zebras", "a zebra.", "# x\n", "x # y\n## z", "ababc", "aab", "fooqux bazqux", "a\xffb", "a\ufffdb", "\u212a", "\n", "\n\nx", "a\n\nx", "\x00", "b\na\n",
	}
)

// free pays for everything, so that a long text goes through the paying reader.
type free struct{}

func (free) Spend(int) error { return nil }

// TestPatternAnswersAsRegexp compares each way of matching with package regexp,
// including the reader for long texts.
func TestPatternAnswersAsRegexp(t *testing.T) {
	pad := strings.Repeat("\n-\n", 30_000)
	for _, source := range patternsHeld {
		p, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range textsHeld {
			compare(t, p, text)
			if i%6 == 0 {
				compare(t, p, pad+text)
				compare(t, p, text+pad)
			}
		}
	}
}

func compare(t *testing.T, p Pattern, text string) {
	t.Helper()
	re, shown := regexp.MustCompile(p.String()), text[:min(len(text), 40)]
	if got, err := p.MatchWithin(free{}, text); got != re.MatchString(text) || err != nil {
		t.Errorf("%q in %q: got %t, %v", p, shown, got, err)
	}
	if got, err := p.FindWithin(free{}, text); !slices.Equal(got, re.FindStringIndex(text)) || err != nil {
		t.Errorf("%q in %q: found at %v, %v", p, shown, got, err)
	}
	if got, err := p.GroupsWithin(free{}, text); !slices.Equal(got, re.FindStringSubmatch(text)) || err != nil {
		t.Errorf("%q in %q: groups %q, %v", p, shown, got, err)
	}
}

func FuzzPattern(f *testing.F) {
	for i, source := range patternsHeld {
		f.Add(source, textsHeld[i%len(textsHeld)])
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		if len(source) > 100 {
			return
		}
		p, err := Compile(source)
		if err != nil {
			return
		}
		compare(t, p, text)
	})
}

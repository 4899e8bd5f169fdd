package patterns

import (
	"regexp"
	"slices"
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

// What is asked line by line, and only of lines with a needle, is answered as the
// library answers it of the whole.
func TestNeedlesChangeNothing(t *testing.T) {
	for _, source := range patternsHeld {
		p, err := Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range textsHeld {
			if got, want := p.Match(text), regexp.MustCompile(source).MatchString(text); got != want {
				t.Errorf("%q in %q: got %t", source, text, got)
			}
			if got, want := p.Find(text), regexp.MustCompile(source).FindStringIndex(text); !slices.Equal(got, want) {
				t.Errorf("%q in %q: found at %v, not at %v", source, text, got, want)
			}
		}
	}
}

func FuzzNeedles(f *testing.F) {
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
		if got, want := p.Match(text), p.re.MatchString(text); got != want {
			t.Errorf("%q in %q: got %t", source, text, got)
		}
	})
}

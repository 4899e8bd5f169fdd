package pages

import (
	"strings"
	"testing"
	"time"
)

// text returns a difference as a patch, with marks in brackets.
func (v comparison) text() string {
	var b strings.Builder
	for _, h := range v.Hunks {
		b.WriteString("@@\n")
		for _, l := range h.Lines {
			b.WriteString(l.Sign)
			for _, p := range l.Pieces {
				if p.Mark {
					b.WriteString("[" + p.Text + "]")
				} else {
					b.WriteString(p.Text)
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestDiffs(t *testing.T) {
	for _, c := range []struct{ name, before, after, want string }{
		{"a word", "one two three\n", "one too three\n", "@@\n−one [two] three\n+one [too] three\n"},
		{"from nothing", "", "a\nb", "@@\n+a\n+b\n"},
		{"to nothing", "a\n", "", "@@\n−a\n"},
		{"an end of line", "a\nb", "a\nb\n", "@@\n a\n−b\n+b\n"},
		{"two hunks", "x\n1\n2\n3\n4\n5\n6\n7\n8\ny\n", "X\n1\n2\n3\n4\n5\n6\n7\n8\nY\n", "@@\n−[x]\n+[X]\n 1\n 2\n 3\n@@\n 6\n 7\n 8\n−[y]\n+[Y]\n"},
		{"one hunk", "x\n1\n2\n3\n4\n5\n6\ny\n", "X\n1\n2\n3\n4\n5\n6\nY\n", "@@\n−[x]\n+[X]\n 1\n 2\n 3\n 4\n 5\n 6\n−[y]\n+[Y]\n"},
		{"of other lengths", "a\nb\nc\n", "a\nX\nY\nc\n", "@@\n a\n−b\n+X\n+Y\n c\n"},
	} {
		if got := compareTexts(c.before, c.after).text(); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if v := compareTexts("a", "a"); !v.Same || v.Hunks != nil {
		t.Errorf("%+v", v)
	}
}

// TestDiffsOfLargeTexts checks the time and the size of differences.
func TestDiffsOfLargeTexts(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	var odd, even strings.Builder
	for i := range 1 << 16 {
		odd.WriteString(strings.Repeat("a", i%17) + "\n")
		even.WriteString(strings.Repeat("b", i%13) + "\n")
	}
	for name, c := range map[string][2]string{
		"one line": {long, long + "y"}, "all lines": {odd.String(), even.String()}, "a line each": {strings.Repeat("a\n", 1<<19), strings.Repeat("b\n", 1<<19)},
		"too large": {strings.Repeat(long, 5), "x"},
	} {
		begun := time.Now()
		v := compareTexts(c[0], c[1])
		if took := time.Since(begun); took > time.Minute {
			t.Errorf("%s took %v", name, took)
		}
		if n := len(v.text()); n > 12<<20 || name == "too large" && !v.Skipped {
			t.Errorf("%s: %d bytes", name, n)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("one two\nthree\n", "one too\nthree")
	f.Add("", "\n")
	f.Add("a\xff\xfe", "a\u202e\x00")
	f.Fuzz(func(t *testing.T, before, after string) {
		v := compareTexts(before, after)
		if v.Cut || v.Skipped || len(before)+len(after) > maxDiffLine {
			return
		}
		old, fresh := "", ""
		at, to := 1, 1
		a, b := splitLines(before), splitLines(after)
		for _, h := range v.Hunks {
			for ; at < h.From; at, to = at+1, to+1 {
				old, fresh = old+a[at-1], fresh+b[to-1]
			}
			for _, l := range h.Lines {
				text := ""
				for _, p := range l.Pieces {
					text += p.Text
				}
				if l.Kind != "added" {
					if text != strings.TrimSuffix(a[at-1], "\n") || l.Old != at {
						t.Fatalf("line %d of the first: %q", at, text)
					}
					old, at = old+a[at-1], at+1
				}
				if l.Kind != "removed" {
					if text != strings.TrimSuffix(b[to-1], "\n") || l.New != to {
						t.Fatalf("line %d of the second: %q", to, text)
					}
					fresh, to = fresh+b[to-1], to+1
				}
			}
		}
		old, fresh = old+strings.Join(a[at-1:], ""), fresh+strings.Join(b[to-1:], "")
		if old != before || fresh != after {
			t.Fatalf("%q is not %q, or %q not %q", old, before, fresh, after)
		}
	})
}

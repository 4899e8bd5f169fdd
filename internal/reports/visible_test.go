package reports_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reports"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\n\ttext": "plain\n\ttext", "": "", "a\x00b": "a␀b", "\x1b[31mred": "␛[31mred", "a\x7f": "a␡", "a\rb": "a␍b",
		"abc\u202edef": "abc⟦U+202E⟧def", "\u200b": "⟦U+200B⟧", "\ufeff": "⟦U+FEFF⟧", "\u0085": "⟦U+0085⟧", "\u2028": "⟦U+2028⟧",
		"👩\u200d🚀 é नमस्ते": "👩\u200d🚀 é नमस्ते", "\xff\xfe": "\ufffd\ufffd", "\u2066x\u2069": "⟦U+2066⟧x⟦U+2069⟧", "\U000e0041": "⟦U+E0041⟧",
	} {
		if got := reports.Visible(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x00\x1b[2J\u202e\xff")
	f.Add("00\xb2\xb2\xb2\xb2")
	f.Fuzz(func(t *testing.T, in string) {
		got := reports.Visible(in)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
				t.Fatalf("%U is left in %q", r, got)
			}
		}
		if again := reports.Visible(got); again != got {
			t.Fatalf("%q becomes %q", got, again)
		}
		var b strings.Builder
		w := &reports.VisibleWriter{Out: &b}
		for i := range len(in) {
			if n, err := w.Write([]byte{in[i]}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
		}
		if err := w.Flush(); err != nil || b.String() != got {
			t.Fatalf("%q is written as %q, want %q (%v)", in, b.String(), got, err)
		}
		if l := reports.VisibleLine(in); strings.ContainsAny(l, "\n\t") {
			t.Fatalf("%q is not a line", l)
		}
	})
}

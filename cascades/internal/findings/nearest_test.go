package findings_test

import (
	"testing"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
)

// TestNearest checks prefixes of known words, and words that a known word is a prefix of.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word  string
		known []string
		want  string
	}{
		{"sum", []string{"summarize"}, "summarize"}, {"su", []string{"summarize"}, ""}, {"sum", []string{"summary", "summit"}, ""}, {"sum", []string{"summary", "summary"}, "summary"},
		{"abcdefghi", []string{"abc"}, "abc"}, {"abcdefghij", []string{"abc"}, ""}, {"abcdefg", []string{"ab"}, ""}, {"abcd", []string{"xyzabcd"}, ""},
	} {
		if got, sure := findings.Nearest(c.word, c.known); got != c.want || sure {
			t.Errorf("%s of %q: got %q, sure %t", c.word, c.known, got, sure)
		}
	}
}

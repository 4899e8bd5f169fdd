package cascades

import "testing"

// A word that is the beginning of one that is known, or has one for its beginning, is
// that one, where no other can be meant and they are not too far apart.
func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word  string
		known []string
		want  string
	}{
		{"sum", []string{"summarize"}, "summarize"}, {"su", []string{"summarize"}, ""}, {"sum", []string{"summary", "summit"}, ""}, {"sum", []string{"summary", "summary"}, "summary"},
		{"abcdefghi", []string{"abc"}, "abc"}, {"abcdefghij", []string{"abc"}, ""}, {"abcdefg", []string{"ab"}, ""}, {"abcd", []string{"xyzabcd"}, ""},
	} {
		if got, sure := nearest(c.word, c.known); got != c.want || sure {
			t.Errorf("%s of %q: got %q, sure %t", c.word, c.known, got, sure)
		}
	}
}

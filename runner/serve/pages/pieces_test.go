package pages

import "testing"

// Wherever a text is cut, a character stays whole and little is said twice.
func FuzzBoundary(f *testing.F) {
	f.Add("a\x00\x1b[2J\u202e\xff")
	f.Add("00\xb2\xb2\xb2\xb2")
	f.Fuzz(func(t *testing.T, in string) {
		for at := -1; at < len(in)+2; at += 3 {
			if b := boundary(in, at); b < 0 || b > len(in) || b < at-3 && at <= len(in) {
				t.Fatalf("boundary %d of %q is %d", at, in, b)
			}
		}
	})
}

func TestInside(t *testing.T) {
	for in, want := range map[string]string{"/runs/x?y=1": "/runs/x?y=1", "": "/", "runs": "/", "//x": "/", `/\x`: "/", "javascript:alert(1)": "/", "/a\nb": "/"} {
		if got := inside(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

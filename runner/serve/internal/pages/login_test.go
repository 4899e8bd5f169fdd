package pages

import "testing"

func TestInside(t *testing.T) {
	for in, want := range map[string]string{"/runs/x?y=1": "/runs/x?y=1", "": "/", "runs": "/", "//x": "/", `/\x`: "/", "javascript:alert(1)": "/", "/a\nb": "/"} {
		if got := inside(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

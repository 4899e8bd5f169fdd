package reading

import "testing"

// TestSaid has each link with a value behind it, and as the end of its line.
func TestSaid(t *testing.T) {
	for text, want := range map[string]string{
		": 14%": "14%", " = 14%": "14%", " of 14%": "14%", " is 14%": "14%", " - 14%": "14%", " - TBD": "TBD", " — 14%": "14%", "≈14%": "14%", " | **14%**": "14%",
		":": "", " =": "", " of ": "", " is ": "", " - ": "", " –": "",
	} {
		if rest, linked := Said([]byte(text)); !linked || string(rest) != want {
			t.Errorf("%q: %q, %v, want %q", text, rest, linked, want)
		}
	}
	for _, text := range []string{"", " ", " -", "-", " of", "14%", ". A - B"} {
		if rest, linked := Said([]byte(text)); linked {
			t.Errorf("%q has no link, got %q", text, rest)
		}
	}
}

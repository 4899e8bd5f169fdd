package pages

import "testing"

// TestNames checks that the names of failed checks are different.
func TestNames(t *testing.T) {
	for last, want := range map[int]string{0: "tone", 1: "tone", 2: "tone, length", 3: "tone, length", 4: "tone, length, facts", 5: "tone, length, facts, …", 6: "tone, length, facts, …"} {
		var n names
		for _, one := range []string{"tone", "tone", "length", "tone", "facts", "links", "style"}[:last+1] {
			n.add(one)
		}
		if n.String() != want {
			t.Errorf("after %d: %s, want %s", last, n, want)
		}
	}
}

package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
)

// TestDecidersDigest checks that the digest depends on the contents of each file, and not on
// the folder of the cascade.
func TestDecidersDigest(t *testing.T) {
	digest := func(first, second string) string {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"a.md": first, "b.md": second,
			"c.yaml": "cascade_id: c\nphases:\n  - {name: a, instructions: \"@a.md\"}\n  - {name: b, instructions: \"@b.md\"}\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := newRunner(t, runner.WithModelName("m"))
		c, err := r.Load(filepath.Join(dir, "c.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := r.Deciders(c)
		if err != nil {
			t.Fatal(err)
		}
		return d.Digest()
	}
	was := digest("One.", "Two.")
	if digest("One.", "Two.") != was {
		t.Error("the digest depends on the folder")
	}
	for _, texts := range [][2]string{{"Two.", "One."}, {"One.", "Three."}} {
		if digest(texts[0], texts[1]) == was {
			t.Errorf("%q has the same digest", texts)
		}
	}
}

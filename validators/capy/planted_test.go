package capy

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/faults"
)

// TestPlanted holds that the gate finds 95 % of its own faults in each stage's
// good text, and that each kind is planted in some.
func TestPlanted(t *testing.T) {
	files, err := filepath.Glob("testdata/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	caught, all, kinds := 0, 0, map[string]bool{}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		g, err := New(Options{Stage: strings.TrimSuffix(filepath.Base(file), ".md")})
		if err != nil {
			t.Fatal(err)
		}
		text := faults.Read(string(source), faults.Known{})
		for _, op := range planted() {
			for _, f := range op.Apply(text, rand.New(rand.NewPCG(1, 1))) {
				kinds[op.Name] = true
				if all++; !g.Judge([]byte(f.Text)).Proceed {
					caught++
				} else {
					t.Logf("%s: %s: %s", file, op.Name, f.Note)
				}
			}
		}
	}
	t.Logf("%d of %d", caught, all)
	if len(kinds) != len(planted()) || 100*caught < 95*all {
		t.Errorf("%d of %d caught, of %v", caught, all, kinds)
	}
}

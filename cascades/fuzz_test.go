package cascades

import (
	"errors"
	"os"
	"testing"

	"github.com/seed61713e19/capstan/cascades/syntax"
)

// FuzzParse checks that no text makes the parser panic. The result must be
// either a complete cascade or complete diagnostics.
func FuzzParse(f *testing.F) {
	for _, name := range glob(f, "testdata/good/*.*", "testdata/bad/*.yaml", "examples/*.yaml") {
		source, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	f.Add([]byte(`{"cascade_id":"x","phases":[{"name":"\ud83d\ude00","instructions":"a\/b\t{{ x }}"}]}`))
	f.Add([]byte("cascade_id: &a x\nphases: [{<<: *a, name: *a}]"))
	texts := files(map[string]string{"a.md": "{{ input.x }}", "a.yaml": "cascade_id: a\nphases: [{name: b, instructions: c}]"})
	f.Fuzz(func(t *testing.T, source []byte) {
		c, err := Parse("fuzz.yaml", source, texts, known())
		var found syntax.Diagnostics
		switch {
		case err == nil:
			if len(c.Phases)+len(c.Hooks) == 0 || c.ID == "" {
				t.Fatalf("half a cascade: %+v", c)
			}
		case !errors.As(err, &found) || len(found) == 0 || c != nil:
			t.Fatalf("%v with %+v", err, c)
		}
		for _, d := range found {
			if d.Line < 1 || d.Column < 1 || d.Code == "" {
				t.Fatalf("no place: %#v", d)
			}
		}
	})
}

package cascades

import (
	"slices"
	"testing"
)

// TestHookCascades checks that the cascade of each hook has its checks, and that the files
// of a stored run give the same cascade.
func TestHookCascades(t *testing.T) {
	c, err := Load("hooks.yaml", folder("testdata/good"), known())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"write-1": {"no_secrets", "expr"}, "stop-2": {"non_empty", "short", "short"}, "command-3": {"short"},
	}
	for _, h := range c.Hooks {
		again, err := Load(h.Cascade.Files[0].Name, Unpacked(h.Cascade.Files), known())
		if err != nil {
			t.Fatalf("%s: %v", h.Name, err)
		}
		for _, one := range []*Cascade{h.Cascade, again} {
			var names []string
			for _, check := range one.Phases[0].Checks() {
				names = append(names, check.Ward.Name)
			}
			if one.ID != "guarded."+h.Name || !slices.Equal(names, want[h.Name]) || one.Phases[0].Name != h.Name {
				t.Errorf("%s: cascade %s has %q", h.Name, one.ID, names)
			}
		}
		if schema := again.Phases[0].OutputSchema != nil; schema != (h.Phase != "") {
			t.Errorf("%s: output_schema is there: %v", h.Name, schema)
		}
	}
	if len(c.Hooks) != len(want) || !c.Hooks[0].Applies("docs/a/b.md", "a") || c.Hooks[0].Applies("docs/a/b.md", "A") || c.Hooks[0].Applies("src/a.md", "a") || !c.Hooks[1].Applies("src/a.md", "") {
		t.Errorf("%d hooks, or other files", len(c.Hooks))
	}
}

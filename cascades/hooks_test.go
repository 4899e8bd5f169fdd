package cascades

import (
	"slices"
	"strings"
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

// TestHooksAlone checks a cascade without phases: it is described, drawn and planned, and no
// other cascade can run it.
func TestHooksAlone(t *testing.T) {
	c, err := Load("hooks_alone.yaml", folder("testdata/good"), known())
	if err != nil {
		t.Fatal(err)
	}
	if text := c.Describe().Text(); !strings.Contains(text, "prompt-1") {
		t.Error(text)
	}
	if p := c.Plan("", nil); len(p.Phases) != 0 || p.Total.ModelCalls != 0 || p.Text() == "" {
		t.Errorf("planned as %+v", p)
	}
	if g := c.Graph(nil); len(g.Cards) != 0 || len(g.Ways) != 0 {
		t.Errorf("drawn as %+v", g)
	}
	texts := map[string]string{
		"inner.yaml": "{cascade_id: x, hooks: [{on: stop, wards: [{validator: non_empty}]}]}",
		"outer.yaml": "{cascade_id: y, phases: [{name: a, instructions: x, sub_cascades: [{ref: inner.yaml}]}]}",
	}
	if _, err := Load("outer.yaml", files(texts), known()); err == nil || !strings.Contains(err.Error(), "no phases to run") {
		t.Errorf("it runs within another: %v", err)
	}
}

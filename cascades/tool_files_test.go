package cascades

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// TestStoredTackle checks that the stored files of a cascade load in any folder. The load
// needs neither the tool folders nor the permission for missing tools.
func TestStoredTackle(t *testing.T) {
	texts := map[string]string{
		"a/flow.yaml": `cascade_id: flow
validators: {whole: {cascade: polite}}
phases:
- {name: draft, instructions: Draft., tackle: [count, near, lost, kind, polite], rules: {loop_until: polite}, wards: {post: [{validator: polite}, {validator: whole}, {validator: non_empty}]}}
- {name: length, tool: count, inputs: {text: "{{ outputs.draft }}"}}
- {name: late, tool: lost, sub_cascades: [{ref: polite}]}
`,
		"a/tackle/near.tool.yml": "$schema: x\ntool_id: near\nexec: [near]\neffect: reads\n",
		"tools/near.tool.yaml":   "exek: [far]\n", "more/polite.yaml": "oops", "a/tackle/non_empty.yaml": "oops",
		"tools/count.tool.json": `{"exec": ["count"], "description": "Count."}`,
		"tools/kind.tool.json":  `{"cascade": "kindly.yaml"}`,
		"tools/kindly.yaml":     "cascade_id: kindly\nphases: [{name: say, compose: x}]\n",
		"tools/polite.yaml":     "cascade_id: polite\ndescription: It is kind\nphases: [{name: say, compose: '{\"valid\": true}'}, {name: gate, tool: max_length, inputs: {content: x, max: 3}}]\n",
	}
	descriptionOf := func(c *Cascade) string {
		gates, _ := c.Gates("", nil)
		return c.Plan("", nil).Text() + c.Graph(nil).Mermaid() + gates[0].At() + gates[0].Digest + c.Phases[0].Tackle[0].Description + fmt.Sprint(len(c.Warnings), c.Phases[0].Wards.Post[0].Validator.Name)
	}
	for dir, tackle := range map[string][]string{"": {"tools", "more"}, "b": {"b/tools", "b/more"}, "a": {"../tools", "../more"}, "/at": {"/at/tools", "/at/more"}, "c": {"/c/tools", "/c/more"}, "/d": {"d/tools", "d/more"}} {
		at := func(name string) string {
			switch folder, file := path.Split(name); {
			case folder == "tools/":
				return path.Join(tackle[0], file)
			case folder == "more/":
				return path.Join(tackle[1], file)
			case dir == "a": // next to the file
				return strings.TrimPrefix(name, "a/")
			}
			return path.Join(dir, name)
		}
		there := map[string]string{}
		for name, text := range texts {
			there[at(name)] = text
		}
		known := known()
		known.Tackle, known.MissingTools = tackle, true
		c, err := Load(at("a/flow.yaml"), files(there), known)
		if err != nil {
			t.Fatalf("%q: %v", dir, err)
		}
		if tool, judge := c.Phases[0].Tackle[4], c.Phases[0].Rules.Loop; tool.Name != "polite" || tool.Description != "It is kind" || tool.Effect != "none" || judge.Ward.Name != "polite" || !judge.Validator.Free() {
			t.Errorf("%q: the cascade is the tool %+v and the validator %+v", dir, tool, judge)
		}
		if missing := c.Phases[0].Tackle[2]; missing.Name != "lost" || missing.Tool.Name != "lost" || missing.Description != "This tool is not there: calling it fails." || missing.Params["type"] != "object" || missing.Effect != "none" {
			t.Errorf("%q: in place of a missing tool is %+v", dir, missing)
		}
		known.Tackle, known.MissingTools = nil, false
		if _, err := Load(at("a/flow.yaml"), files(there), known); err == nil || strings.Count(err.Error(), "[unknown-tool]") != 6 || !strings.Contains(err.Error(), "[unknown-validator]") {
			t.Errorf("%q: where nobody knows where to look: %v", dir, err)
		}
		moved := append([]File(nil), c.Files...)
		for i := range moved {
			moved[i].Name = path.Join("moved/to", moved[i].Name)
		}
		for name, stored := range map[string][]File{at("a/flow.yaml"): c.Files, path.Join("moved/to", at("a/flow.yaml")): moved} {
			if stored[0].Name == moved[0].Name && (path.IsAbs(dir) || path.IsAbs(tackle[0])) {
				continue // an absolute name stays the same
			}
			again, err := Load(name, Unpacked(stored), known)
			if err != nil || descriptionOf(again) != descriptionOf(c) {
				t.Errorf("%q: loaded again as %s it is another: %v", dir, name, err)
			} else if name == at("a/flow.yaml") && again.Digest() != c.Digest() {
				t.Errorf("%q: loaded again it has the digest %s, not %s", dir, again.Digest(), c.Digest())
			}
		}
	}
}

// TestStoredTackleAlone checks the stored files for a single tool folder, and for the
// permission for missing tools alone.
func TestStoredTackleAlone(t *testing.T) {
	there := map[string]string{"tools/count.tool.json": `{"exec": ["count"], "effect": "reads"}`}
	for warned, with := range []Known{{Tackle: []string{"tools"}}, {MissingTools: true}} {
		known := known()
		known.Tackle, known.MissingTools = with.Tackle, with.MissingTools
		c, err := Parse("flow.yaml", []byte("cascade_id: flow\nphases: [{name: a, instructions: x, tackle: [count]}]\n"), files(there), known)
		if err != nil {
			t.Fatal(err)
		}
		known.Tackle, known.MissingTools = nil, false
		if again, err := Load("flow.yaml", Unpacked(c.Files), known); err != nil || again.Digest() != c.Digest() || len(again.Warnings) != warned {
			t.Errorf("loaded with %+v and again it is another: %v, or %d things are not reported", with, err, warned)
		}
		known.Tackle = []string{"nowhere"}
		if _, err := Load("flow.yaml", Unpacked(c.Files), known); err == nil {
			t.Errorf("who knows where to look heeds what was known before: %+v", with)
		}
	}
}

// TestTackleFileRemoved checks the error for a file that disappears before it is
// read.
func TestTackleFileRemoved(t *testing.T) {
	opened := map[string]bool{}
	open := func(name string) ([]byte, error) {
		if name != "tackle/count.tool.yaml" || opened[name] {
			return nil, fs.ErrNotExist
		}
		opened[name] = true
		return []byte("exec: [count]\n"), nil
	}
	_, err := Parse("flow.yaml", []byte("cascade_id: flow\nphases: [{name: a, instructions: x, tackle: [count]}]\n"), open, known())
	if err == nil || err.Error() != "flow.yaml:2:46: file does not exist [unreadable-file]" {
		t.Errorf("got %v", err)
	}
}

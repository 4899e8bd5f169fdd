package cascades

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades/syntax"
)

// TestExampleFiles checks that an examples file may be a list in YAML or JSON,
// or JSON Lines, and that its mistakes have positions.
func TestExampleFiles(t *testing.T) {
	for name, test := range map[string]struct{ source, want string }{
		"a.yaml":  {"- {user: Who, assistant: The owl.}\n- user: Where\n  assistant: |\n    In the tree.\n", "Who: The owl. | Where: In the tree.\n"},
		"a.json":  {`[{"user": "Who", "assistant": "The owl."}]`, "Who: The owl."},
		"a.jsonl": {"\ufeff{\"user\": \"Who\", \"assistant\": \"The owl.\"}\r\n\n{\"user\": \"Where\", \"assistant\": \"There.\"}", "Who: The owl. | Where: There."},
		"b.yaml":  {"- {user: Who, assistant: The owl.}\n- {user: Where}\n", "b.yaml:2:3: example 2 needs assistant: write {user: …, assistant: …} [missing]"},
		"b.json":  {`{"user": "Who", "assistant": "The owl."}`, "b.json:1:1: examples must be a list, not a mapping: write [{user: …, assistant: …}] [wrong-type]"},
		"b.jsonl": {"{\"user\": \"Who\", \"assistant\": \"The owl.\"}\n\n  {\"user\": \"Where\", \"assistant\": {\"tree\": 1}}\n{\"user\" \"When\"}\n",
			"b.jsonl:3:34: assistant must be text, not a mapping: write JSON as a text, such as '{\"score\": 3}' [wrong-type] | " +
				"b.jsonl:4:9: JSON: invalid character '\"' after object key [syntax]"},
		"c.jsonl": {" \n", "x.yaml:2:47: c.jsonl has no examples [unreadable-file]"},
		"e.yaml":  {"\"@e.yaml\"\n", "e.yaml:1:1: examples must be a list, not text: write [{user: …, assistant: …}] [wrong-type]"},
		"c.yaml":  {"- Who\n", "c.yaml:1:3: an example must be a mapping, not text [wrong-type]"},
		"d.yaml":  {"examples: d.yaml\n", "d.yaml:1:1: examples must be a list, not a mapping: write [{user: …, assistant: …}] [wrong-type]"},
	} {
		source := "cascade_id: x\nphases: [{name: a, instructions: x, examples: \"@" + name + "\"}]\n"
		c, err := Parse("x.yaml", []byte(source), files(map[string]string{name: test.source}), known())
		var got []string
		var found syntax.Diagnostics
		switch {
		case errors.As(err, &found):
			for _, d := range found {
				got = append(got, d.String())
			}
		default:
			for _, e := range c.Phases[0].Examples {
				got = append(got, e.User+": "+e.Assistant)
			}
			if len(c.Files) != 2 || c.Files[1].Name != name {
				t.Errorf("%s is none of the files of the cascade", name)
			}
		}
		if text := strings.Join(got, " | "); text != test.want {
			t.Errorf("%s:\ngot  %q\nwant %q", name, text, test.want)
		}
	}
}

// TestSystemOfPhase checks that the keys of a phase replace those of the file.
func TestSystemOfPhase(t *testing.T) {
	c, err := Parse("x.yaml", []byte(`cascade_id: x
system: You are an owl.
examples: [{user: Who, assistant: The owl.}]
phases:
- {name: file, instructions: x}
- {name: own, instructions: x, system: You are a bee., examples: [{user: What, assistant: Honey.}, {user: Where, assistant: There.}]}
- {name: none, instructions: x, examples: []}
- {name: both, together: [{name: left, instructions: x}, {name: right, compose: x}]}
`), nil, known())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"file": "You are an owl. 1", "own": "You are a bee. 2", "none": "You are an owl. 0", "left": "You are an owl. 1", "right": " 0"} {
		for _, p := range c.EveryPhase() {
			if got := strings.Join([]string{p.systemSource(), count(len(p.Examples))}, " "); p.Name == name && got != want {
				t.Errorf("%s has %q, not %q", name, got, want)
			}
		}
	}
}

package cascades

import (
	"errors"
	"fmt"
	"testing"

	"github.com/seed61713e19/capstan/cascades/syntax"
)

// TestRules checks one mistake for each rule that needs the keys of a phase or a file.
func TestRules(t *testing.T) {
	const phase = "cascade_id: x\nphases:\n- name: a\n"
	for name, c := range map[string]struct{ source, want string }{
		"a phase without a form":            {phase + "  inputs: {}\n", "3:3 missing"},
		"a phase with two forms":            {phase + "  instructions: x\n  compose: y\n", "5:3 conflict"},
		"a key of another form":             {phase + "  compose: x\n  tackle: [set_state]\n", "5:3 conflict"},
		"a rule of another form":            {phase + "  compose: x\n  rules: {max_turns: 2}\n", "5:11 conflict"},
		"on_exhausted of a gate":            {phase + "  tool: json_schema\n  inputs: {content: x, schema: {}}\n  rules: {on_exhausted: last}\n", "6:11 conflict"},
		"a question for every item":         {phase + "  instructions: x\n  each: {in: [1]}\n  human_input: {prompt: x}\n", "6:3 conflict"},
		"a handoff of a member of a group":  {phase + "  together:\n  - {name: b, instructions: x, handoffs: [a]}\n  - {name: c, instructions: x}\n", "5:32 conflict 5:43 unknown-phase"},
		"a default that the schema refuses": {"cascade_id: x\ninputs_schema: {n: {type: integer, default: many}}\nphases: [{name: a, instructions: x}]\n", "2:45 invalid-value"},
		"a keyword of another validator":    {phase + "  instructions: x\n  output_schema: {type: string, min: 3}\n", "5:33 unknown-keyword"},
		"an input in single braces":         {"cascade_id: x\ninputs_schema: {n: A number}\nphases: [{name: a, instructions: 'Take {n}'}]\n", "3:40 different-meaning"},
		"an unknown variable":               {phase + "  instructions: '{{ nothing }}'\n", "4:21 unknown-variable"},
		"an input that is not declared":     {"cascade_id: x\ninputs_schema: {n: A number}\nphases: [{name: a, instructions: '{{ input.m }}'}]\n", "3:38 undeclared-input"},
		"a phase that no way leads to":      {phase + "  instructions: x\n  handoffs: [end]\n- {name: b, instructions: x}\n", "6:3 unreachable-phase"},
	} {
		c2, err := Parse("x.yaml", []byte(c.source), nil, known())
		var found syntax.Diagnostics
		if !errors.As(err, &found) && c2 != nil {
			found = c2.Warnings
		}
		got := ""
		for _, d := range found {
			got += fmt.Sprintf(" %d:%d %s", d.Line, d.Column, d.Code)
		}
		if got != " "+c.want {
			t.Errorf("%s: got%s, want %s", name, got, c.want)
		}
	}
}

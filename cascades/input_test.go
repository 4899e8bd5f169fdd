package cascades

import (
	"strings"
	"testing"
)

// TestCheckInput checks the inputs of a run. Unless a case declares others,
// each cascade has the inputs a and b, and the listed phases.
func TestCheckInput(t *testing.T) {
	const declared = "inputs_schema: {a: The a, b: {type: integer, default: 3}}"
	for name, c := range map[string]struct {
		schema, phases string
		input          map[string]any
		want           string
	}{
		"all there":            {declared, `[{name: x, instructions: "{{ input.a }}"}]`, given("a", "v"), ""},
		"nil is a value":       {declared, `[{name: x, instructions: "{{ input.a }}"}]`, given("a", nil), ""},
		"missed":               {declared, `[{name: x, instructions: "{{ input.a }}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"a default is there":   {declared, `[{name: x, instructions: "{{ input.b }}"}]`, nil, ""},
		"not read":             {declared, `[{name: x, instructions: hello}]`, nil, ""},
		"guarded by default":   {declared, `[{name: x, instructions: "{{ input.a | default('') }}"}]`, nil, ""},
		"guarded by a test":    {declared, `[{name: x, instructions: "{% if input.a is defined %}{{ input.a }}{% endif %}"}]`, nil, ""},
		"guarded in it":        {declared, `[{name: x, instructions: "{{ input.a.b | default('') }}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"guarded by its place": {declared, `[{name: x, instructions: "{{ input.a[0] | default('') }}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"asked of in it":       {declared, `[{name: x, instructions: "{% if input.a.b is defined %}{{ input.a.b }}{% endif %}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"guarded around it":    {declared, `[{name: x, instructions: "{% if input.a is defined %}{{ input.a.b | default('') }}{{ input.a.c }}{% endif %}"}]`, nil, ""},
		"guarded once":         {declared, `[{name: x, instructions: "{{ input.a | default('') }} {{ input.a }}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"deeper":               {declared, `[{name: x, instructions: "{{ input.a.b }}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"in brackets":          {declared, `[{name: x, instructions: "{{ input['a'] }}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"asked for":            {declared, `[{name: x, instructions: "{{ input.get('a') }}"}]`, nil, ""},
		"an expression":        {declared, `[{name: x, instructions: hello, wards: {post: [{expr: "input.a != nil"}]}}]`, nil, ""},
		"a phase may be left":  {declared, `[{name: x, when: "input.a != nil", instructions: "{{ input.a }}"}]`, nil, ""},
		"one behind it":        {declared, `[{name: x, when: "input.b > 1", instructions: hello}, {name: y, compose: "{{ input.a }}"}]`, nil, "input a is missing: The a; phase y reads input.a"},
		"a fork":               {declared, `[{name: x, instructions: hello, handoffs: [y, {target: z, when: "input.b > 1"}]}, {name: y, compose: "{{ input.a }}"}, {name: z, compose: "{{ input.a }}"}]`, nil, ""},
		"before a fork":        {declared, `[{name: x, instructions: "{{ input.a }}", handoffs: [y, z]}, {name: y, compose: y}, {name: z, compose: z}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"jumped over":          {declared, `[{name: x, instructions: hello, handoffs: [z]}, {name: y, compose: "{{ input.a }}"}, {name: z, compose: z}]`, nil, ""},
		"where a jump leads":   {declared, `[{name: x, instructions: hello, handoffs: [z]}, {name: y, compose: y}, {name: z, compose: "{{ input.a }}"}]`, nil, "input a is missing: The a; phase z reads input.a"},
		"behind on_error":      {declared, `[{name: x, instructions: hello, rules: {on_error: z}}, {name: y, compose: "{{ input.a }}"}, {name: z, compose: z}]`, nil, ""},
		"it may end before":    {declared, `[{name: x, compose: x, handoffs: [z]}, {name: y, compose: "{{ input.a }}"}, {name: z, compose: z, handoffs: [{target: y, when: "input.b > 1"}]}]`, nil, ""},
		"a circle":             {declared, `[{name: x, compose: x}, {name: y, compose: "{{ input.a }}", handoffs: [x]}]`, nil, "input a is missing: The a; phase y reads input.a"},
		"turn_prompt":          {declared, `[{name: x, instructions: hello, rules: {max_turns: 2, turn_prompt: "{{ input.a }}"}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"retry_instructions":   {declared, `[{name: x, instructions: hello, rules: {retry_instructions: "{{ input.a }}"}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"a tool's inputs":      {declared, `[{name: x, tool: set_state, inputs: {key: k, value: [{v: "{{ input.a }}"}]}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"within a value":       {declared, `[{name: x, tool: set_state, inputs: {key: k, value: "<{{ input.a }}>"}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"each":                 {declared, `[{name: x, each: {in: "{{ input.a }}"}, compose: "{{ item }}"}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"a judge":              {declared, `[{name: x, instructions: hello, wards: {post: [{judge: "{{ content }} {{ input.a }}"}]}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"a named judge":        {declared + "\nvalidators: {v: {judge: \"{{ input.a }}\"}}", `[{name: x, instructions: hello, rules: {loop_until: v}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"a judge nobody asks":  {declared + "\nvalidators: {v: {judge: \"{{ input.a }}\"}}", `[{name: x, instructions: hello}]`, nil, ""},
		"a validator's with":   {declared, `[{name: x, instructions: hello, wards: {post: [{validator: max_length, with: {max: "{{ input.a }}"}}]}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"a person":             {declared, `[{name: x, instructions: hello, human_input: {prompt: "{{ input.a }}?"}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"an evaluator":         {declared, `[{name: x, instructions: hello, soundings: {factor: 2, evaluator_instructions: "{{ input.a }}"}}]`, nil, "input a is missing: The a; phase x reads input.a"},
		"together":             {declared, `[{name: g, together: [{name: x, compose: x}, {name: y, compose: "{{ input.a }}"}]}]`, nil, "input a is missing: The a; phase y reads input.a"},
		"one may be left":      {declared, `[{name: g, together: [{name: x, compose: x}, {name: y, when: "input.b > 1", compose: "{{ input.a }}"}]}]`, nil, ""},
		"undeclared":           {declared, `[{name: x, compose: x}]`, given("aa", 1), `input aa is not declared, did you mean "a"?`},
		"nothing like it":      {declared, `[{name: x, compose: x}]`, given("zebra", 1), "input zebra is not declared: inputs_schema has a, b"},
		"nothing is declared":  {"", `[{name: x, compose: "{{ input.x }}"}]`, given("y", 1), ""},
		"an empty declaration": {"inputs_schema: {}", `[{name: x, compose: "{{ input.x }}"}]`, given("y", 1), ""},
		"enforced":             {"inputs_schema: {c: {type: string, description: The c}}", `[{name: x, compose: x}]`, nil, "input c is missing: The c"},
		"not said":             {"inputs_schema: {c: {type: string}}", `[{name: x, compose: x}]`, nil, "input c is missing"},
		"a long description":   {"inputs_schema: {a: " + strings.Repeat("a", 201) + "}", `[{name: x, instructions: "{{ input.a }}"}]`, nil, "input a is missing: " + strings.Repeat("a", 199) + "…; phase x reads input.a"},
		"many names":           {"inputs_schema: {" + strings.Repeat("a", 100) + ": a, " + strings.Repeat("b", 101) + ": b}", `[{name: x, compose: x}]`, given("z", 1), "input z is not declared: inputs_schema has " + strings.Repeat("a", 100) + ", " + strings.Repeat("b", 97) + "…"},
		"unfit":                {declared, `[{name: x, compose: x}]`, given("b", "three"), "input b: must be an integer, is a string"},
		"endless":              {"inputs_schema: {a: {$ref: '#'}}", `[{name: x, compose: x}]`, given("a", 1), "input a: JSON schema: no telling: the schema refers to itself endlessly"},
		"all at once":          {declared, `[{name: x, compose: "{{ input.a }}"}]`, given("b", "three", "delta", 1, "cc", 2), "input a is missing: The a; phase x reads input.a\ninput b: must be an integer, is a string\ninput cc is not declared: inputs_schema has a, b\ninput delta is not declared: inputs_schema has a, b"},
	} {
		t.Run(name, func(t *testing.T) {
			loaded, err := Parse("c.yaml", []byte("cascade_id: c\n"+c.schema+"\nphases: "+c.phases), nil, known())
			if err != nil {
				t.Fatal(err)
			}
			wrong := loaded.CheckInput(nil, c.input)
			for _, one := range wrong {
				kind := InputUnfit
				switch {
				case strings.HasPrefix(one.Message, "is missing"):
					kind = InputMissing
				case strings.HasPrefix(one.Message, "is not declared"):
					kind = InputUndeclared
				}
				if one.Kind != kind {
					t.Errorf("%q is of kind %s", one.Message, one.Kind)
				}
			}
			got := wrong.Error()
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// given returns an object of names and values.
func given(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

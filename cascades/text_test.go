package cascades

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestVariables checks that the variables which an editor offers for a key
// parse in its template.
func TestVariables(t *testing.T) {
	for key, form := range map[string]string{
		"instructions": "instructions: %s", "turn_prompt": "instructions: x, rules: {max_turns: 2, turn_prompt: %s}",
		"retry_instructions": "instructions: x, rules: {retry_instructions: %s}", "loop_until_prompt": "instructions: x, rules: {loop_until: non_empty, loop_until_prompt: %s}",
		"judge": "instructions: x, wards: {post: [{judge: %s}]}", "prompt": "instructions: x, human_input: {prompt: %s}",
	} {
		for _, name := range Variables(key) {
			found := found(t, "x.yaml", "cascade_id: x\nphases: [{name: a, "+fmt.Sprintf(form, `"{{ `+name+` }}"`)+"}]\n")
			if found.Broken() {
				t.Errorf("%s: %v", key, found)
			}
		}
	}
}

// TestReads checks that the inputs of every template are known, wherever the
// template is.
func TestReads(t *testing.T) {
	const judge, within, bound = "{judge: Q}", "{cascade: inner.yaml, input_map: {q: Q}}", "{use: max_length, with: {max: Q}}"
	forms := []string{
		"instructions: Q", "compose: Q", "instructions: x, each: {in: Q}", "instructions: x, each: {in: [a, {b: [Q]}]}",
		"instructions: x, rules: {max_turns: 2, turn_prompt: Q}", "instructions: x, rules: {retry_instructions: Q}",
		"instructions: x, rules: {loop_until: non_empty, loop_until_prompt: Q}", "instructions: x, human_input: {prompt: Q}",
		"instructions: x, sub_cascades: [{ref: inner.yaml, input_map: {q: Q}}]", "tool: read_file, inputs: {path: Q}",
		"tool: max_length, inputs: {max: Q, content: x}", "tool: judged, inputs: {content: x}", "tool: mapped, inputs: {content: x}",
		"instructions: x, soundings: {factor: 2, evaluator_instructions: Q}", "instructions: x, soundings: {factor: 2, mode: aggregate, aggregator_instructions: Q}",
		"instructions: x, soundings: {factor: 2, mutations: [x, Q]}", "instructions: x, soundings: {factor: 2, reforge: {honing_prompt: Q}}",
	}
	for _, check := range []string{judge, within, bound} {
		for _, at := range []string{"wards: {pre: [%s]}", "wards: {turn: [%s]}", "wards: {post: [%s]}", "tackle: [read_file], wards: {tool: [%s]}", "tackle: [read_file], wards: {result: [%s]}",
			"rules: {loop_until: %s}", "soundings: {factor: 2, validator: %s}", "soundings: {factor: 2, reforge: {honing_prompt: x, threshold: %s}}"} {
			forms = append(forms, "instructions: x, "+fmt.Sprintf(at, check))
		}
	}
	beside := map[string]string{"inner.yaml": "cascade_id: inner\nphases: [{name: a, instructions: x}]\n"}
	for _, form := range forms {
		c := parsed(t, strings.ReplaceAll("cascade_id: x\ninputs_schema: {q: what}\nvalidators: {judged: "+judge+", mapped: "+within+"}\nphases: [{name: first, compose: x}, {name: a, "+form+"}]\n", "Q", `"{{ input.q }}"`), beside)
		if got := c.Describe().Inputs[0].ReadBy; !slices.Equal(got, []string{"a"}) {
			t.Errorf("%s: it is read by %q", form, got)
		}
		if wrong := c.CheckInput(nil, nil); len(wrong) != 1 || wrong[0].Kind != InputMissing {
			t.Errorf("%s: without it %v", form, wrong)
		}
	}
}

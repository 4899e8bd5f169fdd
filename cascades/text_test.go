package cascades

import (
	"fmt"
	"testing"
)

// What a template under a key may read is what an editor offers there: it parses.
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

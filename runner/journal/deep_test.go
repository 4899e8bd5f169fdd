package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Deeply nested input, replies and results are stored and read again. Data too
// deep to be read is rejected at once.
func TestDeep(t *testing.T) {
	onFile(t)
	const deepest = 9_000
	for _, levels := range []int{deepest, deepest + 1, 9_999} {
		for _, by := range []string{"model", "tool", "input"} {
			t.Run(fmt.Sprint(by, levels), func(t *testing.T) {
				words := map[string]string{"model": "[]", "tool": "[]", "input": "[]"}
				words[by] = strings.Repeat("[", levels) + strings.Repeat("]", levels)
				m := model.Func(func(context.Context, model.Request) (model.Response, error) {
					return model.Response{Text: words["model"]}, nil
				})
				dig := tool.Declared("dig", "Digs.", map[string]any{"type": "object"}, func(context.Context, tool.Call) (any, error) {
					return json.RawMessage(words["tool"]), nil
				})
				j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
				c := `cascade_id: deep
inputs_schema: {given: {type: array}}
phases:
  - {name: a, instructions: Write., output_schema: {type: array}}
  - {name: b, tool: dig, inputs: {x: "{{ outputs.a }}", y: "{{ input.given }}"}}
  - {name: c, tool: dig, inputs: {x: "{{ outputs.b }}"}}`
				r := runnerOver(t, j, m, runner.WithTools(dig))
				parsed, err := r.Parse("deep.yaml", []byte(c))
				if err != nil {
					t.Fatal(err)
				}
				var given any
				if err := json.Unmarshal([]byte(words["input"]), &given); err != nil {
					t.Fatal(err)
				}
				_, err = r.Run(t.Context(), parsed, map[string]any{"given": given}, runner.WithRunID("run"))
				if fits := levels <= deepest; fits != (err == nil) || !fits && !strings.Contains(err.Error(), "nests deeper than 9000 levels") {
					t.Errorf("got %v", err)
				}
				if by == "input" && err != nil {
					return // it has not begun
				}
				if _, err := j.Result(t.Context(), "run"); err != nil {
					t.Error(err)
				}
				if events := eventsOf(t, j, "run", Whole); len(events) < 3 {
					t.Errorf("got %v", events)
				}
				effectsOf(t, j, "run")
			})
		}
	}
}

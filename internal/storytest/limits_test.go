package storytest_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// unread are phases with a template or expression that reads a missing value.
var unread = map[string]string{
	"instructions":           `{name: a, instructions: "{{ input.gone }}"}`,
	"compose":                `{name: a, compose: "{{ input.gone }}"}`,
	"inputs":                 `{name: a, tool: add, inputs: {a: 1, b: "{{ input.gone }}"}}`,
	"inputs before a ward":   `{name: a, tool: add, inputs: {a: 1, b: "{{ input.gone }}"}, wards: {pre: [{validator: fine}]}}`,
	"inputs of a gate":       `{name: a, tool: fine, inputs: {content: "{{ input.gone }}"}}`,
	"input_map":              `{name: a, instructions: a, sub_cascades: [{ref: sub.yaml, input_map: {x: "{{ input.gone }}"}}]}`,
	"turn_prompt":            `{name: a, instructions: a, rules: {max_turns: 2, turn_prompt: "{{ input.gone }}"}}`,
	"retry_instructions":     `{name: a, instructions: a, rules: {retry_instructions: "{{ input.gone }}"}, wards: {post: [{validator: never, mode: retry}]}}`,
	"of a turn":              `{name: a, instructions: a, rules: {retry_instructions: "{{ input.gone }}"}, wards: {turn: [{validator: never, mode: retry}]}}`,
	"loop_until_prompt":      `{name: a, instructions: a, rules: {loop_until: fine, loop_until_prompt: "{{ input.gone }}"}}`,
	"human_input":            `{name: a, instructions: a, human_input: {prompt: "{{ input.gone }}"}}`,
	"edit":                   `{name: a, instructions: a, human_input: {prompt: "{{ input.gone }}", type: edit}}`,
	"evaluator_instructions": `{name: a, instructions: a, soundings: {factor: 2, evaluator_instructions: "{{ input.gone }}"}}`,
	"each":                   `{name: a, compose: a, each: {in: "{{ input.gone }}", as: one}}`,
	"when":                   `{name: a, compose: a, when: "input.gone > 1"}`,
	"a handoff":              `{name: a, compose: a, handoffs: [{target: end, when: "input.gone > 1"}]}`,
	"with":                   `{name: a, compose: a, wards: {post: [{validator: contains, with: {text: "{{ input.gone }}"}}]}}`,
	"a judge":                `{name: a, compose: a, wards: {post: [{judge: "{{ input.gone }}", name: j}]}}`,
	"a cascade that judges":  `{name: a, compose: a, wards: {post: [{validator: cascaded}]}}`,
	"mutations":              `{name: a, instructions: a, soundings: {factor: 2, mutations: ["{{ input.gone }}"], validator: {expr: "attempt == 7"}}}`,
	"honing_prompt":          `{name: a, instructions: a, soundings: {factor: 2, validator: {expr: "true"}, reforge: {steps: 1, honing_prompt: "{{ input.gone }}"}}}`,
	"threshold":              `{name: a, instructions: a, soundings: {factor: 2, validator: {expr: "true"}, reforge: {steps: 1, honing_prompt: b, threshold: {validator: contains, with: {text: "{{ input.gone }}"}}}}}`,
	"the last reforge":       `{name: a, instructions: a, soundings: {factor: 2, validator: {expr: "true"}, reforge: {steps: 1, honing_prompt: "{{ input.gone }}"}}, handoffs: [end]}`,
	"aggregator":             `{name: a, instructions: a, soundings: {factor: 2, mode: aggregate, aggregator_instructions: "{{ input.gone }}"}}`,
	"a validator of tries":   `{name: a, instructions: a, soundings: {factor: 2, validator: {validator: contains, with: {text: "{{ input.gone }}"}}}}`,
}

const before = `A template reads what is not there.
-- cascade.yaml --
cascade_id: c
validators:
  fine: {expr: "true"}
  never: {expr: "attempt == 7"}
  cascaded: {cascade: sub.yaml, input_map: {x: "{{ input.gone }}"}}
phases:
  - `

const behind = `
-- sub.yaml --
cascade_id: sub
phases: [{name: s, compose: "{}"}]
-- script.yaml --
- {phase: a, reply: text, times: always}
-- answers.json --
["yes"]
`

// A template that reads a missing value ends the run at any place, before any effect.
// The error leads to the place.
func TestNothingIsMadeOfWhatCannotBeRead(t *testing.T) {
	for name, phase := range unread {
		t.Run(name, func(t *testing.T) {
			s := storytest.Read(t, "unread", []byte(before+phase+behind))
			var last event.Event
			sink := event.Func(func(e event.Event) { last = e })
			result, err := engine.Run(s.Host(t, runner.WithSink(sink)), s.Cascade, s.Start())
			var cause *engine.Error
			if !errors.As(err, &cause) || result.Status != engine.Failed || last.Error == nil || !strings.Contains(last.Error.Message, "input.gone") && !strings.Contains(last.Error.Message, "nil > int") {
				t.Fatalf("it is %s: %v", result.Status, err)
			}
			line := strings.Split(string(s.Cascade.Source), "\n")[max(cause.Position.Line, 1)-1]
			if !strings.Contains(line, "input.gone") && !strings.Contains(line, "cascaded") || cause.Phase != "a" || cause.Path == "" || cause.Code == engine.Invalid && cause.Err == nil {
				t.Errorf("phase %s, %s, %+v: %s", cause.Phase, cause.Path, cause.Position, line)
			}
		})
	}
}

// No call exceeds a budget, whichever part of the run makes it. The run ends
// with the first such call, unless a check in shadow mode makes it. A call with
// retries counts once here.
func TestBudgetHoldsEverywhere(t *testing.T) {
	for _, s := range storytest.Stories(t) {
		if strings.Contains(s.Want(), "model: unavailable") {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			all, _ := within(t, s, nil)
			for calls := 1; calls < all.Usage.Calls; calls++ {
				result, err := within(t, s, func(b *cascades.Budget) { b.MaxCalls = calls })
				if result.Usage.Calls > calls {
					t.Errorf("of %d calls %d were made", calls, result.Usage.Calls)
				}
				if shadowed := strings.Contains(s.Name, "shadow"); !shadowed && result.Status != engine.OverBudget {
					t.Errorf("with %d of %d calls it is %s: %v", calls, all.Usage.Calls, result.Status, err)
				}
			}
		})
	}
}

func within(t *testing.T, s *storytest.Story, set func(*cascades.Budget)) (engine.Result, error) {
	t.Helper()
	c := *s.Cascade
	if set != nil {
		set(&c.Budget)
	}
	return engine.Run(s.Host(t), &c, s.Start())
}

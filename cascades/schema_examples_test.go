package cascades

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// A setting is a cascade with a place for a mapping, and base mappings that may
// get a key of this kind.
type setting struct {
	cascade string
	bases   []string
}

const phasesAround = `{cascade_id: c, inputs_schema: {topic: t}, phases: [{name: before, instructions: x, output_schema: {type: array}}, MAPPING, {name: later, instructions: x}]}`

// settings has a setting for each kind of mapping.
var settings = map[string]setting{
	"the cascade": {"MAPPING", []string{`{cascade_id: c, phases: [{name: p, instructions: x}]}`}},
	"a phase": {phasesAround, []string{`{name: p, instructions: x}`, `{name: p}`, `{name: p, tool: non_empty}`,
		`{name: p, instructions: x, handoffs: [{target: later, description: y}, {target: before, description: z}]}`}},
	"a validator":          {`{cascade_id: c, validators: {v: MAPPING}, phases: [{name: p, instructions: x, wards: {post: [{validator: v}]}}]}`, forms},
	"a validator in place": {inPhase(`{name: p, instructions: x, rules: {loop_until: MAPPING}}`), forms},
	"a ward":               {inPhase(`{name: p, instructions: x, wards: {post: [MAPPING]}}`), forms},
	"a ward around tools":  {inPhase(`{name: p, instructions: x, tackle: [write_file], wards: {tool: [MAPPING]}}`), forms},
	"promote_when": {inPhase(`{name: p, instructions: x, wards: {post: [{judge: x, name: y, promote_when: MAPPING}]}}`),
		[]string{`{false_pass: 0.05, false_block: 0.02}`}},
	"wards":              {inPhase(`{name: p, instructions: x, tackle: [read_file], wards: MAPPING}`), []string{`{}`}},
	"a tool":             {`{cascade_id: c, tools: {t: MAPPING}, phases: [{name: p, instructions: x, tackle: [t]}]}`, []string{`{}`, `{exec: [send.sh, data.csv]}`}},
	"requires_receipt":   {`{cascade_id: c, tools: {t: {exec: [send.sh], requires_receipt: MAPPING}}, phases: [{name: p, instructions: x}]}`, []string{`{gates: [facts], pub: public.pem}`}},
	"budget":             {`{cascade_id: c, budget: MAPPING, phases: [{name: p, instructions: x}]}`, []string{`{}`}},
	"token_budget":       {inPhase(`{name: p, instructions: x, token_budget: MAPPING}`), []string{`{max_total: 32000}`}},
	"context":            {inPhase(`{name: p, instructions: x, context: MAPPING}`), []string{`{from: [before]}`, `{from: [all]}`}},
	"a phase of context": {inPhase(`{name: p, instructions: x, context: {from: [MAPPING]}}`), []string{`{phase: before}`}},
	"rules":              {inPhase(`{name: p, instructions: x, rules: MAPPING}`), []string{`{}`, `{loop_until: non_empty}`, `{max_turns: 2}`, `{loop_until: non_empty, max_turns: 2}`}},
	"an example":         {inPhase(`{name: p, instructions: x, examples: [MAPPING]}`), []string{`{user: x, assistant: y}`}},
	"feedback":           {inPhase(`{name: p, instructions: x, rules: {feedback: MAPPING}}`), []string{`{}`}},
	"output_extraction":  {inPhase(`{name: p, instructions: x, output_extraction: MAPPING}`), []string{`{pattern: x, store_as: y}`}},
	"a handoff":          {inPhase(`{name: p, instructions: x, handoffs: [MAPPING]}`), []string{`{target: later}`}},
	"a sub-cascade":      {inPhase(`{name: p, instructions: x, sub_cascades: [MAPPING]}`), []string{`{ref: research.yaml, input_map: {question: x}}`}},
	"soundings": {inPhase(`{name: p, instructions: x, soundings: MAPPING}`), []string{`{factor: 3, evaluator_instructions: x}`, `{factor: 3, mode: aggregate}`,
		`{factor: 3, mode: aggregate, aggregator_instructions: x}`,
		`{factor: 3, evaluator_instructions: x, models: [a, b]}`, `{factor: 3, evaluator_instructions: x, models: [a, b], model_strategy: weighted}`}},
	"human_input": {inPhase(`{name: p, instructions: x, human_input: MAPPING}`),
		[]string{`{prompt: x}`, `{prompt: x, type: choice}`, `{prompt: x, expires: 24h}`}},
	"each":       {inPhase(`{name: p, instructions: x, each: MAPPING}`), []string{`{in: "{{ outputs.before }}"}`}},
	"expect":     {inPhase(`{name: p, instructions: x, wards: {post: [{validator: non_empty}]}, expect: MAPPING}`), []string{`{}`}},
	"mcp":        {`{cascade_id: c, tools: {t: {mcp: MAPPING}}, phases: [{name: p, instructions: x, tackle: [t]}]}`, []string{`{tool: find, command: [server]}`, `{tool: find}`, `{tool: find, url: "https://example.com"}`}},
	"a model":    {inPhase(`{name: p, instructions: x, model: [MAPPING, gpt-5-nano]}`), []string{`{name: gpt-5-mini}`}},
	"a provider": {`{cascade_id: c, providers: {house: MAPPING}, phases: [{name: p, instructions: x}]}`, []string{`{base_url: "http://127.0.0.1:8000/v1"}`}},
	"a price": {`{cascade_id: c, providers: {house: {base_url: "http://127.0.0.1:8000/v1", prices: {big: MAPPING}}}, phases: [{name: p, instructions: x}]}`,
		[]string{`{input: 1, output: 4}`}},
	"a database": {`{cascade_id: c, databases: {shop: MAPPING}, phases: [{name: p, tool: sql_query, inputs: {query: SELECT 1}}]}`, []string{`{url: shop.db}`}},
	"a hook": {`{cascade_id: c, phases: [{name: report, instructions: x, wards: {post: [{validator: non_empty}]}}], hooks: [MAPPING]}`,
		[]string{`{on: write, wards: [{validator: non_empty}]}`, `{on: stop}`, `{wards: [{validator: non_empty}]}`}},
	"notify":  {inPhase(`{name: p, instructions: x, human_input: {prompt: x, notify: MAPPING}}`), []string{`{}`, `{exec: [notify.sh]}`, `{url: "https://example.com"}`}},
	"reforge": {inPhase(`{name: p, instructions: x, soundings: {factor: 2, evaluator_instructions: x, reforge: MAPPING}}`), []string{`{honing_prompt: x}`}},
}

// forms are validators of each form.
var forms = []string{
	`{}`, `{expr: "len(content) > 0"}`, `{use: max_length}`, `{judge: x}`, `{judge: x, name: y, mode: retry}`, `{exec: [check.sh, main.go]}`,
	`{exec: [check.sh, main.go], verdict: exit_status}`, `{cascade: fact_check.yaml}`, `{validator: non_empty}`, `{validator: non_empty, mode: retry}`,
}

func inPhase(phase string) string { return strings.Replace(phasesAround, "MAPPING", phase, 1) }

// TestSchemaExamples loads the examples and the default of every key of the
// JSON Schema, in a cascade of its setting.
func TestSchemaExamples(t *testing.T) {
	open := func(name string) ([]byte, error) {
		if name == "public.pem" {
			return []byte("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"), nil
		}
		return besidePages()(name)
	}
	for kind, d := range declarations(t) {
		for key, one := range d.of {
			values := one.Examples
			if one.Default != nil {
				values = append(values, one.Default)
			}
			for _, value := range values {
				if err := loadsIn(t, settings[kind], key, value, open); err != nil {
					t.Errorf("%s: %s: %v: %v", kind, key, value, err)
				}
			}
		}
	}
}

// loadsIn returns an error if no base with the key loads.
func loadsIn(t *testing.T, s setting, key string, value any, open func(string) ([]byte, error)) (last error) {
	t.Helper()
	for _, base := range s.bases {
		mapping, ok := asPlain(t, []byte(base)).(map[string]any)
		if !ok {
			t.Fatalf("%s is no mapping", base)
		}
		mapping = maps.Clone(mapping)
		mapping[key] = value
		text, err := json.Marshal(mapping)
		if err != nil {
			t.Fatal(err)
		}
		source := strings.Replace(s.cascade, "MAPPING", string(text), 1)
		if _, last = Parse("example.yaml", []byte(source), open, known()); last == nil {
			return nil
		}
	}
	return last
}

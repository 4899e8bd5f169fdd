package main

import (
	"slices"
	"strings"
	"testing"
)

func TestLanguageServerCompletion(t *testing.T) {
	e := editing(t, map[string]string{"prompt.md": "x"})
	head := strings.TrimSuffix(flow, "\n")
	for marked, want := range map[string]string{
		"casc⌖":                                               "cascade_id",
		flow + "bud⌖":                                         "budget !phases",
		head + "\n    ⌖":                                      "human_input soundings !rules !when",
		head + "\n        - {⌖":                               "validator judge expr mode",
		head + "\n        - {validator: ⌖":                    "tone max_length grammar_check",
		head + "\n        - {validator: tone, mo⌖":            "mode max_attempts !validator",
		head + "\n        - {validator: tone, mode: ⌖}":       "blocking retry advisory shadow",
		head + "\n        - {validator: max_length, with: {⌖": "max",
		head + "\n        - validator: word_count\n          with:\n            m⌖":                                        "min max",
		head + "\n        - {expr: \"le⌖\"}":                                                                               "len content outputs",
		head + "\n        - {expr: outputs.⌖":                                                                              "draft polish",
		head + "\n        - {expr: outputs.draft.t⌖":                                                                       "title body",
		head + "\n    handoffs: [⌖":                                                                                        "draft polish",
		head + "\n    handoffs:\n      - target: ⌖":                                                                        "draft polish",
		head + "\n    handoffs:\n      - ⌖":                                                                                "draft polish target when",
		head + "\n    tackle: [⌖]":                                                                                         "send read_file set_state",
		head + "\n    human_input:\n      type: ⌖":                                                                         "choice text edit",
		head + "\n    model: ⌖":                                                                                            "gpt-5-mini",
		strings.Replace(flow, "input.topic", "⌖", 1):                                                                       "input outputs state !len",
		strings.Replace(flow, "input.topic", "input.⌖", 1):                                                                 "topic !outputs",
		strings.Replace(flow, "input.topic", "input.topic | ⌖", 1):                                                         "upper default !input",
		strings.Replace(flow, "input.topic", "input.topic is ⌖", 1):                                                        "defined !trim",
		strings.Replace(flow, "outputs.draft.title", "outputs.⌖", 1):                                                       "draft polish",
		strings.Replace(flow, "outputs.draft.title", "outputs.draft.⌖", 1):                                                 "title body",
		strings.Replace(flow, "Write on", "⌖", 1):                                                                          "!input",
		strings.Replace(flow, `"Write on {{ input.topic }}."`, `"@⌖"`, 1):                                                  "prompt.md",
		strings.Replace(flow, "on_exhausted: draft", "on_exhausted: ⌖", 1):                                                 "draft polish last best fail",
		head + "\n        - {judge: \"Is {{ content | up⌖":                                                                 "upper",
		head + "\n        - {expr: \"output.⌖\"}":                                                                          "!title",
		head + "\n    output_schema: {properties: {of: {type: string}}}\n    soundings: {evaluator_instructions: \"{{ in⌖": "input",
		head + "\n      turn: [{expr: \"output.⌖\"}]\n    output_schema: {properties: {of: {type: string}}}":               "of",
		head + "\n      turn:\n        - {⌖":                                                                               "validator judge expr mode",
		head + "\n    rules: {loop_until: ⌖":                                                                               "tone max_length",
		head + "\n    each: {in: \"{{ ⌖":                                                                                   "input outputs",
		head + "\n    together:\n      - {⌖":                                                                               "name instructions",
		head + "\n    together: [{name: x, instructions: \"{{ input.⌖":                                                     "topic",
		head + "\n  - name: t\n    tool: ⌖":                                                                                "send read_file tone",
		head + "\n  - name: t\n    tool: read_file\n    inputs: {⌖":                                                        "path",
		head + "\n  - name: t\n    compose: \"{{ outputs.draft.⌖":                                                          "title body",
		head + "\n    output_schema:\n      ⌖":                                                                             "type properties required",
		head + "\n    output_schema: {properties: {a: {⌖":                                                                  "enum items !true",
		head + "\n    output_schema: {properties: {⌖":                                                                      "!enum",
		head + "\n    output_schema: {type: ⌖":                                                                             "object string",
		head + "\n  - {name: t, context: {from: [⌖":                                                                        "draft previous first all",
		head + "\n    handoffs: [draft, ⌖":                                                                                 "polish end",
		strings.Replace(flow, "topic: What to write about", "topic: {⌖", 1):                                                "type enum minLength",
		strings.Replace(flow, "{{ input.topic }}", "{% ⌖ %}", 1):                                                           "if for endif !input",
		strings.Replace(flow, "{{ input.topic }}", "{% if ⌖ %}", 1):                                                        "input !endif",
		strings.Replace(flow, "{judge: \"Is it friendly?\"}", "{use: word_count, with: {⌖", 1):                             "min max",
		strings.Replace(flow, "{judge: \"Is it friendly?\"}", "{judge: x, model: ⌖", 1):                                    "gpt-5-mini",
		strings.Replace(flow, "{exec: [send]}", "{exec: [send], effect: ⌖", 1):                                             "reads writes",
		"# comm⌖": "!cascade_id",
		`{"cascade_id": "x", "phases": [{"name": "a", "⌖"`: "instructions tackle !name",
	} {
		got := e.completions("flow.yaml", marked)
		for _, word := range strings.Fields(want) {
			if unwanted, not := strings.CutPrefix(word, "!"); not && slices.Contains(got, unwanted) || !not && !slices.Contains(got, word) {
				t.Errorf("%s\nwant %s, got %q", marked[max(0, strings.Index(marked, "⌖")-60):], word, got)
			}
		}
	}
}

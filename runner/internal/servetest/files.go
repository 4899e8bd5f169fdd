package servetest

// files are the cascades of the tests, with their scripts.
var files = map[string]string{
	"post.yaml": `
cascade_id: post
inputs_schema:
  topic: {type: string, minLength: 2}
model: m
validators:
  tone: {judge: "Is the tone friendly?"}
phases:
  - name: draft
    instructions: "Write about {{ input.topic }}."
    wards:
      post:
        - {validator: word_count, with: {min: 8}, mode: retry, max_attempts: 3}
        - {validator: tone, mode: advisory}
  - name: polish
    instructions: "Polish: {{ outputs.draft }}"
`,
	"post.script": `
- {phase: draft, attempt: 1, reply: "Owls hoot.\nThey fly at night.", usage: {input_tokens: 1200, output_tokens: 34, cost_usd: 0.0123}}
- {phase: draft, attempt: 2, reply: "Owls hoot softly in the night.\nThey fly at dusk.", usage: {input_tokens: 1500, output_tokens: 40, cost_usd: 0.02}}
- {validator: tone, reply: '{"valid": false, "reason": "too dry", "score": 0.25}', times: always}
- {phase: polish, reply: "Owls hoot softly in the night, and fly at dusk."}
`,
	"ask.yaml": `
cascade_id: ask
model: m
phases:
  - name: draft
    instructions: Write.
    human_input: {prompt: "Publish <b>this</b>?", type: confirmation}
`,
	"both.yaml": `
cascade_id: both
model: m
phases:
  - name: sign
    together:
      - {name: legal, compose: A contract., human_input: {prompt: "Legal?"}}
      - {name: finance, compose: A contract., human_input: {prompt: "Finance?"}}
`,
	"pair.yaml": `
cascade_id: pair
model: m
phases:
  - name: both
    together: [{name: left, instructions: Write.}, {name: right, instructions: Write.}]
`,
	"pair.script": `[]`,
	"both.script": `[]`,
	"ask.script":  `- {phase: draft, reply: "A text.", times: always}`,
	"choose.yaml": `
cascade_id: choose
model: m
phases:
  - name: draft
    instructions: Write.
    human_input: {prompt: "Which?", type: choice, options: [red, blue]}
`,
	"revise.yaml": `
cascade_id: revise
model: m
phases:
  - name: draft
    instructions: Write.
    wards: {post: [{validator: max_length, with: {max: 20}, mode: retry}]}
  - name: approve
    compose: "{{ outputs.draft }}"
    human_input: {prompt: "Publish?", type: confirmation}
`,
	"revise.script": `
- {phase: draft, attempt: 1, reply: "A text that is far too long."}
- {phase: draft, attempt: 2, reply: "A short text."}
`,
	"yield.yaml": `
cascade_id: yield
model: m
phases:
  - name: draft
    instructions: Write.
    human_input: {prompt: "Still?", expires: 1h}
`,
	"yield.script":  `- {phase: draft, reply: "A text.", times: always}`,
	"choose.script": `- {phase: draft, reply: "A text.", times: always}`,
	"blocked.yaml": `
cascade_id: blocked
model: m
phases:
  - name: draft
    instructions: Write.
    wards:
      post: [{validator: contains, with: {text: owl}, mode: retry, max_attempts: 2}]
`,
	"blocked.script": `
- {phase: draft, attempt: 1, reply: "No bird here."}
- {phase: draft, attempt: 2, reply: "Still no bird."}
`,
	"form.yaml": `
cascade_id: form
inputs_schema:
  note: What to mind
  title: {type: string, minLength: 2, description: the <b>title</b>}
  audience: {type: string, default: "everyone & all"}
  size: {type: integer, minimum: 1, default: 3}
  share: {type: number}
  loud: {type: boolean}
  colour: {enum: [red, blue], default: blue}
  tags: {type: array, items: {type: string}, default: ["<a>"]}
  either: {type: [string, object], default: {x: 1}}
model: m
phases:
  - {name: draft, instructions: "{{ input.note | default('none') }}|{{ input.title }}|{{ input.audience }}|{{ input.size }}|{{ input.share }}|{{ input.loud }}|{{ input.colour }}|{{ input.tags | tojson }}|{{ input.either }}"}
`,
	"form.script": `- {phase: draft, reply: "Done.", times: always}`,
	"told.yaml": `
cascade_id: told
inputs_schema: {topic: What to write about}
model: m
phases: [{name: draft, instructions: "Write about {{ input.topic }}."}]
`,
	"tell.yaml": `
cascade_id: tell
model: m
phases:
  - {name: draft, instructions: Write., human_input: {prompt: "What is to change?", type: text, store_as: wish}}
  - {name: again, instructions: "{{ state.wish }}"}
`,
	"tell.script": `- {reply: "A text.", times: always}`,
	"tries.yaml": `
cascade_id: tries
model: m
phases:
  - name: line
    instructions: Write.
    soundings: {factor: 2, validator: {expr: "len(content) < 9", reason: too long}}
`,
	"tries.script": `
- {phase: line, reply: "A short."}
- {phase: line, reply: "A longer one."}
- {role: evaluator, reply: '{"winner": 1}', times: always}
`,
	"shown.yaml": `
cascade_id: shown
system: You edit texts for a zoo.
examples: [{user: Which bird, assistant: The owl.}]
phases:
  - {name: draft, instructions: Write.}
`,
	"fan.yaml": `
cascade_id: fan
inputs_schema: {list: {type: array}}
model: m
phases:
  - name: lines
    each: {in: "{{ input.list }}", max_items: 2000, on_failure: keep}
    instructions: "Write of {{ item }}."
    wards: {post: [{expr: "not (content contains 'bad')", mode: retry, max_attempts: 2, reason: it is bad}]}
  - name: both
    together:
      - {name: legal, instructions: "What is allowed?"}
      - {name: market, instructions: "Who sells it?", wards: {post: [{validator: non_empty}]}}
`,
	"acts.yaml": `
cascade_id: acts
model: m
phases:
  - name: work
    instructions: Work.
    tackle: [set_state]
    wards:
      tool: [{expr: "output.key != 'b'", mode: retry, reason: b is kept for others}]
      result: [{expr: "not (content contains 'odd')", mode: retry, reason: an odd result}]
  - name: more
    instructions: More.
    tackle: [set_state]
    wards: {tool: [{validator: no_secrets}]}
`,
	"acts.script": `
- phase: work
  tool_calls: [{name: set_state, arguments: {key: a, value: 1}}, {name: set_state, arguments: {key: b, value: 1}}, {name: set_state, arguments: {key: odd, value: 1}}]
- {phase: work, reply: done}
- {phase: more, tool_calls: [{name: set_state, arguments: {key: a, value: first}}]}
- {phase: more, tool_calls: [{name: set_state, arguments: {key: c, value: a plain one}}, {name: set_state, arguments: {key: key, value: AKIAQ3EGRTZ5K7WNHVXP}}]}
`,
	"keep.yaml": `
cascade_id: keep
tools: {publish: {exec: ["true"], description: Publish it.}}
phases:
  - {name: draft, instructions: Write., wards: {post: [{validator: no_secrets}]}}
  - {name: publish, when: "false", tool: publish, inputs: {text: "{{ outputs.draft }}"}}
`,
	"keep.script": "- {phase: draft, reply: owls}\n",
	"slow.yaml":   "cascade_id: slow\nmodel: slow\nphases:\n  - {name: wait, instructions: Wait.}\n",
	"wrong.yaml":  "cascade_id: wrong\nphases:\n  - {name: x, instructions: hi, frobnicate: 1}\n",
}

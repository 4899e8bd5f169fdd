package cascades

import (
	"fmt"
	"strings"
	"testing"
)

// manyPhases returns a cascade of n phases with a context, a ward, a handoff
// and a template each.
func manyPhases(n int) string {
	var b strings.Builder
	b.WriteString("cascade_id: many\nvalidators:\n  long: {expr: \"len(content) > 3\"}\nphases:\n")
	for i := range n {
		fmt.Fprintf(&b, "- name: p%d\n  instructions: \"Write about {{ input.topic }}, after {{ outputs.p%d }}.\"\n  context: {from: [p%d]}\n", i, i, i)
		fmt.Fprintf(&b, "  wards: {post: [{validator: long, mode: retry}]}\n  handoffs: [p%d]\n", min(i+1, n-1))
	}
	return b.String()
}

// fiveHundredLines returns a cascade as an author would write it.
func fiveHundredLines() string {
	var b strings.Builder
	b.WriteString("cascade_id: lines\ninputs_schema:\n  topic: What to write about\nvalidators:\n  long: {expr: \"len(content) > 3\", reason: longer}\n  tone: {judge: \"Is the tone friendly?\"}\nphases:\n")
	for i := 0; strings.Count(b.String(), "\n") < 480; i++ {
		fmt.Fprintf(&b, `- name: phase%d
  instructions: |
    Write about {{ input.topic }}.
    {%% for m in lineage %%}
    - {{ m.phase }}: {{ m.output }}
    {%% endfor %%}
  context:
    from: [previous]
  rules:
    max_turns: 3
    max_attempts: 3
    loop_until: long
    turn_prompt: "{%% if turn == 1 %%}Review.{%% else %%}Polish.{%% endif %%}"
    retry_instructions: "Not yet: {{ validation_error }}"
  output_schema:
    type: object
    required: [title]
    properties:
      title: {type: string}
  wards:
    pre:
      - {validator: input_sanitizer}
    post:
      - {validator: no_secrets, mode: blocking}
      - {validator: tone, mode: retry}
      - {expr: "len(content) < 10000", mode: advisory}
`, i)
	}
	return b.String()
}

// BenchmarkLint500Lines must stay under 10 ms.
func BenchmarkLint500Lines(b *testing.B) {
	source, names := []byte(fiveHundredLines()), known()
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		if _, err := Parse("x.yaml", source, nil, names); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPhases must take a time per phase that is independent of the number
// of phases.
func BenchmarkPhases(b *testing.B) {
	for _, n := range []int{100, 1000, 4000} {
		source, names := []byte(manyPhases(n)), known()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse("x.yaml", source, nil, names); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/phase")
		})
	}
}

// BenchmarkPlan plans a cascade of 1,000 phases.
func BenchmarkPlan(b *testing.B) {
	c := parsed(b, manyPhases(1000), nil)
	for b.Loop() {
		c.Plan("", nil)
	}
}

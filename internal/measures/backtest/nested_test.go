package backtest_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/backtest"
)

// deep returns a cascade with a sub-cascade, a tool and a validator that are cascades, each with
// its own ward.
func deep(look, sum, tone string) files {
	return files{
		"cascade.yaml": `cascade_id: c
inputs_schema: {mood: {type: string, default: calm}}
tools: {summarize: {cascade: sum.yaml}}
validators: {tone: {cascade: tone.yaml, input_map: {text: "{{ content }} of {{ state.deep }}"}}}
phases:
- {name: plan, instructions: Plan., tackle: [set_state]}
- name: draft
  instructions: Write.
  sub_cascades: [{ref: look.yaml, input_map: {q: "{{ input.mood }} {{ outputs.plan }}"}}]
  tackle: [summarize]
  wards: {post: [{validator: tone}, {expr: "state.deep == 'yes' && outputs.look == 'looked' && input.mood == 'calm'", reason: state}]}
- {name: end, instructions: End.}
`,
		"look.yaml": `cascade_id: look
inputs_schema: {many: {type: integer, default: 2}}
phases:
- {name: draft, instructions: "Look {{ input.q }}", tackle: [set_state], wards: {post: [` + look + `]}}
- {name: show, instructions: "Show {{ outputs.draft }} {{ state.kind }}"}
`,
		"sum.yaml":  "cascade_id: sum\nphases: [{name: s, instructions: Sum., wards: {post: [" + sum + "]}}, {name: t, instructions: Sum.}]",
		"tone.yaml": "cascade_id: tone\nphases: [{name: judge, instructions: Judge., wards: {post: [" + tone + "]}}, {name: say, instructions: Say.}]",
	}
}

const (
	lookWard = `{expr: "input.q == 'calm planned' && input.many == 2 && state.kind == 'bird' && content contains '%s'", reason: look}`
	sumWard  = `{expr: "input.text == 'long' && state.kind == nil && content contains '%s'", reason: sum}`
	toneWard = `{expr: "input.text == 'done of yes' && content contains '%s'", reason: tone}`
	deepRun  = `
- {phase: plan, tool_calls: [{name: set_state, arguments: {key: kind, value: bird}}]}
- {phase: plan, reply: planned}
- {phase: draft, contains: Look, tool_calls: [{name: set_state, arguments: {key: deep, value: "yes"}}]}
- {phase: draft, contains: Look, reply: found}
- {phase: show, reply: looked}
- {phase: draft, contains: Write, tool_calls: [{name: summarize, arguments: {text: long}}]}
- {phase: s, reply: short}
- {phase: t, reply: shorter}
- {phase: draft, contains: Write, reply: done}
- {phase: judge, reply: kind}
- {phase: say, reply: '{"valid": true, "reason": "kind"}'}
- {phase: end, reply: end}
`
)

func wardsOf(look, sum, tone string) files {
	return deep(fmt.Sprintf(lookWard, look), fmt.Sprintf(sumWard, sum), fmt.Sprintf(toneWard, tone))
}

func deepStore(t *testing.T) *store {
	t.Helper()
	s := &store{}
	if r := s.record(t, wardsOf("", "", ""), deepRun, nil); r.Status != "succeeded" || r.Usage.Calls != 12 {
		t.Fatalf("got %d calls: %+v %+v", r.Usage.Calls, r.Error, r.Verdicts)
	}
	return s
}

// withinRows returns the counts of the checks of deep.
func withinRows(r *backtest.Result) map[string]counts {
	list := map[string]counts{}
	for _, row := range r.Wards {
		list[row.Cascade+":"+row.Phase+" "+row.Validator] = row.Counts
	}
	return list
}

func checkWithin(t *testing.T, r *backtest.Result, want map[string]counts, wantMoves ...string) {
	t.Helper()
	got := withinRows(r)
	for name, c := range want {
		if got[name] != c {
			t.Errorf("%s: got %+v, want %+v", name, got[name], c)
		}
	}
	if len(got) != 5 {
		t.Errorf("got %d rows: %+v", len(got), got)
	}
	if got := moves(r); strings.Join(got, "\n") != strings.Join(wantMoves, "\n") {
		t.Errorf("moves: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantMoves, "\n"))
	}
}

// Every nested cascade is compared, with its input, state and outputs.
func TestWithin(t *testing.T) {
	s := deepStore(t)
	r := run(t, s.test(t, wardsOf("", "", "")))
	checkWithin(t, r, map[string]counts{
		":draft tone": {NotRun: 1}, ":draft expr": {Same: 1}, "look:draft expr": {Same: 1}, "sum:s expr": {Same: 1}, "tone:judge expr": {Same: 1},
	})
	if !r.Same() || r.Attempts != 9 || r.UnknownVisits != 0 {
		t.Errorf("got %+v", r)
	}
}

// Every check has a row at its place in the file, with or without verdicts.
func TestRowsOfAll(t *testing.T) {
	f := files{"cascade.yaml": `cascade_id: c
tools: {summarize: {cascade: sum.yaml}}
validators: {tone: {cascade: tone.yaml, input_map: {text: "{{ content }}"}}}
phases:
- name: draft
  instructions: Write.
  tackle: [summarize]
  wards: {tool: [{expr: "content != 'x'"}, {validator: tone}], result: [{expr: "content != 'y'"}], post: [{expr: "content != 'z'"}]}
- name: group
  together:
  - {name: a, instructions: A., wards: {post: [{expr: "content != 'q'"}]}}
  - {name: b, instructions: B.}
- {name: end, instructions: End., wards: {post: [{expr: "content != 'k'"}]}}
`,
		"sum.yaml":  "cascade_id: sum\nphases: [{name: s, instructions: Sum.}]",
		"tone.yaml": "cascade_id: tone\nphases: [{name: judge, instructions: Judge., wards: {post: [{expr: \"content != 'j'\"}]}}]",
	}
	s := &store{}
	if r := s.record(t, f, `
- {phase: draft, contains: Write, tool_calls: [{name: summarize, arguments: {text: long}}]}
- {phase: judge, reply: '{"valid": true, "reason": "kind"}'}
- {phase: s, reply: short}
- {phase: draft, contains: Write, reply: done}
- {phase: a, reply: a}
- {phase: b, reply: b}
- {phase: end, reply: end}
`, nil); r.Status != "succeeded" {
		t.Fatal(r.Error)
	}
	const want = `draft tool expr content != 'x'
draft tool tone 
draft result expr content != 'y'
draft post expr content != 'z'
tone/judge post expr content != 'j'
a post expr content != 'q'
end post expr content != 'k'
`
	for _, source := range []*store{s, {}} {
		got := ""
		for _, r := range run(t, source.test(t, f)).Wards {
			got += strings.TrimPrefix(r.Cascade+"/"+r.Phase, "/") + " " + r.Moment + " " + r.Validator + " " + r.Expr + "\n"
		}
		if got != want {
			t.Errorf("%d runs: got\n%swant\n%s", len(source.ids), got, want)
		}
	}
}

// A cascade that judged the text of a person is compared too.
func TestWithinAnEdit(t *testing.T) {
	f := files{"cascade.yaml": `cascade_id: c
validators: {tone: {cascade: tone.yaml, input_map: {text: "{{ content }}"}}}
phases:
- name: draft
  instructions: Write.
  wards: {post: [{validator: tone}]}
  human_input: {prompt: "Better?", type: edit}
`, "tone.yaml": "cascade_id: tone\nphases: [{name: judge, instructions: Judge., wards: {post: [{expr: \"content != 'j'\"}]}}]"}
	s := &store{}
	if r := s.record(t, f, `
- {phase: draft, reply: done}
- {phase: judge, times: 2, reply: '{"valid": true, "reason": "kind"}'}
`, nil, "done well"); r.Status != "succeeded" {
		t.Fatal(r.Error)
	}
	r := run(t, s.test(t, f))
	if got, want := withinRows(r), map[string]counts{":draft tone": {NotRun: 2}, "tone:judge expr": {Same: 2}}; !reflect.DeepEqual(got, want) || r.UnknownVisits != 0 {
		t.Errorf("got %+v, %d strange", got, r.UnknownVisits)
	}
}

// A sub-cascade that would have ended ends the run and saves every later call.
func TestSubEnds(t *testing.T) {
	s := deepStore(t)
	r := run(t, s.test(t, wardsOf("x", "", "")))
	checkWithin(t, r, map[string]counts{":draft expr": {Same: 1}, "look:draft expr": {NowFails: 1}, "sum:s expr": {Same: 1}},
		"run1 draft/sub[0]/look/draft/attempt[1]: released → blocked by post expr -8 +0")
	m, c := r.AttemptChanges[0], r.Changes[0]
	if m.Cascade != "look" || m.Phase != "draft" || c.Cascade != "look" || c.Path != m.Path || r.CountAfter(backtest.NotMade) != 7 || r.Saved != 8 {
		t.Errorf("got %+v %+v %+v", m, c, r.Outcomes)
	}
}

// on_error handles errors of a sub-cascade, and not rejections.
func TestSubBreaks(t *testing.T) {
	s := deepStore(t)
	for rule, want := range map[string]string{"fail": "-8 +0", "end": "-7 +0"} {
		f := deep("{validator: crashes}", fmt.Sprintf(sumWard, ""), fmt.Sprintf(toneWard, ""))
		f["cascade.yaml"] = strings.Replace(f["cascade.yaml"], "tackle: [summarize]", "tackle: [summarize]\n  rules: {on_error: "+rule+"}", 1)
		r := run(t, s.test(t, f))
		if got := moves(r); len(got) != 1 || got[0] != "run1 draft/sub[0]/look/draft/attempt[1]: released → failed by post crashes "+want {
			t.Errorf("on_error %s: got %v", rule, got)
		}
	}
}

// A tool that would have ended does not change the attempt, because the answer of the model is
// unknown.
func TestToolEnds(t *testing.T) {
	s := deepStore(t)
	r := run(t, s.test(t, wardsOf("", "x", "")))
	checkWithin(t, r, map[string]counts{":draft expr": {Same: 1}, "sum:s expr": {NowFails: 1}, "tone:judge expr": {Same: 1}},
		"run1 draft/attempt[1]/turn[0]/tool[0]/sum/s/attempt[1]: released → blocked by post expr -1 +0")
	if r.CountAfter(backtest.NotMade) != 1 || r.Saved != 1 {
		t.Errorf("got %+v", r.Outcomes)
	}
}

// A validator that would have ended gives no verdict. With judges, it gives its present verdict.
func TestValidatorEnds(t *testing.T) {
	s := deepStore(t)
	test := s.test(t, wardsOf("", "", "x"))
	r := run(t, test)
	checkWithin(t, r, map[string]counts{":draft tone": {NoVerdict: 1}, ":draft expr": {Same: 1}, "tone:judge expr": {NowFails: 1}},
		"run1 draft/attempt[1]/post[0]/tone/judge/attempt[1]: released → blocked by post expr -1 +0",
		"run1 draft/attempt[1]: released → failed by post tone -1 +0")
	if got := r.AttemptChanges[1].Reason; got != "cascade tone: phase judge: blocked by post expr: tone" {
		t.Errorf("got %q", got)
	}
	test.Judges, test.Host = true, host(t, `[{phase: judge, reply: x}, {phase: say, reply: '{"valid": true, "reason": "kind"}'}]`, nil)
	r = run(t, test)
	checkWithin(t, r, map[string]counts{":draft tone": {Same: 1}, "tone:judge expr": {NowFails: 1}},
		"run1 draft/attempt[1]/post[0]/tone/judge/attempt[1]: released → blocked by post expr -1 +0")
}

// A phase whose tool is a cascade has the outcome of that cascade.
func TestToolPhaseEnds(t *testing.T) {
	shape := func(expr string) files {
		return files{
			"cascade.yaml": "cascade_id: c\ntools: {sum: {cascade: sum.yaml}}\nphases:\n" +
				"- {name: work, tool: sum, inputs: {text: long}, wards: {post: [{judge: 'nice?', name: nice}]}, rules: {on_exhausted: end}}\n- {name: end, instructions: End.}",
			"sum.yaml": "cascade_id: sum\nphases: [{name: s, instructions: Sum., wards: {post: [{expr: \"input.text == 'long' && " + expr + "\", reason: sum, mode: retry, max_attempts: 1}]}}, {name: t, instructions: Sum.}]",
		}
	}
	const script = "[{phase: s, reply: short}, {phase: t, reply: shorter}, {validator: nice, reply: 'true'}, {phase: end, reply: end}]"
	s := &store{}
	if r := s.record(t, shape("true"), script, nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	r := run(t, s.test(t, shape("false")))
	if got, want := strings.Join(moves(r), "\n"), "run1 work/attempt[1]/tool/sum/s/attempt[1]: released → exhausted by post expr -1 +0\n"+
		"run1 work/attempt[1]: released → exhausted by tool sum -2 +0"; got != want || r.CountAfter(backtest.NotMade) != 2 {
		t.Errorf("got\n%s\nwant\n%s\n%+v", got, want, r.Outcomes)
	}
	// After such an end, there is no text for the checks of the phase.
	s = &store{}
	if r := s.record(t, shape("false"), script, nil); r.Status != "exhausted" {
		t.Fatalf("%+v", r.Error)
	}
	if r := run(t, s.test(t, shape("false"))); !r.Same() || r.Attempts != 1 {
		t.Errorf("got %v of %d", moves(r), r.Attempts)
	}
	if got := moves(run(t, s.test(t, shape("true")))); len(got) != 1 || got[0] != "run1 work/attempt[1]/tool/sum/s/attempt[1]: exhausted → released by  -0 +0" {
		t.Errorf("got %v", got)
	}
}

// A cascade that is a gate gets its recorded content.
func TestGateWithin(t *testing.T) {
	shape := func(expr string) files {
		return files{
			"cascade.yaml": "cascade_id: c\nvalidators: {tone: {cascade: tone.yaml}}\nphases:\n" +
				"- {name: draft, instructions: x}\n- {name: gate, tool: tone}\n- {name: next, instructions: x}\n- {name: other, tool: tone, inputs: {content: '{{ outputs.draft }}!'}}",
			"tone.yaml": "cascade_id: tone\nphases: [{name: say, instructions: x, wards: {post: [{expr: \"" + expr + "\", reason: tone}]}}]",
		}
	}
	const given = "input.attempt == 1 && (input.content == '[1]' && input.output[0] == 1 && input.outputs.draft == '[1]' || input.content == '[1]!')"
	s := &store{}
	if r := s.record(t, shape("true"), "[{phase: draft, reply: '[1]'}, {phase: say, reply: 'true'}, {phase: next, reply: x}, {phase: say, reply: 'true'}]", nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	if got := rows(run(t, s.test(t, shape(given)))); got["say post expr"] != (counts{Same: 2}) {
		t.Errorf("got %+v", got)
	}
	r := run(t, s.test(t, shape("input.content != '[1]'")))
	if got, want := strings.Join(moves(r), "\n"), "run1 gate/attempt[1]/tool/post[0]/tone/say/attempt[1]: released → blocked by post expr -0 +0\n"+
		"run1 gate/attempt[1]: released → failed by post tone -2 +0"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Visits that are not compared are counted.
func TestNotLookedAt(t *testing.T) {
	s := deepStore(t)
	for name, c := range map[string]struct {
		file, from, to string
		want           int
	}{
		"another sub-cascade":   {"look.yaml", "cascade_id: look", "cascade_id: see", 2},
		"another tool":          {"sum.yaml", "cascade_id: sum", "cascade_id: total", 2},
		"another validator":     {"tone.yaml", "cascade_id: tone", "cascade_id: mood", 2},
		"no such phase":         {"sum.yaml", "name: s,", "name: u,", 1},
		"no tool":               {"cascade.yaml", "  tackle: [summarize]\n", "", 2},
		"an input nobody knows": {"cascade.yaml", "{{ input.mood }} {{ outputs.plan }}", "{{ state.nothing }}", 2},
		"no such visit":         {"cascade.yaml", "{name: end,", "{name: fin,", 1},
		"nor what is within it": {"cascade.yaml", "name: draft\n", "name: drift\n", 7},
	} {
		f := wardsOf("", "", "")
		f[c.file] = strings.Replace(f[c.file], c.from, c.to, 1)
		r := run(t, s.test(t, f))
		if want := fmt.Sprintf("\n%d visit", c.want); r.UnknownVisits != c.want || !strings.Contains(words(t, r), want) {
			t.Errorf("%s: got %d\n%s", name, r.UnknownVisits, words(t, r))
		}
		// Later phases get the outputs of such visits.
		if got := withinRows(r)[":draft expr"]; got.NowFails+got.NoVerdict > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A further phase before it changes nothing.
	f := wardsOf("", "", "")
	f["see.yaml"] = "cascade_id: see\nphases: [{name: s, instructions: See.}]"
	f["cascade.yaml"] = strings.Replace(f["cascade.yaml"], "[{ref: look", "[{ref: see.yaml}, {ref: look", 1)
	if r := run(t, s.test(t, f)); r.UnknownVisits != 0 || !r.Same() {
		t.Errorf("got %+v", r)
	}
}

// After a sub-cascade that ended the visit, pre-wards do not run and the state is dropped.
func TestSubHadEnded(t *testing.T) {
	const text = `cascade_id: c
phases:
- name: draft
  instructions: "Write {{ outputs.look }}"
  sub_cascades: [{ref: look.yaml}]
  rules: {on_error: next}
  wards: {pre: [{validator: non_empty}]}
- {name: next, instructions: x, wards: {pre: [{expr: "state.deep == nil", reason: state}]}}
`
	f := files{"cascade.yaml": text, "look.yaml": "cascade_id: look\nphases: [{name: l, instructions: Look., tackle: [set_state], wards: {post: [{validator: crashes}]}}]"}
	s := &store{}
	if r := s.record(t, f, `
- {phase: l, tool_calls: [{name: set_state, arguments: {key: deep, value: "yes"}}]}
- {phase: l, reply: looked}
- {phase: next, reply: end}
`, nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	check(t, run(t, s.test(t, f)), map[string]counts{"l post crashes": {Same: 1}, "next pre expr": {Same: 1}})
	f["look.yaml"] = strings.Replace(f["look.yaml"], "cascade_id: look", "cascade_id: see", 1)
	f["cascade.yaml"] = strings.Replace(f["cascade.yaml"], "outputs.look", "outputs.see", 1)
	check(t, run(t, s.test(t, f)), map[string]counts{"next pre expr": {Same: 1}})
}

// Each use of a cascade has its own input and state.
func TestUsesWithin(t *testing.T) {
	const text = `cascade_id: c
validators: {tone: {cascade: tone.yaml, input_map: {t: "{{ turn_number }}{{ validation_error }}{{ content }}"}}}
phases:
- {name: zero, instructions: x, tackle: [set_state]}
- {name: first, instructions: x, tackle: [set_state], rules: {on_exhausted: draft}, wards: {post: [{expr: "false", reason: no, mode: retry, max_attempts: 1}]}}
- name: draft
  instructions: x
  sub_cascades:
  - {ref: look.yaml, input_map: {q: "{{ max_turns }}{{ validation_error }}"}, context_out: false}
  - {ref: look.yaml, input_map: {q: two}, context_in: false, context_out: false}
  rules: {max_turns: 2}
  wards: {turn: [{validator: tone}], post: [{expr: "state.k == 1 && outputs.first == nil && state.deep == nil", reason: state}]}
`
	f := files{
		"cascade.yaml": text,
		"look.yaml":    "cascade_id: look\nphases: [{name: l, instructions: x, tackle: [set_state], wards: {post: [{expr: \"content == 'one' && input.q == '2expr: no' && state.k == 1 || content == 'two' && input.q == 'two' && state.k == nil\", reason: given}]}}]",
		"tone.yaml":    "cascade_id: tone\nphases: [{name: say, instructions: x, wards: {post: [{expr: \"input.t == '1a' || input.t == '2b'\", reason: given}]}}]",
	}
	s := &store{}
	if r := s.record(t, f, `
- {phase: zero, tool_calls: [{name: set_state, arguments: {key: k, value: 1}}]}
- {phase: zero, reply: zero}
- {phase: first, tool_calls: [{name: set_state, arguments: {key: k, value: refused}}]}
- {phase: first, reply: first}
- {phase: l, tool_calls: [{name: set_state, arguments: {key: deep, value: 1}}]}
- {phase: l, reply: one}
- {phase: l, reply: two}
- {phase: draft, reply: a}
- {phase: say, reply: 'true'}
- {phase: draft, reply: b}
- {phase: say, reply: 'true'}
`, nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	r := run(t, s.test(t, f))
	check(t, r, map[string]counts{
		"first post expr": {Same: 1}, "l post expr": {Same: 2}, "say post expr": {Same: 2}, "draft turn tone": {NotRun: 2}, "draft post expr": {Same: 1},
	})
}

// The state of nested cascades that are not sub-cascades is not part of the run.
func TestSetWithin(t *testing.T) {
	f := files{
		"cascade.yaml": "cascade_id: c\nvalidators: {tone: {cascade: tone.yaml}}\nphases:\n" +
			"- {name: draft, instructions: x, sub_cascades: [{ref: look.yaml}], wards: {pre: [{validator: tone}]}}\n- {name: next, instructions: x, wards: {post: [{expr: \"state.k == 'look'\", reason: state}]}}",
		"look.yaml": "cascade_id: look\nphases: [{name: l, instructions: x, tackle: [set_state]}]",
		"tone.yaml": "cascade_id: tone\nphases: [{name: say, instructions: x, tackle: [set_state]}]",
	}
	s := &store{}
	if r := s.record(t, f, `
- {phase: l, tool_calls: [{name: set_state, arguments: {key: k, value: look}}]}
- {phase: l, reply: x}
- {phase: say, tool_calls: [{name: set_state, arguments: {key: k, value: say}}]}
- {phase: say, reply: 'true'}
- {phase: draft, reply: x}
- {phase: next, reply: x}
`, nil); r.Status != "succeeded" {
		t.Fatalf("%+v", r.Error)
	}
	f["cascade.yaml"] = strings.Replace(f["cascade.yaml"], "name: draft", "name: drift", 1)
	check(t, run(t, s.test(t, f)), map[string]counts{"next post expr": {Same: 1}})
}

// A phase whose tool was replaced by a model has no tool that could end it.
func TestToolPhaseNoMore(t *testing.T) {
	shape := func(phase, expr string) files {
		return files{
			"cascade.yaml": "cascade_id: c\ntools: {sum: {cascade: sum.yaml}}\nphases: [{name: work, " + phase + "}]",
			"sum.yaml":     "cascade_id: sum\nphases: [{name: s, instructions: Sum., wards: {post: [{expr: \"" + expr + "\", reason: sum}]}}]",
		}
	}
	s := &store{}
	s.record(t, shape("tool: sum", "true"), "[{phase: s, reply: short}]", nil)
	want := []string{"run1 work/attempt[1]/tool/sum/s/attempt[1]: released → blocked by post expr -0 +0"}
	if got := moves(run(t, s.test(t, shape("instructions: x, tackle: [sum]", "false")))); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	want = append(want, "run1 work/attempt[1]: released → blocked by tool sum -0 +0")
	if got := moves(run(t, s.test(t, shape("tool: sum", "false")))); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	s = &store{}
	s.record(t, shape("tool: sum", "false"), "[{phase: s, reply: short}]", nil)
	if r := run(t, s.test(t, shape("tool: sum", "false"))); !r.Same() || r.Attempts != 1 {
		t.Errorf("got %v of %d", moves(r), r.Attempts)
	}
}

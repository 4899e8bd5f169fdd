package telemetry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

func started(t testing.TB, r *receiver, o telemetry.Options) *telemetry.Telemetry {
	t.Helper()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(r.URL+"/v1/traces"), otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: time.Millisecond, MaxInterval: time.Millisecond, MaxElapsedTime: time.Minute,
	}))
	if err != nil {
		t.Fatal(err)
	}
	o.Exporter = exporter
	tel, err := telemetry.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

func stop(t testing.TB, tel *telemetry.Telemetry) {
	t.Helper()
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// run runs the first of several files with a script.
func run(t testing.TB, sink event.Sink, id, script string, files ...string) (engine.Result, error) {
	t.Helper()
	m, err := scripted.Parse("script.yaml", []byte(script), nil)
	if err != nil {
		t.Fatal(err)
	}
	return runWith(t, sink, id, m, files...)
}

func runWith(t testing.TB, sink event.Sink, id string, m model.Model, files ...string) (engine.Result, error) {
	t.Helper()
	options := []runner.Option{runner.WithModel(m), runner.WithModelName("openai:gpt-5"), runner.WithSink(sink)}
	if tel, ok := sink.(*telemetry.Telemetry); ok {
		options = append(options, runner.WithTrace(tel.Context))
	}
	r, err := runner.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	open := func(name string) ([]byte, error) {
		for _, f := range files[1:] {
			if strings.HasPrefix(f, "cascade_id: "+strings.TrimSuffix(name, ".yaml")+"\n") {
				return []byte(f), nil
			}
		}
		return nil, fmt.Errorf("no file %s", name)
	}
	c, err := cascades.Parse("main.yaml", []byte(files[0]), open, r.Known())
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(t.Context(), c, nil, runner.WithRunID(id))
}

func want(t *testing.T, r *receiver, tree string) {
	t.Helper()
	if got := strings.TrimSpace(r.tree()); got != strings.TrimSpace(tree) {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(tree))
	}
	inside(t, r.spans())
}

// inside checks that every span lies within its parent.
func inside(t *testing.T, all []*tracepb.Span) {
	t.Helper()
	byID := map[string]*tracepb.Span{}
	for _, s := range all {
		byID[string(s.SpanId)] = s
	}
	for _, s := range all {
		if s.EndTimeUnixNano < s.StartTimeUnixNano {
			t.Errorf("%s ends before it starts", s.Name)
		}
		if p := byID[string(s.ParentSpanId)]; p != nil && (s.StartTimeUnixNano < p.StartTimeUnixNano || s.EndTimeUnixNano > p.EndTimeUnixNano) {
			t.Errorf("%s is not within %s: %d–%d in %d–%d", s.Name, p.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, p.StartTimeUnixNano, p.EndTimeUnixNano)
		}
	}
}

const drafts = `cascade_id: post
phases:
  - name: draft
    instructions: Write of a secret place.
    tackle: [set_state]
    rules: {max_turns: 2}
    wards:
      post:
        - {validator: contains, with: {text: owl}, mode: retry, max_attempts: 2}
        - {judge: "Is it friendly?", name: tone, mode: advisory}
  - {name: polish, instructions: Polish.}
`

const draftScript = `
- {phase: draft, attempt: 1, turn: 0, tool_calls: [{name: set_state, arguments: {key: mood, value: gloomy}}]}
- {phase: draft, attempt: 1, turn: 0, reply: a cave}
- {phase: draft, attempt: 1, turn: 1, reply: a dark cave}
- {validator: tone, reply: '{"valid": false, "reason": "a cold cave", "score": 0.25}'}
- {phase: draft, attempt: 2, turn: 0, reply: an owl, usage: {input_tokens: 11, output_tokens: 7}}
- {phase: draft, attempt: 2, turn: 1, reply: an owl's cave}
- {validator: tone, reply: '{"valid": true, "reason": "fine", "score": 0.75}'}
- {phase: polish, reply: polished}
`

const draftTree = `invoke_workflow post (capstan.route polish)
  phase draft (capstan.feedback)
    attempt 1
      turn 0
        chat gpt-5
        execute_tool set_state
        chat gpt-5
      turn 1
        chat gpt-5
      ward tone (result fail)
        chat gpt-5
      ward contains (result fail)
    attempt 2
      turn 0
        chat gpt-5
      turn 1
        chat gpt-5
      ward tone (result pass)
        chat gpt-5
      ward contains (result pass)
  phase polish
    attempt 1
      turn 0
        chat gpt-5
`

// TestTree checks the tree and the attributes of a normal run.
func TestTree(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{Version: "1.2.3"})
	before := time.Now()
	if _, err := run(t, tel, "run-1", draftScript, drafts); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	want(t, rec, draftTree)
	all := rec.spans()
	for _, s := range all {
		if got := fmt.Sprintf("%x", s.TraceId); got != telemetry.TraceID("run-1").String() {
			t.Errorf("%s is of trace %s", s.Name, got)
		}
		if at := time.Unix(0, int64(s.StartTimeUnixNano)); at.Before(before) || at.After(time.Now()) {
			t.Errorf("%s starts %v", s.Name, at)
		}
	}
	root := all[0]
	for key, want := range map[string]string{
		"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": "post", "gen_ai.conversation.id": "run-1",
		"capstan.run.id": "run-1", "capstan.status": "succeeded",
	} {
		if got := text(root, key); got != want {
			t.Errorf("run: %s is %q, want %q", key, got, want)
		}
	}
	if n := number(root, "capstan.usage.model_calls"); n != 8 {
		t.Errorf("run: %d calls", n)
	}
	for _, s := range all {
		if text(s, "capstan.path") != "draft/attempt[2]/turn[0]/model" {
			continue
		}
		if s.Kind != tracepb.Span_SPAN_KIND_CLIENT || text(s, "gen_ai.provider.name") != "scripted" || text(s, "gen_ai.request.model") != "gpt-5" ||
			number(s, "gen_ai.usage.input_tokens") != 11 || number(s, "gen_ai.usage.output_tokens") != 7 || text(s, "gen_ai.operation.name") != "chat" {
			t.Errorf("model: %v", s)
		}
	}
	tool := rec.span("execute_tool set_state")
	if text(tool, "gen_ai.tool.name") != "set_state" || text(tool, "gen_ai.operation.name") != "execute_tool" || text(tool, "gen_ai.tool.call.id") == "" {
		t.Errorf("tool: %v", tool)
	}
	resource := rec.batches[0].ResourceSpans[0].Resource.Attributes
	if got := find(resource, "service.name").GetStringValue(); got != "capstan" {
		t.Errorf("service.name is %q", got)
	}
}

// TestVerdict checks that a ward's span has the verdict and a link to the judged call.
func TestVerdict(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	if _, err := run(t, tel, "run-1", draftScript, drafts); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	ward := rec.span("ward tone")
	if text(ward, "capstan.moment") != "post" || text(ward, "capstan.mode") != "advisory" || text(ward, "capstan.validator") != "tone" ||
		find(ward.Attributes, "capstan.valid") == nil || find(ward.Attributes, "capstan.valid").GetBoolValue() {
		t.Errorf("%v", ward)
	}
	e := ward.Events[0]
	if e.Name != "gen_ai.evaluation.result" || e.TimeUnixNano != ward.EndTimeUnixNano {
		t.Errorf("%v", e)
	}
	for key, want := range map[string]string{"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.label": "fail"} {
		if got := find(e.Attributes, key).GetStringValue(); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
	if got := find(e.Attributes, "gen_ai.evaluation.score.value").GetDoubleValue(); got != 0.25 {
		t.Errorf("the score is %v", got)
	}
	for _, ward := range []*tracepb.Span{ward, rec.span("ward contains")} {
		if len(ward.Links) != 1 {
			t.Fatalf("links: %v", ward.Links)
		}
		for _, s := range rec.spans() {
			if string(s.SpanId) == string(ward.Links[0].SpanId) && text(s, "capstan.path") != "draft/attempt[1]/turn[1]/model" {
				t.Errorf("linked to %s", text(s, "capstan.path"))
			}
		}
	}
}

// TestContent checks that content is sent only on request.
func TestContent(t *testing.T) {
	telling := []string{"gloomy", "cave", "secret place", "friendly", "owl", "does not contain"}
	for _, content := range []bool{false, true} {
		rec := newReceiver(t)
		tel := started(t, rec, telemetry.Options{Content: content})
		if _, err := run(t, tel, "run-1", draftScript, drafts); err != nil {
			t.Fatal(err)
		}
		stop(t, tel)
		for _, word := range telling {
			if got := strings.Contains(rec.raw.String(), word); got != content {
				t.Errorf("content %v: %q is sent: %v", content, word, got)
			}
		}
		for _, s := range rec.spans() {
			for _, a := range telemetry.Table() {
				if a.Content && !content && find(s.Attributes, a.Name) != nil {
					t.Errorf("%s has %s", s.Name, a.Name)
				}
			}
		}
		if !content {
			continue
		}
		var in, out []map[string]any
		for _, s := range rec.spans() {
			if text(s, "capstan.path") == "draft/attempt[1]/turn[0]/model[1]" {
				if err := errors.Join(json.Unmarshal([]byte(text(s, "gen_ai.input.messages")), &in), json.Unmarshal([]byte(text(s, "gen_ai.output.messages")), &out)); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, _ := json.Marshal([]any{in, out})
		for _, want := range []string{
			`[[{"parts":[{"content":"Write of a secret place.","type":"text"}],"role":"user"},{`,
			`"arguments":{"key":"mood","value":"gloomy"}`, `"type":"tool_call_response"`, `"response":"set mood"`,
			`[{"finish_reason":"stop","parts":[{"content":"a cave","type":"text"}],"role":"assistant"}]`,
		} {
			if !strings.Contains(string(got), want) {
				t.Errorf("%s lacks %s", got, want)
			}
		}
		if got := text(rec.span("execute_tool set_state"), "gen_ai.tool.call.arguments"); got != `{"key":"mood","value":"gloomy"}` {
			t.Errorf("arguments: %s", got)
		}
	}
}

// TestContentIsBounded checks that long content is cut and remains JSON.
func TestContentIsBounded(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{Content: true})
	huge := strings.Repeat("héllo \xff", 1<<20)
	chatty := model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: huge}, nil
	})
	if _, err := runWith(t, tel, "r", chatty, "cascade_id: c\nphases: [{name: a, instructions: a, rules: {max_turns: 4}}]"); err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	seen := 0
	for _, s := range rec.spans() {
		for _, key := range []string{"gen_ai.input.messages", "gen_ai.output.messages"} {
			v := find(s.Attributes, key).GetStringValue()
			if v == "" {
				continue
			}
			seen++
			var list []any
			if len(v) > 40<<10 || json.Unmarshal([]byte(v), &list) != nil || len(list) == 0 {
				t.Errorf("%s: %d bytes: %.60s", key, len(v), v)
			}
		}
	}
	if seen != 8 || !find(rec.span("chat gpt-5").Attributes, "capstan.content.truncated").GetBoolValue() {
		t.Errorf("%d attributes of content, or none is marked as shortened", seen)
	}
}

// TestSoundings checks concurrent branches, the evaluator, and the winner, whose attempt
// continues after its end.
func TestSoundings(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	_, err := run(t, tel, "r", `
- {phase: line, reply: one}
- {phase: line, reply: a line that is much too long}
- {phase: line, reply: three}
- {role: evaluator, reply: '{"winner": 2}'}
- {phase: line, reply: with feeling!}
`, `cascade_id: s
phases:
  - name: line
    instructions: Write a line.
    soundings: {factor: 3, max_parallel: 1, validator: {expr: "len(content) < 20"}, evaluator_instructions: Pick one.}
    wards: {post: [{validator: contains, with: {text: "!"}, mode: retry, max_attempts: 2}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	branch := func(n int, label string) string {
		return fmt.Sprintf("    sounding %d\n      attempt 1\n        turn 0\n          chat gpt-5\n      ward expr (result %s)\n", n, label)
	}
	want(t, rec, `invoke_workflow s
  phase line
`+branch(0, "pass")+branch(1, "fail")+`    sounding 2
      attempt 1 (capstan.feedback)
        turn 0
          chat gpt-5
        ward contains (result fail)
      ward expr (result pass)
      attempt 2
        turn 0
          chat gpt-5
        ward expr (result pass)
        ward contains (result pass)
    chat gpt-5
`)
}

// TestNested checks cascades before a phase, as a tool and as a validator.
func TestNested(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	_, err := run(t, tel, "r", `
- {phase: look, reply: facts}
- {phase: write, tool_calls: [{name: sum, arguments: {text: much}}]}
- {phase: short, reply: little}
- {phase: write, reply: done}
- {phase: check, reply: '{"valid": true, "reason": "so"}'}
`, `cascade_id: parent
tools: {sum: {cascade: brief.yaml}}
validators: {facts: {cascade: facts.yaml}}
phases:
  - name: write
    instructions: Write.
    sub_cascades: [{ref: research.yaml}]
    tackle: [sum]
    wards: {post: [{validator: facts}]}
`, "cascade_id: research\nphases: [{name: look, instructions: Look.}]",
		"cascade_id: brief\nphases: [{name: short, instructions: Shorten.}]",
		"cascade_id: facts\nphases: [{name: check, instructions: Check.}]")
	if err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	nested := func(indent, cascade, phase string) string {
		text := "invoke_workflow " + cascade + "\n  phase " + phase + "\n    attempt 1\n      turn 0\n        chat gpt-5\n"
		return indent + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+indent) + "\n"
	}
	want(t, rec, "invoke_workflow parent\n  phase write\n"+nested("    ", "research", "look")+
		"    attempt 1\n      turn 0\n        chat gpt-5\n        execute_tool sum\n"+nested("          ", "brief", "short")+
		"        chat gpt-5\n      ward facts (result pass)\n"+nested("        ", "facts", "check"))
}

// TestSideBySide checks fan-outs with wards, and groups.
func TestSideBySide(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	_, err := run(t, tel, "r", `
- {phase: line, contains: red, reply: "red!"}
- {phase: line, contains: blue, reply: blue}
- {phase: post, reply: one}
- {phase: pick, reply: a, times: always}
- {role: evaluator, reply: '{"winner": 1}'}
`, `cascade_id: s
phases:
  - name: line
    each: {in: ["red", "blue"], max_parallel: 1, on_failure: keep}
    instructions: "Write of {{ item }}."
    wards: {post: [{validator: contains, with: {text: "!"}, mode: retry, max_attempts: 1}]}
  - name: both
    together:
      - {name: post, instructions: Write.}
      - {name: pick, instructions: Pick., soundings: {factor: 2, max_parallel: 1, evaluator_instructions: Pick one.}}
`)
	if err != nil {
		t.Fatal(err)
	}
	stop(t, tel)
	for path, above := range map[string]string{
		"line/item[0]": "line", "line/item[1]": "line", "line/item[1]/attempt[1]": "line/item[1]", "line/item[1]/attempt[1]/post[0]": "line/item[1]/attempt[1]",
		"both/post": "both", "both/pick": "both", "both/post/attempt[1]": "both/post", "both/pick/sounding[1]": "both/pick", "both/pick/evaluator/model": "both/pick",
	} {
		if got := rec.above(path); got != above {
			t.Errorf("%s is below %q, want %q", path, got, above)
		}
	}
	for name, status := range map[string]string{"item 0": "succeeded", "item 1": "exhausted", "phase post": "succeeded", "phase line": "degraded"} {
		if s := rec.span(name); text(s, "capstan.status") != status {
			t.Errorf("%s is %s, want %s", name, text(s, "capstan.status"), status)
		}
	}
	if n := number(rec.span("item 1"), "capstan.item"); n != 1 {
		t.Errorf("item 1 has the number %d", n)
	}
}

// TestToolWards checks calls that are made, refused, withheld or blocked.
func TestToolWards(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	_, err := run(t, tel, "r", `
- phase: work
  tool_calls: [{name: set_state, arguments: {key: a, value: 1}}, {name: set_state, arguments: {key: b, value: 1}}, {name: set_state, arguments: {key: odd, value: 1}}]
- {phase: work, reply: done}
- {validator: fine, reply: '{"valid": true, "reason": "so"}', times: always}
- {phase: more, tool_calls: [{name: set_state, arguments: {key: a, value: 1}}, {name: set_state, arguments: {key: c, value: 1}}]}
`, `cascade_id: w
phases:
  - name: work
    instructions: Work.
    tackle: [set_state]
    wards:
      tool: [{expr: "output.key != 'b'", mode: retry}]
      result: [{judge: "Is it fine?", name: fine, mode: advisory}, {expr: "not (content contains 'odd')", mode: retry}]
  - name: more
    instructions: Work.
    tackle: [set_state]
    wards: {tool: [{expr: "output.key != 'c'"}]}
`)
	if err == nil {
		t.Fatal("nothing was blocked")
	}
	stop(t, tel)
	want(t, rec, `invoke_workflow w !blocked (capstan.route more)
  phase work
    attempt 1
      turn 0
        chat gpt-5
        execute_tool set_state
          ward expr (result pass)
          ward fine (result pass)
            chat gpt-5
          ward expr (result pass)
        execute_tool set_state !refused
          ward expr (result fail)
        execute_tool set_state
          ward expr (result pass)
          ward fine (result pass)
            chat gpt-5
          ward expr (result fail)
        chat gpt-5
  phase more !blocked
    attempt 1 !blocked
      turn 0
        chat gpt-5
        execute_tool !not_made
          ward expr (result pass)
        execute_tool !not_made
          ward expr (result fail)
`)
}

// TestEnds checks failed gates, failures, validators without a verdict, missing answers and
// repeated visits.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct{ cascade, script, tree, message string }{
		"blocked": {"cascade_id: c\nphases: [{name: a, instructions: a}, {name: gate, tool: contains, inputs: {text: owl}}]",
			"- {phase: a, reply: a bird}", `
invoke_workflow c !blocked (capstan.route gate)
  phase a
    attempt 1
      turn 0
        chat gpt-5
  phase gate !blocked
    attempt 1 !blocked
      ward contains (result fail)`, "blocked"},
		"failed": {"cascade_id: c\nphases: [{name: a, instructions: a}]",
			"- {phase: a, error: {status: 400}}", `
invoke_workflow c !failed
  phase a !failed
    attempt 1 !failed
      turn 0
        chat gpt-5 !rejected`, "failed"},
		"unsaid": {"cascade_id: c\nphases: [{name: a, instructions: a, wards: {post: [{judge: 'Good?', name: j, mode: advisory}]}}]",
			"- {phase: a, reply: x}\n- {validator: j, reply: perhaps, times: 3}", `
invoke_workflow c
  phase a
    attempt 1
      turn 0
        chat gpt-5
      ward j !validator_error (result validator_error)
        chat gpt-5
        chat gpt-5
        chat gpt-5`, ""},
		"waiting": {"cascade_id: c\nphases: [{name: a, instructions: a, human_input: {prompt: 'Well?', type: text, store_as: x}}]",
			"- {phase: a, reply: x}", `
invoke_workflow c
  phase a (capstan.waiting)
    attempt 1
      turn 0
        chat gpt-5`, ""},
		"loop": {"cascade_id: c\nbudget: {max_phases: 2}\nphases: [{name: a, when: 'false', instructions: a, handoffs: [b]}, {name: b, instructions: b, handoffs: [a]}]",
			"- {phase: b, reply: x, times: always}", `
invoke_workflow c !over_budget (capstan.route a)
  phase a
  phase b
    attempt 1
      turn 0
        chat gpt-5`, "over_budget"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := newReceiver(t)
			tel := started(t, rec, telemetry.Options{})
			run(t, tel, "r", c.script, c.cascade)
			stop(t, tel)
			want(t, rec, c.tree)
			if got := rec.span("invoke_workflow c").Status.GetMessage(); got != c.message {
				t.Errorf("the run's status says %q", got)
			}
		})
	}
}

// TestVisits checks that each visit of a phase has its own span.
func TestVisits(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	run(t, tel, "r", "- {phase: a, reply: x, times: always}", "cascade_id: c\nbudget: {max_phases: 3}\nphases: [{name: a, instructions: a, handoffs: [a]}]")
	stop(t, tel)
	var got []int64
	for _, s := range rec.spans() {
		if s.Name == "phase a" {
			got = append(got, number(s, "capstan.visit"))
		}
	}
	if fmt.Sprint(got) != "[1 2 3]" {
		t.Errorf("visits %v", got)
	}
}

// TestInterrupted checks that an interrupted call ends with its parent.
func TestInterrupted(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := runner.New(runner.WithSink(tel), runner.WithModelName("m"), runner.WithModel(model.Func(func(c context.Context, _ model.Request) (model.Response, error) {
		cancel()
		<-c.Done()
		return model.Response{}, c.Err()
	})))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cascades.Parse("c.yaml", []byte("cascade_id: c\nphases: [{name: a, instructions: a}]"), nil, r.Known())
	if err != nil {
		t.Fatal(err)
	}
	r.Run(ctx, c, nil)
	stop(t, tel)
	want(t, rec, `
invoke_workflow c !cancelled
  phase a !cancelled
    attempt 1 !cancelled
      turn 0
        chat m !interrupted`)
}

// TestMiddle checks events from the middle of a run.
func TestMiddle(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	at := time.Unix(1_700_000_000, 0)
	yes := true
	for i, e := range []event.Event{
		{Kind: event.ModelReplied, Path: "draft[2]/attempt[3]/turn[1]/model", Response: &model.Response{Model: "m-1"}},
		{Kind: event.VerdictGiven, Path: "draft[2]/attempt[3]/turn[1]/redo[1]/ward[0]", Verdict: &event.Verdict{Validator: "v", Valid: &yes}},
		{Kind: event.ToolCalled, Path: "draft[2]/attempt[3]/turn[1]/redo[1]/tool[0]"},
	} {
		e.Run, e.Time = "r", at.Add(time.Duration(i)*time.Second)
		tel.Emit(e)
	}
	stop(t, tel)
	want(t, rec, `
invoke_workflow !interrupted
  phase draft !interrupted
    attempt 3 !interrupted
      turn 1
        chat
        ward v (result pass)
        execute_tool !interrupted`)
	root := rec.spans()[0]
	if number(rec.span("phase draft"), "capstan.visit") != 2 || fmt.Sprintf("%x", root.TraceId) != telemetry.TraceID("r").String() {
		t.Errorf("%v", root)
	}
	if root.EndTimeUnixNano-root.StartTimeUnixNano != uint64(2*time.Second) {
		t.Errorf("the run takes %d", root.EndTimeUnixNano-root.StartTimeUnixNano)
	}
}

// TestEndsEarly checks that a turn is sent when the next one begins, and that a repeated run
// ends the previous one.
func TestEndsEarly(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	sent := make(chan string, 100)
	tel, err := telemetry.New(t.Context(), telemetry.Options{Exporter: names(sent)})
	if err != nil {
		t.Fatal(err)
	}
	emit := func(k event.Kind, p event.Path) { tel.Emit(event.Event{Run: "r", Kind: k, Path: p, Time: time.Now()}) }
	emit(event.RunStarted, "")
	emit(event.TurnStarted, "a/attempt[1]/turn[0]")
	emit(event.TurnStarted, "a/attempt[1]/turn[1]")
	if got := <-sent; got != "turn 0" {
		t.Errorf("got %s", got)
	}
	emit(event.RunStarted, "")
	var got []string
	for range 4 {
		got = append(got, <-sent)
	}
	if fmt.Sprint(got) != "[turn 1 attempt 1 phase a invoke_workflow]" {
		t.Errorf("got %v", got)
	}
	stop(t, tel)
}

// names is an exporter that reports the names of spans.
type names chan string

func (n names) ExportSpans(_ context.Context, spans []sdk.ReadOnlySpan) error {
	for _, s := range spans {
		n <- s.Name()
	}
	return nil
}

func (names) Shutdown(context.Context) error { return nil }

// TestResumed checks that a resumed run has the same trace.
func TestResumed(t *testing.T) {
	rec := newReceiver(t)
	for range 2 {
		tel := started(t, rec, telemetry.Options{})
		run(t, tel, "same", "- {phase: a, reply: x}", "cascade_id: c\nphases: [{name: a, instructions: a}]")
		stop(t, tel)
	}
	traces, spans := map[string]bool{}, map[string]bool{}
	for _, s := range rec.spans() {
		traces[string(s.TraceId)], spans[string(s.SpanId)] = true, true
	}
	if len(traces) != 1 || len(spans) != 10 {
		t.Errorf("%d traces, %d spans", len(traces), len(spans))
	}
}

// TestRunsAtOnce checks concurrent runs.
func TestRunsAtOnce(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if _, err := run(t, tel, fmt.Sprint("run-", i), draftScript, drafts); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := tel.Open(); n != 0 {
		t.Errorf("%d runs are kept", n)
	}
	stop(t, tel)
	count := map[string]int{}
	for _, s := range rec.spans() {
		count[fmt.Sprintf("%x", s.TraceId)]++
	}
	for i := range 8 {
		if n := count[telemetry.TraceID(fmt.Sprint("run-", i)).String()]; n != 24 {
			t.Errorf("run %d has %d spans", i, n)
		}
	}
	inside(t, rec.spans())
}

// TestManyPhases checks that all spans of a thousand phases are sent or counted.
func TestManyPhases(t *testing.T) {
	rec := newReceiver(t)
	tel := started(t, rec, telemetry.Options{})
	_, err := run(t, tel, "r", "- {phase: a, reply: x, times: always}", "cascade_id: c\nbudget: {max_phases: 1000}\nphases: [{name: a, instructions: a, handoffs: [a]}]")
	var over *engine.Error
	if !errors.As(err, &over) || over.Code != engine.OverBudget {
		t.Fatal(err)
	}
	err = tel.Shutdown(t.Context())
	if got := int64(len(rec.spans())) + tel.Lost(); got != 4001 {
		t.Errorf("%d spans came and %d were lost, of 4001", len(rec.spans()), tel.Lost())
	}
	if (err == nil) != (tel.Lost() == 0) {
		t.Errorf("%d were lost: %v", tel.Lost(), err)
	}
}

// TestReceiverDown checks that a failing receiver does not affect the run, and is reported
// once.
func TestReceiverDown(t *testing.T) {
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "12")
	rec := newReceiver(t)
	down := newReceiver(t)
	down.Close()
	for name, c := range map[string]struct {
		at     *receiver
		answer func(int, http.ResponseWriter)
		lost   int64
	}{
		"down":    {down, nil, 24},
		"refuses": {rec, func(_ int, w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, 24},
		"partial": {rec, func(_ int, w http.ResponseWriter) {
			text, _ := proto.Marshal(&collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 3, ErrorMessage: "too old"}})
			w.Header().Set("Content-Type", "application/x-protobuf")
			w.Write(text)
		}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			c.at.answer = c.answer
			reported := 0
			tel := started(t, c.at, telemetry.Options{OnError: func(err error) { reported++ }})
			if res, err := run(t, tel, "r", draftScript, drafts); err != nil || res.Output != "polished" {
				t.Errorf("the run: %v", err)
			}
			err := tel.Shutdown(t.Context())
			if err == nil || reported != 1 || tel.Lost() != c.lost {
				t.Errorf("%d errors reported, %d spans lost: %v", reported, tel.Lost(), err)
			}
		})
	}
}

// TestShutdownIsBounded checks the time limit of Shutdown.
func TestShutdownIsBounded(t *testing.T) {
	rec := newReceiver(t)
	release := make(chan struct{})
	rec.answer = func(int, http.ResponseWriter) { <-release }
	defer close(release)
	tel := started(t, rec, telemetry.Options{})
	tel.Emit(event.Event{Kind: event.RunStarted, Run: "r", RunID: "r"})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := tel.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "1 spans were lost") {
		t.Errorf("got %v", err)
	}
	tel.Emit(event.Event{Kind: event.RunFinished, Run: "r"}) // too late: it has no effect
}

// TestNone checks a nil Telemetry.
func TestNone(t *testing.T) {
	var tel *telemetry.Telemetry
	tel.Emit(event.Event{Kind: event.RunStarted})
	if err := tel.Shutdown(t.Context()); err != nil || tel.Lost() != 0 {
		t.Error(err)
	}
	if n := testing.AllocsPerRun(100, func() { tel.Emit(event.Event{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, err := telemetry.New(t.Context(), telemetry.Options{}); err == nil {
		t.Error("no exporter, no error")
	}
}

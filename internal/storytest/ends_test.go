package storytest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// ends are files that end their run in different ways, with the status and the check or
// place in the error.
var ends = map[string]struct{ file, status, says string }{
	"no JSON to take out":    {`phases: [{name: a, compose: "<x>[</x>", output_extraction: {pattern: "<x>(.*)</x>", store_as: x, format: json}}]`, engine.Exhausted, "output_extraction: "},
	"a gate that cannot say": {`phases: [{name: a, tool: crashes, handoffs: [{target: end, when: "true"}]}]`, engine.Failed, "crashes gave no verdict: the validator crashed"},
	"a turn of which loop_until cannot say": {`phases: [{name: a, instructions: a, rules: {max_turns: 2, loop_until: {validator: crashes}}}]`, engine.Failed,
		"loop_until crashes gave no verdict: the validator crashed"},
	"the first turn alone of which it cannot say": {`phases: [{name: a, instructions: a, rules: {max_turns: 2, loop_until: {expr: "turn > 0 || output.gone.gone"}}}]`, engine.Failed,
		"loop_until expr gave no verdict: "},
	"a judge with nonsense in a vote": {`phases: [{name: a, compose: a, wards: {post: [{judge: fine, name: j, votes: 3}]}}]`, engine.Failed, "post j gave no verdict: "},
	"an evaluator with nonsense": {`phases: [{name: a, instructions: a, soundings: {factor: 2, evaluator_instructions: One.}}]`, engine.Failed,
		"the evaluator named none of the 2 candidates; it gave: Perhaps."},
	"an input that is missing":    {"inputs_schema: {topic: {type: string, description: of what}}\nphases: [{name: a, compose: a}]", engine.Failed, "input topic is missing: of what"},
	"an answer that is none":      {`phases: [{name: a, compose: a, human_input: {prompt: "Well?"}}]`, engine.Failed, "the answer is none: want true or false"},
	"an answer that is no option": {`phases: [{name: a, tool: ask_human, inputs: {question: "Which?", options: [red, blue]}}]`, engine.Failed, "the answer is none: want one of red, blue"},
	"a blocked call beside the choice": {`phases: [{name: a, instructions: a, tackle: [add], wards: {tool: [{expr: "false", reason: never}]}, ` + ways, engine.Blocked,
		"tool expr: never"},
	"a refused call beside the choice": {`phases: [{name: a, instructions: a, tackle: [add], wards: {tool: [{expr: "false", reason: never, mode: retry, max_attempts: 1}]}, ` + ways, engine.Exhausted,
		"tool expr: never"},
	"a call that may be asked for again beside the choice": {`phases: [{name: a, instructions: a, tackle: [add], wards: {tool: [{expr: "false", reason: never, mode: retry, max_attempts: 2}]}, ` + ways, engine.Failed,
		"the model chose none of the handoffs"},
	"a schema that says nothing of a text":     {`phases: [{name: a, compose: "1", output_schema: {$ref: "#"}}]`, engine.Failed, "output_schema gave no verdict: JSON schema: no telling"},
	"a schema that says nothing of a value":    {`phases: [{name: a, tool: add, inputs: {a: 1, b: 2}, output_schema: {$ref: "#"}}]`, engine.Failed, "output_schema gave no verdict: JSON schema: no telling"},
	"a schema that says nothing of an input":   {"inputs_schema: {topic: {default: 1, $ref: '#'}}\nphases: [{name: a, compose: a}]", engine.Failed, "input topic: JSON schema: no telling"},
	"outputs of a group that are not the same": {"phases: [{name: a, together: [{name: b, " + same + "}, {name: c, " + same + "}]}]", engine.Failed, "phases b and c bring outputs.sub, and not the same"},
}

const (
	ways = `handoffs: [{target: end, description: one}, {target: a, description: the other}]}]`
	same = `compose: b, sub_cascades: [{ref: sub.yaml, input_map: {}, context_out: true}]`
	asks = `
-- sub.yaml --
cascade_id: sub
phases: [{name: s, instructions: Say.}]
-- script.yaml --
- {phase: s, reply: one}
- {phase: s, reply: two}
- {phase: a, contains: Choose, tool_calls: [{name: add, arguments: {a: 1, b: 2}}]}
- {phase: a, reply: text, times: always}
- {validator: j, reply: '{"valid": true}'}
- {validator: j, reply: perhaps, times: always}
- {role: evaluator, reply: Perhaps., times: always}
-- answers.json --
["perhaps"]
`
)

func TestEnds(t *testing.T) {
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			s := storytest.Read(t, "ends", []byte("A file that ends its run.\n-- cascade.yaml --\ncascade_id: c\n"+c.file+asks))
			result, err := engine.Run(s.Host(t), s.Cascade, s.Start())
			if result.Status != c.status || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("it is %s: %v", result.Status, err)
			}
		})
	}
}

// errEnded is the error of a host whose scope is over.
var errEnded = errors.New("the scope is over")

// A stopping host reports the end of its scope from the k-th question on.
type stopping struct {
	engine.Host
	left *int
}

func (h stopping) Stopped() error {
	if *h.left--; *h.left < 0 {
		return errEnded
	}
	return h.Host.Stopped()
}

func (h stopping) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(stopping{inner, h.left}, i) })
}

const computing = `What computes for long.
-- cascade.yaml --
cascade_id: c
inputs_schema: {list: {type: array, items: {type: "null"}}}
phases:
  - {name: a, compose: "{{ input.list | tojson }}", when: "all(input.list, # == nil)", output_schema: {items: {type: "null"}}, handoffs: [{target: b, when: "all(input.list, # == nil)"}]}
  - {name: b, compose: "{{ input.list | tojson }}", output_schema: {items: {type: "null"}}}
`

// If the host has stopped, the run ends with the host's error at every place
// that checks it.
func TestStopsWhereTheHostDoes(t *testing.T) {
	long := storytest.Read(t, "long", []byte(computing))
	long.Input = map[string]any{"list": make([]any, 40_000)}
	for _, s := range append(storytest.Stories(t), long) {
		for k, asked := 0, true; asked; k++ {
			left := k
			result, err := engine.Run(stopping{s.Host(t), &left}, s.Cascade, s.Start())
			if asked = left < 0; asked && (result.Status != engine.Cancelled || !errors.Is(err, errEnded)) {
				t.Errorf("%s: stopped at the question %d it is %s: %v", s.Name, k, result.Status, err)
			}
		}
	}
}

// A cut host has tools whose first results are unknown.
type cut struct {
	engine.Host
	left *int
	at   *[]event.Path
}

func (h cut) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	*h.at = append(*h.at, at)
	if *h.left--; *h.left >= 0 {
		return tool.Result{}, engine.ErrUnfinished
	}
	if job.Place == nil {
		return tool.Result{}, errors.New("it stands nowhere")
	}
	return h.Host.Tool(at, job)
}

func (h cut) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	if q.Phase != "a" {
		return engine.Answer{}, fmt.Errorf("it is of the phase %q", q.Phase)
	}
	return h.Host.Ask(at, q)
}

func (h cut) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(cut{inner, h.left, h.at}, i) })
}

func (h cut) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return h.Host.Within(at, d, func(inner engine.Host) error { return body(cut{inner, h.left, h.at}) })
}

const (
	post    = `tool: send, inputs: {to: kim}`
	posting = "A write.\n-- cascade.yaml --\ncascade_id: c\ntools: {post: {cascade: sub.yaml}}\n"
	world   = `
-- sub.yaml --
cascade_id: sub
phases: [{name: a, ` + post + `}]
-- script.yaml --
- {phase: m, turn: 0, contains: Use post, times: 1, tool_calls: [{name: post, arguments: {}}]}
- {phase: a, turn: 0, contains: Use send, times: 1, tool_calls: [{name: send, arguments: {to: kim}}]}
- {role: evaluator, reply: '{"winner": 1, "reason": "r"}'}
- {reply: fine, times: always}
-- answers.json --
`
	after = `, {name: b, compose: after}`
)

// A person decides about a write with an unknown result. The answer stop ends the run,
// even from a nested call.
func TestUnfinished(t *testing.T) {
	for _, c := range []struct {
		phases  string
		answers string
		cuts    int
		status  string
		output  any
		at      string
	}{
		{`{name: a, ` + post + `}`, `["done"]`, 1, engine.Succeeded, "", "a/attempt[1]/tool"},
		{`{name: a, ` + post + `}`, `["done: it was sent"]`, 1, engine.Succeeded, "it was sent", "a/attempt[1]/tool"},
		{`{name: a, ` + post + `}`, `["done: {\"id\": 7}"]`, 1, engine.Succeeded, map[string]any{"id": 7}, "a/attempt[1]/tool"},
		{`{name: a, ` + post + `}`, `["repeat"]`, 1, engine.Succeeded, "sent to kim", "a/attempt[1]/tool a/attempt[1]/tool/repeat"},
		{`{name: a, ` + post + `}`, `["repeat", "done: late"]`, 2, engine.Succeeded, "late", "a/attempt[1]/tool a/attempt[1]/tool/repeat"},
		{`{name: a, ` + post + `}`, `["repeat", "repeat"]`, 2, engine.Succeeded, "sent to kim", "a/attempt[1]/tool a/attempt[1]/tool/repeat a/attempt[1]/tool/repeat/repeat"},
		{`{name: a, ` + post + `}`, `["repeat", "stop"]`, 2, engine.Failed, nil, "a/attempt[1]/tool a/attempt[1]/tool/repeat"},
		{`{name: a, ` + post + `}`, `["perhaps"]`, 1, engine.Failed, nil, "a/attempt[1]/tool"},
		{`{name: a, ` + post + `}`, `["stop"]`, 1, engine.Failed, nil, "a/attempt[1]/tool"},
		{`{name: a, ` + post + `}`, `[]`, 1, engine.Waiting, nil, "a/attempt[1]/tool"},

		{`{name: a, ` + post + `, rules: {on_error: b}}` + after, `["stop"]`, 1, engine.Failed, nil, "a/attempt[1]/tool"},
		{`{name: a, ` + post + `, rules: {on_error: b}}` + after, `["done"]`, 1, engine.Succeeded, "after", "a/attempt[1]/tool"},
		{`{name: a, ` + post + `, rules: {timeout: 9s, on_error: b}}` + after, `["stop"]`, 1, engine.Failed, nil, "a/attempt[1]/tool"},
		{`{name: a, ` + post + `, each: {in: [x], on_failure: keep}}` + after, `["stop"]`, 1, engine.Failed, nil, "a/item[0]/attempt[1]/tool"},
		{`{name: a, ` + post + `, each: {in: [x], on_failure: keep}}`, `["repeat"]`, 1, engine.Succeeded, []any{"sent to kim"}, "a/item[0]/attempt[1]/tool a/item[0]/attempt[1]/tool/repeat"},
		{`{name: g, together: [{name: a, ` + post + `}, {name: c, compose: c}], rules: {on_error: b}}` + after, `["stop"]`, 1, engine.Failed, nil, "g/a/attempt[1]/tool"},
		{`{name: a, instructions: Use send., tackle: [send]}`, `["stop"]`, 1, engine.Failed, nil, "a/attempt[1]/turn[0]/tool[0]"},
		{`{name: a, instructions: Use send., tackle: [send]}`, `["done"]`, 1, engine.Succeeded, "fine", "a/attempt[1]/turn[0]/tool[0]"},
		{`{name: a, instructions: Use send., tackle: [send], soundings: {factor: 2, evaluator_instructions: One.}}`, `["stop"]`, 1, engine.Failed, nil, "a/sounding[0]/attempt[1]/turn[0]/tool[0]"},
		{`{name: a, instructions: Use send., tackle: [send], soundings: {factor: 2, evaluator_instructions: One.}}`, `["done"]`, 1, engine.Succeeded, "fine", "a/sounding[0]/attempt[1]/turn[0]/tool[0]"},
		{`{name: m, instructions: Use post., tackle: [post]}`, `["stop"]`, 1, engine.Failed, nil, "m/attempt[1]/turn[0]/tool[0]/sub/a/attempt[1]/tool"},
		{`{name: m, instructions: Use post., tackle: [post]}`, `["done"]`, 1, engine.Succeeded, "fine", "m/attempt[1]/turn[0]/tool[0]/sub/a/attempt[1]/tool"},
		{`{name: m, tool: post, rules: {on_error: b}}` + after, `["stop"]`, 1, engine.Failed, nil, "m/attempt[1]/tool/sub/a/attempt[1]/tool"},
		{`{name: m, compose: m, sub_cascades: [{ref: sub.yaml, input_map: {}}], rules: {on_error: b}}` + after, `["stop"]`, 1, engine.Failed, nil, "m/sub[0]/sub/a/attempt[1]/tool"},
		{`{name: m, compose: m, wards: {post: [{cascade: sub.yaml, mode: advisory}]}}`, `["stop"]`, 1, engine.Failed, nil, "m/attempt[1]/post[0]/sub/a/attempt[1]/tool"},
		{`{name: m, compose: m, wards: {post: [{cascade: sub.yaml, mode: shadow}]}}`, `["stop"]`, 1, engine.Failed, nil, "m/attempt[1]/post[0]/sub/a/attempt[1]/tool"},
		{`{name: m, compose: m, wards: {post: [{cascade: sub.yaml, mode: advisory}]}}`, `["done: {\"valid\": true, \"reason\": \"r\"}"]`, 1, engine.Succeeded, "m", "m/attempt[1]/post[0]/sub/a/attempt[1]/tool"},
	} {
		s := storytest.Read(t, "unfinished", []byte(posting+"phases: ["+c.phases+"]"+world+c.answers))
		var at []event.Path
		result, err := engine.Run(cut{s.Host(t), &c.cuts, &at}, s.Cascade, s.Start())
		for i, a := range result.Answers {
			if want := engine.Unfinished(at[i]); a.Path != want || a.Phase != "a" || !strings.Contains(a.Question, `tool send was running on {"to":"kim"}`) {
				t.Errorf("%s: asked at %s, not %s: %s", c.answers, a.Path, want, a.Question)
			}
		}
		if got := fmt.Sprint(at); result.Status != c.status || fmt.Sprint(result.Output) != fmt.Sprint(c.output) || got != "["+c.at+"]" || (err == nil) != (c.output != nil) {
			t.Errorf("%s, %s: it is %s with %v, called at %s: %v", c.phases, c.answers, result.Status, result.Output, got, err)
		}
	}
}

// If the host stops during the repeated call, the run is interrupted, and the
// effect is again unknown.
func TestUnfinishedAgain(t *testing.T) {
	s := storytest.Read(t, "unfinished", []byte(posting+"phases: [{name: a, "+post+"}]"+world+`["repeat"]`))
	cuts, at := 1, []event.Path{}
	if result, err := engine.Run(cut{storytest.NewFault(s.Host(t), 2), &cuts, &at}, s.Cascade, s.Start()); !errors.Is(err, storytest.ErrFault) || result.Output != nil {
		t.Errorf("it is %s with %v: %v", result.Status, result.Output, err)
	}
}

// A placing host records the places of the validators.
type placing struct {
	engine.Host
	places *[]*cascades.Place
}

func (h placing) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if s := v.Subject; s.Input == nil || s.State == nil || s.Outputs == nil {
		return engine.Finding{}, fmt.Errorf("it looks at %+v", s)
	}
	*h.places = append(*h.places, v.Place)
	return h.Host.Validate(at, v)
}

// A validator that is asked outside a run has a path for workers and sees the start of
// a run. If it cannot be asked, that is an error.
func TestJudgedElsewhere(t *testing.T) {
	s := storytest.Read(t, "judged", []byte(`A validator of the file.
-- cascade.yaml --
cascade_id: c
validators: {long: {expr: "len(content) > 3"}}
phases: [{name: a, compose: a text}]
`))
	var places []*cascades.Place
	long := s.Cascade.Validators["long"]
	v, err := engine.Judge(placing{s.Host(t), &places}, s.Cascade, long, validators.Subject{Content: "a text"}, "")
	if err != nil || !v.Valid || len(places) != 1 {
		t.Fatalf("got %+v, %v, asked at %v", v, err, places)
	}
	if found, err := s.Cascade.ValidatorAt(places[0]); err != nil || found != long {
		t.Errorf("at %+v is %v: %v", places[0], found, err)
	}
	if v, err := engine.Judge(storytest.NewFault(s.Host(t), 1), s.Cascade, long, validators.Subject{Content: "a text"}, ""); !errors.Is(err, storytest.ErrFault) {
		t.Errorf("with the host gone it is %+v: %v", v, err)
	}
}

// A recording host records the questions with notices and sends none.
type recording struct {
	engine.Host
	questions *[]engine.Question
}

func (h recording) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	if q.Notice != nil {
		*h.questions = append(*h.questions, q)
	}
	q.Notice = nil
	return h.Host.Ask(at, q)
}

// A notice names its question and contains its text. For an edit that is the shown
// text, or the person's own text after its rejection.
func TestNotices(t *testing.T) {
	s := storytest.Read(t, "notices", []byte(`Questions of which somebody is told.
-- cascade.yaml --
cascade_id: c
phases:
  - {name: a, compose: a text, human_input: {prompt: "Well?", notify: {url: "http://127.0.0.1"}}}
  - {name: b, compose: a text, wards: {post: [{validator: contains, with: {text: text}, mode: retry}]}, human_input: {prompt: "Better?", type: edit, notify: {url: "http://127.0.0.1"}}}
-- answers.json --
[true, "no word", "my text"]
`))
	var questions []engine.Question
	if _, err := engine.Run(recording{s.Host(t), &questions}, s.Cascade, s.Start()); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		path event.Path
		text string
	}{
		{"a/human_input", "a text"},
		{"b/human_input/attempt[1]/question", "a text"},
		{"b/human_input/attempt[2]/question", "no word"},
	}
	if len(questions) != len(want) {
		t.Fatalf("%d are sent: %+v", len(questions), questions)
	}
	for i, q := range questions {
		n := q.Notice
		if w := want[i]; n.Path != w.path || q.Subject.Text != w.text || n.Run != "run" || n.Key != "run:"+string(w.path) || n.To == nil || n.To.URL == "" {
			t.Errorf("%d: %+v", i, n)
		}
	}
}

// An ended host lets no run continue.
type ended struct{ engine.Host }

func (ended) Checkpoint(engine.State) error { return errEnded }

// If the host ends a run, the error has the host's message.
func TestCancelledSaysWhy(t *testing.T) {
	s := storytest.Read(t, "cancelled", []byte("A run.\n-- cascade.yaml --\ncascade_id: c\nphases: [{name: a, compose: a}]\n"))
	result, _ := engine.Run(ended{s.Host(t)}, s.Cascade, s.Start())
	if result.Error == nil || result.Error.Message != errEnded.Error() {
		t.Errorf("got %+v", result.Error)
	}
}

// An odd host has validators whose results do not encode as JSON.
type odd struct{ engine.Host }

func (odd) Validate(event.Path, engine.Validation) (engine.Finding, error) {
	return engine.Finding{Verdict: validators.Verdict{Valid: true, Evidence: map[string]any{"odd": func() {}}}}, nil
}

// A verdict that is no JSON is no output.
func TestOddVerdict(t *testing.T) {
	s := storytest.Read(t, "odd", []byte("A gate.\n-- cascade.yaml --\ncascade_id: c\nphases: [{name: a, tool: non_empty}]\n"))
	if result, _ := engine.Run(odd{s.Host(t)}, s.Cascade, s.Start()); result.Status != engine.Failed || !strings.HasPrefix(result.Error.Message, "verdict: ") {
		t.Errorf("it is %s: %+v", result.Status, result.Error)
	}
}

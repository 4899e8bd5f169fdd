package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A trial is a run of a cascade in the test environment.
type trial struct {
	*testsuite.TestWorkflowEnvironment
	crew   *Workers
	log    *FolderLog
	start  Start
	mu     sync.Mutex
	asked  map[event.Path]int // the number of starts of each effect
	most   int                // the size of the largest payload, in bytes
	total  int
	before func(at event.Path, n int) error // called before the n-th start of an effect; may be nil
}

// counting counts the started effects.
type counting struct {
	engine.Host
	*trial
}

func (c counting) begin(at event.Path) error {
	c.mu.Lock()
	c.asked[at]++
	n := c.asked[at]
	c.mu.Unlock()
	if c.before != nil {
		return c.before(at, n)
	}
	return nil
}

func (c counting) Model(at event.Path, req model.Request) (model.Response, error) {
	if err := c.begin(at); err != nil {
		return model.Response{}, err
	}
	return c.Host.Model(at, req)
}

func (c counting) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	if err := c.begin(at); err != nil {
		return tool.Result{}, err
	}
	return c.Host.Tool(at, job)
}

func (c counting) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if err := c.begin(at); err != nil {
		return engine.Finding{}, err
	}
	return c.Host.Validate(at, v)
}

// weighing records the sizes of payloads.
type weighing struct {
	converter.DataConverter
	*trial
}

func (w weighing) weigh(v any) {
	raw, _ := json.Marshal(v)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most, w.total = max(w.most, len(raw)), w.total+len(raw)
}

// try returns a trial of a cascade with a scripted model.
func try(t *testing.T, source string, input map[string]any, say func(model.Request) string, options ...runner.Option) *trial {
	t.Helper()
	x := &trial{asked: map[event.Path]int{}}
	mind := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		return model.Response{Text: say(r), Usage: model.Usage{Calls: 1}}, nil
	})
	r, err := runner.New(append([]runner.Option{runner.WithModel(mind)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := r.Parse("trial.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	if x.log, err = NewFolderLog(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	x.crew = NewWorkers(r, folder(t), x.log)
	x.crew.World = func(*cascades.Cascade) World {
		return func(ctx context.Context) engine.Host { return counting{r.Host(ctx), x} }
	}
	x.start = Start{Version: Version, RunID: "run"}
	if x.start.Cascade, err = Bundle(c, x.crew.Texts); err == nil {
		x.start.Input, err = keep(input, x.crew.Texts)
	}
	if err != nil {
		t.Fatal(err)
	}
	x.again(t)
	return x
}

// again makes a new environment without earlier histories.
func (x *trial) again(t *testing.T) {
	x.TestWorkflowEnvironment = environment(x.crew)
	x.SetOnActivityCompletedListener(func(_ *activity.Info, result converter.EncodedValue, _ error) {
		var p Payload
		if result != nil && result.HasValue() && result.Get(&p) == nil {
			weighing{trial: x}.weigh(p)
		}
	})
	x.SetOnActivityStartedListener(func(_ *activity.Info, _ context.Context, args converter.EncodedValues) {
		var task Task
		if args.Get(&task) == nil {
			weighing{trial: x}.weigh(task)
		}
	})
}

// end runs all histories and returns the result.
func (x *trial) end(t *testing.T) (result engine.Result, histories int, err error) {
	t.Helper()
	for histories = 1; ; histories++ {
		x.ExecuteWorkflow(WorkflowRun, x.start)
		err = x.GetWorkflowError()
		var on *workflow.ContinueAsNewError
		if !errors.As(err, &on) {
			break
		}
		if err := converter.GetDefaultDataConverter().FromPayloads(on.Input, &x.start); err != nil {
			t.Fatal(err)
		}
		x.again(t)
	}
	var end End
	var cancelled *temporal.CanceledError
	switch {
	case err == nil:
		err = x.GetWorkflowResult(&end)
	case errors.As(err, &cancelled) && cancelled.HasDetails():
		if e := cancelled.Details(&end); e != nil {
			t.Fatal(e)
		}
	}
	if end.Result != "" {
		if e := read(end.Result, x.crew.Texts, &result); e != nil {
			t.Fatal(e)
		}
	}
	return result, histories, err
}

// events returns the stored events in order.
func (x *trial) events(t *testing.T) (list []event.Event) {
	t.Helper()
	raw, err := x.log.Events("run")
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range raw {
		var e event.Event
		if err := e.UnmarshalJSON(text); err != nil {
			t.Fatal(err)
		}
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d: %s", i+1, e.Seq, text)
		}
		list = append(list, e)
	}
	return list
}

func echo(r model.Request) string { return r.Messages[len(r.Messages)-1].Content }

const several = `
cascade_id: several
phases:
  - {name: a, instructions: one, wards: {post: [{judge: "good?"}, {validator: slow}]}}
  - {name: b, tool: look, inputs: {x: 1}}
  - {name: c, instructions: "{{ outputs.b }}"}
`

var slow = validators.New("slow", "is slow", func(context.Context, struct{}, validators.Subject) (validators.Verdict, error) {
	return validators.Pass("yes"), nil
}, validators.Impure)

var look = tool.New("look", "Looks.", func(context.Context, struct {
	X int `json:"x"`
}) (any, error) {
	return "seen", nil
}).WithEffect(tool.Reads)

func judging(r model.Request) string {
	if r.Validator != "" {
		return `{"valid": true, "reason": "good"}`
	}
	return echo(r)
}

// TestWorkersDie checks that after a crash of the worker in each effect, only
// that effect is repeated and the run ends as without crashes.
func TestWorkersDie(t *testing.T) {
	x := try(t, several, nil, judging, runner.WithTools(look), runner.WithValidators(slow))
	if result, _, err := x.end(t); err != nil || result.Status != engine.Succeeded || len(x.asked) != 5 {
		t.Fatalf("%+v, %v: %v", result, x.asked, err)
	}
	for at := range x.asked {
		x := try(t, several, nil, judging, runner.WithTools(look), runner.WithValidators(slow))
		x.before = func(is event.Path, n int) error {
			if is == at && n == 1 {
				return errors.New("the worker died")
			}
			return nil
		}
		result, _, err := x.end(t)
		if err != nil || result.Status != engine.Succeeded || result.Output != "seen" {
			t.Errorf("%s: %+v: %v", at, result, err)
		}
		for is, n := range x.asked {
			if want := 1; n != want && is != at || is == at && n != 2 {
				t.Errorf("died in %s: %s was begun %d times", at, is, n)
			}
		}
	}
}

const writing = `
cascade_id: writing
phases:
  - {name: send, tool: mail, inputs: {to: kim}}
`

// TestWritesAreNotRepeated checks that a write that must not be repeated is
// tried once. A person then decides.
func TestWritesAreNotRepeated(t *testing.T) {
	sent := 0
	mail := tool.New("mail", "Sends.", func(context.Context, struct {
		To string `json:"to"`
	}) (any, error) {
		sent++
		return "sent", nil
	}).WithEffect(tool.Writes)
	for answer, want := range map[string]int{"done: by hand": 0, "repeat": 1, "stop": 0} {
		sent = 0
		x := try(t, writing, nil, echo, runner.WithTools(mail))
		x.before = func(_ event.Path, n int) error {
			if n == 1 && sent == 0 && len(x.asked) == 1 {
				return errors.New("the worker died")
			}
			return nil
		}
		x.RegisterDelayedCallback(func() { x.SignalWorkflow(SignalAnswer, Answer{Value: "maybe"}) }, time.Hour)
		x.RegisterDelayedCallback(func() { x.SignalWorkflow(SignalAnswer, Answer{Value: answer, By: "kim"}) }, 2*time.Hour)
		result, _, err := x.end(t)
		if err != nil || sent != want || (result.Status == engine.Succeeded) != (answer != "stop") {
			t.Errorf("%s: sent %d times, %+v: %v", answer, sent, result, err)
		}
	}
}

// TestCancelled checks that a run that is cancelled on the cluster ends as
// cancelled.
func TestCancelled(t *testing.T) {
	x := try(t, "cascade_id: asks\nphases:\n  - {name: a, instructions: one, human_input: {type: confirmation, prompt: \"ok?\"}}", nil, echo)
	x.RegisterDelayedCallback(x.CancelWorkflow, time.Hour)
	result, _, err := x.end(t)
	if !temporal.IsCanceledError(err) || result.Status != engine.Cancelled {
		t.Errorf("%+v: %v", result, err)
	}
	events := x.events(t)
	if last := events[len(events)-1]; last.Kind != event.RunFinished || last.Status != engine.Cancelled {
		t.Errorf("the last that was reported is %+v", last)
	}
}

// TestAnsweredByUpdate checks that an update answers a question and returns an
// error for an invalid answer.
func TestAnsweredByUpdate(t *testing.T) {
	x := try(t, "cascade_id: asks\nphases:\n  - {name: a, instructions: one, human_input: {type: confirmation, prompt: \"ok?\"}}", nil, echo)
	replies := map[string]string{}
	update := func(id string, a Answer, after time.Duration) {
		x.RegisterDelayedCallback(func() {
			x.UpdateWorkflow(SignalAnswer, id, &testsuite.TestUpdateCallback{
				OnAccept: func() {}, OnReject: func(err error) { replies[id] = err.Error() },
				OnComplete: func(_ any, err error) { replies[id] = fmt.Sprint(err) },
			}, a)
		}, after)
	}
	update("wrong", Answer{Value: "perhaps"}, time.Hour)
	update("elsewhere", Answer{Question: "b", Value: true}, 2*time.Hour)
	x.RegisterDelayedCallback(func() {
		reply, err := x.QueryWorkflow(QueryQuestions)
		var list []engine.Asked
		if err == nil {
			err = reply.Get(&list)
		}
		if err != nil || len(list) != 1 || list[0].Path != "a/human_input" || list[0].Question.Prompt != "ok?" {
			t.Errorf("%+v wait: %v", list, err)
		}
	}, 150*time.Minute)
	update("right", Answer{Question: "a/human_input", Value: "yes", By: "kim"}, 3*time.Hour)
	result, _, err := x.end(t)
	if err != nil || result.Status != engine.Succeeded || len(result.Answers) != 1 || result.Answers[0].By != "kim" {
		t.Errorf("%+v: %v", result, err)
	}
	if !strings.Contains(replies["wrong"], "want true or false") || !strings.Contains(replies["elsewhere"], "no open question has the key b") || replies["right"] != "<nil>" {
		t.Errorf("said %q", replies)
	}
}

const listed = `
cascade_id: listed
phases:
  - {name: all, each: {in: "{{ input.list }}", as: one, max_items: 3000}, instructions: "{{ one }}"}
  - {name: last, compose: "{{ outputs.all | length }}"}
`

// TestWideEach checks that a fan-out over 2,000 items continues in new
// histories, without a repeated or lost item or event.
func TestWideEach(t *testing.T) {
	list := make([]any, 2000)
	for i := range list {
		list[i] = fmt.Sprint("item ", i)
	}
	x := try(t, listed, map[string]any{"list": list}, echo)
	suggest(x, 600)
	var result engine.Result
	var err error
	histories := 0
	for {
		x.ExecuteWorkflow(WorkflowRun, x.start)
		histories++
		var on *workflow.ContinueAsNewError
		if err = x.GetWorkflowError(); !errors.As(err, &on) {
			break
		}
		if err := converter.GetDefaultDataConverter().FromPayloads(on.Input, &x.start); err != nil {
			t.Fatal(err)
		}
		x.again(t)
		suggest(x, 600)
	}
	var end End
	if err == nil {
		err = x.GetWorkflowResult(&end)
	}
	if err == nil {
		err = read(end.Result, x.crew.Texts, &result)
	}
	if err != nil || result.Output != "2000" || histories < 2 || len(x.asked) != 2000 {
		t.Fatalf("%d histories, %d effects, %v: %v", histories, len(x.asked), result.Output, err)
	}
	for at, n := range x.asked {
		if n != 1 {
			t.Errorf("%s was made %d times", at, n)
		}
	}
	seen := map[event.Path]int{}
	for _, e := range x.events(t) {
		if e.Kind == event.ModelReplied {
			seen[e.Path]++
		}
	}
	if len(seen) != 2000 {
		t.Errorf("%d replies were reported", len(seen))
	}
}

// suggest makes the cluster suggest a new history after a number of effects.
func suggest(x *trial, after int) {
	n := 0
	x.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
		if n++; n == after {
			x.SetContinueAsNewSuggested(true)
		}
	})
}

// TestHistoriesStaySmall checks that 400 effects of 100 KB take a few bytes
// each in a history.
func TestHistoriesStaySmall(t *testing.T) {
	long := strings.Repeat("0123456789", 10<<10)
	x := try(t, "cascade_id: long\nbudget: {max_calls: 1000}\nphases:\n  - {name: a, instructions: go, rules: {max_turns: 400}}", nil, func(model.Request) string { return long })
	result, _, err := x.end(t)
	if err != nil || len(x.asked) != 400 || result.Output != long {
		t.Fatalf("%d effects, %s: %v", len(x.asked), result.Status, err)
	}
	if x.most > maxPayload+1<<10 || x.total > 4<<20 {
		t.Errorf("the greatest payload has %d bytes, all of them %d", x.most, x.total)
	}
	t.Logf("400 effects of 100 KB: the greatest payload has %d bytes, all of them %d", x.most, x.total)
}

// TestNewerRunsAreRefused checks that a worker does not run a workflow of a
// newer version.
func TestNewerRunsAreRefused(t *testing.T) {
	x := try(t, several, nil, judging, runner.WithTools(look), runner.WithValidators(slow))
	x.start.Version = Version + 1
	if _, _, err := x.end(t); err == nil || !strings.Contains(err.Error(), "newer") || len(x.asked) > 0 {
		t.Errorf("%d effects: %v", len(x.asked), err)
	}
}

// TestQueues checks that effects with a queue run on the queue's workers. A
// phase's queue is for its calls, checks and tools, including those of nested
// cascades. A tool's queue applies in every phase.
func TestQueues(t *testing.T) {
	source := `
cascade_id: queues
tools:
  render: {exec: ["true"], queue: gpu}
  plain: {exec: ["true"]}
phases:
  - {name: a, instructions: one, wards: {post: [{validator: slow}]}}
  - {name: b, queue: exec, instructions: two, wards: {post: [{judge: "good?"}, {validator: slow}]}}
  - {name: c, tool: render}
  - {name: d, queue: exec, tool: render}
  - {name: e, queue: exec, tool: plain}
  - name: f
    queue: side
    together:
      - {name: f1, instructions: three}
      - {name: f2, queue: exec, instructions: four}
`
	x := try(t, source, nil, judging, runner.WithValidators(slow))
	got := map[string]string{}
	x.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
		var task Task
		var e effects.Effect
		if args.Get(&task) == nil && task.Effect.open(x.crew.Texts, &e) == nil {
			x.mu.Lock()
			defer x.mu.Unlock()
			got[string(e.At)] = info.TaskQueue
		}
	})
	result, _, err := x.end(t)
	if err != nil || result.Status != engine.Succeeded {
		t.Fatalf("%+v: %v", result, err)
	}
	mine := x.crewQueue()
	for prefix, want := range map[string]string{"a/": mine, "b/": "exec", "c/": "gpu", "d/": "gpu", "e/": "exec", "f/f1/": "side", "f/f2/": "exec"} {
		n := 0
		for at, queue := range got {
			if strings.HasPrefix(at, prefix) {
				if n++; queue != want {
					t.Errorf("%s went to %s, want %s", at, queue, want)
				}
			}
		}
		if n == 0 {
			t.Errorf("nothing of %s in %v", prefix, got)
		}
	}
}

// crewQueue returns the default queue in the test environment.
func (x *trial) crewQueue() string { return "default-test-taskqueue" }

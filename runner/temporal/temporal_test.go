package temporal

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// eventLog passes events to a world.
type eventLog struct{ world engine.Host }

func (t eventLog) Append(e event.Event) error {
	e.Seq, e.Time = 0, time.Time{}
	t.world.Emit(e)
	return nil
}

// asking answers questions of the world by signal.
type asking struct {
	engine.Host
	world engine.Host
	env   *testsuite.TestWorkflowEnvironment
}

func (a asking) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	answer, err := a.world.Ask(at, q)
	if err != nil {
		return answer, err
	}
	if !answer.Expired {
		a.env.RegisterDelayedCallback(func() { a.env.SignalWorkflow(SignalAnswer, Answer{Question: at, Value: answer.Value, By: answer.By}) }, 0)
	}
	return a.Host.Ask(at, q)
}

func (a asking) Each(n, limit int, body func(engine.Host, int) error) error {
	return a.Host.Each(n, limit, func(h engine.Host, i int) error { return body(asking{h, a.world, a.env}, i) })
}

func (a asking) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return a.Host.Within(at, d, func(h engine.Host) error { return body(asking{h, a.world, a.env}) })
}

func quiet() log.Logger {
	return log.NewStructuredLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
}

func folder(t testing.TB) *effects.Folder {
	t.Helper()
	f, err := effects.NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// environment returns a test environment with the effects of workers.
func environment(crew *Workers) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: StuckAfter}) // like the workers of the program
	crew.Register(env)
	return env
}

// dying makes the worker die in the first start of every effect, except for
// tools that must not be repeated.
type dying struct {
	engine.Host
	mu    *sync.Mutex
	begun map[event.Path]bool
}

func (d dying) dies(at event.Path) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun[at] {
		return nil
	}
	d.begun[at] = true
	return errors.New("the worker died")
}

func (d dying) Model(at event.Path, req model.Request) (model.Response, error) {
	if err := d.dies(at); err != nil {
		return model.Response{}, err
	}
	return d.Host.Model(at, req)
}

func (d dying) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	if job.Tool.Repeatable() {
		if err := d.dies(at); err != nil {
			return tool.Result{}, err
		}
	}
	return d.Host.Tool(at, job)
}

func (d dying) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if err := d.dies(at); err != nil {
		return engine.Finding{}, err
	}
	return d.Host.Validate(at, v)
}

// TestTranscripts runs every transcript on Temporal with the same result as in
// this process. Effects run on a worker that has loaded the cascade itself, and
// people answer by signal.
func TestTranscripts(t *testing.T) {
	storytest.Run(t, onTemporal(asItIs))
}

func asItIs(world engine.Host) engine.Host { return world }

// TestRandoms does the same with random cascades.
func TestRandoms(t *testing.T) {
	for _, s := range storytest.RandomStories(t, 40) {
		if strings.Contains(s.Want(), "the answer is none") {
			continue // refused here; the question stays open
		}
		t.Run(s.Name, func(t *testing.T) {
			var lines storytest.Transcript
			var result engine.Result
			onTemporal(asItIs)(t, s)(s.Host(t, runner.WithSink(&lines)), func(h engine.Host) {
				result, _ = engine.Run(storytest.Serial{Host: h}, s.Cascade, s.Start())
			})
			storytest.Same(t, "on Temporal", lines.Format(t, result), s.Want())
		})
	}
}

// TestTranscriptsOfWorkersThatDie checks the transcripts of a worker that dies
// in every effect.
func TestTranscriptsOfWorkersThatDie(t *testing.T) {
	var died []map[event.Path]bool
	storytest.Run(t, onTemporal(func(world engine.Host) engine.Host {
		d := dying{world, new(sync.Mutex), map[event.Path]bool{}}
		died = append(died, d.begun)
		return d
	}))
	n := 0
	for _, begun := range died {
		n += len(begun)
	}
	if t.Logf("workers died in %d effects of %d runs", n, len(died)); n < len(died) {
		t.Error("hardly any died")
	}
}

// onTemporal returns a host in a workflow whose effects a world performs.
func onTemporal(made func(world engine.Host) engine.Host) storytest.NewHost {
	return func(tb testing.TB, s *storytest.Story) storytest.Start {
		return func(world engine.Host, run func(engine.Host)) {
			maker := made(world)
			crew := &Workers{
				Texts: folder(tb), Log: eventLog{world},
				Load: func([]cascades.File) (*cascades.Cascade, error) { return s.Load(tb), nil },
				World: func(*cascades.Cascade) World {
					return func(context.Context) engine.Host { return maker }
				},
			}
			env := environment(crew)
			bundle, err := Bundle(s.Cascade, crew.Texts)
			if err != nil {
				tb.Fatal(err)
			}
			wf := func(ctx workflow.Context) error {
				h := newHost(ctx, crew, s.Cascade, Start{Version: Version, RunID: "run", Cascade: bundle})
				run(asking{h, world, env})
				return h.run.err
			}
			env.RegisterWorkflow(wf)
			env.ExecuteWorkflow(wf)
			if err := env.GetWorkflowError(); err != nil {
				tb.Error(err)
			}
		}
	}
}

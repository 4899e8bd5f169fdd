package temporal

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/effects"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
)

// told passes events on to a world.
type told struct{ world engine.Host }

func (t told) Tell(e event.Event) error {
	e.Seq, e.Time = 0, time.Time{}
	t.world.Emit(e)
	return nil
}

// asking has the world's people answer by signal.
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
		a.env.RegisterDelayedCallback(func() { a.env.SignalWorkflow(SignalAnswer, Answer{Path: at, Value: answer.Value, By: answer.By}) }, 0)
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

// environment is one with a crew's effects.
func environment(crew *Crew) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet())
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	crew.Register(env)
	return env
}

// Every transcript runs on Temporal as it does in this process: effects are made
// by a worker that has loaded the cascade for itself, people answer by signal.
func TestTranscripts(t *testing.T) {
	enginetest.Run(t, func(tb testing.TB, s *enginetest.Story) enginetest.Start {
		return func(world engine.Host, run func(engine.Host)) {
			crew := &Crew{
				Texts: folder(tb), Log: told{world},
				Load: func([]cascades.File) (*cascades.Cascade, error) { return s.Load(tb), nil },
				World: func(*cascades.Cascade) World {
					return func(context.Context) engine.Host { return world }
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
	})
}

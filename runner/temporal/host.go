package temporal

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A host is the [engine.Host] of one branch of a run in a workflow.
type host struct {
	*scope
	run *run
}

// A run has the shared state of the branches of a workflow, which run one at a
// time.
type run struct {
	crew       *Workers
	ctx        workflow.Context
	start      Start
	seq        int64
	desk       *desk
	hasCascade bool // the cascade is among the search attributes
	cascade    *cascades.Cascade
	slots      workflow.Semaphore // of running effects: see most
	err        error              // an error of the store: the workflow task fails and is retried
}

func newHost(ctx workflow.Context, crew *Workers, c *cascades.Cascade, start Start) *host {
	r := &run{crew: crew, ctx: ctx, start: start, seq: start.Seq, cascade: c, hasCascade: start.State != "", slots: workflow.NewSemaphore(ctx, int64(cmp.Or(crew.atWork, most)))}
	r.desk = newDesk(ctx)
	return &host{scope: &scope{ctx: ctx, reason: errCancelled}, run: r}
}

func (h *host) in(s *scope) *host { return &host{scope: s, run: h.run} }

// texts returns the store. A workflow in replay has already stored its texts.
func (r *run) texts() effects.Texts {
	if workflow.IsReplaying(r.ctx) {
		return alreadyStored{r.crew.Texts}
	}
	return r.crew.Texts
}

// alreadyStored computes digests without storing.
type alreadyStored struct{ effects.Texts }

func (alreadyStored) Put(text []byte) (string, error) { return effects.Digest(text), nil }

// Model calls a model in an activity. If the worker dies, another one repeats
// the call.
func (h *host) Model(at event.Path, req model.Request) (model.Response, error) {
	outcome, failed, err := h.effect(activityModel, effects.Effect{At: at, Run: h.run.start.RunID, Request: &req, Calls: req.Left}, false)
	switch {
	case err != nil:
		return model.Response{}, err
	case failed != nil:
		return model.Response{Failure: &model.Failure{Class: model.Unavailable, Message: failed.Error()}}, nil
	}
	return *outcome.Response, nil
}

// Tool calls a tool in an activity. A tool that must not be repeated is called
// once.
func (h *host) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	once := !job.Tool.Repeatable()
	outcome, failed, err := h.effect(activityTool, effects.Effect{At: at, Run: h.run.start.RunID, Job: &job}, once)
	switch {
	case err != nil:
		return tool.Result{}, err
	case failed != nil && once && !isRefused(failed):
		return tool.Result{}, engine.ErrUnfinished
	case failed != nil:
		return tool.Fail(failed), nil
	}
	return *outcome.Result, nil
}

// inWorkflow is the maximum size of a text to check inside the workflow, in
// bytes. The SDK evicts a workflow that computes for a second.
const inWorkflow = 64 << 10

// Validate runs a validator in an activity. A pure validator of a short text
// runs in the workflow.
func (h *host) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if v.Pure && len(v.Subject.Content) < inWorkflow {
		if err := h.Stopped(); err != nil {
			return engine.Finding{}, err
		}
		return h.run.crew.pure().Validate(at, v)
	}
	outcome, failed, err := h.effect(activityValidate, effects.Effect{At: at, Run: h.run.start.RunID, Validation: &v}, false)
	switch {
	case err != nil:
		return engine.Finding{}, err
	case failed != nil:
		return engine.Finding{Failure: failed.Error()}, nil
	}
	return *outcome.Finding, nil
}

// effect performs an effect in an activity. It returns failed if the effect
// failed, and err if the run must stop.
func (h *host) effect(activity string, e effects.Effect, once bool) (outcome effects.Outcome, failed, err error) {
	if err := h.Stopped(); err != nil {
		return outcome, nil, err
	}
	texts := h.run.texts()
	sent, err := send(h.run.start.Cascade, e, texts)
	if err != nil {
		return outcome, nil, h.run.storeFailed(fmt.Errorf("effect %s: %w", e.At, err))
	}
	if err := h.run.slots.Acquire(h.ctx, 1); err != nil {
		return outcome, nil, h.Stopped()
	}
	defer h.run.slots.Release(1)
	var back Payload
	ctx := workflow.WithActivityOptions(h.ctx, options(h.run.queue(e), once))
	err = workflow.ExecuteActivity(ctx, activity, sent).Get(h.ctx, &back)
	if stopped := h.Stopped(); stopped != nil && err != nil {
		return outcome, nil, stopped
	}
	if err != nil {
		return outcome, cause(err), nil
	}
	if err := back.open(h.run.crew.Texts, &outcome); err != nil {
		return outcome, nil, h.run.storeFailed(fmt.Errorf("effect %s: %w", e.At, err))
	}
	return outcome, nil, nil
}

// withKeeper calls a function with the log if the log records runs. A workflow
// in replay calls nothing.
func (h *host) withKeeper(tell func(Keeper) error) {
	k, keeps := h.run.crew.Log.(Keeper)
	if !keeps || workflow.IsReplaying(h.run.ctx) || h.run.err != nil {
		return
	}
	if err := tell(k); err != nil {
		_ = h.run.storeFailed(fmt.Errorf("run %s: %w", h.run.start.RunID, err))
	}
}

// queue returns the task queue of an effect's tool or phase. The empty string
// is the queue of the run.
func (r *run) queue(e effects.Effect) string {
	first, _, _ := strings.Cut(string(e.At), "/")
	within, _, _ := strings.Cut(first, "[")
	switch {
	case e.Job != nil:
		if t, err := r.cascade.ToolAt(e.Job.Place); err == nil && t.Queue != "" {
			return t.Queue
		}
		return r.cascade.Queue(nil, within, within)
	case e.Validation != nil:
		return r.cascade.Queue(e.Validation.Place, e.Validation.Place.Phase, within)
	}
	return r.cascade.Queue(nil, e.Request.Phase, within)
}

// storeFailed records an error of the store. The error is not a failure of the
// run.
func (r *run) storeFailed(err error) error {
	if r.err == nil {
		r.err = err
	}
	return err
}

// cause returns the error of an activity for people.
func cause(err error) error {
	var app *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	switch {
	case errors.As(err, &app):
		return app
	case errors.As(err, &timeout):
		return fmt.Errorf("its worker stopped responding: %w", timeout)
	default:
		return err
	}
}

func isRefused(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == refused
}

// The constant most is the maximum number of concurrent effects of a run, and
// of branches at one place. A cluster allows 2,000 pending activities per
// workflow, and items of each, soundings and checks multiply.
const most = 500

// Each runs branches as coroutines.
func (h *host) Each(n, limit int, body func(engine.Host, int) error) error {
	if limit <= 0 || limit > most {
		limit = most
	}
	s := h.inner()
	defer s.cancel(nil)
	var first error
	slots, all := workflow.NewSemaphore(h.ctx, int64(limit)), workflow.NewWaitGroup(h.ctx)
	for i := range n {
		if err := slots.Acquire(s.ctx, 1); err != nil || s.ctx.Err() != nil {
			break // an earlier branch ended it, or the run is over
		}
		all.Add(1)
		workflow.Go(s.ctx, func(ctx workflow.Context) {
			defer all.Done()
			defer slots.Release(1)
			if err := body(h.in(s.on(ctx)), i); err != nil && first == nil {
				first = err
				s.cancel(engine.Beside(err))
			}
		})
	}
	all.Wait(h.ctx)
	if first == nil {
		first = h.Stopped()
	}
	return first
}

// Within cancels the scope of body after a timer.
func (h *host) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	s := h.inner()
	over := &engine.Overtime{At: at}
	late := false
	timer := workflow.NewTimer(s.ctx, d)
	workflow.Go(s.ctx, func(ctx workflow.Context) {
		if timer.Get(ctx, nil) == nil {
			late = true
			s.cancel(over)
		}
	})
	err := body(h.in(s))
	s.cancel(nil)
	if err != nil && late && h.Stopped() == nil {
		return over
	}
	return err
}

// Now returns the time of the workflow, which is the same in a replay.
func (h *host) Now() time.Time { return workflow.Now(h.ctx) }

// Checkpoint continues the run in a new history if the cluster suggests it.
func (h *host) Checkpoint(engine.State) error {
	if err := h.Stopped(); err != nil {
		return err
	}
	if workflow.GetInfo(h.run.ctx).GetContinueAsNewSuggested() {
		return engine.ErrYield
	}
	return nil
}

// Emit numbers and dates an event and stores it. Number and time are the same
// in a replay, which stores nothing again.
func (h *host) Emit(e event.Event) {
	h.run.seq++
	if e.Kind == event.PhaseStarted {
		h.setAttributes("running", e.Phase) // a command of the workflow, repeated in a replay
	}
	if workflow.IsReplaying(h.run.ctx) {
		return
	}
	e.Run, e.Seq, e.Time = h.run.start.RunID, h.run.seq, workflow.Now(h.run.ctx).UTC()
	if err := h.run.crew.Log.Append(e); err != nil {
		_ = h.run.storeFailed(fmt.Errorf("event %d: %w", e.Seq, err))
		return
	}
	if t, traced := h.run.crew.Sink.(*telemetry.Telemetry); traced {
		t.Within(e.Run, within(h.run.ctx))
	}
	if h.run.crew.Sink != nil {
		h.run.crew.Sink.Emit(e)
	}
}

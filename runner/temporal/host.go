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
	"github.com/seed61713e19/capstan/runner/effects"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/telemetry"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A host is the [engine.Host] of one branch of a run in a workflow.
type host struct {
	*scope
	run *run
}

// A run is what the branches of a workflow share. They run one at a time.
type run struct {
	crew    *Crew
	ctx     workflow.Context
	start   Start
	seq     int64
	desk    *desk
	named   bool // among the search attributes
	cascade *cascades.Cascade
	slots   workflow.Semaphore // of effects at work: see most
	err     error              // the store's: the workflow task fails, and is tried again
}

func newHost(ctx workflow.Context, crew *Crew, c *cascades.Cascade, start Start) *host {
	r := &run{crew: crew, ctx: ctx, start: start, seq: start.Seq, cascade: c, named: start.State != "", slots: workflow.NewSemaphore(ctx, int64(cmp.Or(crew.atWork, most)))}
	r.desk = newDesk(ctx)
	return &host{scope: &scope{ctx: ctx, why: errCancelled}, run: r}
}

func (h *host) in(s *scope) *host { return &host{scope: s, run: h.run} }

// texts are the store; a workflow that is done over again has put everything
// already.
func (r *run) texts() effects.Texts {
	if workflow.IsReplaying(r.ctx) {
		return putBefore{r.crew.Texts}
	}
	return r.crew.Texts
}

// putBefore are texts that are there.
type putBefore struct{ effects.Texts }

func (putBefore) Put(text []byte) (string, error) { return effects.Digest(text), nil }

// Model asks a model in an activity. A worker that dies is noticed, and another
// asks again.
func (h *host) Model(at event.Path, req model.Request) (model.Response, error) {
	came, failed, err := h.effect(activityModel, effects.Effect{At: at, Run: h.run.start.RunID, Request: &req, Calls: req.Left}, false)
	switch {
	case err != nil:
		return model.Response{}, err
	case failed != nil:
		return model.Response{Failure: &model.Failure{Class: model.Unavailable, Message: failed.Error()}}, nil
	}
	return *came.Response, nil
}

// Tool calls a tool in an activity: once, where it may not be called twice.
func (h *host) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	once := !job.Tool.Repeatable()
	came, failed, err := h.effect(activityTool, effects.Effect{At: at, Run: h.run.start.RunID, Job: &job}, once)
	switch {
	case err != nil:
		return tool.Result{}, err
	case failed != nil && once && !isRefused(failed):
		return tool.Result{}, engine.ErrUnfinished
	case failed != nil:
		return tool.Fail(failed), nil
	}
	return *came.Result, nil
}

// inWorkflow is how many bytes a text has that is checked in the workflow itself:
// a worker gives up a workflow that computes for a second.
const inWorkflow = 64 << 10

// Validate judges in an activity, and what is computed alone where it stands.
func (h *host) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if v.Pure && len(v.Subject.Content) < inWorkflow {
		if err := h.Stopped(); err != nil {
			return engine.Finding{}, err
		}
		return h.run.crew.pure().Validate(at, v)
	}
	came, failed, err := h.effect(activityValidate, effects.Effect{At: at, Run: h.run.start.RunID, Validation: &v}, false)
	switch {
	case err != nil:
		return engine.Finding{}, err
	case failed != nil:
		return engine.Finding{Failure: failed.Error()}, nil
	}
	return *came.Finding, nil
}

// effect has an activity make an effect. Failed says that it could not be made;
// err that the run stops here.
func (h *host) effect(activity string, e effects.Effect, once bool) (came effects.Came, failed, err error) {
	if err := h.Stopped(); err != nil {
		return came, nil, err
	}
	texts := h.run.texts()
	sent, err := send(h.run.start.Cascade, e, texts)
	if err != nil {
		return came, nil, h.run.broke(fmt.Errorf("effect %s: %w", e.At, err))
	}
	if err := h.run.slots.Acquire(h.ctx, 1); err != nil {
		return came, nil, h.Stopped()
	}
	defer h.run.slots.Release(1)
	var back Parcel
	ctx := workflow.WithActivityOptions(h.ctx, options(h.run.queue(e), once))
	err = workflow.ExecuteActivity(ctx, activity, sent).Get(h.ctx, &back)
	if stopped := h.Stopped(); stopped != nil && err != nil {
		return came, nil, stopped
	}
	if err != nil {
		return came, cause(err), nil
	}
	if err := back.open(h.run.crew.Texts, &came); err != nil {
		return came, nil, h.run.broke(fmt.Errorf("effect %s: %w", e.At, err))
	}
	return came, nil, nil
}

// keep tells a log that keeps runs, once.
func (h *host) keep(tell func(Keeper) error) {
	k, keeps := h.run.crew.Log.(Keeper)
	if !keeps || workflow.IsReplaying(h.run.ctx) || h.run.err != nil {
		return
	}
	if err := tell(k); err != nil {
		_ = h.run.broke(fmt.Errorf("run %s: %w", h.run.start.RunID, err))
	}
}

// queue is that of the workers that make an effect: the tool's, or the phase's;
// "" is that of the run.
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

// broke notes an error of the store: nothing is wrong with the run.
func (r *run) broke(err error) error {
	if r.err == nil {
		r.err = err
	}
	return err
}

// cause is what an activity's error says to people.
func cause(err error) error {
	var app *temporal.ApplicationError
	var heard *temporal.TimeoutError
	switch {
	case errors.As(err, &app):
		return app
	case errors.As(err, &heard):
		return fmt.Errorf("its worker stopped responding: %w", heard)
	default:
		return err
	}
}

func isRefused(err error) bool {
	var app *temporal.ApplicationError
	return errors.As(err, &app) && app.Type() == refused
}

// most is how many effects of a run are at work at a time, and how many branches of
// one place: a cluster lets a workflow have 2,000 activities pending, and the items
// of an each may each have soundings, whose attempts each have checks.
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
			break // one of those before has ended it, or the run is over
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

// Within cancels body's scope when a timer says so.
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

// Now is the workflow's time, the same when it is done over again.
func (h *host) Now() time.Time { return workflow.Now(h.ctx) }

// Checkpoint lets the run go on in a new history where the cluster suggests it.
func (h *host) Checkpoint(engine.State) error {
	if err := h.Stopped(); err != nil {
		return err
	}
	if workflow.GetInfo(h.run.ctx).GetContinueAsNewSuggested() {
		return engine.ErrYield
	}
	return nil
}

// Emit numbers and dates an event and has it kept. Both are the same when the
// workflow is done over again, which tells nothing that it told.
func (h *host) Emit(e event.Event) {
	h.run.seq++
	if e.Kind == event.PhaseStarted {
		h.noted("running", e.Phase) // a command of the workflow, given again when it is done over again
	}
	if workflow.IsReplaying(h.run.ctx) {
		return
	}
	e.Run, e.Seq, e.Time = h.run.start.RunID, h.run.seq, workflow.Now(h.run.ctx).UTC()
	if err := h.run.crew.Log.Tell(e); err != nil {
		_ = h.run.broke(fmt.Errorf("event %d: %w", e.Seq, err))
		return
	}
	if t, traced := h.run.crew.Sink.(*telemetry.Telemetry); traced {
		t.Within(e.Run, within(h.run.ctx))
	}
	if h.run.crew.Sink != nil {
		h.run.crew.Sink.Emit(e)
	}
}

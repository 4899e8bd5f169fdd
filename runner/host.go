package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A host is the in-process [engine.Host] for one branch of one run.
type host struct {
	*Runner
	ctx context.Context
	log *log
}

// A log numbers the events of a run over all branches.
type log struct {
	mu  sync.Mutex
	seq int64
	run string

	readings readings
}

// host returns the host of a run. Without an id, the first event sets it.
func (r *Runner) host(ctx context.Context, id string) *host {
	return &host{Runner: r, ctx: ctx, log: &log{run: id}}
}

func (h *host) with(ctx context.Context) *host { return &host{h.Runner, ctx, h.log} }

func (h *host) Model(at event.Path, req model.Request) (model.Response, error) {
	if h.ctx.Err() != nil {
		return model.Response{}, context.Cause(h.ctx)
	}
	if h.model == nil {
		return model.Response{Failure: &model.Failure{Class: model.Rejected, Message: "no model is configured"}}, nil
	}
	if h.onText != nil && req.Validator == "" && req.Role == "" {
		req.OnText = h.onText(at, req.Phase)
	}
	resp, err := h.answer(h.traced(at), req)
	if err == nil {
		return resp, nil
	}
	if h.ctx.Err() != nil {
		return resp, context.Cause(h.ctx)
	}
	var failure *model.Failure // a variable of its own: taking the address of resp would move it to the heap
	if !errors.As(err, &failure) {
		failure = &model.Failure{Class: model.Unavailable, Message: err.Error()}
	}
	resp.Failure = failure
	return resp, nil
}

// answer calls the model. A panic of the model becomes a failure. Usage values
// that are not numbers are dropped.
func (h *host) answer(ctx context.Context, req model.Request) (resp model.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = model.Response{}, &model.Failure{Class: model.Rejected, Message: fmt.Sprintf("panic: %v", p)}
		}
	}()
	var stream *textStream
	if req.OnText != nil {
		stream = &textStream{emit: req.OnText}
		req.OnText = stream.add
	}
	resp, err = h.model.Call(ctx, req)
	stream.end()
	if resp.Usage = (model.Usage{}).Add(resp.Usage); err == nil {
		resp.Usage = model.Counted(req, resp)
	}
	return resp, err
}

// traced returns the context of an effect, see [WithTrace].
func (h *host) traced(at event.Path) context.Context {
	if h.trace == nil {
		return h.ctx
	}
	return h.trace(h.ctx, h.log.name(), at)
}

func (l *log) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.run
}

// Recalled notifies the model that a journal answered the request.
func (h *host) Recalled(req model.Request) {
	if m, ok := h.model.(model.Recaller); ok {
		m.Recall(req)
	}
}

func (h *host) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	if h.ctx.Err() != nil {
		return tool.Result{}, context.Cause(h.ctx)
	}
	call := job.Call
	call.Arguments, _ = schema.Clone(call.Arguments).(map[string]any) // a copy: the arguments may belong to the input, which others read
	return job.Tool.Run(h.traced(at), call)
}

// A validator without a verdict runs up to three times. After network errors
// the pause doubles each time.
const (
	validatorTries = 3
	firstPause     = 250 * time.Millisecond
)

func (h *host) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	pause := firstPause
	for try := 1; ; try++ {
		if h.ctx.Err() != nil {
			return engine.Finding{}, context.Cause(h.ctx)
		}
		verdict, err := v.Check(h.log.readings.in(h.traced(at), at), v.Subject)
		switch {
		case err == nil && verdict.Evidence == nil && verdict.Details == nil:
			return engine.Finding{Verdict: verdict}, nil
		case err == nil:
			return plainFinding(verdict), nil
		case h.ctx.Err() != nil:
			return engine.Finding{}, context.Cause(h.ctx)
		case v.Pure || try == validatorTries:
			return engine.Finding{Failure: err.Error()}, nil
		}
		if networkCause(err) {
			_ = model.Wait(h.ctx, pause)
			pause *= 2
		}
	}
}

// plainFinding converts the validator's additions to plain values, so that a
// live run equals one read from records.
func plainFinding(v validators.Verdict) engine.Finding {
	for _, value := range []*any{&v.Evidence, &v.Details} {
		plain, err := schema.Plain(*value)
		if err != nil {
			return engine.Finding{Failure: fmt.Sprintf("its verdict: %v", err)}
		}
		*value = plain
	}
	return engine.Finding{Verdict: v}
}

func networkCause(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)
}

func (h *host) Ask(_ event.Path, q engine.Question) (engine.Answer, error) {
	if q.Notice != nil {
		h.notices.give(q)
	}
	if h.ask == nil {
		return engine.Answer{}, engine.ErrSuspended
	}
	ctx := h.ctx
	if q.Expires > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Expires)
		defer cancel()
	}
	q.Options = slices.Clone(q.Options) // a copy: the caller may sort them
	a, err := h.ask(ctx, q)
	switch {
	case h.ctx.Err() != nil && err != nil && !errors.Is(err, engine.ErrSuspended):
		return a, context.Cause(h.ctx)
	case ctx.Err() != nil && h.ctx.Err() == nil:
		return engine.Answer{Expired: true}, nil
	case err != nil:
		return a, err
	}
	a.Value, err = schema.Plain(a.Value)
	return a.WithCleanName(), err
}

func (h *host) Each(n, limit int, body func(engine.Host, int) error) error {
	if limit <= 0 || limit > n {
		limit = n
	}
	ctx, cancel := context.WithCancelCause(h.ctx)
	defer cancel(nil)
	var first error
	var panicked any
	var closed atomic.Bool
	var once, one sync.Once
	var wg sync.WaitGroup
	slots := make(chan struct{}, limit)
	for i := range n {
		slots <- struct{}{}
		if ctx.Err() != nil { // another body or the outer scope has ended
			once.Do(func() { first = h.Stopped() })
			break
		}
		wg.Go(func() {
			received := false
			defer func() {
				if p := recover(); p != nil { // the panic of a sink belongs to the caller
					one.Do(func() { panicked = p }) // even after the error of another body
					cancel(nil)
				} else if !received { // runtime.Goexit, for example from a test's FailNow
					closed.Store(true)
					cancel(nil)
				}
				<-slots
			}()
			err := body(h.with(ctx), i)
			if received = true; err != nil {
				once.Do(func() {
					first = err
					cancel(engine.Beside(err))
				})
			}
		})
	}
	wg.Wait()
	if panicked != nil {
		panic(panicked)
	}
	if closed.Load() {
		runtime.Goexit()
	}
	return first
}

func (h *host) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	over := &engine.Overtime{At: at}
	ctx, cancel := context.WithTimeoutCause(h.ctx, d, over)
	defer cancel()
	err := body(h.with(ctx))
	if err != nil && ctx.Err() != nil && h.ctx.Err() == nil {
		return over
	}
	return err
}

func (h *host) Now() time.Time { return time.Now() }

func (h *host) Stopped() error {
	if h.ctx.Err() == nil {
		return nil
	}
	return context.Cause(h.ctx)
}

func (h *host) Checkpoint(engine.State) error { return h.Stopped() }

func (h *host) Emit(e event.Event) {
	if e.Kind == event.AttemptFinished {
		h.log.readings.finished(e.Path)
	}
	if len(h.sinks) == 0 {
		return
	}
	h.log.mu.Lock()
	defer h.log.mu.Unlock()
	if e.Kind == event.RunStarted {
		h.log.run = e.RunID
	}
	e.Run = cmp.Or(e.Run, h.log.run)
	if e.Seq == 0 { // otherwise a journal has numbered it
		h.log.seq++
		e.Seq, e.Time = h.log.seq, time.Now().UTC()
	}
	for _, s := range h.sinks {
		s.Emit(e)
	}
}

// plainInput converts the input to plain values.
func plainInput(input map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(input))
	for name, value := range input {
		plain, err := schema.Plain(value)
		if err != nil {
			return nil, err
		}
		out[name] = plain
	}
	return out, nil
}

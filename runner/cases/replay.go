package cases

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A replay is one run from recorded answers. Its branches take turns, one
// running until it ends or waits, so that it always goes the same way.
type replay struct {
	ctx    context.Context
	frozen map[event.Path]*effect
	tools  func(at event.Path) []model.Tool // what the model was told of at a path
	phases []engine.PhaseRecord             // of the run as it was, to know where its time was over
	judged map[event.Path]bool              // where a check was told of
	order  int                              // in which branches begin
	lots   *rand.Rand                       // which branch came first elsewhere; nil for the one whose turn it is
	open   cascades.Opener                  // reads the files of programs
	waits  bool                             // the run ends with a question that nobody has answered

	cascade  *cascades.Cascade
	chosen   cascades.Chosen
	programs map[*cascades.Validator]string // digests
	recorded bool                           // it is of a run, whose questions without an answer are not told

	asked    []*effect
	said     []spoken
	computed map[event.Path]bool // findings that need no answer
	missing  map[*effect]bool    // asked for, and not recorded
	threads  map[*model.Thread]event.Path
	messages map[event.Path][]model.Message // all of a request's
	result   engine.Result
	events   []event.Event // all that were told
	stuck    bool          // no branch can go on: what waits has no answer
	dawdled  bool          // one could that has not
	cut      bool          // branches were cancelled beside one that failed
}

// A spoken is an effect or a verdict, in the order in which they came.
type spoken struct {
	effect  *effect
	verdict *event.Verdict
}

var errMissing = errors.New("a request that was not recorded")

func newReplay(ctx context.Context, frozen []*effect, told []event.Verdict) *replay {
	r := &replay{
		ctx: ctx, frozen: byPath(frozen), judged: map[event.Path]bool{}, computed: map[event.Path]bool{}, missing: map[*effect]bool{},
		threads: map[*model.Thread]event.Path{}, messages: map[event.Path][]model.Message{}, programs: map[*cascades.Validator]string{},
	}
	for _, v := range told {
		r.judged[v.Path] = true
	}
	r.tools = func(at event.Path) []model.Tool {
		if e := r.frozen[at]; e != nil && e.request != nil {
			return e.request.tools
		}
		return nil
	}
	return r
}

// ordered takes one of the ways in which branches may have raced.
func (r *replay) ordered(order int) {
	if r.order = order; order >= maxStarts {
		r.lots = rand.New(rand.NewPCG(uint64(order), 0))
	}
}

// run runs the cascade.
func (r *replay) run(c *cascades.Cascade, s engine.State) engine.Result {
	r.cascade, r.chosen = c, cascades.Chosen(s.Model)
	r.result, _ = engine.Run(&host{replay: r}, c, s)
	return r.result
}

// verdicts are all that were told.
func (r *replay) verdicts() []event.Verdict {
	var list []event.Verdict
	for _, t := range r.said {
		if t.verdict != nil {
			list = append(list, *t.verdict)
		}
	}
	return list
}

// ask notes what is asked for and gives it the answer that was recorded.
func (r *replay) ask(e *effect) {
	if before := r.frozen[e.at]; before != nil && before.kind == e.kind {
		e.answeredBy(before)
	}
	r.asked = append(r.asked, e)
	r.said = append(r.said, spoken{effect: e})
}

// A host is one branch of a replay. It can make no effect.
type host struct {
	*replay
	branch *branch // nil outside of Each
	scope  *scope  // nil outside of Within
}

func (h *host) Model(at event.Path, req model.Request) (model.Response, error) {
	e := &effect{at: at, kind: callKind, request: h.request(at, req)}
	return came(h, e, &e.response)
}

// came is what came of an effect, where the case tells it.
func came[T any](h *host, e *effect, what **T) (T, error) {
	h.ask(e)
	if *what == nil {
		return *new(T), h.wait(e)
	}
	return **what, nil
}

// request makes a request of what the engine sends: only what is new, where it
// goes on with a conversation.
func (h *host) request(at event.Path, req model.Request) *request {
	r := &request{model: req.Model, asks: req.Role, messages: req.Messages, schema: req.Schema, params: req.Params.String()}
	if req.Validator != "" {
		r.asks = "judge " + req.Validator
	}
	r.tools = told(req.Tools, func() []model.Tool { return h.tools(at) })
	h.messages[at] = req.Messages
	if req.Thread == nil {
		return r
	}
	base, goesOn := h.threads[req.Thread]
	h.threads[req.Thread] = at
	n := len(h.messages[base])
	if goesOn && len(req.Messages) > n && req.Messages[n].Role == model.Assistant {
		r.base, r.messages = base, req.Messages[n+1:]
	}
	return r
}

func (h *host) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	e := &effect{at: at, kind: toolKind, call: &tool.Call{Name: job.Call.Name, Arguments: job.Call.Arguments}}
	if h.unfinished(at) {
		h.ask(e)
		return tool.Result{}, engine.ErrUnfinished
	}
	return came(h, e, &e.result)
}

// unfinished tells of a call of which nobody knew whether it had happened: a person was
// asked. Of a recorded run that waits for the answer the question is not known yet; there
// it is each call that nothing came of, unless its time was over.
func (h *host) unfinished(at event.Path) bool {
	if before := h.frozen[at]; before != nil && before.result != nil {
		return false
	}
	asks := h.frozen[engine.Unfinished(at)]
	return asks != nil && asks.kind == questionKind || h.recorded && h.waits && h.scope.over() == nil
}

// Validate computes what is pure and takes all else from the case.
func (h *host) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if v.Pure {
		if !h.judged[at] {
			if err := h.untold(); err != nil {
				return engine.Finding{}, err
			}
		}
		h.computed[at] = true
		verdict, err := v.Check(h.ctx, v.Subject)
		if err != nil {
			return engine.Finding{Failure: err.Error()}, nil
		}
		return engine.Finding{Verdict: verdict}, nil
	}
	e := &effect{at: at, kind: findingKind, check: &judged{v.Validator, digest(v.Subject.Content), h.program(v.Place)}}
	return came(h, e, &e.finding)
}

// digest stands for a text that is not worth writing down again.
func digest(text string) string {
	return fmt.Sprintf("%.6x, %d bytes", sha256.Sum256([]byte(text)), len(text))
}

// Ask suspends the run where nobody had answered.
func (h *host) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	e := &effect{at: at, kind: questionKind, question: &q}
	h.ask(e)
	if e.answer != nil {
		return *e.answer, nil
	}
	if h.waits || h.lots != nil && h.lots.IntN(2) == 0 {
		return engine.Answer{}, engine.ErrSuspended
	}
	return engine.Answer{}, h.wait(e)
}

// Now is always the same: time is over where the case says so.
func (h *host) Now() time.Time { return time.Time{} }

func (h *host) Stopped() error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	return h.overtaken()
}

// Checkpoint ends a run whose time was over between two phases.
func (h *host) Checkpoint(s engine.State) error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	if over := h.scope.over(); over != nil && !s.Within && samePhases(s.Phases, h.phases) {
		over.expired = true
		return &engine.Overtime{At: over.at}
	}
	return nil
}

// Emit keeps what is told.
func (h *host) Emit(e event.Event) {
	h.events = append(h.events, e)
	if e.Verdict != nil {
		h.said = append(h.said, spoken{verdict: e.Verdict})
	}
}

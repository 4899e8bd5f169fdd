package testcases

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

// A replay is one run with recorded answers. Only one branch runs at a time, so that the same
// answers always give the same run.
type replay struct {
	ctx        context.Context
	stored     map[event.Path]*effect
	tools      func(at event.Path) []model.Tool // the tools of the request at a path
	phases     []engine.PhaseRecord             // of the recorded run, to find an exceeded time limit
	validation map[event.Path]bool              // checks with a recorded verdict
	order      int                              // number of the order in which branches start
	random     *rand.Rand                       // decides which branch runs first; nil for the order of the bodies
	open       cascades.Opener                  // reads the files of programs
	waits      bool                             // the run ends with an unanswered question

	cascade  *cascades.Cascade
	chosen   cascades.Chosen
	programs map[*cascades.Validator]string // digests
	recorded bool                           // the answers are those of a run, which lack unanswered questions

	asked    []*effect
	log      []logEntry
	computed map[event.Path]bool // findings of pure validators
	missing  map[*effect]bool    // requests that were not recorded
	threads  map[*model.Thread]event.Path
	messages map[event.Path][]model.Message // of requests
	result   engine.Result
	events   []event.Event
	stuck    bool // no branch can run, so that waiting requests have no answer
	yielded  bool // a branch that could run has waited
	cut      bool // branches were cancelled after the error of another branch
}

// A logEntry is an effect or a verdict.
type logEntry struct {
	effect  *effect
	verdict *verdict
}

var errMissing = errors.New("a request that was not recorded")

func newReplay(ctx context.Context, stored []*effect, described []verdict) *replay {
	r := &replay{
		ctx: ctx, stored: byPath(stored), validation: map[event.Path]bool{}, computed: map[event.Path]bool{}, missing: map[*effect]bool{},
		threads: map[*model.Thread]event.Path{}, messages: map[event.Path][]model.Message{}, programs: map[*cascades.Validator]string{},
	}
	for _, v := range described {
		r.validation[v.Path] = true
	}
	r.tools = func(at event.Path) []model.Tool {
		if e := r.stored[at]; e != nil && e.request != nil {
			return e.request.tools
		}
		return nil
	}
	return r
}

// ordered selects one of the orders in which branches may have run.
func (r *replay) ordered(order int) {
	if r.order = order; order >= maxStarts {
		r.random = rand.New(rand.NewPCG(uint64(order), 0))
	}
}

func (r *replay) run(c *cascades.Cascade, s engine.State) engine.Result {
	r.cascade, r.chosen = c, cascades.Chosen(s.Model)
	r.result, _ = engine.Run(&host{replay: r}, c, s)
	return r.result
}

// verdicts returns all verdicts of the replay.
func (r *replay) verdicts() []verdict {
	var list []verdict
	for _, t := range r.log {
		if t.verdict != nil {
			list = append(list, *t.verdict)
		}
	}
	return list
}

// ask logs a request and adds its recorded answer.
func (r *replay) ask(e *effect) {
	if before := r.stored[e.at]; before != nil && before.kind == e.kind {
		e.answeredBy(before)
	}
	r.asked = append(r.asked, e)
	r.log = append(r.log, logEntry{effect: e})
}

// A host is one branch of a replay. It performs no effect.
type host struct {
	*replay
	branch *branch // nil outside Each
	scope  *scope  // nil outside Within
}

func (h *host) Model(at event.Path, req model.Request) (model.Response, error) {
	e := &effect{at: at, kind: callKind, request: h.request(at, req)}
	return answerTo(h, e, &e.response)
}

// answerTo returns the recorded answer of a request.
func answerTo[T any](h *host, e *effect, what **T) (T, error) {
	h.ask(e)
	if *what == nil {
		return *new(T), h.wait(e)
	}
	return **what, nil
}

// request converts a request of the engine. If it continues a conversation, only the new messages
// are stored.
func (h *host) request(at event.Path, req model.Request) *request {
	r := &request{model: req.Model, role: req.Role, messages: req.Messages, schema: req.Schema, params: req.Params.String()}
	if req.Validator != "" {
		r.role = "judge " + req.Validator
	}
	r.tools = described(req.Tools, func() []model.Tool { return h.tools(at) })
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
	return answerTo(h, e, &e.result)
}

// unfinished reports whether nobody knew if a call had happened, so that a person was asked. While
// a recorded run waits for that person, the question is not recorded. Then every call without a
// result is unfinished, unless its time limit was exceeded.
func (h *host) unfinished(at event.Path) bool {
	if before := h.stored[at]; before != nil && before.result != nil {
		return false
	}
	question := h.stored[engine.Unfinished(at)]
	return question != nil && question.kind == questionKind || h.recorded && h.waits && h.scope.over() == nil
}

// Validate runs pure validators. Other verdicts come from the test case.
func (h *host) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if v.Pure {
		if !h.validation[at] {
			if err := h.beforeUnrecorded(); err != nil {
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
	e := &effect{at: at, kind: findingKind, check: &validation{v.Validator, digest(v.Subject.Content), h.program(v.Place)}}
	return answerTo(h, e, &e.finding)
}

// digest returns a short form of a text for comparisons.
func digest(text string) string {
	return fmt.Sprintf("%.6x, %d bytes", sha256.Sum256([]byte(text)), len(text))
}

// Ask suspends the run if the question has no answer.
func (h *host) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	e := &effect{at: at, kind: questionKind, question: &q}
	h.ask(e)
	if e.answer != nil {
		return *e.answer, nil
	}
	if h.waits || h.random != nil && h.random.IntN(2) == 0 {
		return engine.Answer{}, engine.ErrSuspended
	}
	return engine.Answer{}, h.wait(e)
}

// Now returns the zero time. Time limits come from the test case.
func (h *host) Now() time.Time { return time.Time{} }

func (h *host) Stopped() error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	return h.cancelledEarlier()
}

// Checkpoint ends a run whose time limit was exceeded between two phases.
func (h *host) Checkpoint(s engine.State) error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	if over := h.scope.over(); over != nil && !s.InPhase && samePhases(s.Phases, h.phases) {
		over.expired = true
		return &engine.Overtime{At: over.at}
	}
	return nil
}

// Emit stores the event.
func (h *host) Emit(e event.Event) {
	h.events = append(h.events, e)
	if e.Verdict != nil {
		v := newVerdict(*e.Verdict)
		h.log = append(h.log, logEntry{verdict: &v})
	}
}

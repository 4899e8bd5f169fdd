package servetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// The journal is the store of a server.
var (
	_ serve.Store    = (*journal.Journal)(nil)
	_ runner.Journal = (*journal.Journal)(nil)
	_ serve.Runs     = (*orders.Pool)(nil)
)

// A Shelf is a store in memory for generated runs, such as one of a thousand
// phases or one of a megabyte.
type Shelf struct {
	mu      sync.Mutex
	runs    []*Shelved // the newest first
	version int64
	gates   []journal.Gate
	Broken  error // the error that all methods return; nil for none
}

// A Shelved is a run of a [Shelf].
type Shelved struct {
	Summary journal.Summary
	start   runner.Start
	Events  []event.Event
	result  engine.Result
	pending []journal.Pending
	answer  *engine.Answer
}

// Add adds a run as the newest.
func (s *Shelf) Add(r *Shelved) {
	s.Change(func() { s.runs = append([]*Shelved{r}, s.runs...) })
}

// Change calls how while it holds the lock.
func (s *Shelf) Change(how func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how()
	s.version++
}

// Tell adds an event to a run.
func (s *Shelf) Tell(r *Shelved, e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Seq = int64(len(r.Events)) + 1
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	r.Events = append(r.Events, e)
	r.Summary.Events = e.Seq
	s.version++
}

// Version implements [serve.Store].
func (s *Shelf) Version(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.Broken
}

// Find returns the run with the name, or the newest for "last". It returns nil
// if there is none.
func (s *Shelf) Find(id string) *Shelved {
	for _, r := range s.runs {
		if r.Summary.RunID == id || id == "last" {
			return r
		}
	}
	return nil
}

// Runs implements [serve.Store].
func (s *Shelf) Runs(_ context.Context, f journal.Filter) ([]journal.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []journal.Summary
	begun := f.Before == ""
	for _, r := range s.runs {
		x := r.Summary
		if begun && (f.Status == "" || x.Status == f.Status) && (f.Cascade == "" || x.CascadeID == f.Cascade) &&
			(strings.Contains(x.RunID, f.Text) || strings.Contains(x.CascadeID, f.Text)) && !x.Started.Before(f.Since) {
			if list = append(list, x); len(list) == f.Limit {
				break
			}
		}
		begun = begun || x.RunID == f.Before
	}
	return list, s.Broken
}

// Attempts returns no attempts, because generated runs have no verdicts.
func (s *Shelf) Attempts(context.Context, journal.Filter) iter.Seq2[journal.Attempt, error] {
	return func(func(journal.Attempt, error) bool) {}
}

// Run implements [serve.Store].
func (s *Shelf) Run(_ context.Context, id string) (*journal.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.Find(id)
	if s.Broken != nil {
		return nil, s.Broken
	}
	if r == nil {
		return nil, runner.ErrNoRun
	}
	return &journal.Run{Summary: r.Summary, Start: r.start, Pending: r.pending}, nil
}

// Result implements [serve.Store].
func (s *Shelf) Result(_ context.Context, id string) (engine.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.Find(id); r != nil {
		return r.result, nil
	}
	return engine.Result{}, runner.ErrNoRun
}

// Events implements [serve.Store].
func (s *Shelf) Events(_ context.Context, id string, after int64, d journal.Detail) iter.Seq2[event.Event, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.Find(id)
	if r == nil {
		return func(yield func(event.Event, error) bool) { yield(event.Event{}, runner.ErrNoRun) }
	}
	events := slices.Clip(r.Events)
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if e.Seq <= after {
				continue
			}
			if d == journal.Brief && e.Request != nil {
				brief := *e.Request
				brief.Messages, brief.Tools, brief.Schema = nil, nil, nil
				e.Request = &brief
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Requests implements [serve.Store].
func (s *Shelf) Requests(ctx context.Context, id string) (func(at event.Path) (*model.Request, error), error) {
	return func(at event.Path) (*model.Request, error) {
		for e, err := range s.Events(ctx, id, 0, journal.Whole) {
			if err != nil {
				return nil, err
			}
			if e.Kind == event.ModelCalled && e.Path == at {
				return e.Request, nil
			}
		}
		return nil, runner.ErrNoRun
	}, nil
}

// Gates implements [serve.Store].
func (s *Shelf) Gates(context.Context, string) ([]journal.Gate, error) { return s.gates, s.Broken }

// Answer implements [serve.Store].
func (s *Shelf) Answer(_ context.Context, id string, _ event.Path, a engine.Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.Find(id)
	signed := a.WithCleanName()
	r.answer, r.pending = &signed, nil
	s.version++
	return nil
}

// Begin adds a new run.
func (s *Shelf) Begin(start runner.Start) (runner.Recording, error) {
	s.mu.Lock()
	if s.Find(start.RunID) != nil {
		s.mu.Unlock()
		return nil, runner.ErrRunExists
	}
	s.mu.Unlock()
	r := &Shelved{start: start, Summary: journal.Summary{
		RunID: start.RunID, CascadeID: start.CascadeID, File: start.Files[0].Name, Status: journal.Running, Started: time.Now().UTC(),
	}}
	r.result = engine.Result{RunID: start.RunID, CascadeID: start.CascadeID, Status: journal.Running}
	s.Add(r)
	return &shelfRecording{s, r}, nil
}

// Reopen continues a run. It repeats all work except the answers.
func (s *Shelf) Reopen(id string) (runner.Recording, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.Find(id)
	switch {
	case r == nil:
		return nil, runner.ErrNoRun
	case r.Summary.Status == journal.Running:
		return nil, runner.ErrRunBusy
	}
	r.Summary.Status, r.Summary.Finished = journal.Running, nil
	s.version++
	return &shelfRecording{s, r}, nil
}

type shelfRecording struct {
	s *Shelf
	r *Shelved
}

func (r *shelfRecording) Start() runner.Start                { return r.r.start }
func (r *shelfRecording) Ended() (engine.Result, bool)       { return engine.Result{}, false }
func (r *shelfRecording) Owned() error                       { return nil }
func (r *shelfRecording) Host(inner engine.Host) engine.Host { return &shelfHost{inner, r} }

func (r *shelfRecording) End(result engine.Result, why *engine.Error) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	now := time.Now().UTC()
	x := &r.r.Summary
	x.Status, x.Usage, x.Error, x.Phases = result.Status, result.Usage, result.Error, len(result.Phases)
	if x.Status != engine.Waiting {
		x.Finished = &now
	}
	r.r.result = result
	r.s.version++
	return nil
}

type shelfHost struct {
	engine.Host
	r *shelfRecording
}

func (h *shelfHost) Emit(e event.Event) { h.r.s.Tell(h.r.r, e) }

func (h *shelfHost) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(&shelfHost{inner, h.r}, i) })
}

func (h *shelfHost) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return h.Host.Within(at, d, func(inner engine.Host) error { return body(&shelfHost{inner, h.r}) })
}

func (h *shelfHost) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	h.r.s.mu.Lock()
	defer h.r.s.mu.Unlock()
	if h.r.r.answer != nil {
		return *h.r.r.answer, nil
	}
	h.r.r.pending = []journal.Pending{{Path: at, Question: q}}
	return engine.Answer{}, engine.ErrSuspended
}

// LongRun adds a run with a number of phases. Each phase has two attempts with
// a verdict.
func (s *Shelf) LongRun(id string, phases int, text string) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := &Shelved{
		Summary: journal.Summary{RunID: id, CascadeID: "long", Status: engine.Succeeded, Started: begun, Finished: new(begun.Add(time.Hour)), Phases: phases},
		start:   runner.Start{RunID: id, CascadeID: "long"},
	}
	s.Add(r)
	n := 0
	tell := func(e event.Event) {
		n++
		e.Time = begun.Add(time.Duration(n) * 100 * time.Millisecond)
		s.Tell(r, e)
	}
	tell(event.Event{Kind: event.RunStarted, RunID: id, CascadeID: "long", Input: map[string]any{"topic": "owls"}})
	for i := range phases {
		name := fmt.Sprintf("phase_%d", i)
		at := event.Path(name)
		tell(event.Event{Kind: event.PhaseStarted, Path: at, Phase: name})
		for k := 1; k <= 2; k++ {
			a := at.At("attempt", k)
			turn, call := a.At("turn", 0), a.At("turn", 0).Join("model")
			tell(event.Event{Kind: event.AttemptStarted, Path: a, Phase: name, Attempt: k})
			tell(event.Event{Kind: event.TurnStarted, Path: turn, Phase: name, Attempt: k, Turn: new(0)})
			tell(event.Event{Kind: event.ModelCalled, Path: call, Request: &model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: text}}}})
			tell(event.Event{Kind: event.ModelReplied, Path: call, Response: &model.Response{Text: text, Usage: model.Usage{Calls: 1, InputTokens: 1000, OutputTokens: 200, CostUSD: 0.01}}})
			tell(event.Event{Kind: event.VerdictGiven, Path: a.At("post", 0), Verdict: &event.Verdict{
				Path: a.At("post", 0), Phase: name, Attempt: k, Moment: "post", Validator: "word_count", Mode: "retry", Valid: new(k == 2), Reason: "the text has 3 words",
			}})
			tell(event.Event{Kind: event.AttemptFinished, Path: a, Phase: name, Attempt: k, Status: map[int]string{1: "retry", 2: engine.Succeeded}[k], Text: text})
		}
		tell(event.Event{Kind: event.PhaseFinished, Path: at, Phase: name, Status: engine.Succeeded, Output: text})
	}
	tell(event.Event{Kind: event.RunFinished, RunID: id, Status: engine.Succeeded, Output: text, Usage: &model.Usage{Calls: phases * 2}})
}

// ManyRuns adds n runs without events.
func (s *Shelf) ManyRuns(n int) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range n {
		s.runs = append(s.runs, &Shelved{Summary: journal.Summary{
			RunID: fmt.Sprintf("run-%06d", i), CascadeID: "post", Status: engine.Succeeded, Started: begun.Add(-time.Duration(i) * time.Minute), Finished: new(begun),
		}})
	}
}

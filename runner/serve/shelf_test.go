package serve_test

import (
	"context"
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

// The journal is what servers serve.
var (
	_ serve.Store    = (*journal.Journal)(nil)
	_ runner.Journal = (*journal.Journal)(nil)
	_ serve.Runs     = (*orders.Crew)(nil)
)

// A shelf is a store in memory, for runs that are made up: of a thousand
// phases, of a megabyte.
type shelf struct {
	mu      sync.Mutex
	runs    []*shelved // the newest first
	version int64
	gates   []journal.Gate
	broken  error // given by everything
}

type shelved struct {
	summary journal.Summary
	start   runner.Start
	events  []event.Event
	result  engine.Result
	pending *journal.Pending
	answer  *engine.Answer
}

func (s *shelf) add(r *shelved) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = append([]*shelved{r}, s.runs...)
	s.version++
}

// tell adds an event to a run.
func (s *shelf) tell(r *shelved, e event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Seq = int64(len(r.events)) + 1
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	r.events = append(r.events, e)
	r.summary.Events = e.Seq
	s.version++
}

func (s *shelf) Version(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version, s.broken
}

func (s *shelf) find(id string) *shelved {
	for _, r := range s.runs {
		if r.summary.RunID == id || id == "last" {
			return r
		}
	}
	return nil
}

func (s *shelf) Runs(_ context.Context, f journal.Filter) ([]journal.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []journal.Summary
	begun := f.Before == ""
	for _, r := range s.runs {
		x := r.summary
		if begun && (f.Status == "" || x.Status == f.Status) && (f.Cascade == "" || x.CascadeID == f.Cascade) &&
			(strings.Contains(x.RunID, f.Text) || strings.Contains(x.CascadeID, f.Text)) && !x.Started.Before(f.Since) {
			if list = append(list, x); len(list) == f.Limit {
				break
			}
		}
		begun = begun || x.RunID == f.Before
	}
	return list, s.broken
}

// Attempts gives none: runs that are made up have no verdicts.
func (s *shelf) Attempts(context.Context, journal.Filter) iter.Seq2[journal.Attempt, error] {
	return func(func(journal.Attempt, error) bool) {}
}

func (s *shelf) Run(_ context.Context, id string) (*journal.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(id)
	if s.broken != nil {
		return nil, s.broken
	}
	if r == nil {
		return nil, runner.ErrNoRun
	}
	return &journal.Run{Summary: r.summary, Start: r.start, Pending: r.pending}, nil
}

func (s *shelf) Result(_ context.Context, id string) (engine.Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.find(id); r != nil {
		return r.result, nil
	}
	return engine.Result{}, runner.ErrNoRun
}

func (s *shelf) Events(_ context.Context, id string, after int64, d journal.Detail) iter.Seq2[event.Event, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(id)
	if r == nil {
		return func(yield func(event.Event, error) bool) { yield(event.Event{}, runner.ErrNoRun) }
	}
	events := slices.Clip(r.events)
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

func (s *shelf) Request(_ context.Context, id string, at event.Path) (*model.Request, error) {
	for e, err := range s.Events(context.Background(), id, 0, journal.Whole) {
		if err != nil {
			return nil, err
		}
		if e.Kind == event.ModelCalled && e.Path == at {
			return e.Request, nil
		}
	}
	return nil, runner.ErrNoRun
}

func (s *shelf) Gates(context.Context, string) ([]journal.Gate, error) { return s.gates, s.broken }

func (s *shelf) Answer(_ context.Context, id string, a runner.Answer) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(id)
	signed := a.Signed()
	r.answer, r.pending = &signed, nil
	s.version++
	return nil
}

// Begin notes a new run.
func (s *shelf) Begin(start runner.Start) (runner.Recording, error) {
	s.mu.Lock()
	if s.find(start.RunID) != nil {
		s.mu.Unlock()
		return nil, runner.ErrRunExists
	}
	s.mu.Unlock()
	r := &shelved{start: start, summary: journal.Summary{
		RunID: start.RunID, CascadeID: start.CascadeID, File: start.Files[0].Name, Status: journal.Running, Started: time.Now().UTC(),
	}}
	r.result = engine.Result{RunID: start.RunID, CascadeID: start.CascadeID, Status: journal.Running}
	s.add(r)
	return &shelfRecording{s, r}, nil
}

// Reopen goes on with a run: all is done again but the answer.
func (s *shelf) Reopen(id string) (runner.Recording, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.find(id)
	switch {
	case r == nil:
		return nil, runner.ErrNoRun
	case r.summary.Status == journal.Running:
		return nil, runner.ErrRunBusy
	}
	r.summary.Status, r.summary.Finished = journal.Running, nil
	s.version++
	return &shelfRecording{s, r}, nil
}

type shelfRecording struct {
	s *shelf
	r *shelved
}

func (r *shelfRecording) Start() runner.Start                { return r.r.start }
func (r *shelfRecording) Ended() (runner.Result, bool)       { return runner.Result{}, false }
func (r *shelfRecording) Host(inner engine.Host) engine.Host { return &shelfHost{inner, r} }

func (r *shelfRecording) End(result runner.Result, why *runner.Error) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	now := time.Now().UTC()
	x := &r.r.summary
	x.Status, x.Usage, x.Error, x.Phases = result.Status, result.Usage, result.Error, len(result.Phases)
	if x.Status != runner.Waiting {
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

func (h *shelfHost) Emit(e event.Event) { h.r.s.tell(h.r.r, e) }

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
	h.r.r.pending = &journal.Pending{Path: at, Question: q}
	return engine.Answer{}, engine.ErrSuspended
}

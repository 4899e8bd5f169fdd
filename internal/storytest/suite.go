// Package storytest has the transcripts that test the engine and its hosts. [Run] and
// [RunDurable] run them on a host. RunDurable also interrupts each run at every effect and
// checks that it ends in the same way. Package runner/engine/enginetest is their public form.
//
// A [Story] (story.go) is a cascade, the replies of models and people, and the expected
// transcript, with a line for each event. The directory testdata contains them, and
// random.go generates more. A test runs a story on a host and turns its events into
// lines (transcript.go). It compares them with the expected ones and checks the
// invariants of all runs (invariants.go). Each start has an end, no rejected text is
// released, and the result agrees with the events.
//
// A [Fault] is a host that fails at the k-th effect (fault.go). Branches run in order, so
// that transcripts are reproducible.
//
// The program does not contain this package. Begin with suite.go. The flag -update
// rewrites the transcripts.
package storytest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A NewHost prepares the host under test for one run of a story.
type NewHost func(tb testing.TB, s *Story) Start

// A Start starts that run, or restarts it. It must call run with the host, in any
// goroutine, and return after run. The host must make its effects by world and send its
// events to world's Emit. A run that resumes from a state gets a new Start.
type Start func(world engine.Host, run func(engine.Host))

// Run checks that a host produces every embedded transcript, and that a run can
// be resumed elsewhere at every possible place. It is for hosts without
// storage; for others use [RunDurable].
func Run(t *testing.T, host NewHost) { runAll(t, host) }

// runAll is [Run], but returns the runs by the names of their stories.
func runAll(t *testing.T, host NewHost) map[string]finished {
	all := map[string]finished{}
	for _, s := range Stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Run("in order", func(t *testing.T) { all[s.Name] = inOrder(t, s, host) })
			t.Run("gone on with", func(t *testing.T) { resumeElsewhere(t, s, host, all[s.Name]) })
		})
	}
	return all
}

// RunDurable is [Run] for a host that stores the results of effects. It also ends the
// process at each effect in turn and checks that the resumed run ends in the same way.
// Only pure effects may be repeated.
func RunDurable(t *testing.T, host NewHost) {
	all := runAll(t, host)
	for _, s := range Stories(t) {
		t.Run(s.Name+"/broken off", func(t *testing.T) { interrupt(t, s, host, all[s.Name]) })
	}
}

// A finished run has produced its story. Another run with the same events and
// result needs no further check.
type finished struct {
	events []event.Event
	result engine.Result
	err    error
}

// SameEvent reports whether two events are equal except for their numbers and
// times.
func SameEvent(a, b event.Event) bool {
	a.Seq, a.Time = b.Seq, b.Time
	return reflect.DeepEqual(a, b)
}

// liveRun is one run of a story, with its world and its events.
type liveRun struct {
	*Story
	world  engine.Host
	events []event.Event
	mu     sync.Mutex
	made   map[event.Path]int // how often each effect was made, except pure validators, which may be repeated
}

func (s *Story) newLiveRun(t *testing.T) *liveRun {
	live := &liveRun{Story: s, made: map[event.Path]int{}}
	sink := event.Func(func(e event.Event) { live.events = append(live.events, e) })
	live.world = via{s.Host(t, runner.WithSink(sink)), live.count}
	return live
}

// checkOnce checks that no effect was repeated.
func (s *liveRun) checkOnce(t *testing.T) {
	t.Helper()
	for at, n := range s.made {
		if n > 1 {
			t.Errorf("%s was made %d times", at, n)
		}
	}
}

func (s *liveRun) count(at event.Path, pure bool, effect func() error) error {
	err := effect()
	if err == nil && !pure {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made[at]++
	}
	return err
}

// transcript returns the transcript of the run.
func (s *liveRun) transcript(t *testing.T, r engine.Result) string {
	var lines Transcript
	for _, e := range s.events {
		lines.Emit(e)
	}
	return lines.Format(t, r)
}

// checkEnd checks that the result and the error of a run agree with its events.
func (s *liveRun) checkEnd(t *testing.T, r engine.Result, err error) {
	t.Helper()
	var all invariants
	for _, e := range s.events {
		_ = all.check(e) // the transcript contains the broken ones
	}
	if err := all.checkResult(r); err != nil {
		t.Fatalf("the result differs from the reported one: %v", err)
	}
	var cause *engine.Error
	if errors.As(err, &cause) != (r.Error != nil) {
		t.Fatalf("the run returns %v, but reported %v", err, r.Error)
	}
	if cause != nil {
		if err := all.checkError(cause); err != nil {
			t.Fatal(err)
		}
	}
}

// checkSame checks that a run equals a finished one, or else that it produces
// the story and has the invariants.
func (s *liveRun) checkSame(t *testing.T, what string, r engine.Result, err error, f finished) {
	t.Helper()
	if slices.EqualFunc(s.events, f.events, SameEvent) && reflect.DeepEqual(r, f.result) && reflect.DeepEqual(err, f.err) {
		return
	}
	Same(t, what, s.transcript(t, r), s.Want())
	s.checkEnd(t, r, err)
}

// within reports whether the story's events contain those of a finished run in
// order, with the same result.
func (f finished) within(s *liveRun, r engine.Result) bool {
	left := f.events
	for _, e := range s.events {
		if len(left) > 0 && SameEvent(e, left[0]) {
			left = left[1:]
		}
	}
	return f.events != nil && len(left) == 0 && reflect.DeepEqual(r, f.result)
}

func inOrder(t *testing.T, s *Story, host NewHost) finished {
	live := s.newLiveRun(t)
	before := fmt.Sprint(s.Input)
	result, err := run(t, live.world, host(t, s), s, s.Start(), 0)
	if after := fmt.Sprint(s.Input); after != before {
		t.Errorf("the caller's input changed from %s to %s", before, after)
	}
	live.checkSame(t, "in order", result, err, finished{})
	live.checkOnce(t)
	return finished{live.events, result, err}
}

// run starts a run in order, which yields at the k-th checkpoint; 0 means
// never.
func run(t *testing.T, world engine.Host, start Start, s *Story, from engine.State, k int) (result engine.Result, err error) {
	t.Helper()
	called := false
	wants := &yieldState{left: k}
	start(world, func(h engine.Host) {
		called = true
		*wants = yieldState{left: k, spent: from.Usage}
		result, err = engine.Run(yieldingHost{Serial{h}, wants, ""}, s.Cascade, from)
	})
	if len(wants.problems) > 0 {
		t.Errorf("a time limit belongs to another attempt, the state lacks usage, or a phase has no checkpoint: %v", wants.problems)
	}
	if elsewhere := errors.Is(err, engine.ErrYield); wants.wanted != elsewhere || wants.late > 0 {
		t.Errorf("the host wants the run elsewhere: %t; it ends with %v, and reported %d more events", wants.wanted, err, wants.late)
	}
	if !called {
		t.Fatal("the host did not call run")
	}
	return result, err
}

// yieldingHost is a host that asks the run to continue elsewhere. If branches
// run in order, no effect is in progress then, and no more events follow.
type yieldingHost struct {
	engine.Host
	*yieldState
	bound string // the path of the scope with the current time limit
}

type yieldState struct {
	left     int
	wanted   bool
	late     int
	problems []string // events outside the scope of a time limit, and costs or starts without a checkpoint
	spent    model.Usage
	asking   int  // unanswered questions; the cost of their branches is not in the state
	done     bool // a phase has finished without a checkpoint since
}

func (y yieldingHost) Checkpoint(s engine.State) error {
	if err := y.Host.Checkpoint(s); err != nil {
		return err
	}
	if s.Usage != y.spent && y.asking == 0 {
		y.problems = append(y.problems, fmt.Sprintf("at a checkpoint %+v of %+v", s.Usage, y.spent))
	}
	y.done = false
	if y.asking > 0 { // the run waits, so the state would omit effects that have not started
		return nil
	}
	if y.left--; y.left == 0 {
		y.wanted = true
		return engine.ErrYield
	}
	return nil
}

func (y yieldingHost) Emit(e event.Event) {
	if y.wanted {
		y.late++
	}
	switch e.Kind {
	case event.ModelReplied:
		y.spent = y.spent.Add(e.Response.Usage)
	case event.Waiting:
		y.asking++
	case event.Answered:
		y.asking--
	}
	if y.done && (e.Kind == event.PhaseStarted || e.Kind == event.RunFinished && e.Error == nil) {
		y.problems = append(y.problems, fmt.Sprintf("%s behind a phase without a checkpoint", e.Kind))
	}
	y.done = y.done || e.Kind == event.PhaseFinished && !strings.Contains(string(e.Path), "/")
	if !strings.HasPrefix(string(e.Path), y.bound) {
		y.problems = append(y.problems, fmt.Sprintf("%s of %s", e.Path, y.bound))
	}
	y.Host.Emit(e)
}

func (y yieldingHost) Each(n, limit int, body func(engine.Host, int) error) error {
	return y.Host.Each(n, limit, func(h engine.Host, i int) error { return body(yieldingHost{h, y.yieldState, y.bound}, i) })
}

func (y yieldingHost) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	bound := strings.TrimSuffix(string(at.Parent()), "/winner")
	return y.Host.Within(at, d, func(h engine.Host) error { return body(yieldingHost{h, y.yieldState, bound}) })
}

// resumeElsewhere yields at the first checkpoint, then at the second, and so
// on, and finally at all checkpoints.
func resumeElsewhere(t *testing.T, s *Story, host NewHost, f finished) {
	for k := 1; k > 0; k++ {
		live := s.newLiveRun(t)
		result, err := run(t, live.world, host(t, s), s, s.Start(), k)
		if !errors.Is(err, engine.ErrYield) {
			k = -1 // no more single ones: yield at every checkpoint
			live = s.newLiveRun(t)
			result, err = run(t, live.world, host(t, s), s, s.Start(), 1)
		}
		for errors.Is(err, engine.ErrYield) {
			result, err = run(t, live.world, host(t, s), s, sentState(t, err), max(-k, 0))
		}
		live.checkSame(t, "gone on with", result, err, f)
		live.checkOnce(t)
	}
}

// sentState returns the state of a yield as another process reads it.
func sentState(t *testing.T, err error) (s engine.State) {
	t.Helper()
	var y *engine.Yield
	if !errors.As(err, &y) {
		t.Fatalf("it yields without a state: %v", err)
	}
	text, e := json.Marshal(y.State)
	if e == nil {
		e = schema.Unmarshal(text, &s)
	}
	if e != nil {
		t.Fatal(e)
	}
	return s
}

func interrupt(t *testing.T, s *Story, host NewHost, f finished) {
	for k := int64(1); ; k++ {
		live, start := s.newLiveRun(t), host(t, s)
		faulty := NewFault(live.world, k)
		_, err := run(t, faulty, start, s, s.Start(), 0)
		if asked := faulty.count.Load(); asked > k {
			t.Fatalf("gone at effect %d, and %d more were asked for", k, asked-k)
		}
		if !errors.Is(err, ErrFault) {
			if k == 1 && strings.Contains(s.Want(), "/model ") {
				t.Fatalf("gone at the first effect: got %v", err)
			}
			return
		}
		result, _ := run(t, live.world, start, s, s.Start(), 0)
		live.checkOnce(t)
		if f.within(live, result) {
			continue
		}
		got := lines(live.transcript(t, result))
		for _, line := range lines(s.Want()) {
			if !slices.Contains(got, line) {
				t.Fatalf("lost at effect %d: not reported: %s\n%s", k, line, strings.Join(got, "\n"))
			}
		}
	}
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

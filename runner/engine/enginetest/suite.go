package enginetest

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

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A NewHost makes room for one run of a story in whatever a host under test keeps
// runs in.
type NewHost func(tb testing.TB, s *Story) Start

// A Start starts that run, and starts it again where it was broken off: it has
// run called with the host, on whatever goroutine the host wants, and comes back
// when run has. The effects that the host has made are made by world, and the
// events come to world's Emit. A run that goes on from a state is called with
// a new room.
type Start func(world engine.Host, run func(engine.Host))

// Run sees that a host runs every shipped transcript as it is written, and that a
// run goes on elsewhere from every place where it may. It is for hosts that keep
// nothing; for others there is [RunKept].
func Run(t *testing.T, host NewHost) { runAll(t, host) }

// runAll is [Run], and gives the runs in order by the names of their stories.
func runAll(t *testing.T, host NewHost) map[string]finished {
	all := map[string]finished{}
	for _, s := range Stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			t.Run("in order", func(t *testing.T) { all[s.Name] = inOrder(t, s, host) })
			t.Run("gone on with", func(t *testing.T) { goneOnWith(t, s, host, all[s.Name]) })
		})
	}
	return all
}

// RunKept is [Run] for a host that keeps what effects came to: besides, the
// process is gone at every effect in turn, and the run ends as if nothing had
// been. Nothing that was done is done again, but what is pure.
func RunKept(t *testing.T, host NewHost) {
	all := runAll(t, host)
	for _, s := range Stories(t) {
		t.Run(s.Name+"/broken off", func(t *testing.T) { brokenOff(t, s, host, all[s.Name]) })
	}
}

// A finished run was seen to tell its story: what another tells that has the same
// events and result need not be written out.
type finished struct {
	events []event.Event
	result engine.Result
	err    error
}

// Alike tells whether two events are the same, whenever they were told.
func Alike(a, b event.Event) bool {
	a.Seq, a.Time = b.Seq, b.Time
	return reflect.DeepEqual(a, b)
}

// story is one run of a story: its world and what was told.
type story struct {
	*Story
	world  engine.Host
	events []event.Event
	mu     sync.Mutex
	made   map[event.Path]int // how often each effect was, but for pure validators, which may be found again
}

func (s *Story) begin(t *testing.T) *story {
	told := &story{Story: s, made: map[event.Path]int{}}
	sink := event.Func(func(e event.Event) { told.events = append(told.events, e) })
	told.world = via{s.Host(t, runner.WithSink(sink)), told.count}
	return told
}

// once sees that no effect was made again.
func (s *story) once(t *testing.T) {
	t.Helper()
	for at, n := range s.made {
		if n > 1 {
			t.Errorf("%s was made %d times", at, n)
		}
	}
}

func (s *story) count(at event.Path, pure bool, effect func() error) error {
	err := effect()
	if err == nil && !pure {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.made[at]++
	}
	return err
}

// told is the transcript of the story.
func (s *story) told(t *testing.T, r engine.Result) string {
	var lines Transcript
	for _, e := range s.events {
		lines.Emit(e)
	}
	return lines.Told(t, r)
}

// ended sees that a run came to what its events tell, with the error that they
// tell.
func (s *story) ended(t *testing.T, r engine.Result, err error) {
	t.Helper()
	var all promises
	for _, e := range s.events {
		_ = all.kept(e) // the transcript has what is not
	}
	if err := all.result(r); err != nil {
		t.Fatalf("the result is not what was told: %v", err)
	}
	var why *engine.Error
	if errors.As(err, &why) != (r.Error != nil) {
		t.Fatalf("the run gives %v, and told is %v", err, r.Error)
	}
	if why != nil {
		if err := all.failed(why); err != nil {
			t.Fatal(err)
		}
	}
}

// same sees that a run came to what another did that has finished, or else that it
// tells the story and keeps its promises.
func (s *story) same(t *testing.T, what string, r engine.Result, err error, f finished) {
	t.Helper()
	if slices.EqualFunc(s.events, f.events, Alike) && reflect.DeepEqual(r, f.result) && reflect.DeepEqual(err, f.err) {
		return
	}
	Same(t, what, s.told(t, r), s.Want())
	s.ended(t, r, err)
}

// within tells whether a run that has finished has the result, and its events are
// among those of the story, in order.
func (f finished) within(s *story, r engine.Result) bool {
	left := f.events
	for _, e := range s.events {
		if len(left) > 0 && Alike(e, left[0]) {
			left = left[1:]
		}
	}
	return f.events != nil && len(left) == 0 && reflect.DeepEqual(r, f.result)
}

func inOrder(t *testing.T, s *Story, host NewHost) finished {
	told := s.begin(t)
	before := fmt.Sprint(s.Input)
	result, err := run(t, told.world, host(t, s), s, s.Start(), 0)
	if after := fmt.Sprint(s.Input); after != before {
		t.Errorf("the caller's input was %s and is %s", before, after)
	}
	told.same(t, "in order", result, err, finished{})
	told.once(t)
	return finished{told.events, result, err}
}

// run starts a run in order, which yields at the k-th checkpoint; 0 is never.
func run(t *testing.T, world engine.Host, start Start, s *Story, from engine.State, k int) (result engine.Result, err error) {
	t.Helper()
	called := false
	wants := &yields{left: k}
	start(world, func(h engine.Host) {
		called = true
		*wants = yields{left: k, spent: from.Usage}
		result, err = engine.Run(yielding{Serial{h}, wants, ""}, s.Cascade, from)
	})
	if len(wants.beside) > 0 {
		t.Errorf("a limit of time is of another attempt, what was spent is not in the state, or a phase has no checkpoint: %v", wants.beside)
	}
	if elsewhere := errors.Is(err, engine.ErrYield); wants.wanted != elsewhere || wants.late > 0 {
		t.Errorf("the host wants the run elsewhere: %t; it ends with %v, and told %d more", wants.wanted, err, wants.late)
	}
	if !called {
		t.Fatal("the host did not call run")
	}
	return result, err
}

// yielding is a host that wants the run gone on with elsewhere. Where its branches
// run in order nothing is under way then, and nothing more is told.
type yielding struct {
	engine.Host
	*yields
	bound string // the path of what has the limit of time that holds here
}

type yields struct {
	left   int
	wanted bool
	late   int
	beside []string // what was told within a limit of time that is of something else, or spent or begun beside a checkpoint
	spent  model.Usage
	asking int  // questions that nobody has answered: what such a branch has spent is not in the state
	done   bool // a phase of the run's own, and no checkpoint has come since
}

func (y yielding) Checkpoint(s engine.State) error {
	if err := y.Host.Checkpoint(s); err != nil {
		return err
	}
	if s.Usage != y.spent && y.asking == 0 {
		y.beside = append(y.beside, fmt.Sprintf("at a checkpoint %+v of %+v", s.Usage, y.spent))
	}
	y.done = false
	if y.asking > 0 { // the run waits, and would leave out what has not begun
		return nil
	}
	if y.left--; y.left == 0 {
		y.wanted = true
		return engine.ErrYield
	}
	return nil
}

func (y yielding) Emit(e event.Event) {
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
		y.beside = append(y.beside, fmt.Sprintf("%s behind a phase without a checkpoint", e.Kind))
	}
	y.done = y.done || e.Kind == event.PhaseFinished && !strings.Contains(string(e.Path), "/")
	if !strings.HasPrefix(string(e.Path), y.bound) {
		y.beside = append(y.beside, fmt.Sprintf("%s of %s", e.Path, y.bound))
	}
	y.Host.Emit(e)
}

func (y yielding) Each(n, limit int, body func(engine.Host, int) error) error {
	return y.Host.Each(n, limit, func(h engine.Host, i int) error { return body(yielding{h, y.yields, y.bound}, i) })
}

func (y yielding) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	bound := strings.TrimSuffix(string(at.Up()), "/winner")
	return y.Host.Within(at, d, func(h engine.Host) error { return body(yielding{h, y.yields, bound}) })
}

// goneOnWith yields at the first checkpoint, then at the second, and so on, and
// at the last at every one of them.
func goneOnWith(t *testing.T, s *Story, host NewHost, f finished) {
	for k := 1; k > 0; k++ {
		told := s.begin(t)
		result, err := run(t, told.world, host(t, s), s, s.Start(), k)
		if !errors.Is(err, engine.ErrYield) {
			k = -1 // there are no more: at every one
			told = s.begin(t)
			result, err = run(t, told.world, host(t, s), s, s.Start(), 1)
		}
		for errors.Is(err, engine.ErrYield) {
			result, err = run(t, told.world, host(t, s), s, travelled(t, err), max(-k, 0))
		}
		told.same(t, "gone on with", result, err, f)
		told.once(t)
	}
}

// travelled is the state of a yield as another process reads it.
func travelled(t *testing.T, err error) (s engine.State) {
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

func brokenOff(t *testing.T, s *Story, host NewHost, f finished) {
	for k := int64(1); ; k++ {
		told, start := s.begin(t), host(t, s)
		gone := NewFault(told.world, k)
		_, err := run(t, gone, start, s, s.Start(), 0)
		if asked := gone.count.Load(); asked > k {
			t.Fatalf("gone at effect %d, and %d more were asked for", k, asked-k)
		}
		if !errors.Is(err, ErrFault) {
			if k == 1 && strings.Contains(s.Want(), "/model ") {
				t.Fatalf("gone at the first effect: got %v", err)
			}
			return
		}
		result, _ := run(t, told.world, start, s, s.Start(), 0)
		told.once(t)
		if f.within(told, result) {
			continue
		}
		got := lines(told.told(t, result))
		for _, line := range lines(s.Want()) {
			if !slices.Contains(got, line) {
				t.Fatalf("gone at effect %d: not told: %s\n%s", k, line, strings.Join(got, "\n"))
			}
		}
	}
}

func lines(text string) []string { return strings.Split(strings.TrimSpace(text), "\n") }

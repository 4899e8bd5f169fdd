package storytest_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A saving host records the states of checkpoints.
type saving struct {
	engine.Host
	mu  *sync.Mutex
	all *[]engine.State
}

func (h saving) Checkpoint(s engine.State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.all = append(*h.all, s)
	return h.Host.Checkpoint(s)
}

func (h saving) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(saving{inner, h.mu, h.all}, i) })
}

// A run of many items can continue elsewhere after each item and after a phase.
func TestGoesOnBehindItems(t *testing.T) {
	s := storytest.Read(t, "items", []byte(`Three items, here and in a cascade within.
-- cascade.yaml --
cascade_id: c
phases:
  - {name: a, each: {in: [1, 2, 3], as: n}, compose: "{{ n }}", sub_cascades: [{ref: sub.yaml, input_map: {}}]}
-- sub.yaml --
cascade_id: sub
phases: [{name: s, each: {in: [1, 2], as: n}, compose: "{{ n }}"}]
`))
	var states []engine.State
	if _, err := engine.Run(saving{s.Host(t), &sync.Mutex{}, &states}, s.Cascade, s.Start()); err != nil {
		t.Fatal(err)
	}
	var done []int
	for _, one := range states {
		if one.InPhase {
			done = append(done, len(one.Items))
		}
	}
	if !slices.Equal(done, []int{1, 2, 3}) {
		t.Errorf("it could go on with so many items done: %v", done)
	}
}

// A listening host records events.
type listening struct {
	engine.Host
	mu  *sync.Mutex
	all *[]event.Event
}

func (h listening) Emit(e event.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*h.all = append(*h.all, e)
	h.Host.Emit(e)
}

func (h listening) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(listening{inner, h.mu, h.all}, i) })
}

// If a phase continues without some items, its last event names them.
func TestFailuresAreTold(t *testing.T) {
	s := storytest.Read(t, "keeps", []byte(`A list of which one is lost.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, each: {in: [x, y, z], as: n, on_failure: keep}, compose: "{{ n }}", wards: {post: [{expr: "content != 'y'", reason: no y, mode: retry, max_attempts: 1}]}}]
`))
	var all []event.Event
	if _, err := engine.Run(listening{s.Host(t), &sync.Mutex{}, &all}, s.Cascade, s.Start()); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(e event.Event) bool { return e.Kind == event.PhaseFinished && e.Path == "a" })
	if i < 0 || len(all[i].Failures) != 1 || all[i].Failures[0].Index != 1 || all[i].Failures[0].Code != engine.Exhausted {
		t.Errorf("got %+v", all)
	}
}

// An apart host asks the run to continue elsewhere after the first item, while the tool
// of another item is running.
type apart struct {
	engine.Host
	works, yields chan struct{}
}

func (h apart) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	if strings.Contains(string(at), "item[0]") {
		<-h.works
	} else {
		close(h.works)
		<-h.yields
		for range 50 { // who would stop it has the time to
			if h.Stopped() != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	return h.Host.Tool(at, job)
}

func (h apart) Checkpoint(s engine.State) error {
	if len(s.Items) == 1 {
		close(h.yields)
	}
	return engine.ErrYield
}

func (h apart) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error { return body(apart{inner, h.works, h.yields}, i) })
}

// An item that is at work when the run is to go on elsewhere comes to its end.
func TestYieldsBesideItems(t *testing.T) {
	s := storytest.Read(t, "apart", []byte(`Two items.
-- cascade.yaml --
cascade_id: c
phases: [{name: a, each: {in: [1, 2], as: n}, tool: add, inputs: {a: "{{ n }}", b: 1}}]
`))
	_, err := engine.Run(apart{s.Runner(t).Host(t.Context()), make(chan struct{}), make(chan struct{})}, s.Cascade, s.Start())
	var on *engine.Yield
	if !errors.As(err, &on) || len(on.State.Items) != 2 {
		t.Errorf("it ends with %v", err)
	}
}

package enginetest_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
)

// A saving host keeps the states at which it could go on.
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

// A run of many items can go on elsewhere behind each of them, and behind a phase.
func TestGoesOnBehindItems(t *testing.T) {
	s := enginetest.Read(t, "items", []byte(`Three items, here and in a cascade within.
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
		if one.Within {
			done = append(done, len(one.Items))
		}
	}
	if !slices.Equal(done, []int{1, 2, 3}) {
		t.Errorf("it could go on with so many items done: %v", done)
	}
}

// A listening host keeps what it is told.
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

// The end of a phase that goes on without some of its items names these.
func TestFailuresAreTold(t *testing.T) {
	s := enginetest.Read(t, "keeps", []byte(`A list of which one is lost.
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

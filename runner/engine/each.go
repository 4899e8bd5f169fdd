package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// An Item is the result of one item of a phase with each.
type Item struct {
	Index   int            `json:"index"` // from 0
	Output  any            `json:"output"`
	Failure *event.Failure `json:"failure,omitempty"` // set if the item failed and the phase keeps the others

	Attempts   int         `json:"attempts"`
	Turns      int         `json:"turns"`
	ModelCalls int         `json:"model_calls"`
	Usage      model.Usage `json:"usage"`

	Verdicts []event.Verdict `json:"verdicts,omitempty"`
	Answers  []event.Answer  `json:"answers,omitempty"`
	Degraded []Degraded      `json:"degraded,omitempty"`
}

// goesOn reports whether the visit began on another host.
func (v *visit) goesOn() bool { return v.main && v.s.InPhase }

// items runs the phase once for every item of its list, in parallel. It skips
// items that another host has completed. The output is the list of the items'
// outputs, in order.
func (v *visit) items() (release, error) {
	all := newItems(v)
	err := v.fan(len(v.list), v.p.Each.MaxParallel, all.do)
	for _, it := range all.byIndex {
		if it != nil {
			v.record.Attempts = max(v.record.Attempts, it.Attempts)
		}
	}
	switch {
	case errors.Is(err, ErrYield):
		*v.s = all.so
		return release{}, err
	case err != nil:
		return v.instead(err)
	}
	return v.collected(all), nil
}

// collected returns the release of a phase whose items are all complete.
func (v *visit) collected(all *items) release {
	outputs := make([]any, len(all.byIndex))
	r := release{candidate: candidate{value: outputs}}
	for i, it := range all.byIndex {
		outputs[i] = it.Output
		if it.Failure != nil {
			r.failures = append(r.failures, *it.Failure)
			r.unmet = append(r.unmet, fmt.Sprintf("item[%d]: %s", i, it.Failure.Code))
		}
	}
	if v.p.Conditional() {
		r.text = messages.Text(outputs)
	}
	if v.p.Each.Keep {
		v.s.Set(v.p.Name+"_failures", event.FailureValues(r.failures))
	}
	return r
}

// An items value tracks the parallel items of one visit.
type items struct {
	v       *visit
	byIndex []*Item

	yields atomic.Bool // set when no further item may begin
	mu     sync.Mutex
	so     State // the run's state for a resume: Items lists the completed ones
}

func newItems(v *visit) *items {
	all := &items{v: v, byIndex: make([]*Item, len(v.list)), so: *v.s}
	if !v.goesOn() {
		all.so.InPhase, all.so.Items, all.so.Usage = true, nil, v.meter.Total()
	}
	all.so.Items = slices.Clip(all.so.Items) // a run may resume twice from one state: each appends to its own array
	for i, it := range all.so.Items {
		all.byIndex[it.Index] = &all.so.Items[i]
	}
	return all
}

// do runs one item on a branch.
func (all *items) do(b *flow, i int) error {
	if it := all.byIndex[i]; it != nil {
		it.noted(b)
		return nil
	}
	if all.yields.Load() {
		return ErrYield
	}
	e := all.v.p.Each
	b.locals = map[string]any{e.As: all.v.list[i], keywords.Index: i}
	b.meter = parallel.NewMeter(all.v.meter, cascades.Budget{}, model.Usage{})
	visit := b.visit(all.v.p, all.v.at.At("item", i))
	r, err := visit.item()
	it := &Item{
		Index: i, Output: r.value, Attempts: visit.record.Attempts, Turns: b.turns, ModelCalls: b.calls, Usage: b.meter.Total(),
		Verdicts: b.s.Verdicts, Answers: b.s.Answers, Degraded: b.s.Degraded,
	}
	all.byIndex[i] = it
	if err != nil {
		lost := losable(err)
		if lost == nil || !e.Keep {
			return err
		}
		it.Failure = &event.Failure{Index: i, Code: lost.Code, Message: lost.publicMessage}
	}
	return all.done(b, it)
}

// noted restores the records of a completed item in a branch.
func (it *Item) noted(b *flow) {
	b.turns, b.calls = it.Turns, it.ModelCalls
	b.s.Verdicts, b.s.Answers, b.s.Degraded = it.Verdicts, it.Answers, it.Degraded
}

// done reports a completed item to the host. The state excludes what unfinished
// items have spent.
func (all *items) done(b *flow, it *Item) error {
	if !all.v.main {
		return nil
	}
	all.mu.Lock()
	all.so.Items = append(all.so.Items, *it)
	all.so.Usage = all.so.Usage.Add(it.Usage)
	so := all.so
	all.mu.Unlock()
	err := b.h.Checkpoint(so)
	if errors.Is(err, ErrYield) {
		all.yields.Store(true)
	}
	return err
}

// listed evaluates the list that each iterates over.
func (v *visit) listed() error {
	if v.p.Each == nil {
		return nil
	}
	values, err := v.p.Each.In.Render(v.vars(v.p.Each.In))
	if err != nil {
		return unreadable(v.at, "each: in", err)
	}
	list, isList := values["in"].([]any)
	switch {
	case !isList:
		return unreadable(v.at, "each", fmt.Errorf("in must be a list, not %s", schema.Kind(values["in"])), "each", "in")
	case len(list) > v.p.Each.MaxItems:
		return unreadable(v.at, "each", fmt.Errorf("the list has %d items; max_items is %d", len(list), v.p.Each.MaxItems))
	}
	v.list, v.record.Items = list, len(list)
	return nil
}

// item runs the phase for one item and reports it as a visit. An item has no
// route: if on_exhausted names a phase, the item is exhausted.
func (v *visit) item() (release, error) {
	v.emit(event.Event{Kind: event.PhaseStarted, Path: v.at, Phase: v.p.Name})
	r, err := v.whole()
	if err == nil && r.left != "" {
		err = &Error{Code: Exhausted, publicMessage: r.left}
	}
	status := Succeeded
	switch {
	case err != nil:
		r = release{} // a text may have passed its checks before the item failed
		v.unreleased()
		named := *fault(err)
		named.publicMessage = v.publicError(&named)
		named.Message = fmt.Sprintf("item %v: %s", v.locals[keywords.Index], named.Message)
		err, status = &named, named.Status()
	case len(r.unmet) > 0:
		status = degraded
		v.s.Degraded = append(v.s.Degraded, Degraded{Phase: v.p.Name, Checks: r.unmet})
	}
	v.emit(event.Event{Kind: event.PhaseFinished, Path: v.at, Phase: v.p.Name, Status: status, Output: r.value, Released: r.at})
	return r, err
}

// losable returns the error of an item if the other items may continue:
// exhausted, broken or invalid. It returns nil for blocked items and for errors
// that end the run.
func losable(err error) *Error {
	var e *Error
	if errors.As(err, &e) && e.Code == Invalid {
		return e
	}
	if e = lost(err); e != nil && e.Code != Blocked {
		return e
	}
	return nil
}

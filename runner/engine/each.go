package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/shared"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators/schema"
)

// An Item is what became of one item of a phase with each.
type Item struct {
	Index   int            `json:"index"` // from 0
	Output  any            `json:"output"`
	Failure *event.Failure `json:"failure,omitempty"` // it was lost, and the others are kept

	Attempts   int         `json:"attempts"`
	Turns      int         `json:"turns"`
	ModelCalls int         `json:"model_calls"`
	Usage      model.Usage `json:"usage"`

	Verdicts []event.Verdict `json:"verdicts,omitempty"`
	Answers  []event.Answer  `json:"answers,omitempty"`
	Degraded []Degraded      `json:"degraded,omitempty"`
}

// goesOn tells whether the visit was begun on another host.
func (v *visit) goesOn() bool { return v.main && v.s.Within }

// items does the phase once for every item of its list, side by side, but for
// those that were done on another host. The output is the list of what the items
// gave, in their order.
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

// collected is what a phase lets out of which every item has come to its end.
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
		r.text = words.Text(outputs)
	}
	if v.p.Each.Keep {
		v.s.Set(v.p.Name+"_failures", event.PlainFailures(r.failures))
	}
	return r
}

// items are those of one visit, at work side by side.
type items struct {
	v       *visit
	byIndex []*Item

	yields atomic.Bool // no other is begun
	mu     sync.Mutex
	so     State // of the run, as it goes on from here: Items has those that are done
}

func newItems(v *visit) *items {
	all := &items{v: v, byIndex: make([]*Item, len(v.list)), so: *v.s}
	if !v.goesOn() {
		all.so.Within, all.so.Items, all.so.Usage = true, nil, v.meter.Total()
	}
	all.so.Items = slices.Clip(all.so.Items) // a run may go on twice from one state: each appends to an array of its own
	for i, it := range all.so.Items {
		all.byIndex[it.Index] = &all.so.Items[i]
	}
	return all
}

// do does one item on a branch.
func (all *items) do(b *flow, i int) error {
	if it := all.byIndex[i]; it != nil {
		it.noted(b)
		return nil
	}
	if all.yields.Load() {
		return ErrYield
	}
	e := all.v.p.Each
	b.locals = map[string]any{e.As: all.v.list[i], cascades.Index: i}
	b.meter = shared.NewMeter(all.v.meter, cascades.Budget{}, model.Usage{})
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
		it.Failure = &event.Failure{Index: i, Code: lost.Code, Message: lost.told}
	}
	return all.done(b, it)
}

// noted puts into a branch what the item has noted elsewhere.
func (it *Item) noted(b *flow) {
	b.turns, b.calls = it.Turns, it.ModelCalls
	b.s.Verdicts, b.s.Answers, b.s.Degraded = it.Verdicts, it.Answers, it.Degraded
}

// done tells the host of an item that has come to its end. What else the run
// has spent meanwhile is not in the state: it belongs to items that are not.
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

// listed finds what each goes over.
func (v *visit) listed() error {
	if v.p.Each == nil {
		return nil
	}
	values, err := v.p.Each.In.Render(v.vars(v.p.Each.In))
	if err != nil {
		return unread(v.at, "each: in", err)
	}
	list, isList := values["in"].([]any)
	switch {
	case !isList:
		return unread(v.at, "each", fmt.Errorf("in must be a list, not %s", schema.Kind(values["in"])), "each", "in")
	case len(list) > v.p.Each.MaxItems:
		return unread(v.at, "each", fmt.Errorf("the list has %d items; max_items is %d", len(list), v.p.Each.MaxItems))
	}
	v.list, v.record.Items = list, len(list)
	return nil
}

// item does the phase for one item and tells of it as of a visit. It leads
// nowhere: where on_exhausted names a phase, the item is exhausted.
func (v *visit) item() (release, error) {
	v.emit(event.Event{Kind: event.PhaseStarted, Path: v.at, Phase: v.p.Name})
	r, err := v.whole()
	if err == nil && r.left != "" {
		err = &Error{Code: Exhausted, told: r.left}
	}
	status := Succeeded
	switch {
	case err != nil:
		r = release{} // a text may have passed its checks before what ended the item
		v.unreleased()
		named := *fault(err)
		named.told = v.tellable(&named)
		named.Message = fmt.Sprintf("item %v: %s", v.locals[cascades.Index], named.Message)
		err, status = &named, named.Status()
	case len(r.unmet) > 0:
		status = degraded
		v.s.Degraded = append(v.s.Degraded, Degraded{Phase: v.p.Name, Checks: r.unmet})
	}
	v.emit(event.Event{Kind: event.PhaseFinished, Path: v.at, Phase: v.p.Name, Status: status, Output: r.value, Released: r.at})
	return r, err
}

// losable gives the error of an item that the others need not end with: it was
// exhausted or broke, or is not what the phase takes. Blocked is never kept, nor
// what ends the run anyway.
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

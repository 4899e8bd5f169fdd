package engine

import (
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
)

// items does the phase once for every item of its list, side by side. The output
// is the list of what the items gave, in their order.
func (v *visit) items() (release, error) {
	e, list := v.p.Each, v.list
	v.base = v.s.State
	outputs := make([]any, len(list))
	lost := make([]*Error, len(list))
	attempts := make([]int, len(list))
	err := v.fan(len(list), e.MaxParallel, func(b *flow, i int) error {
		b.locals = map[string]any{e.As: list[i], cascades.Index: i}
		item := b.visit(v.p, v.at.At("item", i))
		item.validated = v.validated
		r, err := item.item()
		outputs[i], attempts[i] = r.value, item.record.Attempts
		if lost[i] = losable(err); lost[i] != nil && e.Keep {
			return nil
		}
		return err
	})
	for _, n := range attempts {
		v.record.Attempts = max(v.record.Attempts, n)
	}
	if err != nil {
		return v.stopped(err)
	}
	r := release{candidate: candidate{value: outputs}}
	for i, e := range lost {
		if e != nil {
			r.failures = append(r.failures, event.Failure{Index: i, Code: e.Code, Message: e.told})
			r.unmet = append(r.unmet, fmt.Sprintf("item[%d]: %s", i, e.Code))
		}
	}
	if e.Keep {
		v.s.Set(v.p.Name+"_failures", PlainFailures(r.failures))
	}
	return r, nil
}

// listed finds what each goes over.
func (v *visit) listed() error {
	if v.p.Each == nil {
		return nil
	}
	values, err := v.p.Each.In.Render(v.vars(0, v.p.Each.In))
	if err != nil {
		return invalid(v.at, "each: in: %v", err)
	}
	list, isList := values["in"].([]any)
	switch {
	case !isList:
		return invalid(v.at, "each: in must be a list, not %s", kindOf(values["in"]))
	case len(list) > v.p.Each.MaxItems:
		return invalid(v.at, "each: the list has %d items; max_items is %d", len(list), v.p.Each.MaxItems)
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
		err = &Error{Code: Exhausted, Path: v.at, Message: r.left, told: r.left}
	}
	status := Succeeded
	switch {
	case err != nil:
		named := *fault(err)
		named.told = v.tellable(&named)
		named.Message = fmt.Sprintf("item %v: %s", v.locals[cascades.Index], named.Message)
		err, status = &named, named.Status()
	case len(r.unmet) > 0:
		status = degraded
		v.s.Degraded = append(v.s.Degraded, Degraded{Phase: v.p.Name, Checks: r.unmet})
	}
	done := event.Event{Kind: event.PhaseFinished, Path: v.at, Phase: v.p.Name, Status: status, Output: r.value}
	if err == nil {
		done.Released = r.at
	}
	v.emit(done)
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

// stopped is how the phase ends with an item. Where on_exhausted names a phase,
// the run goes there.
func (v *visit) stopped(err error) (release, error) {
	e := fault(err)
	where := v.p.Rules.OnExhausted
	switch where {
	case cascades.OnExhaustedFail, cascades.OnExhaustedLast, cascades.OnExhaustedBest:
		return release{}, err
	}
	if e.Code != Exhausted {
		return release{}, err
	}
	return release{route: where, left: v.tellable(e)}, nil
}

// PlainFailures are failures as templates read them.
func PlainFailures(list []event.Failure) []any {
	plain := make([]any, len(list))
	for i, f := range list {
		plain[i] = map[string]any{"index": f.Index, "code": f.Code, "message": f.Message}
	}
	return plain
}

// kindOf names the kind of a plain value as the author of a cascade knows it.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case map[string]any:
		return "an object"
	default:
		return "a number"
	}
}

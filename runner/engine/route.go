package engine

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/event"
)

// past returns the phase after a skipped one: the target of its single handoff,
// or the next phase in the file.
func (f *flow) past(p *cascades.Phase) string {
	if len(p.Handoffs) == 1 && p.Handoffs[0].When == nil {
		return f.c.Way(p.Handoffs[0].Target)
	}
	return f.after(p)
}

// last ends the run after this visit. The run has the visit's output or none, and fails
// if the phase leads elsewhere instead of giving an output.
func (v *visit) last(r release) error {
	v.s.Next = ""
	switch {
	case r.left != "":
		return &Error{Code: v.record.Status, Phase: v.p.Name, Path: v.at, Message: r.left}
	case v.record.Status == skipped:
		v.s.Output = nil
	}
	return nil
}

// goTo sets the next phase. The next phase can read left, the reason why this
// phase has no output.
func (v *visit) goTo(next, left string) {
	v.s.Next = next
	if next != "" {
		v.emit(event.Event{Kind: event.Route, Path: v.at, From: v.p.Name, To: next, Message: left})
	}
}

// choice asks the model to choose the next phase, unless it has already chosen
// or a handoff's condition holds. If the model again chooses no phase, the
// phase has failed.
func (v *visit) choice(r *release) error {
	if r.by == nil || !r.by.mustChoose() {
		return nil
	}
	if _, held, err := v.held(*r); held || err != nil {
		return nil // next reports the error
	}
	if err := r.by.choose(); err != nil {
		return err
	}
	if r.route = r.by.chosen; r.route != "" || v.p.Unchosen == keywords.ChooseFirst {
		return nil
	}
	none := &Error{Code: Failed, Phase: v.p.Name, Path: v.at, keyPath: []string{"handoffs"}, Message: "the model chose none of the handoffs"}
	none.of(r.by.place().at.Join("route").Join("model"))
	return none
}

// held returns the first handoff whose condition holds. The condition can read
// the phase's output before its release.
func (v *visit) held(r release) (target string, held bool, err error) {
	subject := v.subject(r.text, r.value, 0, v.record.Attempts)
	subject.Outputs = maps.Clone(subject.Outputs)
	subject.Outputs[v.p.Name] = r.value
	for i, h := range v.p.Handoffs {
		if h.When == nil {
			continue
		}
		ok, err := h.When.EvalUntil(v.h.Stopped, subject)
		if err != nil {
			return "", false, v.stoppedOr(&Error{Code: Invalid, Phase: v.p.Name, Path: v.at, Err: err, keyPath: []string{"handoffs", strconv.Itoa(i), "when"}, Message: fmt.Sprintf("handoff to %s: %v", h.Target, err)})
		}
		if ok {
			return h.Target, true, nil
		}
	}
	return "", false, nil
}

// next returns the phase that follows: the first handoff whose condition holds,
// then the model's choice, then the default.
func (v *visit) next(r release) (string, error) {
	if v.p.Conditional() {
		if target, held, err := v.held(r); err != nil || held {
			return v.c.Way(target), err
		}
	}
	unasked, there := v.p.Unasked()
	switch {
	case r.route != "":
		return v.c.Way(r.route), nil
	case there:
		return v.c.Way(unasked), nil
	case v.p.Unchosen == keywords.ChooseFirst:
		i := slices.IndexFunc(v.p.Handoffs, func(h cascades.Handoff) bool { return h.When == nil })
		return v.c.Way(v.p.Handoffs[i].Target), nil
	case v.p.Chooses():
		return "", &Error{Code: Failed, Phase: v.p.Name, Path: v.at, keyPath: []string{"handoffs"}, Message: "no condition of a handoff holds, and there is no model that could choose"}
	default:
		return v.after(v.p), nil
	}
}

package engine

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
)

// past is where a skipped phase leads: its one handoff, or the next in the
// file.
func (f *flow) past(p *cascades.Phase) string {
	if len(p.Handoffs) == 1 && p.Handoffs[0].When == nil {
		return f.c.Way(p.Handoffs[0].Target)
	}
	return f.after(p)
}

// goTo leads on; left is what the next phase hears of why this one was left.
func (v *visit) goTo(next, left string) error {
	v.s.Next = next
	if next != "" {
		v.emit(event.Event{Kind: event.Route, Path: v.at, From: v.p.Name, To: next, Message: left})
	}
	return nil
}

// next picks the phase that follows: the first handoff whose condition holds,
// else what the model chose, else the first plain one.
func (v *visit) next(r release) (string, error) {
	subject := v.subject(r.text, r.value, 0, v.record.Attempts)
	plain := ""
	for i, h := range v.p.Handoffs {
		if h.When == nil {
			if plain == "" && h.Description == "" {
				plain = h.Target
			}
			continue
		}
		ok, err := h.When.EvalUntil(v.h.Stopped, subject)
		if err != nil {
			return "", v.untold(&Error{Code: Invalid, Phase: v.p.Name, Path: v.at, Err: err, way: []string{"handoffs", strconv.Itoa(i), "when"}, Message: fmt.Sprintf("handoff to %s: %v", h.Target, err)})
		}
		if ok {
			return v.c.Way(h.Target), nil
		}
	}
	switch {
	case r.route != "":
		return v.c.Way(r.route), nil
	case plain != "":
		return v.c.Way(plain), nil
	case len(v.p.Handoffs) == 1 && v.p.Handoffs[0].When == nil:
		return v.c.Way(v.p.Handoffs[0].Target), nil
	case v.p.FirstHandoff:
		i := slices.IndexFunc(v.p.Handoffs, func(h cascades.Handoff) bool { return h.When == nil })
		return v.c.Way(v.p.Handoffs[i].Target), nil
	case v.p.Chooses():
		return "", &Error{Code: Failed, Phase: v.p.Name, Path: v.at, way: []string{"handoffs"}, Message: "the model chose none of the handoffs"}
	default:
		return v.after(v.p), nil
	}
}

package backtest

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/wards"
)

// wardedCalls compares the wards around the tools that one exchange asked for, and
// gives the first decision that would not have let it go on. A call that was
// made and would now be refused is the turn's to say again; one that was
// refused and would now be made leads where no record does.
func (v *visitTest) wardedCalls(a *trace.Attempt, t *trace.Turn, at event.Path, budget *wards.Budget) (first wards.Decision, err error) {
	around := v.phase.Wards
	for i, c := range askedAt(t, at) {
		s := &slot{said: engine.Said{At: at.At("tool", i), Attempt: a.Number, Turn: t.Number, Text: c.Arguments}}
		s.recorded = verdictsAt(t, s.said.At)
		refused := slices.ContainsFunc(s.recorded, func(w *trace.Verdict) bool {
			return w.Moment == string(wards.Tool) && w.Valid != nil && !*w.Valid && w.Mode == string(wards.Retry)
		})
		subject, could := v.past.Asked(s.said, c)
		var d wards.Decision
		if s.subject = subject; could {
			if d, err = v.around(s, around.Tool, c.Name, budget); err != nil {
				return first, err
			}
		}
		if u := useAt(t, s.said.At); u != nil && u.Result != nil && could && !refused {
			s.said.Text = u.Result.Text()
			s.subject = v.past.Gave(s.said, c.Name)
			gave, err := v.around(s, around.Result, c.Name, budget)
			if err != nil {
				return first, err
			}
			if d.Action == wards.Release && gave.Action != wards.Again {
				d = gave
			}
		}
		v.left(s)
		if d.Action == wards.Again && refused {
			continue // as it was
		}
		if first.Action == wards.Release {
			first = d
		}
	}
	return first, nil
}

// around compares the wards of one moment around one call.
func (v *visitTest) around(s *slot, list []*cascades.Check, tool string, budget *wards.Budget) (wards.Decision, error) {
	var guarding []*cascades.Check
	for _, c := range list {
		if c.Guards(tool) {
			guarding = append(guarding, c)
		}
	}
	outcomes, err := v.checks(s, guarding, nil)
	return budget.Decide(0, outcomes), err
}

// askedAt gives the calls of tools that the model asked for in one exchange, without
// those of a message with which it asked once too often: nothing has judged them.
func askedAt(t *trace.Turn, at event.Path) []model.ToolCall {
	var list []model.ToolCall
	rounds := 0
	for _, c := range t.Calls {
		if c.Validator == "" && c.Response != nil && len(c.Response.ToolCalls) > 0 && c.From() == at && rounds < cascades.MaxRounds {
			list = append(list, c.Response.ToolCalls...)
			rounds++
		}
	}
	return list
}

// verdictsAt gives the verdicts that stand around one call.
func verdictsAt(t *trace.Turn, at event.Path) []*trace.Verdict {
	return picked(t.Verdicts, func(w *trace.Verdict) bool { return w.Path.Up() == at })
}

func useAt(t *trace.Turn, at event.Path) *trace.Use {
	if i := slices.IndexFunc(t.Tools, func(u *trace.Use) bool { return u.Path == at }); i >= 0 {
		return t.Tools[i]
	}
	return nil
}

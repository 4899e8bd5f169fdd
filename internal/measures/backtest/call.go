package backtest

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/wards"
)

// wardedCalls compares the wards of the tool calls of one exchange. It returns the first decision
// other than a release. If a call is rejected now, the turn is repeated. If a rejected call passes
// now, its result is unknown.
func (v *visitTest) wardedCalls(a *trace.Attempt, t *trace.Turn, at event.Path, budget *wards.Budget) (first wards.Decision, err error) {
	around := v.phase.Wards
	for i, c := range askedAt(t, at) {
		s := &slot{text: engine.RecordedText{At: at.At("tool", i), Attempt: a.Number, Turn: t.Number, Text: c.Arguments}}
		s.recorded = verdictsAt(t, s.text.At)
		refused := slices.ContainsFunc(s.recorded, func(w *trace.Verdict) bool {
			return w.Moment == string(wards.Tool) && w.Valid != nil && !*w.Valid && w.Mode == string(wards.Retry)
		})
		subject, could := v.past.Asked(s.text, c)
		var d wards.Decision
		if s.subject = subject; could {
			if d, err = v.around(s, around.Tool, c.Name, budget); err != nil {
				return first, err
			}
		}
		if u := useAt(t, s.text.At); u != nil && u.Result != nil && could && !refused {
			s.text.Text = u.Result.Text()
			s.subject = v.past.Gave(s.text, c.Name)
			result, err := v.around(s, around.Result, c.Name, budget)
			if err != nil {
				return first, err
			}
			if d.Action == wards.Release && result.Action != wards.SendBack {
				d = result
			}
		}
		v.countRemaining(s)
		if d.Action == wards.SendBack && refused {
			continue // unchanged
		}
		if first.Action == wards.Release {
			first = d
		}
	}
	return first, nil
}

// around compares the wards of one moment of one call.
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

// askedAt returns the tool calls of one exchange, except those after the maximum number of rounds,
// which no ward judged.
func askedAt(t *trace.Turn, at event.Path) []model.ToolCall {
	var list []model.ToolCall
	rounds := 0
	for _, c := range t.Calls {
		if c.Validator == "" && c.Response != nil && len(c.Response.ToolCalls) > 0 && c.From() == at && rounds < keywords.MaxRounds {
			list = append(list, c.Response.ToolCalls...)
			rounds++
		}
	}
	return list
}

// verdictsAt returns the verdicts on one call.
func verdictsAt(t *trace.Turn, at event.Path) []*trace.Verdict {
	return picked(t.Verdicts, func(w *trace.Verdict) bool { return w.Path.Parent() == at })
}

func useAt(t *trace.Turn, at event.Path) *trace.Use {
	if i := slices.IndexFunc(t.Tools, func(u *trace.Use) bool { return u.Path == at }); i >= 0 {
		return t.Tools[i]
	}
	return nil
}

package backtest

import (
	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/wards"
)

// Whole is the moment of a phase that is a validator.
const Whole wards.Moment = "gate"

// A Gate is one check of a phase.
type Gate struct {
	Moment wards.Moment
	Check  *cascades.Check // nil for output_schema
	Ward   *wards.Ward
}

// Gates returns the checks of a phase in the order in which they run.
func Gates(p *cascades.Phase) (list []Gate) {
	add := func(moment wards.Moment, checks ...*cascades.Check) {
		for _, c := range checks {
			list = append(list, Gate{moment, c, c.Ward})
		}
	}
	add(wards.Pre, p.Wards.Pre...)
	add(wards.Tool, p.Wards.Tool...)
	add(wards.Result, p.Wards.Result...)
	add(wards.Turn, p.Wards.Turn...)
	if p.Tool != nil && p.Tool.Validator != nil {
		v := p.Tool.Validator
		add(Whole, &cascades.Check{Ward: &wards.Ward{Name: v.Name, Moment: wards.Post, Mode: wards.Blocking}, Validator: v})
	}
	if p.SchemaWard != nil {
		list = append(list, Gate{Moment: wards.OutputSchema, Ward: p.SchemaWard})
	}
	if p.Rules.Loop != nil {
		add(wards.LoopUntil, p.Rules.Loop)
	}
	if p.Soundings != nil && p.Soundings.Filter != nil {
		add(wards.Filter, p.Soundings.Filter)
	}
	add(wards.Post, p.Wards.Post...)
	return list
}

// row returns the row of the gate in a phase of a cascade.
func (g Gate) row(cascade string, p *cascades.Phase) row {
	moment := g.Moment
	if moment == Whole {
		moment = wards.Post
	}
	return row{place{cascade, p.Name}, string(moment), g.Ward.Name}
}

// mode returns the mode of the gate. That of a phase that is a validator is gate.
func (g Gate) mode() string {
	if g.Moment == Whole {
		return string(Whole)
	}
	return string(g.Ward.Mode)
}

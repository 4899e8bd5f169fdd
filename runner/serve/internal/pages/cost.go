package pages

import (
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/seed61713e19/capstan/internal/measures/cost"
)

type costView struct {
	measuredView
	Report *cost.Result
	Phases []costRow
}

type costRow struct {
	*cost.Phase
	Money   bool
	Plots   []plotView
	Options []cost.Option
}

// Price returns the price of an option, in dollars or in calls.
func (r costRow) Price(p cost.Price) string {
	if r.Money {
		return dollars(p.CostUSD)
	}
	return strconv.FormatFloat(p.Calls, 'f', 2, 64) + " calls"
}

func (r costRow) Advised(o cost.Option) bool { return r.Advice != nil && r.Advice.Name == o.Name }

func (s *Site) costPage(w http.ResponseWriter, r *http.Request) error {
	known, scale, err := s.weigh(w, r, "Cost", "cost", r.URL.Query().Get("cascade"))
	if err != nil {
		return err
	}
	v := costView{measuredView: known}
	if scale == nil {
		return s.render(w, v.status(), "cost", v)
	}
	b := cost.NewBuilder(scale.Cascade.ID)
	trusted, err := s.report(r.Context(), scale, b.Add)
	if err != nil {
		return err
	}
	v.Report = b.Result(trusted.Released())
	for _, p := range v.Report.Phases {
		v.Phases = append(v.Phases, newCostRow(p))
	}
	return s.render(w, http.StatusOK, "cost", v)
}

func newCostRow(p *cost.Phase) costRow {
	row := costRow{Phase: p, Money: p.Current.Price.CostUSD > 0, Options: append([]cost.Option{p.Current}, p.Alternatives...)}
	row.Plots = []plotView{row.curve(), row.hazard()}
	return row
}

// curve returns the price of an accepted output over the share of accepted outputs. The points
// of options that differ only in the maximum of attempts are joined.
func (r costRow) curve() plotView {
	budgets, others := Series{}, Series{Class: "b"}
	for _, o := range append(r.Alternatives[:len(r.Alternatives):len(r.Alternatives)], r.Current) { // fewer attempts come first
		p := Point{X: o.Accepted.Value(), Y: r.of(o.Price), Marked: r.Advised(o), Label: fmt.Sprintf("%s: %s, accepts %s", o.Name, r.Price(o.Price), o.Accepted)}
		if math.IsNaN(p.X) {
			continue
		}
		if o.Interval != nil && o.Interval.Bounded() {
			p.Low, p.High = o.Interval.Low, o.Interval.High
		}
		if o.Attempts == 0 {
			others.Points = append(others.Points, p)
			continue
		}
		p.Word = formatCount(o.Attempts)
		budgets.Points = append(budgets.Points, p)
	}
	y := Axis{Format: func(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }}
	note := "model calls, over how many outputs are accepted; the numbers are the maximum of attempts"
	if r.Money {
		y.Format, note = func(v float64) string { return "$" + strconv.FormatFloat(v, 'g', 4, 64) }, "US dollars"+note[len("model calls"):]
	}
	low := 1.0
	for _, p := range append(budgets.Points[:len(budgets.Points):len(budgets.Points)], others.Points...) {
		low = min(low, p.X)
	}
	low = math.Max(0, math.Floor(low*10-0.5)/10)
	x := Axis{Low: low, High: 1.02, Format: func(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) + " %" }}
	// Only the first series is joined.
	all := []Series{budgets}
	for _, p := range others.Points {
		all = append(all, Series{Class: "b", Points: []Point{p}})
	}
	return plotView{"Price of an accepted output", note, Plot{X: x, Y: y, Series: all, Empty: "nothing was accepted"}}
}

func (r costRow) of(p cost.Price) float64 {
	if r.Money {
		return p.CostUSD
	}
	return p.Calls
}

// hazard returns the share of accepted attempts by the number of the attempt.
func (r costRow) hazard() plotView {
	v := inSteps("Accepted, by attempt", "after the earlier attempts were rejected, with the exact 95 % interval",
		r.ByAttempt, func(s cost.Step) (int, share) { return s.Attempt, s.Accepted })
	v.Plot.Empty = "no attempt has ended"
	return v
}

package pages

import (
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/seed61713e19/capstan/runner/cost"
)

// A costView is what accepted outputs of a cascade cost, and would cost.
type costView struct {
	weighed
	Report *cost.Report
	Phases []costRow
}

// A costRow is what those of one phase do.
type costRow struct {
	*cost.Phase
	Money   bool
	Plots   []plotView
	Options []cost.Option
}

// Price writes what an option takes, in what options are compared by.
func (r costRow) Price(p cost.Price) string {
	if r.Money {
		return dollars(p.CostUSD)
	}
	return strconv.FormatFloat(p.Calls, 'f', 2, 64) + " calls"
}

// Advised tells whether the option is the one that is advised.
func (r costRow) Advised(o cost.Option) bool { return r.Advice != nil && r.Advice.Name == o.Name }

func (s *Site) costPage(w http.ResponseWriter, r *http.Request) error {
	known, scale, err := s.weigh(w, r, "Cost", "cost", r.URL.Query().Get("cascade"))
	if err != nil {
		return err
	}
	v := costView{weighed: known}
	if scale == nil {
		return s.render(w, v.status(), "cost", v)
	}
	b := cost.NewBuilder(scale.Cascade.ID)
	trusted, err := s.report(r.Context(), scale, b.Add)
	if err != nil {
		return err
	}
	v.Report = b.Report(trusted.Released())
	for _, p := range v.Report.Phases {
		v.Phases = append(v.Phases, newCostRow(p))
	}
	return s.render(w, http.StatusOK, "cost", v)
}

func newCostRow(p *cost.Phase) costRow {
	row := costRow{Phase: p, Money: p.Now.Price.CostUSD > 0, Options: append([]cost.Option{p.Now}, p.Others...)}
	row.Plots = []plotView{row.curve(), row.hazard()}
	return row
}

// curve is the price of an accepted output against how many outputs are accepted:
// one point for each number of attempts, joined, the other ways beside them.
func (r costRow) curve() plotView {
	budgets, others := Series{}, Series{Class: "b"}
	for _, o := range append(r.Others[:len(r.Others):len(r.Others)], r.Now) { // fewer attempts come first
		p := Point{X: o.Accepted.Value(), Y: r.of(o.Price), Marked: r.Advised(o), Label: fmt.Sprintf("%s: %s, accepts %s", o.Name, r.Price(o.Price), o.Accepted)}
		if math.IsNaN(p.X) {
			continue
		}
		if o.Around != nil && o.Around.Bounded() {
			p.Low, p.High = o.Around.Low, o.Around.High
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
	// Only the first series is joined; the others are places of their own.
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

// hazard is how often an attempt is accepted where those before it were not.
func (r costRow) hazard() plotView {
	v := inSteps("Accepted, by attempt", "after the earlier attempts were rejected, with the exact 95 % interval",
		r.ByAttempt, func(s cost.Step) (int, share) { return s.Attempt, s.Accepted })
	v.Plot.Empty = "no attempt has ended"
	return v
}

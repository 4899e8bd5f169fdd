package pages

import (
	"fmt"
	"net/http"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/measures/trust"
)

type trustView struct {
	measuredView
	Report *trust.Result
	Gates  []trustRow
}

// A trustRow has the measurements of one gate.
type trustRow struct {
	*trust.Gate
	Drifted                  plotView
	Moved                    plotView // the rate of false passes by number of labels
	Trend, Rejections, Label string
	Texts                    stats.Confusion
}

// Refused returns the number of rejections.
func (r trustRow) Refused() int { return r.Passed.N - r.Passed.K }

// Tried reports whether the gate was tested with planted faults.
func (r trustRow) Tried() bool { return r.PlantedAlways.Known() || r.PlantedUsually.Known() }

func (s *Site) trustPage(w http.ResponseWriter, r *http.Request) error {
	known, scale, err := s.weigh(w, r, "Stats", "trust", r.URL.Query().Get("cascade"))
	if err != nil {
		return err
	}
	v := trustView{measuredView: known}
	if scale == nil {
		return s.render(w, v.status(), "trust", v)
	}
	if v.Report, err = s.report(r.Context(), scale, nil); err != nil {
		return err
	}
	for _, g := range v.Report.Gates {
		v.Gates = append(v.Gates, v.row(g))
	}
	return s.render(w, http.StatusOK, "trust", v)
}

func (v measuredView) status() int {
	if v.Problem != nil {
		return v.Problem.Status
	}
	return http.StatusOK
}

func (v trustView) row(g *trust.Gate) trustRow {
	row := trustRow{
		Gate:       g,
		Texts:      g.Natural.Texts(),
		Trend:      link("/trends", "cascade", v.ID, "phase", g.Phase, "gate", g.Gate, "moment", g.Moment),
		Rejections: link("/rejections", "cascade", v.ID, "phase", g.Phase, "gate", g.Gate, "moment", g.Moment),
		Label:      link("/label", "cascade", v.Cascade, "phase", g.Phase, "gate", g.Gate),
	}
	row.Drifted = drifted(g.Drift)
	if len(g.Steps) > 1 {
		row.Moved = inSteps("Bad texts that passed, over time", "by number of labelled bad texts, with the 95 % range",
			g.Steps, func(e stats.Estimate) (int, share) { return e.N, e })
	}
	return row
}

// drifted returns the chart of a gate's rate since its measurement.
func drifted(d *trust.Drift) plotView {
	if d == nil {
		return plotView{}
	}
	s := Series{Kind: StepPlot}
	for i, level := range d.Course.Levels {
		s.Points = append(s.Points, Point{X: float64((i + 1) * d.Course.Every), Y: level})
	}
	all := []Series{s}
	if d.Alarm != nil {
		at := min((d.Alarm.Verdict-1)/max(d.Course.Every, 1), len(s.Points)-1)
		all = append(all, Series{Class: "b", Points: []Point{{
			X: s.Points[at].X, Y: s.Points[at].Y, Marked: true, Word: "alarm", Label: fmt.Sprintf("verdict %d", d.Alarm.Verdict),
			URL: runLink(d.Alarm.RunID),
		}}})
	}
	return plotView{"Drift", "distance from the alarm limit, by verdict since it was measured", Plot{
		X: Axis{Low: 0, High: float64(max(d.Since.N, 1)), Format: wholeNumber}, Series: all, Limit: &PlotLimit{At: 1, Label: "limit"},
	}}
}

// wholeNumber formats integers, and returns "" for other values.
func wholeNumber(v float64) string {
	if v != float64(int(v)) {
		return ""
	}
	return formatCount(int(v))
}

// inSteps returns the plot of a rate and its interval by steps.
func inSteps[T any](title, note string, steps []T, of func(T) (int, share)) plotView {
	var s Series
	var ticks []Tick
	for i, step := range steps {
		n, rate := of(step)
		p := Point{X: float64(i), Y: rate.Value(), Label: rate.String()}
		around(&p, rate)
		s.Points = append(s.Points, p)
		ticks = append(ticks, Tick{At: float64(i), Label: formatCount(n)})
	}
	return plotView{title, note, Plot{
		X: Axis{Low: -0.5, High: float64(len(ticks)) - 0.5, Ticks: ticks}, Y: Axis{Low: 0, High: 1, Ticks: percents()}, Series: []Series{s},
	}}
}

// A share is a rate or an estimate.
type share interface {
	fmt.Stringer
	Known() bool
	Value() float64
	Interval(confidence float64) stats.Interval
}

func around(p *Point, rate share) {
	if rate.Known() {
		sure := rate.Interval(stats.Confidence)
		p.Low, p.High = sure.Low, sure.High
	}
}

package pages

import (
	"cmp"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

type trendsView struct {
	frame
	Scope
	Cascades   []string
	Days       int
	Ranges     []int
	What       scopeWords
	Whole      span
	Plots      []plotView
	Rows       []spanRow
	Parts      []partRow
	More       int
	Capped     int    // maximum number of runs, if there are more
	Rejections string // the address of a gate's rejections
	Wider      string // the address of the wider scope; "" for all runs
}

// A plotView is a plot with its title.
type plotView struct {
	Title, Note string
	Plot
}

// scopeWords are the names of a scope's counts.
type scopeWords struct{ Noun, Passed, Again string }

func wordsOf(s Scope) scopeWords {
	switch {
	case s.Gate != "":
		return scopeWords{"verdict", "Passed", "Rejections"}
	case s.Phase != "":
		return scopeWords{"try", "Attempts accepted", "Retries per try"}
	default:
		return scopeWords{"run", "Runs that succeeded", "Retries per run"}
	}
}

// A spanRow is a span in the table below the plots.
type spanRow struct {
	span
	URL string
}

type partRow struct {
	Trend
	Name, Kind      string
	URL, Rejections string
	Spark           template.HTML
}

// days are the selectable ranges; 0 is everything.
var days = []int{7, 30, 90, 365, 0}

// maxTrendRuns is the maximum number of runs for one page.
const maxTrendRuns = 20_000

func (s *Site) trendsPage(w http.ResponseWriter, r *http.Request) error {
	v, f, err := s.trendsAsked(r)
	if err != nil {
		return err
	}
	report, err := s.countTrends(r.Context(), v.Scope, f, time.Now())
	if err != nil {
		return err
	}
	if report.Capped {
		v.Capped = f.Limit
	}
	v.show(report)
	if v.Cascades, err = s.cascadesSeen(r, v.Cascade); err != nil {
		return err
	}
	return s.render(w, http.StatusOK, "trends", v)
}

// trendsAsked reads the parameters of the page.
func (s *Site) trendsAsked(r *http.Request) (v trendsView, f journal.Filter, err error) {
	q := r.URL.Query()
	v = trendsView{frame: s.frame("Trends", "trends"), Scope: scopeOf(r), Days: 30, Ranges: days}
	if v.Phase != "" && v.Cascade == "" && v.Gate == "" {
		v.Phase = "" // phases of different cascades are unrelated
	}
	if text := q.Get("days"); text != "" {
		if v.Days, err = strconv.Atoi(text); err != nil || v.Days < 0 || v.Days > 100_000 {
			return v, f, orders.BadQuery("days must be a number up to 100000; 0 is all")
		}
	}
	f = journal.Filter{Cascade: v.Cascade, Limit: maxTrendRuns}
	if v.Days > 0 {
		f.Since = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-v.Days)
	}
	return v, f, nil
}

func scopeOf(r *http.Request) Scope {
	q := r.URL.Query()
	return Scope{Cascade: q.Get("cascade"), Phase: q.Get("phase"), Gate: q.Get("gate"), Moment: q.Get("moment")}
}

// show adds the plots and tables of the report.
func (v *trendsView) show(r *TrendReport) {
	v.What, v.Whole, v.More = wordsOf(v.Scope), r.Whole, r.More
	v.Plots = v.plots(r.Spans)
	for _, span := range r.Spans {
		if inside := v.inside(span); inside != "" {
			v.Rows = append(v.Rows, spanRow{span, inside})
		}
	}
	for _, p := range r.Parts {
		v.Parts = append(v.Parts, v.part(p))
	}
	if v.Gate != "" {
		v.Rejections = rejectionsAddress(v.Scope, r.Whole.From, r.Whole.Until)
	}
	switch {
	case v.Gate != "" && v.Phase != "" || v.Phase != "":
		v.Wider = trendsAddress(Scope{Cascade: v.Cascade}, v.Days)
	case v.Cascade != "" || v.Gate != "":
		v.Wider = trendsAddress(Scope{}, v.Days)
	}
}

// inside returns the address of the runs or rejections of a span, "" if it has none.
func (v *trendsView) inside(s span) string {
	switch {
	case s.N == 0 && !s.Passed.Known():
		return ""
	case v.Gate != "":
		return rejectionsAddress(v.Scope, s.From, s.Until)
	}
	return link("/", "cascade", v.Cascade, "since", s.From.Format(time.RFC3339), "until", s.Until.Format(time.RFC3339))
}

func (v *trendsView) part(t Trend) partRow {
	row := partRow{Trend: t, Name: t.Cascade, Kind: "cascade", URL: trendsAddress(t.Scope, v.Days)}
	switch {
	case t.Gate != "":
		row.Name, row.Kind = t.Phase+" · "+statusWord(t.Moment)+" "+t.Gate, "gate"
		row.Rejections = rejectionsAddress(t.Scope, t.Whole.From, t.Whole.Until)
		if v.Cascade == "" {
			row.Name = t.Cascade + " · " + row.Name
		}
	case t.Phase != "":
		row.Name, row.Kind = t.Phase, "phase"
	}
	rate := newSeries(t.Spans, func(s span) (float64, string) { return s.Passed.Value(), "" }, nil)
	row.Spark = Plot{Series: []Series{rate}}.Spark(0, 1)
	return row
}

// newSeries returns the points of spans.
func newSeries(spans []span, of func(span) (float64, string), url func(span) string) Series {
	var s Series
	for i, span := range spans {
		y, label := of(span)
		p := Point{X: float64(i), Y: y, Label: span.Word() + ": " + label}
		if url != nil {
			p.URL = url(span)
		}
		s.Points = append(s.Points, p)
	}
	return s
}

// plots returns the four plots of a scope.
func (v *trendsView) plots(spans []span) []plotView {
	x := Axis{Low: -0.5, High: float64(len(spans)) - 0.5}
	for i, span := range spans {
		x.Ticks = append(x.Ticks, Tick{At: float64(i), Label: span.Short()})
	}
	noun, empty := v.What.Noun, "none in these days"
	drawn := func(title, note string, y Axis, kind PlotKind, of func(span) (float64, string)) plotView {
		s := newSeries(spans, of, v.inside)
		s.Kind = kind
		return plotView{title, note, Plot{X: x, Y: y, Series: []Series{s}, Empty: empty}}
	}
	passed := drawn(v.What.Passed, "with the exact 95 % interval", Axis{Low: 0, High: 1, Format: stats.Percent, Ticks: percents()}, LinePlot,
		func(s span) (float64, string) { return s.Passed.Value(), s.Passed.String() })
	for i, span := range spans {
		around(&passed.Series[0].Points[i], span.Passed)
	}
	again := drawn(v.What.Again, "attempts after the first", Axis{}, LinePlot, func(s span) (float64, string) {
		return s.Retries(), strconv.FormatFloat(s.Retries(), 'f', 2, 64) + ", " + plural(s.Again, "retry")
	})
	if v.Gate != "" {
		again = drawn(v.What.Again, "rejected texts", Axis{}, BarPlot, func(s span) (float64, string) { return float64(s.Again), plural(s.Again, "rejection") })
	}
	money := drawn("Cost", "US dollars in total", Axis{Format: func(usd float64) string { return "$" + strconv.FormatFloat(usd, 'g', 4, 64) }}, BarPlot, func(s span) (float64, string) {
		return s.CostUSD, dollars(s.CostUSD) + " for " + plural(s.N, noun)
	})
	if v.Whole.CostUSD == 0 {
		money.Plot = Plot{Empty: "no costs"}
	}
	took := drawn("Time per "+noun, "models, tools and gates in sequence", Axis{Format: formatAxis}, LinePlot,
		func(s span) (float64, string) { return s.Seconds(), formatSeconds(s.Seconds()) })
	return []plotView{passed, again, money, took}
}

func percents() []Tick {
	return []Tick{{At: 0, Label: "0 %"}, {At: 0.25, Label: "25 %"}, {At: 0.5, Label: "50 %"}, {At: 0.75, Label: "75 %"}, {At: 1, Label: "100 %"}}
}

func dollars(usd float64) string { return cmp.Or(formatMoney(usd), "$0") }

func trendsAddress(s Scope, days int) string {
	return link("/trends", "cascade", s.Cascade, "phase", s.Phase, "gate", s.Gate, "moment", s.Moment, "days", strconv.Itoa(days))
}

package trust

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/wards"
)

// details returns the whole result as text.
func (r *Result) details() (t reports.Text) {
	t.Line("%s", r.Headline())
	for _, g := range r.Gates {
		g.describe(&t)
	}
	for _, p := range r.Phases {
		p.summary(&t)
		if p.Accepted.Known() {
			t.Line("  passes %s of first attempts", p.Accepted)
		}
		if p.Stale > 0 {
			t.Line("  not counted: %s of other gates", reports.Count(p.Stale, "attempt"))
		}
	}
	for _, p := range r.People {
		t.Line("")
		t.Line("%s and %s: agree on %s, kappa %s; %s are good", reports.Name(p.First), reports.Name(p.Second), p.Agreement, Kappa(p.Kappa), p.Base)
	}
	if len(r.Gates) > 0 {
		t.Line("")
		t.Table(legend)
	}
	for _, l := range r.aside("") {
		t.Line("%s", l.Message)
	}
	return t
}

// legend explains the rates.
var legend = [][]string{
	{"  false pass", "the share of bad texts that passed"},
	{"  false block", "the share of good texts that were rejected"},
	{"  kappa", "the agreement with the labels beyond chance: 1 is full agreement, 0 is chance"},
}

func (g *Gate) describe(t *reports.Text) {
	t.Line("")
	name := g.Gate
	if g.Moment != g.Gate { // output_schema
		name = g.Moment + " " + g.Gate
	}
	t.Line("%s · %s (%s)", g.Phase, name, g.Mode)
	t.Line("  passes        %s of its verdicts%s", g.Passed, g.aside())
	if g.Mode == string(wards.Shadow) {
		t.Line("  in shadow     would have rejected %d of %d, %d rightly and %d wrongly (labels)", g.Passed.N-g.Passed.K, g.Passed.N, g.inRuns.BadRefused, g.inRuns.GoodRefused)
	}
	t.Line("  false pass    %s", g.FalsePass)
	t.Line("  false block   %s", g.FalseBlock)
	if g.Rerun > 0 {
		t.Line("  rerun on      %s without a verdict of this version", reports.Count(g.Rerun, "labelled text"))
	}
	if len(g.Steps) > 1 {
		var steps []string
		for _, s := range g.Steps {
			steps = append(steps, fmt.Sprintf("%s of %d (%s)", stats.Percent(s.Value()), s.N, s.Interval(stats.Confidence)))
		}
		t.Line("  over time     %s", strings.Join(steps, ", "))
	}
	if g.Natural.Random().N() > 0 {
		t.Line("  kappa         %s; %s are good", Kappa(g.Kappa), g.Base)
	}
	if g.PlantedAlways.Known() || g.PlantedUsually.Known() {
		t.Line("  planted       passes %s of the faults bad for sure, %s of the others", g.PlantedAlways, g.PlantedUsually)
	}
	if g.Unanimous.Known() {
		t.Line("  votes         unanimous in %s", g.Unanimous)
	}
	if g.Cost > 0 || g.Seconds > 0 {
		t.Line("  per verdict   $%.5f, %.3f s", g.Cost, g.Seconds)
	}
	if h := g.EmptyTexts; h != nil {
		broke := ""
		if h.NoVerdict > 0 {
			broke = fmt.Sprintf("; no verdict on %d", h.NoVerdict)
		}
		t.Line("  empty texts   passes %d of %d%s%s", len(h.Passed), h.Judged, quoted(h.Passed), broke)
	}
	if g.Drift != nil {
		t.Line("  drift         %s", g.Drift)
	}
	if g.Since != nil {
		t.Line("  since         %s", g.Since)
	}
	if g.Next != "" {
		t.Line("  next          %s", g.Next)
	}
	if g.Evidence == "stale" {
		t.Line("  evidence      stale: %s", staleEvidence)
	}
}

const staleEvidence = "it belongs to an earlier version of the gate or to another model; capstan measure stats --write replaces it"

// aside returns the number of errors, skipped and stale verdicts.
func (g *Gate) aside() string {
	var b strings.Builder
	for _, part := range []struct {
		n    int
		what string
	}{{g.Errors, "errors"}, {g.Skipped, "skipped"}, {g.Stale, "stale: of an earlier version, and not used"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, "; %d %s", part.n, part.what)
		}
	}
	return b.String()
}

// String describes the drift.
func (d *Drift) String() string {
	alarm := "none"
	if a := d.Alarm; a != nil {
		alarm = fmt.Sprintf("ALARM at verdict %d, run %s, %s", a.Verdict, a.RunID, a.Path)
	}
	return fmt.Sprintf("%s: %s now, %s when measured", alarm, d.Since, d.Baseline)
}

// Kappa returns a kappa with two decimals, or "unknown".
func Kappa(k *float64) string {
	if k == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", math.Round(100**k)/100+0) // no negative zero
}

func quoted(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	words := make([]string, len(texts))
	for i, s := range texts {
		words[i] = fmt.Sprintf("%q", s)
	}
	return ": " + strings.Join(words, ", ")
}

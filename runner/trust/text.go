package trust

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	t := reports.To(w)
	again := ""
	if r.Shared > 0 {
		again = fmt.Sprintf(", %d of them taken over from another run or replayed, and not counted again", r.Shared)
	}
	t.Line("%s: %s, %s%s", r.CascadeID, reports.Count(r.Runs, "run"), reports.Count(r.Attempts, "attempt"), again)
	for _, g := range r.Gates {
		g.tell(t)
	}
	for _, p := range r.Phases {
		if p.Accepted.Known() || p.First.Known() {
			p.tell(t)
		}
	}
	for _, p := range r.People {
		t.Line("")
		t.Line("%s and %s: agree on %s, kappa %s, where %s are good", validators.OneLine(p.First, maxName), validators.OneLine(p.Second, maxName), p.Agreement, Kappa(p.Kappa), p.Base)
	}
	for _, l := range r.aside() {
		t.Line("%s", l.Message)
	}
	return t.Err()
}

// maxName bounds a person's name where it is shown, in characters.
const maxName = 100

func (g *Gate) tell(t *reports.Report) {
	t.Line("")
	name := g.Gate
	if g.Moment != g.Gate { // as of an output_schema
		name = g.Moment + " " + g.Gate
	}
	t.Line("%s · %s (%s)", g.Phase, name, g.Mode)
	t.Line("  lets by       %s of its verdicts%s", g.Passed, g.aside())
	if g.Mode == string(wards.Shadow) {
		t.Line("  in shadow     would have refused %d of %d, of them %d rightly and %d wrongly (labels)", g.Passed.N-g.Passed.K, g.Passed.N, g.lived.BadRefused, g.lived.GoodRefused)
	}
	t.Line("  false pass    %s", g.FalsePass)
	t.Line("  false block   %s", g.FalseBlock)
	if g.Anew > 0 {
		t.Line("  asked anew    about %s, of which it had said nothing as it is", reports.Count(g.Anew, "labelled text"))
	}
	if len(g.Steps) > 1 {
		var steps []string
		for _, s := range g.Steps {
			i := s.Interval(measure.Confidence)
			steps = append(steps, fmt.Sprintf("%s of %d (%s)", measure.Percent(s.Value()), s.N, i))
		}
		t.Line("  as it moved   %s", strings.Join(steps, ", "))
	}
	if g.Natural.N() > 0 {
		t.Line("  kappa         %s, where %s are good", Kappa(g.Kappa), g.Base)
	}
	if g.PlantedAlways.Known() || g.PlantedUsually.Known() {
		t.Line("  planted       lets %s by of those bad for sure, %s of the others", g.PlantedAlways, g.PlantedUsually)
	}
	if g.Unanimous.Known() {
		t.Line("  votes         all the same in %s", g.Unanimous)
	}
	if g.Cost > 0 || g.Seconds > 0 {
		t.Line("  a verdict     $%.5f, %.3f s", g.Cost, g.Seconds)
	}
	if h := g.Hollow; h != nil {
		broke := ""
		if h.Broke > 0 {
			broke = fmt.Sprintf("; of %d it could not say", h.Broke)
		}
		t.Line("  hollow texts  lets %d of %d by%s%s", len(h.Passed), h.Asked, quoted(h.Passed), broke)
	}
	if g.Drift != nil {
		t.Line("  drift         %s", g.Drift)
	}
	if g.Evidence == "stale" {
		t.Line("  evidence      stale: %s", staleEvidence)
	}
}

const staleEvidence = "it is of what the gate was before, or of another model; capstan measure stats --write makes it anew"

// aside is what there is beside a gate's verdicts.
func (g *Gate) aside() string {
	var b strings.Builder
	for _, part := range []struct {
		n    int
		what string
	}{{g.Errors, "errors"}, {g.Skipped, "not asked"}, {g.Stale, "stale: of what it was before, and not used"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, "; %d %s", part.n, part.what)
		}
	}
	return b.String()
}

// String is the drift in words.
func (d *Drift) String() string {
	alarm := "none"
	if a := d.Alarm; a != nil {
		alarm = fmt.Sprintf("ALARM at verdict %d, run %s, %s", a.Verdict, a.RunID, a.Path)
	}
	return fmt.Sprintf("%s: %s now, %s when it was measured", alarm, d.Since, d.Baseline)
}

func (p *Phase) tell(t *reports.Report) {
	t.Line("")
	t.Line("phase %s, its gates together", p.Phase)
	t.Line("  good at first %s", p.First)
	t.Line("  let by        %s of first tries", p.Accepted)
	t.Line("  false pass    %s", p.FalsePass)
	t.Line("  ceiling       %s of the released texts are bad, however often one tries", p.Ceiling)
}

// Kappa is a kappa of a report in words: with two digits behind the point, or
// "unknown".
func Kappa(k *float64) string {
	if k == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.2f", *k)
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

package cost

import (
	"fmt"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/reports"
)

// Report returns the result as text and JSON.
func (r *Result) Report() *reports.Report {
	out := &reports.Report{Data: r}
	head := fmt.Sprintf("%s: %s", r.CascadeID, reports.Count(r.Runs, "run"))
	if r.Shared > 0 {
		head += fmt.Sprintf("; left out: %d outputs that share a text with another run", r.Shared)
	}
	if r.Unfinished > 0 {
		head += fmt.Sprintf("; left out: %d unfinished outputs", r.Unfinished)
	}
	out.Text.Line("%s", head)
	for _, p := range r.Phases {
		p.describe(&out.Text)
	}
	return out
}

func (p *Phase) describe(t *reports.Text) {
	t.Line("\nphase %s: an accepted output costs %s", p.Phase, p.Current.Price)
	t.Line("  accepted %s of the outputs%s", p.Current.Accepted, p.Current.checked())
	switch i := p.Current.Interval; {
	case i == nil:
	case !i.Bounded():
		t.Line("  95 %% interval: unknown, too few outputs")
	default:
		t.Line("  95 %% interval: %.4g to %.4g", i.Low, i.High)
	}
	if p.Released != "" {
		t.Line("  %s", p.Released)
	}
	rows := [][]string{{"  attempt", "accepted after earlier rejections", "cost of the attempt"}}
	for _, s := range p.ByAttempt {
		rows = append(rows, []string{fmt.Sprint("  ", s.Attempt), s.Accepted.String(), s.Price.String()})
	}
	if models(p.ByModel) > 1 {
		rows = append(rows, []string{"  by model", "", ""})
		for _, s := range p.ByModel {
			rows = append(rows, []string{fmt.Sprintf("  %d %s", s.Attempt, s.Model), s.Accepted.String(), s.Price.String()})
		}
	}
	t.Table(rows)
	p.describeAfter(t)
	p.describeAlternatives(t)
}

func models(steps []Step) int {
	names := map[string]bool{}
	for _, s := range steps {
		names[s.Model] = true
	}
	return len(names)
}

func (p *Phase) describeAfter(t *reports.Text) {
	if !p.Fresh.Known() && !p.Again.Known() {
		return
	}
	t.Line("  the next attempt is accepted after a new reason in %s, after a repeated reason in %s", p.Fresh, p.Again)
	for _, a := range p.ByGate {
		t.Line("    after %s: %s, repeated: %s", a.Gate, a.Next, a.Again)
	}
	reports.List(t, p.ByReason, func(a After) {
		t.Line("    after %q: %s, repeated: %s", reports.Fit(a.Reason, 80), a.Next, a.Again)
	})
}

func (p *Phase) describeAlternatives(t *reports.Text) {
	if len(p.Alternatives) > 0 {
		t.Line("  alternatives, computed from these runs:")
	}
	reports.List(t, p.Alternatives, func(o Option) {
		t.Line("    %s: %s, %s of the outputs accepted, saves %s", o.Name, o.Price, stats.Percent(o.Accepted.Value()), stats.Percent(o.Saving))
	})
	t.Line("  advice: %s", p.Advised())
}

// Advised returns the advice with its evidence.
func (p *Phase) Advised() string {
	a := p.Advice
	switch {
	case a != nil:
		return fmt.Sprintf("%s saves %s (%s) in the half of %d runs that did not choose it, and accepts %s",
			a.Name, stats.Percent(a.Saving), a.Saves, p.Tested, stats.Percent(a.Accepted.Value()))
	case p.Tested == 0:
		return "none, too few runs"
	}
	return fmt.Sprintf("none, no difference that %d runs can show", p.Tested)
}

// checked compares the first half of the runs with the second.
func (o *Option) checked() string {
	if o.Check == nil {
		return " (too few runs to verify)"
	}
	chance := ""
	if e := o.Check.Expected; e != nil {
		chance = fmt.Sprintf(", expected range %.4g to %.4g", e.Low, e.High)
		if !e.Holds(o.Check.Actual) {
			chance += ", so something changed"
		}
	}
	return fmt.Sprintf(" (the first half of the runs predicts %.4g%s; the second half cost %.4g: %+.1f %%)", o.Check.Predicted, chance, o.Check.Actual, 100*o.Check.Error)
}

// String returns "$0.0123, 2.1 model calls, 8.4 s, 93 % of the input cached". It omits money and
// cached input of zero.
func (p Price) String() string {
	text := fmt.Sprintf("%.2f model calls, %.1f s", p.Calls, p.Seconds)
	if p.Cached > 0 {
		text += fmt.Sprintf(", %s of the input cached", stats.Percent(p.Cached/p.Input))
	}
	if p.CostUSD > 0 {
		return fmt.Sprintf("$%.4f, %s", p.CostUSD, text)
	}
	return text
}

package cost

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/validators"
)

// Text writes the report for people.
func (r *Report) Text(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.CascadeID, reports.Count(r.Runs, "run"))
	if r.Shared > 0 {
		fmt.Fprintf(&b, "; left out: %d outputs that share a text with another run", r.Shared)
	}
	if r.Unfinished > 0 {
		fmt.Fprintf(&b, "; left out: %d unfinished outputs", r.Unfinished)
	}
	b.WriteString("\n")
	for _, p := range r.Phases {
		p.tell(&b)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// mostTold is how many reasons, and how many ways, are told to people.
const mostTold = 12

func (p *Phase) tell(b *strings.Builder) {
	fmt.Fprintf(b, "\nphase %s: an accepted output costs %s\n", p.Phase, p.Now.Price)
	fmt.Fprintf(b, "  accepted %s of the outputs%s\n", p.Now.Accepted, p.Now.checked())
	switch i := p.Now.Around; {
	case i == nil:
	case !i.Bounded():
		fmt.Fprintln(b, "  95 % interval: unknown, too few outputs")
	default:
		fmt.Fprintf(b, "  95 %% interval: %.4g to %.4g\n", i.Low, i.High)
	}
	if p.Released != "" {
		fmt.Fprintf(b, "  %s\n", p.Released)
	}
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  attempt\taccepted after earlier rejections\tcost of the attempt")
	for _, s := range p.ByAttempt {
		fmt.Fprintf(w, "  %d\t%s\t%s\n", s.Attempt, s.Accepted, s.Price)
	}
	if models(p.ByRung) > 1 {
		fmt.Fprintln(w, "  by model\t\t")
		for _, s := range p.ByRung {
			fmt.Fprintf(w, "  %d %s\t%s\t%s\n", s.Attempt, s.Model, s.Accepted, s.Price)
		}
	}
	w.Flush()
	p.tellAfter(b)
	p.tellOthers(b)
}

func models(steps []Step) int {
	names := map[string]bool{}
	for _, s := range steps {
		names[s.Model] = true
	}
	return len(names)
}

func (p *Phase) tellAfter(b *strings.Builder) {
	if !p.Fresh.Known() && !p.Again.Known() {
		return
	}
	fmt.Fprintf(b, "  the next attempt is accepted after a new reason in %s, after a repeated reason in %s\n", p.Fresh, p.Again)
	for _, a := range p.ByGate {
		fmt.Fprintf(b, "    after %s: %s, repeated: %s\n", a.Gate, a.Next, a.Again)
	}
	for i, a := range p.ByReason {
		if i == mostTold {
			fmt.Fprintf(b, "    and %d more reasons\n", len(p.ByReason)-i)
			break
		}
		fmt.Fprintf(b, "    after %q: %s, repeated: %s\n", validators.OneLine(a.Reason, 80), a.Next, a.Again)
	}
}

func (p *Phase) tellOthers(b *strings.Builder) {
	for i, o := range p.Others {
		if i == 0 {
			fmt.Fprintf(b, "  alternatives, computed from these runs:\n")
		}
		if i == mostTold {
			fmt.Fprintf(b, "    and %d more\n", len(p.Others)-i)
			break
		}
		fmt.Fprintf(b, "    %s: %s, %s of the outputs accepted, saves %s\n",
			o.Name, o.Price, measure.Percent(o.Accepted.Value()), measure.Percent(o.Saving))
	}
	fmt.Fprintf(b, "  advice: %s\n", p.Advised())
}

// Advised is the advice in words, with the evidence for it.
func (p *Phase) Advised() string {
	a := p.Advice
	switch {
	case a != nil:
		return fmt.Sprintf("%s saves %s (%s) in the half of %d runs that did not choose it, and accepts %s",
			a.Name, measure.Percent(a.Saving), a.Saves, p.Tested, measure.Percent(a.Accepted.Value()))
	case p.Tested == 0:
		return "none, too few runs"
	}
	return fmt.Sprintf("none, no difference that %d runs can show", p.Tested)
}

// checked tells how the first half of the runs would have been wrong about the
// second.
func (o *Option) checked() string {
	if o.Check == nil {
		return " (too few runs to verify)"
	}
	chance := ""
	if e := o.Check.Expected; e != nil {
		chance = fmt.Sprintf(", expected range %.4g to %.4g", e.Low, e.High)
		if !e.Holds(o.Check.Came) {
			chance += ", so something changed"
		}
	}
	return fmt.Sprintf(" (the first half of the runs predicts %.4g%s; the second half cost %.4g: %+.1f %%)", o.Check.Predicted, chance, o.Check.Came, 100*o.Check.Error)
}

// String is "$0.0123, 2.1 model calls, 8.4 s, 93 % of the input cached", without money or
// cached input where there is none.
func (p Price) String() string {
	text := fmt.Sprintf("%.2f model calls, %.1f s", p.Calls, p.Seconds)
	if p.Cached > 0 {
		text += fmt.Sprintf(", %s of the input cached", measure.Percent(p.Cached/p.Input))
	}
	if p.CostUSD > 0 {
		return fmt.Sprintf("$%.4f, %s", p.CostUSD, text)
	}
	return text
}

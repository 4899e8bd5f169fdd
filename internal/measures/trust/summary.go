package trust

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/wards"
)

// summary returns one screen: the counts, the rates of labelled texts, and the next steps.
func (r *Result) summary() (t reports.Text) {
	t.Line("%s", r.Headline())
	for _, p := range r.Phases {
		p.summary(&t)
	}
	if len(r.Gates) > 0 {
		t.Line("")
		rows := [][]string{{"gate", "bad texts that passed", "good texts that were rejected", "since"}}
		for _, g := range r.Gates {
			rows = append(rows, []string{g.title(), g.FalsePass.String(), g.FalseBlock.String(), g.start()})
		}
		t.Table(rows)
	}
	if steps := r.steps(); len(steps) > 0 {
		t.Line("\nnext")
		for _, step := range steps {
			t.Line("  %s", step)
		}
	}
	if len(r.Gates) > 0 {
		t.Line("\nEach range holds with 95 %% confidence, however often you look. --all prints the rest.")
	}
	return t
}

// Headline returns the counts.
func (r *Result) Headline() string {
	var texts stats.Confusion
	for _, p := range r.Phases {
		texts = texts.Plus(p.Texts.Texts())
	}
	line := fmt.Sprintf("%s: %s, %s; labelled texts that count: %d",
		r.CascadeID, reports.Count(r.Runs, "run"), reports.Count(r.Attempts, "attempt"), texts.N())
	if n := texts.BadPassed + texts.GoodPassed; n > 0 {
		line += fmt.Sprintf(" (released: %d, bad among them: %d)", n, texts.BadPassed)
	}
	if r.Shared > 0 {
		line += fmt.Sprintf("; %d attempts shared with another run and counted once", r.Shared)
	}
	return line
}

// summary writes the result of all gates of the phase together.
func (p *Phase) summary(t *reports.Text) {
	if len(p.counted) == 0 {
		return
	}
	t.Line("")
	since := p.since()
	switch {
	case p.Attempts == 0 && p.Since != nil:
		t.Line("phase %s, all gates together: unknown since %s", p.Phase, p.Since)
		return
	case p.Texts.Texts().N() == 0:
		t.Line("phase %s, all gates together: unknown, no text is labelled%s", p.Phase, since)
		return
	}
	t.Line("phase %s, all gates together%s", p.Phase, since)
	t.Line("  %s", p.Bad())
	t.Line("  %s", p.Blocked())
}

// since describes which attempts the rates count.
func (p *Phase) since() string {
	switch {
	case p.Since == nil:
		return ""
	case p.Since.First.IsZero():
		return fmt.Sprintf(", without %s with another %s", reports.Count(p.Stale, "attempt"), p.Since.Gate)
	}
	return fmt.Sprintf(", since %s", p.Since)
}

// Bad returns "of 262 released labelled texts, 70 are bad: 26.7 % (17.9-37.1); by attempt …".
func (p *Phase) Bad() string {
	if p.Attempts == 0 && p.Since != nil {
		return fmt.Sprintf("bad among the released: unknown since %s", p.Since)
	}
	return counted("released labelled", "are bad", p.Released) + p.byAttempt()
}

// Blocked returns "of 125 good labelled texts, 3 were rejected: 2.4 % (0.4-9.1)".
func (p *Phase) Blocked() string { return counted("good labelled", "were rejected", p.FalseBlock) }

func counted(texts, are string, e stats.Estimate) string {
	if !e.Known() {
		return fmt.Sprintf("of no %s texts: unknown", texts)
	}
	_, share, _ := strings.Cut(e.String(), ", ")
	return fmt.Sprintf("of %d %s texts, %d %s: %s", e.N, texts, e.K, are, share)
}

// byAttempt lists the bad released texts of each attempt, if there are several.
func (p *Phase) byAttempt() string {
	var list []string
	for i, r := range p.ByAttempt {
		if r.Known() {
			list = append(list, fmt.Sprintf("%d: %d of %d", i+1, r.K, r.N))
		}
	}
	if len(list) < 2 {
		return ""
	}
	return "; by attempt " + strings.Join(list, ", ")
}

// start returns the time from which verdicts count for the gate.
func (g *Gate) start() string {
	switch {
	case g.Since == nil:
		return "its first run"
	case g.Since.First.IsZero() && g.Passed.Known():
		return fmt.Sprintf("its first run, without %s", reports.Count(g.Stale, "other verdict"))
	case g.Since.First.IsZero():
		return g.Since.How + " after " + g.Since.Last.Format("2006-01-02")
	}
	return g.Since.First.Format("2006-01-02")
}

// usual is the share of bad texts that lint --proof=strict allows.
const usual = 0.05

// shortfall returns what the labels do not show yet: that the gate is within the limits of
// promote_when, or else that it passes few bad texts. Without promote_when, a high rate is no
// reason to change the gate, because the gate may look for one kind of fault.
func (g *Gate) shortfall() string {
	if q := g.gate.Promote; q != nil {
		missing := stats.Shortfall("passed", "bad", g.FalsePass, q.Confidence, q.FalsePass)
		return cmp.Or(missing, stats.Shortfall("rejected", "good", g.FalseBlock, q.Confidence, q.FalseBlock))
	}
	if g.FalsePass.Known() && g.FalsePass.Value() > usual {
		return ""
	}
	return stats.Shortfall("passed", "bad", g.FalsePass, stats.Confidence, usual)
}

// next returns the next step for the gate, or "".
func (g *Gate) next() string {
	switch {
	case g.drifted():
		return fmt.Sprintf("drift: %s. Check the gate, then measure it anew from the alarm with --write", g.Drift)
	case !g.Passed.Known() && g.Stale > 0 && !g.FalsePass.Known():
		return fmt.Sprintf("%s: run the cascade", g.Since)
	}
	if missing := g.shortfall(); missing != "" {
		return missing
	}
	q := g.gate.Promote
	switch {
	case g.Evidence == "stale":
		return staleEvidence
	case q != nil && q.Why != "" && g.gate.Validator != nil && !g.gate.Validator.Free():
		return "labels suffice for promotion: run capstan measure stats --judges --write"
	case q != nil && q.Why != "":
		return "labels suffice for promotion: run capstan measure stats --write"
	}
	return ""
}

// mostSteps is the maximum number of gates that a step names.
const mostSteps = 4

// steps lists what to do. Gates with the same next step share a line. Steps about labels are last.
func (r *Result) steps() (list []string) {
	gates := map[string][]string{}
	var order []string
	for _, g := range r.Gates {
		if g.Next == "" {
			continue
		}
		if gates[g.Next] == nil {
			order = append(order, g.Next)
		}
		gates[g.Next] = append(gates[g.Next], g.title())
	}
	for _, step := range order {
		names := gates[step]
		if len(names) > mostSteps {
			names = append(slices.Clone(names[:mostSteps]), fmt.Sprintf("%d more", len(names)-mostSteps))
		}
		list = append(list, strings.Join(names, "; ")+": "+step)
	}
	for _, one := range r.aside("") {
		list = append(list, one.Message)
	}
	return list
}

// title returns the phase, the name and the moment of the gate, and the mode if it does not release
// texts.
func (g *Gate) title() string {
	if g.Mode == string(wards.Shadow) || g.Mode == string(wards.Advisory) {
		return fmt.Sprintf("%s %s (%s)", g.Phase, g.check(), g.Mode)
	}
	return g.Phase + " " + g.check()
}

package cascades

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/reports"
)

// Text returns the plan as an aligned table. It has a line for one visit of each phase, a line
// for the whole run, and the limits. The text ends with a newline.
func (p Plan) Text() string {
	var b strings.Builder
	w := columns(&b)
	fmt.Fprintln(w, "phase\tvisits\tattempts\tturns\tmodel calls\twith tools\tjudges\tpure\tprograms\tcascades")
	for _, phase := range p.Phases {
		fmt.Fprintln(w, phase.row(""))
		for _, one := range phase.Together {
			fmt.Fprintln(w, one.row("  "))
		}
	}
	fmt.Fprintf(w, "in all\t\t%s\t%s\t%s\n", count(p.Total.Attempts), count(p.Total.Turns), p.Total.row())
	w.Flush() // to a strings.Builder: cannot fail
	for _, bound := range p.BoundBy {
		fmt.Fprintf(&b, "%s bounds it\n", bound)
	}
	if bounds := p.Budget.text(); bounds != "" {
		fmt.Fprintf(&b, "budget: %s\n", bounds)
	}
	if p.Total.ModelCallsWithTools >= Most && len(p.Unknown.Calls) > 0 {
		fmt.Fprintf(&b, "no bound of calls: a model may call what asks a model as often as it likes; say budget.max_calls: %s\n", reports.Fit(strings.Join(p.Unknown.Calls, ", "), 400))
	}
	p.weighed(&b)
	return b.String()
}

// weighed writes the table of tokens and cost if the plan contains model calls. It adds a line
// for each reason why a number is unknown.
func (p Plan) weighed(b *strings.Builder) {
	if p.Total.ModelCallsWithTools == 0 {
		return
	}
	b.WriteString("\n")
	w := columns(b)
	fmt.Fprintln(w, "estimated\tsent, least\tcost, least\tsent at worst\tanswered at worst\tcost at worst")
	row := func(name string, least Tokens, c Counts) {
		if c.ModelCallsWithTools > 0 {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", name, roughly(least.Input), least.dollars(), roughly(c.Tokens.Input), roughly(c.Tokens.Output), c.Tokens.dollars())
		}
	}
	for _, phase := range p.Phases {
		row(reports.Fit(phase.Name, 40), phase.Least, phase.Visit)
		for _, one := range phase.Together {
			row("  "+reports.Fit(one.Name, 40), one.Least, one.Visit)
		}
	}
	row("in all", p.Least, p.Total)
	w.Flush() // to a strings.Builder: cannot fail
	sent := "no bound of what is sent: say token_budget"
	if p.Total.JudgeCalls > 0 {
		sent += "; a judge needs criteria without values and a bound of what it judges"
	}
	for _, line := range []struct {
		places []string
		reason string
	}{
		{p.Unknown.Input, sent},
		{p.Unknown.Output, "no bound of what is answered: say max_output_tokens"},
		{p.Unknown.Price, "no price is known, so there are tokens only"},
	} {
		if len(line.places) > 0 {
			fmt.Fprintf(b, "%s: %s\n", line.reason, reports.Fit(strings.Join(line.places, ", "), 400))
		}
	}
	const under = "no call begins once %s spent; those under way are paid\n"
	if n := p.Budget.MaxTokens; n > 0 && sum(p.Total.Tokens.Input, p.Total.Tokens.Output) > n {
		fmt.Fprintf(b, "max_tokens bounds the worst: "+under, fmt.Sprintf("%d tokens are", n))
	}
	if usd := p.Budget.MaxCostUSD; usd > 0 && float64(p.Total.Tokens.Nano) > usd*1e9 {
		fmt.Fprintf(b, "max_cost_usd bounds the worst: "+under, inDollars(usd)+" is")
	}
}

// roughly formats an estimated number of tokens.
func roughly(n int) string {
	if n >= Most {
		return "no bound"
	}
	return "~" + strconv.Itoa(n)
}

// dollars formats an estimated cost.
func (t Tokens) dollars() string {
	switch usd := float64(t.Nano) / 1e9; {
	case t.Input >= Most || t.Output >= Most:
		return "no bound"
	case t.Nano >= Most:
		return "no price"
	case t.Nano > 0 && usd < 0.0001:
		return "<$0.0001"
	default:
		return "~$" + strconv.FormatFloat(usd, 'f', 4, 64)
	}
}

// inDollars formats a cost from the file.
func inDollars(usd float64) string { return "$" + strconv.FormatFloat(usd, 'f', -1, 64) }

// Text formats tokens and cost as one line.
func (t Tokens) Text() string {
	return fmt.Sprintf("estimated tokens sent: %s, answered: %s; cost: %s", roughly(t.Input), roughly(t.Output), t.dollars())
}

// row returns the line of the phase in the table.
func (p PhasePlan) row(indent string) string {
	attempts := count(p.Attempts)
	if p.Soundings > 1 {
		attempts = fmt.Sprintf("%d × %s", p.Soundings, attempts)
	}
	if p.Items > 0 {
		attempts = fmt.Sprintf("%s items × %s", count(p.Items), attempts)
	}
	if p.Together != nil {
		attempts = "together"
	}
	return fmt.Sprintf("%s%s\t%s\t%s\t%s\t%s", indent, reports.Fit(p.Name, 40), count(p.Visits), attempts, count(p.Visit.Turns), p.Visit.row())
}

// row returns the columns of a line after the turns.
func (c Counts) row() string {
	v := c.Validators
	cells := []string{count(c.ModelCalls), count(c.ModelCallsWithTools), count(v.Judge), count(v.Pure), count(v.Exec), count(v.Cascade)}
	return strings.Join(cells, "\t")
}

func count(n int) string {
	if n >= Most {
		return "∞"
	}
	return strconv.Itoa(n)
}

func (b BudgetPlan) text() string {
	var parts []string
	add := func(limited bool, format string, args ...any) {
		if limited {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(b.MaxCalls > 0, "%d model calls", b.MaxCalls)
	add(b.MaxTokens > 0, "%d tokens", b.MaxTokens)
	add(b.MaxCostUSD > 0, "%s", inDollars(b.MaxCostUSD))
	add(b.MaxSeconds > 0, "%v", time.Duration(b.MaxSeconds*float64(time.Second)))
	add(b.MaxPhases > 0, "%d phase visits", b.MaxPhases)
	return strings.Join(parts, ", ")
}

package cascades

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Text is the plan as an aligned table, ending in a newline: a line for one
// visit to each phase, a line for the run, the bounds.
func (p Plan) Text() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
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
	return b.String()
}

// row is the phase's line of the table.
func (p PhasePlan) row(indent string) string {
	attempts := count(p.Attempts)
	if p.Soundings > 1 {
		attempts = fmt.Sprintf("%d × %s", p.Soundings, attempts)
	}
	if p.Items > 0 {
		attempts = fmt.Sprintf("%s items × %s", count(p.Items), attempts)
	}
	if len(p.Together) > 0 {
		attempts = "together"
	}
	return fmt.Sprintf("%s%s\t%s\t%s\t%s\t%s", indent, oneLine(p.Name, 40), count(p.Visits), attempts, count(p.Visit.Turns), p.Visit.row())
}

// row is what stands in a line of the table after the turns.
func (c Counts) row() string {
	v := c.Validators
	cells := []string{count(c.ModelCalls), count(c.ModelCallsWithTools), count(v.Judge), count(v.Pure), count(v.Exec), count(v.Cascade)}
	return strings.Join(cells, "\t")
}

func count(n int) string {
	if n >= most {
		return "∞"
	}
	return strconv.Itoa(n)
}

func (b BudgetPlan) text() string {
	var parts []string
	add := func(there bool, format string, args ...any) {
		if there {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(b.MaxCalls > 0, "%d model calls", b.MaxCalls)
	add(b.MaxTokens > 0, "%d tokens", b.MaxTokens)
	add(b.MaxCostUSD > 0, "$%s", strconv.FormatFloat(b.MaxCostUSD, 'f', -1, 64))
	add(b.MaxSeconds > 0, "%v", time.Duration(b.MaxSeconds*float64(time.Second)))
	add(b.MaxPhases > 0, "%d phase visits", b.MaxPhases)
	return strings.Join(parts, ", ")
}

package batch

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Report is what the rows of a batch came to. Every rate counts runs, and its interval
// is one of rows, since the runs of a row are alike. An unknown rate is null.
type Report struct {
	Batch     string `json:"batch"`
	CascadeID string `json:"cascade_id"`
	Set       string `json:"set"`
	Model     string `json:"model,omitempty"` // that was asked in place of what the cascade says
	Rows      int    `json:"rows"`            // that were done as often as they were to be
	Times     int    `json:"times"`
	Runs      int    `json:"runs"` // rows, each as often as it was done

	Accepted   measure.Clustered `json:"accepted"` // with an output that passed every check
	Degraded   measure.Clustered `json:"degraded"` // let out though it did not
	Blocked    measure.Clustered `json:"blocked"`
	Exhausted  measure.Clustered `json:"exhausted"`
	Failed     measure.Clustered `json:"failed"`     // something broke, or the row cannot be read
	Unreadable int               `json:"unreadable"` // of the failed ones
	Unfinished int               `json:"unfinished"` // that wait for a person, or were over the run's own budget

	Pass     []PassRate        `json:"pass"`
	FirstTry measure.Clustered `json:"first_try"` // every phase let its first attempt out
	Attempts []AttemptRate     `json:"attempts"`
	Gates    []GateRate        `json:"gates"`

	Usage       model.Usage  `json:"usage"`
	Seconds     float64      `json:"seconds"` // of all runs, one behind the other
	PerAccepted *PerAccepted `json:"per_accepted"`

	Quality  *Quality    `json:"quality"`  // null where no row expects anything
	Baseline *Comparison `json:"baseline"` // null where there is none
}

// A PassRate is how often one of k runs of a row is accepted (pass@k), and how
// often all of them are (pass^k). The intervals are of rows: exact where k is all
// the runs of a row, else Student's.
type PassRate struct {
	K   int      `json:"k"`
	Any Estimate `json:"any"`
	All Estimate `json:"all"`
}

// An AttemptRate is how often an attempt of that number was let out, of those
// that were made: those before it were refused. A visit to each or with soundings
// counts by the one of most attempts.
type AttemptRate struct {
	Phase    string            `json:"phase"`
	Attempt  int               `json:"attempt"`
	Accepted measure.Clustered `json:"accepted"`
}

// A GateRate is how often a check said yes.
type GateRate struct {
	Phase     string            `json:"phase"`
	Moment    string            `json:"moment"`
	Index     int               `json:"index"` // among the checks of the moment, from 0
	Validator string            `json:"validator"`
	Expr      string            `json:"expr,omitempty"` // the text of an expression without a name
	Mode      string            `json:"mode"`
	Passed    measure.Clustered `json:"passed"`
	First     measure.Clustered `json:"first"` // of first attempts
	Errors    int               `json:"errors"`
	Skipped   int               `json:"skipped"`
}

// Check names it as a path does: post contains is the first of its moment, and
// post[1] contains the second.
func (g GateRate) Check() string {
	name := g.Moment
	if g.Validator == g.Moment { // output_schema has no other name
		return name
	}
	if g.Index > 0 {
		name += fmt.Sprintf("[%d]", g.Index)
	}
	return strings.TrimSpace(name + " " + g.Validator + " " + g.Expr)
}

// PerAccepted is what an accepted output has cost, with all that was spent on
// those that were not accepted.
type PerAccepted struct {
	Calls   float64 `json:"calls"`
	Tokens  float64 `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
	Seconds float64 `json:"seconds"`
}

// Quality is how often an output is what its row expects.
type Quality struct {
	Right   measure.Clustered `json:"right"`   // of what was accepted
	Overall measure.Clustered `json:"overall"` // of all runs of rows that expect something, accepted and right
	Unknown int               `json:"unknown"` // accepted, and the expression cannot be answered of it
}

// Text is the report for a person, ending in a newline.
func (r *Report) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s over %s: %d rows", r.CascadeID, r.Set, r.Rows)
	if r.Times > 1 {
		fmt.Fprintf(&b, ", %d times each", r.Times)
	}
	fmt.Fprintf(&b, "  batch %s\n\n", r.Batch)
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(name string, rate measure.Clustered, more string) {
		fmt.Fprintf(w, "%s\t%s%s\n", name, rate, more)
	}
	row("accepted", r.Accepted, "")
	if r.Degraded.K > 0 {
		row("degraded", r.Degraded, "")
	}
	row("blocked", r.Blocked, "")
	row("exhausted", r.Exhausted, "")
	more := ""
	if r.Unreadable > 0 {
		more = fmt.Sprintf("; %d cannot be read", r.Unreadable)
	}
	row("failed", r.Failed, more)
	if r.Unfinished > 0 {
		fmt.Fprintf(w, "unfinished\t%d\n", r.Unfinished)
	}
	row("first try", r.FirstTry, "")
	if r.Quality != nil {
		more = ""
		if r.Quality.Unknown > 0 {
			more = fmt.Sprintf("; %d unknown", r.Quality.Unknown)
		}
		row("right, of the accepted", r.Quality.Right, more)
		row("right, of all", r.Quality.Overall, "")
	}
	for _, p := range r.Pass {
		if r.Times > 1 {
			fmt.Fprintf(w, "pass@%d\t%s\npass^%d\t%s\n", p.K, p.Any.Share(), p.K, p.All.Share())
		}
	}
	r.cost(w)
	_ = w.Flush()
	r.details(&b)
	if r.Baseline != nil {
		b.WriteString("\n" + r.Baseline.Text())
	}
	return b.String()
}

func (r *Report) cost(w *tabwriter.Writer) {
	about := ""
	if r.Usage.Estimated {
		about = "about "
	}
	money := func(usd float64) string {
		if usd == 0 {
			return "no cost known"
		}
		return fmt.Sprintf("$%.4f", usd)
	}
	fmt.Fprintf(w, "spent\t%d calls, %s%d tokens, %s, %.1f s\n", r.Usage.Calls, about, r.Usage.Tokens(), money(r.Usage.CostUSD), r.Seconds)
	if p := r.PerAccepted; p != nil {
		fmt.Fprintf(w, "per accepted output\t%.2f calls, %s%.0f tokens, %s, %.2f s\n", p.Calls, about, p.Tokens, money(p.CostUSD), p.Seconds)
	} else {
		fmt.Fprintln(w, "per accepted output\tunknown: no output was accepted")
	}
}

// details tells attempts and gates.
func (r *Report) details(b *strings.Builder) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	if len(r.Attempts) > 0 {
		fmt.Fprintln(w, "\nphase\tattempt\treleased")
	}
	for _, a := range r.Attempts {
		fmt.Fprintf(w, "%s\t%d\t%s\n", a.Phase, a.Attempt, a.Accepted)
	}
	_ = w.Flush()
	w = tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	if len(r.Gates) > 0 {
		fmt.Fprintln(w, "\nphase\tcheck\tmode\tpassed, first attempts\tpassed, all attempts")
	}
	for _, g := range r.Gates {
		more := ""
		if g.Mode == "shadow" {
			more = fmt.Sprintf("; would have rejected %d of %d", g.Passed.N-g.Passed.K, g.Passed.N)
		}
		if g.Errors > 0 {
			more += fmt.Sprintf("; %d without a verdict", g.Errors)
		}
		if g.Skipped > 0 {
			more += fmt.Sprintf("; %d skipped", g.Skipped)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s%s\n", g.Phase, g.Check(), g.Mode, g.First, g.Passed, more)
	}
	_ = w.Flush()
}

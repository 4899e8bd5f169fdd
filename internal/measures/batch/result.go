package batch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/model"
)

// A Result is the result of a batch. Every rate counts runs. Its interval counts rows, because the
// runs of a row are alike. An unknown rate is null.
type Result struct {
	Batch     string `json:"batch"`
	CascadeID string `json:"cascade_id"`
	Dataset   string `json:"dataset"`
	Model     string `json:"model,omitempty"` // that replaced the default of the cascade
	Rows      int    `json:"rows"`            // with all their runs
	Times     int    `json:"times"`
	Runs      int    `json:"runs"` // of all rows

	Accepted   stats.Clustered `json:"accepted"` // with an output that passed every check
	Degraded   stats.Clustered `json:"degraded"` // released without passing every check
	Blocked    stats.Clustered `json:"blocked"`
	Exhausted  stats.Clustered `json:"exhausted"`
	Failed     stats.Clustered `json:"failed"`     // an error, or an unreadable row
	Unreadable int             `json:"unreadable"` // of the failed runs
	Unfinished int             `json:"unfinished"` // waiting for a person, or over the budget of the run

	Pass     []PassRate      `json:"pass"`
	FirstTry stats.Clustered `json:"first_try"` // every phase released its first attempt
	Attempts []AttemptRate   `json:"attempts"`
	Gates    []GateRate      `json:"gates"`
	Failures []Failure       `json:"failures"` // the most frequent first

	Usage       model.Usage  `json:"usage"`
	Seconds     float64      `json:"seconds"` // the sum of all runs
	PerAccepted *PerAccepted `json:"per_accepted"`

	Quality  *Quality    `json:"quality"`  // null without expectations
	Baseline *Comparison `json:"baseline"` // null without a baseline
}

// A PassRate is the share of rows with at least one accepted run among k runs (pass@k), and with k
// accepted runs (pass^k). The interval is exact if k is the number of runs of a row, otherwise
// Student's.
type PassRate struct {
	K   int      `json:"k"`
	Any Estimate `json:"any"`
	All Estimate `json:"all"`
}

// An AttemptRate is the share of released attempts with a number, after earlier attempts were
// rejected. If a visit has items or soundings, the largest number of attempts counts.
type AttemptRate struct {
	Phase    string          `json:"phase"`
	Attempt  int             `json:"attempt"`
	Accepted stats.Clustered `json:"accepted"`
}

// A GateRate is the share of texts that a check passed.
type GateRate struct {
	Phase     string          `json:"phase"`
	Moment    string          `json:"moment"`
	Index     int             `json:"index"` // among the checks of the moment, from 0
	Validator string          `json:"validator"`
	Expr      string          `json:"expr,omitempty"` // the text of an expression without a name
	Mode      string          `json:"mode"`
	Passed    stats.Clustered `json:"passed"`
	First     stats.Clustered `json:"first"` // of first attempts
	Errors    int             `json:"errors"`
	Skipped   int             `json:"skipped"`
}

// A Failure is a reason for runs without an output.
type Failure struct {
	Status string `json:"status"`
	Phase  string `json:"phase,omitempty"`
	Check  string `json:"check,omitempty"` // that rejected the text
	Runs   int    `json:"runs"`
	Lines  []int  `json:"lines"`            // the first lines of the dataset
	Reason string `json:"reason,omitempty"` // of the first line; "" for several reasons
}

// Check returns the name of the check as in a path: post contains is the first check of its moment,
// post[1] contains the second.
func (g GateRate) Check() string {
	name := g.Moment
	if g.Validator == g.Moment { // output_schema
		return name
	}
	if g.Index > 0 {
		name += fmt.Sprintf("[%d]", g.Index)
	}
	return strings.TrimSpace(name + " " + g.Validator + " " + g.Expr)
}

// PerAccepted is the cost of an accepted output, with the cost of other runs.
type PerAccepted struct {
	Calls   float64 `json:"calls"`
	Tokens  float64 `json:"tokens"`
	CostUSD float64 `json:"cost_usd"`
	Seconds float64 `json:"seconds"`
}

// Quality is the share of expected outputs.
type Quality struct {
	Right   stats.Clustered `json:"right"`   // of accepted outputs
	Overall stats.Clustered `json:"overall"` // of all runs with an expectation
	Unknown int             `json:"unknown"` // accepted outputs for which the expression has no result
}

// Report returns the result as text and JSON.
func (r *Result) Report() *reports.Report {
	out := &reports.Report{Data: r}
	t := &out.Text
	times := ""
	if r.Times > 1 {
		times = fmt.Sprintf(", %d times each", r.Times)
	}
	t.Line("%s over %s: %d rows%s  batch %s\n", r.CascadeID, r.Dataset, r.Rows, times, r.Batch)
	t.Table(r.rates())
	r.details(t)
	if r.Baseline != nil {
		t.Line("")
		r.Baseline.describe(t)
	}
	return out
}

// rates returns the rows of the first table.
func (r *Result) rates() (rows [][]string) {
	row := func(name string, value fmt.Stringer, n int, remark string) {
		text := value.String()
		if n > 0 {
			text += fmt.Sprintf("; %d %s", n, remark)
		}
		rows = append(rows, []string{name, text})
	}
	row("accepted", r.Accepted, 0, "")
	if r.Degraded.K > 0 {
		row("degraded", r.Degraded, 0, "")
	}
	row("blocked", r.Blocked, 0, "")
	row("exhausted", r.Exhausted, 0, "")
	row("failed", r.Failed, r.Unreadable, "cannot be read")
	if r.Unfinished > 0 {
		rows = append(rows, []string{"unfinished", strconv.Itoa(r.Unfinished)})
	}
	row("first try", r.FirstTry, 0, "")
	if r.Quality != nil {
		row("right, of the accepted", r.Quality.Right, r.Quality.Unknown, "unknown")
		row("right, of all", r.Quality.Overall, 0, "")
	}
	for _, p := range r.Pass {
		if r.Times > 1 {
			rows = append(rows, []string{fmt.Sprintf("pass@%d", p.K), p.Any.Share()}, []string{fmt.Sprintf("pass^%d", p.K), p.All.Share()})
		}
	}
	return append(rows, r.cost()...)
}

func (r *Result) cost() [][]string {
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
	spent := fmt.Sprintf("%d calls, %s%d tokens, %s, %.1f s", r.Usage.Calls, about, r.Usage.Tokens(), money(r.Usage.CostUSD), r.Seconds)
	each := "unknown: no output was accepted"
	if p := r.PerAccepted; p != nil {
		each = fmt.Sprintf("%.2f calls, %s%.0f tokens, %s, %.2f s", p.Calls, about, p.Tokens, money(p.CostUSD), p.Seconds)
	}
	return [][]string{{"spent", spent}, {"per accepted output", each}}
}

// details adds the tables of attempts and gates.
func (r *Result) details(t *reports.Text) {
	if len(r.Attempts) > 0 {
		rows := [][]string{{"\nphase", "attempt", "released"}}
		for _, a := range r.Attempts {
			rows = append(rows, []string{a.Phase, strconv.Itoa(a.Attempt), a.Accepted.String()})
		}
		t.Table(rows)
	}
	r.gates(t)
	r.failures(t)
}

// gates adds the table of gates.
func (r *Result) gates(t *reports.Text) {
	if len(r.Gates) == 0 {
		return
	}
	rows := [][]string{{"\nphase", "check", "mode", "passed, first attempts", "passed, all attempts"}}
	for _, g := range r.Gates {
		passed := g.Passed.String()
		if g.Mode == "shadow" {
			passed += fmt.Sprintf("; would have rejected %d of %d", g.Passed.N-g.Passed.K, g.Passed.N)
		}
		if g.Errors > 0 {
			passed += fmt.Sprintf("; %d without a verdict", g.Errors)
		}
		if g.Skipped > 0 {
			passed += fmt.Sprintf("; %d skipped", g.Skipped)
		}
		rows = append(rows, []string{g.Phase, g.Check(), g.Mode, g.First.String(), passed})
	}
	t.Table(rows)
}

// failures adds the table of failures, grouped by reason.
func (r *Result) failures(t *reports.Text) {
	if len(r.Failures) == 0 {
		return
	}
	rows := [][]string{{"\nfailed runs", "status", "phase", "check", "lines", "reason of the first line"}}
	for _, f := range r.Failures {
		lines := strings.Trim(fmt.Sprint(f.Lines), "[]")
		if f.Runs > len(f.Lines) {
			lines += " …"
		}
		rows = append(rows, []string{strconv.Itoa(f.Runs), f.Status, f.Phase, f.Check, lines, reports.Fit(f.Reason, maxReason)})
	}
	t.Table(rows)
}

// maxReason is the maximum length of a reason in a table, in characters.
const maxReason = 200

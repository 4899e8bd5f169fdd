package pages

import (
	"slices"
	"time"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators"
)

// A phaseView is a phase with its contents.
type phaseView struct {
	RunID    string
	Path     event.Path
	Matrix   *matrix // nil without checks
	Attempts []attemptView
	Hidden   int // number of older attempts that are not shown
	All      string
	Calls    []callView
	Verdicts []verdictView
	Phases   []phaseRow
	Branches *branches // nil without branches
	Output   textView
	Answers  []event.Answer
}

// The maximum numbers of attempts and turns that a phase shows, unless the client asks for all.
const (
	maxAttempts = 30
	maxTurns    = 40
)

// newPhaseView returns a phase. Without all, it has the newest attempts only. Its items begin
// at from.
func newPhaseView(run string, p *trace.Phase, all bool, from int) *phaseView {
	v := &phaseView{RunID: run, Path: p.Path, Answers: p.Answers, All: phaseLink(run, p.Path, "all", "1")}
	v.Matrix = newMatrix(run, p)
	v.Calls, v.Verdicts = callViews(run, p.Calls), newVerdicts(run, p.Verdicts)
	v.Output = newTextView(run, "output", prettyJSON(p.Output), textRef{What: "output", At: p.Path})
	versions := p.Versions()
	if !all && len(versions) > maxAttempts {
		v.Hidden = len(versions) - maxAttempts
		versions = versions[v.Hidden:]
	}
	won, last := p.Won(), p.Last()
	for _, version := range versions {
		a := newAttempt(run, p, version, all, version.Attempt == last)
		a.Picked = won >= 0 && version.Attempt.Sounding == won
		v.Attempts = append(v.Attempts, a)
	}
	var before *trace.Attempt
	for _, a := range p.Edits {
		v.Attempts = append(v.Attempts, newAttempt(run, p, trace.Version{Attempt: a, Before: before}, all, true))
		before = a
	}
	for _, inner := range p.Phases {
		v.Phases = append(v.Phases, newPhaseRow(run, inner, p.Started, p.Finished))
	}
	v.Branches = newBranches(run, p, from)
	return v
}

// A matrix has one row for each check and one column for each attempt.
type matrix struct {
	Columns []column
	Rows    []matrixRow
}

type column struct {
	Name   string
	Anchor string
	Status string
}

type matrixRow struct {
	Moment, Validator, Mode string
	Cells                   []*verdictView // nil if the check did not run
}

// maxColumns is the maximum number of attempts in a matrix, the newest ones.
const maxColumns = 40

func newMatrix(run string, p *trace.Phase) *matrix {
	m := p.Matrix()
	if len(m.Rows) == 0 {
		return nil
	}
	skip := max(0, len(m.Columns)-maxColumns)
	v := &matrix{}
	for _, a := range m.Columns[skip:] {
		v.Columns = append(v.Columns, column{attemptName(a), anchor(string(a.Path)), a.Status})
	}
	for _, row := range m.Rows {
		r := matrixRow{Moment: row.Moment, Validator: row.Validator, Mode: row.Mode}
		if r.Moment == trace.Filter {
			r.Mode = ""
		}
		for _, cell := range row.Cells[skip:] {
			if cell == nil {
				r.Cells = append(r.Cells, nil)
				continue
			}
			c := newVerdict(run, cell)
			r.Cells = append(r.Cells, &c)
		}
		v.Rows = append(v.Rows, r)
	}
	return v
}

func attemptName(a *trace.Attempt) string {
	if a.Edited {
		return "a person's edit " + formatCount(a.Number)
	}
	if a.Sounding >= 0 {
		return "sounding " + formatCount(a.Sounding+1) + "." + formatCount(a.Number)
	}
	return "attempt " + formatCount(a.Number)
}

// An attemptView is an attempt with its contents.
type attemptView struct {
	Path        event.Path
	Name        string
	Status      string
	Picked      bool // the chosen one of several soundings
	Took        time.Duration
	Usage       model.Usage
	Bar         timeBar
	Open        bool
	Text        textView
	Turns       []turn
	HiddenTurns int
	Calls       []callView
	Tools       []use
	Verdicts    []verdictView
	Feedback    []textView
	Phases      []phaseRow
	Diff        string // the address of the difference to the previous attempt
}

func newAttempt(run string, p *trace.Phase, version trace.Version, all, last bool) attemptView {
	a := version.Attempt
	v := attemptView{
		Path: a.Path, Name: attemptName(a), Status: a.Status, Took: a.Took(), Usage: a.Usage(), Open: last,
		Bar:   newBar(a.Started, a.Finished, p.Started, latest(p)),
		Text:  newTextView(run, "text", a.Text, textRef{What: "attempt", At: a.Path}),
		Calls: callViews(run, a.Calls), Tools: newUses(run, a.Tools), Verdicts: newVerdicts(run, a.Verdicts),
	}
	if version.Before != nil {
		v.Diff = link(runLink(run, "/diff"), "a", string(version.Before.Path), "b", string(a.Path))
	}
	turns := a.Turns
	if !all && len(turns) > maxTurns {
		v.HiddenTurns = len(turns) - maxTurns
		turns = turns[v.HiddenTurns:]
	}
	for _, t := range turns {
		v.Turns = append(v.Turns, newTurn(run, p, t, a.Status != ""))
	}
	for i, text := range a.Feedback {
		v.Feedback = append(v.Feedback, newTextView(run, "feedback", text, textRef{What: "feedback", At: a.Path, N: i}))
	}
	for _, inner := range a.Phases {
		v.Phases = append(v.Phases, newPhaseRow(run, inner, p.Started, latest(p)))
	}
	return v
}

// latest returns the end of a phase, or the end of its last turn so far.
func latest(p *trace.Phase) time.Time {
	end := p.Finished
	if !end.IsZero() {
		return end
	}
	for _, a := range p.Attempts {
		for _, t := range a.Turns {
			if t.Finished.After(end) {
				end = t.Finished
			}
		}
	}
	for _, b := range p.Branches {
		if at := latest(b); at.After(end) {
			end = at
		}
	}
	return end
}

// A turn is a turn of an attempt with its contents.
type turn struct {
	Path     event.Path
	Number   int
	Took     time.Duration
	Usage    model.Usage
	Bar      timeBar
	Calls    []callView
	Tools    []use
	Verdicts []verdictView
}

func newTurn(run string, p *trace.Phase, t *trace.Turn, over bool) turn {
	v := turn{
		Path: t.Path, Number: t.Number, Usage: t.Usage(), Bar: newBar(t.Started, t.Finished, p.Started, latest(p)),
		Calls: callViews(run, t.Calls),
	}
	v.Tools, v.Verdicts = guardedUses(run, t, over)
	asking := slices.ContainsFunc(v.Calls, func(c callView) bool { return c.Open })
	if !t.Finished.IsZero() && (over || !asking) { // an open call has no end yet
		v.Took = t.Finished.Sub(t.Started)
	}
	return v
}

// A callView is a model call. The page loads its prompt later.
type callView struct {
	Path     event.Path
	Who      string // author, judge NAME or evaluator
	Model    string
	Usage    model.Usage
	Took     time.Duration
	URL      string
	Open     bool // has no reply yet
	Failure  *model.Failure
	Reply    textView
	Thinking textView // not part of Reply
	Tools    []model.ToolCall
}

// callViews returns calls without their prompts.
func callViews(run string, calls []*trace.Call) []callView {
	var list []callView
	for _, c := range calls {
		v := callView{Path: c.Path, Who: "author", Took: c.Took(), URL: link(runLink(run, "/call"), "at", string(c.Path)), Open: c.Response == nil}
		switch {
		case c.Validator != "":
			v.Who = "judge " + c.Validator
		case c.Role != "":
			v.Who = c.Role
		}
		if c.Request != nil {
			v.Model = c.Request.Model
		}
		if c.Response != nil {
			v.Usage, v.Failure, v.Tools = c.Response.Usage, c.Response.Failure, c.Response.ToolCalls
			v.Reply = newTextView(run, "reply", c.Response.Text, textRef{What: "reply", At: c.Path})
			v.Thinking = newTextView(run, "thinking", c.Response.Thinking, textRef{What: "thinking", At: c.Path})
			if c.Response.Model != "" {
				v.Model = c.Response.Model
			}
		}
		list = append(list, v)
	}
	return list
}

// A verdictView is a verdict with its texts.
type verdictView struct {
	event.Verdict
	Status      string // passed, rejected, error or skipped
	Explanation textView
	FixText     textView
	Evidence    textView
	Details     textView
	Time        time.Time
	Findings    []validators.Issue
	Notes       []validators.Issue
	Cut         int // issues and warnings that are not shown
	Score       string
}

// maxIssues is the maximum number of issues and of warnings of a verdict.
const maxIssues = 20

func newVerdicts(run string, verdicts []trace.Verdict) []verdictView {
	var list []verdictView
	for i := range verdicts {
		list = append(list, newVerdict(run, &verdicts[i]))
	}
	return list
}

func newVerdict(run string, from *trace.Verdict) verdictView {
	v := verdictView{Verdict: from.Verdict, Time: from.Time, Status: "rejected", Score: formatScore(from.Score)}
	if from.IsFilter() {
		v.Moment, v.Mode = trace.Filter, ""
	}
	reason := from.Reason
	switch {
	case from.Error != nil:
		v.Status, reason = "error", *from.Error
	case from.Skipped():
		v.Status = event.Skipped
	case *from.Valid:
		v.Status = "passed"
	}
	v.Explanation = newTextView(run, "reason", reason, textRef{What: "reason", At: from.Path})
	v.FixText = newTextView(run, "fix", from.Fix, textRef{What: "fix", At: from.Path})
	v.Evidence = newTextView(run, "evidence", prettyJSON(from.Verdict.Evidence), textRef{What: "evidence", At: from.Path})
	v.Details = newTextView(run, "details", prettyJSON(from.Verdict.Details), textRef{What: "details", At: from.Path})
	v.Findings = from.Issues[:min(len(from.Issues), maxIssues)]
	v.Notes = from.Warnings[:min(len(from.Warnings), maxIssues)]
	v.Cut = len(from.Issues) + len(from.Warnings) - len(v.Findings) - len(v.Notes)
	return v
}

package serve

import (
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/formats"
	"github.com/seed61713e19/capstan/runner/serve/links"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/validators"
)

// A bodyView is a phase with all that is in it.
type bodyView struct {
	RunID    string
	Path     event.Path
	Matrix   *matrixView // nil where nothing was checked
	Attempts []attemptView
	Hidden   int // attempts that are not shown, the oldest
	All      string
	Calls    []callView
	Verdicts []verdictView
	Phases   []phaseRow
	Branches *branchesView // nil where there are none
	Output   textView
	Answers  []event.Answer
}

// maxAttempts and maxTurns bound what a phase shows unless all is asked for.
const (
	maxAttempts = 30
	maxTurns    = 40
)

// newBody is the phase with all its attempts or the newest, and its items from
// one on.
func newBody(run string, p *trace.Phase, all bool, from int) *bodyView {
	v := &bodyView{RunID: run, Path: p.Path, Answers: p.Answers, All: links.Phase(run, p.Path, "all", "1")}
	v.Matrix = newMatrix(run, p)
	v.Calls, v.Verdicts = callViews(run, p.Calls), verdictViews(run, p.Verdicts)
	v.Output = newText(run, "output", formats.Pretty(p.Output), ref{what: "output", at: p.Path})
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

// A matrixView is which check said what of which attempt.
type matrixView struct {
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
	Cells                   []*verdictView // nil where it was not asked
}

// maxColumns bounds a matrix: of more attempts the newest are shown.
const maxColumns = 40

func newMatrix(run string, p *trace.Phase) *matrixView {
	m := p.Matrix()
	if len(m.Rows) == 0 {
		return nil
	}
	skip := max(0, len(m.Columns)-maxColumns)
	v := &matrixView{}
	for _, a := range m.Columns[skip:] {
		v.Columns = append(v.Columns, column{attemptName(a), links.Anchor(string(a.Path)), a.Status})
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
		return "a person's edit " + formats.Count(a.Number)
	}
	if a.Sounding >= 0 {
		return "sounding " + formats.Count(a.Sounding+1) + "." + formats.Count(a.Number)
	}
	return "attempt " + formats.Count(a.Number)
}

// An attemptView is an attempt at a phase.
type attemptView struct {
	Path        event.Path
	Name        string
	Status      string
	Picked      bool // of soundings, the one that the visit went on with
	Took        time.Duration
	Usage       model.Usage
	Bar         bar
	Open        bool
	Text        textView
	Turns       []turnView
	HiddenTurns int
	Calls       []callView
	Tools       []useView
	Verdicts    []verdictView
	Feedback    []textView
	Phases      []phaseRow
	Diff        string // the address of what changed since the attempt before
}

func newAttempt(run string, p *trace.Phase, version trace.Version, all, last bool) attemptView {
	a := version.Attempt
	v := attemptView{
		Path: a.Path, Name: attemptName(a), Status: a.Status, Took: a.Took(), Usage: a.Usage(), Open: last,
		Bar:   newBar(a.Started, a.Finished, p.Started, latest(p)),
		Text:  newText(run, "text", a.Text, ref{what: "attempt", at: a.Path}),
		Calls: callViews(run, a.Calls), Tools: useViews(run, a.Tools), Verdicts: verdictViews(run, a.Verdicts),
	}
	if version.Before != nil {
		v.Diff = links.To(links.Run(run, "/diff"), "a", string(version.Before.Path), "b", string(a.Path))
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
		v.Feedback = append(v.Feedback, newText(run, "feedback", text, ref{what: "feedback", at: a.Path, n: i}))
	}
	for _, inner := range a.Phases {
		v.Phases = append(v.Phases, newPhaseRow(run, inner, p.Started, latest(p)))
	}
	return v
}

// latest is the end of a phase, or of what it has so far.
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

// A turnView is a turn of an attempt.
type turnView struct {
	Path     event.Path
	Number   int
	Took     time.Duration
	Usage    model.Usage
	Bar      bar
	Calls    []callView
	Tools    []useView
	Verdicts []verdictView
}

func newTurn(run string, p *trace.Phase, t *trace.Turn, over bool) turnView {
	v := turnView{
		Path: t.Path, Number: t.Number, Usage: t.Usage(), Bar: newBar(t.Started, t.Finished, p.Started, latest(p)),
		Calls: callViews(run, t.Calls),
	}
	v.Tools, v.Verdicts = guardedUses(run, t, over)
	if !t.Finished.IsZero() {
		v.Took = t.Finished.Sub(t.Started)
	}
	return v
}

// A callView is a call of a model; its prompt is fetched when it is opened.
type callView struct {
	Path    event.Path
	Who     string // author, judge NAME, evaluator
	Model   string
	Usage   model.Usage
	Took    time.Duration
	URL     string
	Open    bool // under way
	Failure *model.Failure
	Reply   textView
	Tools   []model.ToolCall
}

func callViews(run string, calls []*trace.Call) []callView {
	var list []callView
	for _, c := range calls {
		v := callView{Path: c.Path, Who: "author", Took: c.Took(), URL: links.To(links.Run(run, "/call"), "at", string(c.Path)), Open: c.Response == nil}
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
			v.Reply = newText(run, "reply", c.Response.Text, ref{what: "reply", at: c.Path})
			if c.Response.Model != "" {
				v.Model = c.Response.Model
			}
		}
		list = append(list, v)
	}
	return list
}

// A verdictView is a verdict.
type verdictView struct {
	event.Verdict
	Status   string // passed, rejected, error or skipped
	Why      textView
	FixText  textView
	Evidence textView
	Details  textView
	Time     time.Time
	Findings []validators.Issue
	Notes    []validators.Issue
	Cut      int // issues and warnings that are not shown
	Score    string
}

// maxIssues bounds what one verdict lists.
const maxIssues = 20

func verdictViews(run string, verdicts []trace.Verdict) []verdictView {
	var list []verdictView
	for i := range verdicts {
		list = append(list, newVerdict(run, &verdicts[i]))
	}
	return list
}

func newVerdict(run string, from *trace.Verdict) verdictView {
	v := verdictView{Verdict: from.Verdict, Time: from.Time, Status: "rejected", Score: formats.Score(from.Score)}
	if from.Filters() {
		v.Moment, v.Mode = trace.Filter, ""
	}
	why := from.Reason
	switch {
	case from.Error != nil:
		v.Status, why = "error", *from.Error
	case from.Skipped():
		v.Status = event.Skipped
	case *from.Valid:
		v.Status = "passed"
	}
	v.Why = newText(run, "reason", why, ref{what: "reason", at: from.Path})
	v.FixText = newText(run, "fix", from.Fix, ref{what: "fix", at: from.Path})
	v.Evidence = newText(run, "evidence", formats.Pretty(from.Verdict.Evidence), ref{what: "evidence", at: from.Path})
	v.Details = newText(run, "details", formats.Pretty(from.Verdict.Details), ref{what: "details", at: from.Path})
	v.Findings = from.Issues[:min(len(from.Issues), maxIssues)]
	v.Notes = from.Warnings[:min(len(from.Warnings), maxIssues)]
	v.Cut = len(from.Issues) + len(from.Warnings) - len(v.Findings) - len(v.Notes)
	return v
}

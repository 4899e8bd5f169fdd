package views

import (
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/formats"
	"github.com/seed61713e19/capstan/runner/serve/links"
	"github.com/seed61713e19/capstan/runner/trace"
	"github.com/seed61713e19/capstan/validators"
)

// A Body is a phase with all that is in it.
type Body struct {
	RunID    string
	Path     event.Path
	Matrix   *matrix // nil where nothing was checked
	Attempts []attempt
	Hidden   int // attempts that are not shown, the oldest
	All      string
	Calls    []Call
	Verdicts []verdict
	Phases   []Row
	Branches *branches // nil where there are none
	Output   Text
	Answers  []event.Answer
}

// maxAttempts and maxTurns bound what a phase shows unless all is asked for.
const (
	maxAttempts = 30
	maxTurns    = 40
)

// NewBody is the phase with all its attempts or the newest, and its items from
// one on.
func NewBody(run string, p *trace.Phase, all bool, from int) *Body {
	v := &Body{RunID: run, Path: p.Path, Answers: p.Answers, All: links.Phase(run, p.Path, "all", "1")}
	v.Matrix = newMatrix(run, p)
	v.Calls, v.Verdicts = Calls(run, p.Calls), newVerdicts(run, p.Verdicts)
	v.Output = NewText(run, "output", formats.Pretty(p.Output), Ref{What: "output", At: p.Path})
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
		v.Phases = append(v.Phases, NewRow(run, inner, p.Started, p.Finished))
	}
	v.Branches = newBranches(run, p, from)
	return v
}

// A matrix is which check said what of which attempt.
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
	Cells                   []*verdict // nil where it was not asked
}

// maxColumns bounds a matrix: of more attempts the newest are shown.
const maxColumns = 40

func newMatrix(run string, p *trace.Phase) *matrix {
	m := p.Matrix()
	if len(m.Rows) == 0 {
		return nil
	}
	skip := max(0, len(m.Columns)-maxColumns)
	v := &matrix{}
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

// An attempt is one at a phase, with all that is in it.
type attempt struct {
	Path        event.Path
	Name        string
	Status      string
	Picked      bool // of soundings, the one that the visit went on with
	Took        time.Duration
	Usage       model.Usage
	Bar         Bar
	Open        bool
	Text        Text
	Turns       []turn
	HiddenTurns int
	Calls       []Call
	Tools       []use
	Verdicts    []verdict
	Feedback    []Text
	Phases      []Row
	Diff        string // the address of what changed since the attempt before
}

func newAttempt(run string, p *trace.Phase, version trace.Version, all, last bool) attempt {
	a := version.Attempt
	v := attempt{
		Path: a.Path, Name: attemptName(a), Status: a.Status, Took: a.Took(), Usage: a.Usage(), Open: last,
		Bar:   newBar(a.Started, a.Finished, p.Started, latest(p)),
		Text:  NewText(run, "text", a.Text, Ref{What: "attempt", At: a.Path}),
		Calls: Calls(run, a.Calls), Tools: newUses(run, a.Tools), Verdicts: newVerdicts(run, a.Verdicts),
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
		v.Feedback = append(v.Feedback, NewText(run, "feedback", text, Ref{What: "feedback", At: a.Path, N: i}))
	}
	for _, inner := range a.Phases {
		v.Phases = append(v.Phases, NewRow(run, inner, p.Started, latest(p)))
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

// A turn is one of an attempt, with all that is in it.
type turn struct {
	Path     event.Path
	Number   int
	Took     time.Duration
	Usage    model.Usage
	Bar      Bar
	Calls    []Call
	Tools    []use
	Verdicts []verdict
}

func newTurn(run string, p *trace.Phase, t *trace.Turn, over bool) turn {
	v := turn{
		Path: t.Path, Number: t.Number, Usage: t.Usage(), Bar: newBar(t.Started, t.Finished, p.Started, latest(p)),
		Calls: Calls(run, t.Calls),
	}
	v.Tools, v.Verdicts = guardedUses(run, t, over)
	asking := slices.ContainsFunc(v.Calls, func(c Call) bool { return c.Open })
	if !t.Finished.IsZero() && (over || !asking) { // until it is answered nothing tells how long
		v.Took = t.Finished.Sub(t.Started)
	}
	return v
}

// A Call is a call of a model; its prompt is fetched when it is opened.
type Call struct {
	Path     event.Path
	Who      string // author, judge NAME, evaluator
	Model    string
	Usage    model.Usage
	Took     time.Duration
	URL      string
	Open     bool // under way
	Failure  *model.Failure
	Reply    Text
	Thinking Text // cut out of the reply
	Tools    []model.ToolCall
}

// Calls are calls of models, without their prompts.
func Calls(run string, calls []*trace.Call) []Call {
	var list []Call
	for _, c := range calls {
		v := Call{Path: c.Path, Who: "author", Took: c.Took(), URL: links.To(links.Run(run, "/call"), "at", string(c.Path)), Open: c.Response == nil}
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
			v.Reply = NewText(run, "reply", c.Response.Text, Ref{What: "reply", At: c.Path})
			v.Thinking = NewText(run, "thinking", c.Response.Thinking, Ref{What: "thinking", At: c.Path})
			if c.Response.Model != "" {
				v.Model = c.Response.Model
			}
		}
		list = append(list, v)
	}
	return list
}

// A verdict is one with its texts as pages show them.
type verdict struct {
	event.Verdict
	Status   string // passed, rejected, error or skipped
	Why      Text
	FixText  Text
	Evidence Text
	Details  Text
	Time     time.Time
	Findings []validators.Issue
	Notes    []validators.Issue
	Cut      int // issues and warnings that are not shown
	Score    string
}

// maxIssues bounds what one verdict lists.
const maxIssues = 20

func newVerdicts(run string, verdicts []trace.Verdict) []verdict {
	var list []verdict
	for i := range verdicts {
		list = append(list, newVerdict(run, &verdicts[i]))
	}
	return list
}

func newVerdict(run string, from *trace.Verdict) verdict {
	v := verdict{Verdict: from.Verdict, Time: from.Time, Status: "rejected", Score: formats.Score(from.Score)}
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
	v.Why = NewText(run, "reason", why, Ref{What: "reason", At: from.Path})
	v.FixText = NewText(run, "fix", from.Fix, Ref{What: "fix", At: from.Path})
	v.Evidence = NewText(run, "evidence", formats.Pretty(from.Verdict.Evidence), Ref{What: "evidence", At: from.Path})
	v.Details = NewText(run, "details", formats.Pretty(from.Verdict.Details), Ref{What: "details", At: from.Path})
	v.Findings = from.Issues[:min(len(from.Issues), maxIssues)]
	v.Notes = from.Warnings[:min(len(from.Warnings), maxIssues)]
	v.Cut = len(from.Issues) + len(from.Warnings) - len(v.Findings) - len(v.Notes)
	return v
}

package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/endings"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A runView is a run.
type runView struct {
	frame
	Head     headView
	Troubles troubles
	Input    textView
	Output   textView
	Phases   []phaseRow
	Live     string // the address of what is to come; "" where nothing is
}

// A headView is what changes at the top of a run's page while it runs.
type headView struct {
	RunID    string
	Cascade  string
	File     string
	Status   string
	Started  time.Time
	Owner    string // the process that runs it
	Took     time.Duration
	Phases   int
	Usage    model.Usage
	Error    *event.Error
	Asks     []askView
	Next     string // what to do next; "" for nothing
	Guest    bool   // another engine makes the run, and takes its answers
	Parent   string
	CanOrder bool // answer, cancel and resume are offered
	URL      string
}

// Running tells whether the run goes on.
func (h headView) Running() bool { return h.Status == journal.Running }

// Resumable tells whether the run can be gone on with as it is.
func (h headView) Resumable() bool {
	open := slices.ContainsFunc(h.Asks, func(a askView) bool { return !a.Expired })
	return !open && (h.Status == runner.Cancelled || h.Status == runner.Failed || h.Status == runner.Waiting)
}

// An askView is an open question with its form.
type askView struct {
	journal.Pending
	N       int      // of the questions of the page, from 0
	Subject textView // the text that a person decides about; empty where the form has it, or where there is none
	Head    *headView
}

// Confirmation tells whether the question is one of yes or no.
func (a askView) Confirmation() bool { return a.Question.Type == cascades.Confirmation }

// Choice tells whether the question has options.
func (a askView) Choice() bool { return a.Question.Type == cascades.Choice }

// Command is the command that answers the question.
func (a askView) Command() string { return runner.AnswerCommand(a.Head.RunID, a.Path) }

// Edit tells whether the person is to change a text.
func (a askView) Edit() bool { return a.Question.Type == cascades.Edit }

func (s *Site) head(run *journal.Run, t *trace.Run) headView {
	h := headView{
		RunID: run.RunID, Cascade: run.CascadeID, File: run.File, Status: run.Status, Started: run.Started, Phases: len(t.Phases),
		Usage: t.Usage, Error: run.Error, Parent: run.Parent, Owner: run.Owner, Guest: run.Guest, CanOrder: s.o.Desk.Open() == nil, URL: runLink(run.RunID),
	}
	for i, p := range run.Pending {
		ask := askView{Pending: p, N: i, Head: &h}
		if !p.Expired && !ask.Edit() {
			ask.Subject = subject(run, t, p.Path)
		}
		h.Asks = append(h.Asks, ask)
	}
	switch {
	case run.Finished != nil:
		h.Took = run.Finished.Sub(run.Started)
	case run.Status == journal.Running:
		h.Took = time.Since(run.Started)
	default:
		h.Took = t.Finished.Sub(t.Started)
	}
	h.Error = cmp.Or(h.Error, t.Error)
	h.Next = next(run, t, h.Error)
	return h
}

// next returns the step after the run, "" for none. The page shows the attempts itself.
func next(run *journal.Run, t *trace.Run, err *event.Error) string {
	r := engine.Result{RunID: run.RunID, Status: run.Status, Error: err}
	for p := range t.All() {
		r.Answers = append(r.Answers, p.Answers...)
	}
	return endings.After(run, r).Do
}

// subject is the newest text of the phase that asks a person the question at a path.
func subject(run *journal.Run, t *trace.Run, question event.Path) textView {
	var asks *trace.Phase
	for p := range t.All() {
		if strings.HasPrefix(string(question), string(p.Path)+"/") && (asks == nil || len(p.Path) > len(asks.Path)) {
			asks = p
		}
	}
	if asks == nil || asks.Last() == nil {
		return textView{}
	}
	a := asks.Last()
	return newTextView(run.RunID, "text", a.Text, textRef{What: "attempt", At: a.Path})
}

// maxOpen is how many phases are open when the page is loaded.
const maxOpen = 3

func (s *Site) runPage(w http.ResponseWriter, r *http.Request) error {
	run, err := s.o.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	t, last, err := s.trees.Fold(r.Context(), run)
	if err != nil {
		return err
	}
	if run.RunID != r.PathValue("id") {
		http.Redirect(w, r, runLink(run.RunID), http.StatusFound)
		return nil
	}
	v := runView{frame: s.frame(run.CascadeID+" · "+run.RunID, "runs"), Head: s.head(run, t)}
	if len(t.Input) > 0 {
		v.Input = newTextView(run.RunID, "input", prettyJSON(t.Input), textRef{What: "input"})
	}
	v.Output = newTextView(run.RunID, "output", prettyJSON(t.Output), textRef{What: "result"})
	v.Troubles = newTroubles(run.RunID, t)
	v.Phases = phaseRows(run, t)
	for i, p := range t.Phases {
		if s.o.Desk.Open() == nil && live.Over(run.Status) {
			v.Phases[i].Again = link(runLink(run.RunID, "/again"), "from", p.Name)
		}
	}
	opened := toOpen(v.Phases, r.URL.Query().Get("open"))
	for _, i := range opened {
		v.Phases[i].Body = newPhaseView(run.RunID, t.Phases[i], false, 0)
	}
	if !live.Over(run.Status) {
		v.Live = link(runLink(run.RunID, "/live"), "after", strconv.FormatInt(last, 10), "status", run.Status)
	}
	return s.render(w, http.StatusOK, "run", v)
}

// toOpen picks the phases that are open at first: the one that is asked for,
// those that ended badly or go on, the newest first, and the last one.
func toOpen(rows []phaseRow, asked string) []int {
	var open []int
	for i := len(rows) - 1; i >= 0; i-- {
		p := rows[i]
		if string(p.Path) == asked {
			open = append(open, i)
		}
		bad := p.Status != runner.Succeeded && p.Status != "skipped"
		if len(open) < maxOpen && !slices.Contains(open, i) && (bad || i == len(rows)-1) {
			open = append(open, i)
		}
	}
	return open
}

func (s *Site) phasePage(w http.ResponseWriter, r *http.Request) error {
	run, t, err := s.trees.Load(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	at := event.Path(r.URL.Query().Get("at"))
	for p := range t.All() {
		if p.Path != at {
			continue
		}
		body := newPhaseView(run.RunID, p, r.URL.Query().Get("all") != "", number(r.URL.Query().Get("from")))
		if isPart(r) {
			return s.render(w, http.StatusOK, "phase-body", body)
		}
		v := struct {
			frame
			Head headView
			Row  phaseRow
		}{s.frame(longName(p)+" · "+run.RunID, "runs"), s.head(run, t), newPhaseRow(run.RunID, p, t.Started, t.Finished)}
		v.Row.Body = body
		return s.render(w, http.StatusOK, "phase", v)
	}
	return orders.NewProblem(http.StatusNotFound, "not_found", "the run has no such phase")
}

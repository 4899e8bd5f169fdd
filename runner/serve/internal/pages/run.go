package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/live"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

type runView struct {
	frame
	Head     headView
	Troubles troubles
	Input    textView
	Output   textView
	Phases   []phaseRow
	Live     string // the address of the updates; "" after the end
}

// A headView is the part of a run's page above the phases.
type headView struct {
	RunID    string
	Cascade  string
	File     string
	Status   string
	Started  time.Time
	Owner    string // the process that executes the run
	Took     time.Duration
	Phases   int
	Usage    model.Usage
	Error    *event.Error
	Asks     []askView
	Next     string // the next step for the reader; may be ""
	External bool   // another engine executes the run and takes its answers
	Parent   string
	CanOrder bool // the server accepts answers and other requests
	URL      string
}

// Running reports whether the run is running.
func (h headView) Running() bool { return h.Status == journal.Running }

// Resumable reports whether the run can be resumed now.
func (h headView) Resumable() bool {
	open := slices.ContainsFunc(h.Asks, func(a askView) bool { return !a.Expired })
	return !open && (h.Status == engine.Cancelled || h.Status == engine.Failed || h.Status == engine.Waiting)
}

// An askView is an open question with its form.
type askView struct {
	journal.Pending
	N       int      // number of the question on the page, from 0
	Subject textView // the text of the question; empty if the prompt contains it
	Checks  []verdictView
	Change  *diffPageView // the change since the previous version; may be nil
	Head    *headView
}

// Confirmation reports whether the answer is yes or no.
func (a askView) Confirmation() bool { return a.Question.Type == cascades.Confirmation }

// Choice reports whether the question has options.
func (a askView) Choice() bool { return a.Question.Type == cascades.Choice }

// Command returns the command that answers the question.
func (a askView) Command() string { return runner.AnswerCommand(a.Head.RunID, a.Path) }

// Edit reports whether the answer is an edited text.
func (a askView) Edit() bool { return a.Question.Type == cascades.Edit }

func (s *Site) head(run *journal.Run, t *trace.Run) headView {
	h := headView{
		RunID: run.RunID, Cascade: run.CascadeID, File: run.File, Status: run.Status, Started: run.Started, Phases: len(t.Phases),
		Usage: t.Usage, Error: run.Error, Parent: run.Parent, Owner: run.Owner, External: run.External, CanOrder: s.o.Orders.Enabled() == nil, URL: runLink(run.RunID),
	}
	for i, p := range run.Pending {
		ask := askView{Pending: p, N: i, Head: &h}
		if !p.Expired {
			ask.show(t.Subject(p.Path))
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

// next returns the next step after a run, or "".
func next(run *journal.Run, t *trace.Run, err *event.Error) string {
	r := engine.Result{RunID: run.RunID, Status: run.Status, Error: err}
	for p := range t.All() {
		r.Answers = append(r.Answers, p.Answers...)
	}
	return nextsteps.After(run, r).Do
}

// show adds the text of the question, its verdicts, and the change since the previous version.
func (a *askView) show(about *trace.Subject) {
	if about == nil {
		return
	}
	if !a.Edit() && !strings.Contains(a.Question.Prompt, strings.TrimSpace(about.Text)) {
		a.Subject = newTextView(a.Head.RunID, "text", about.Text, textRef{What: "attempt", At: about.Attempt})
	}
	for _, v := range about.Verdicts {
		a.Checks = append(a.Checks, newVerdict(a.Head.RunID, &trace.Verdict{Verdict: v}))
	}
	if about.Before != "" {
		a.Change = &diffPageView{Diff: compareTexts(about.Previous, about.Text)}
	}
}

// maxOpen is the maximum number of phases that are open at first.
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
		if s.o.Orders.Enabled() == nil && live.Over(run.Status) {
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

// toOpen selects the open phases: the requested one, the last one, and the newest that failed
// or are running.
func toOpen(rows []phaseRow, asked string) []int {
	var open []int
	for i := len(rows) - 1; i >= 0; i-- {
		p := rows[i]
		if string(p.Path) == asked {
			open = append(open, i)
		}
		bad := p.Status != engine.Succeeded && p.Status != "skipped"
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

package serve

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/feeds"
	"github.com/seed61713e19/capstan/runner/serve/formats"
	"github.com/seed61713e19/capstan/runner/serve/links"
	"github.com/seed61713e19/capstan/runner/serve/problems"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A runView is a run.
type runView struct {
	frame
	Head     headView
	Troubles troublesView
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
	Pending  *journal.Pending
	Guest    bool // another engine makes the run, and takes its answers
	Parent   string
	CanOrder bool // answer, cancel and resume are offered
	URL      string
}

// Running tells whether the run goes on.
func (h headView) Running() bool { return h.Status == journal.Running }

// Resumable tells whether the run can be gone on with as it is.
func (h headView) Resumable() bool {
	return (h.Pending == nil || h.Pending.Expired) && (h.Status == runner.Cancelled || h.Status == runner.Failed || h.Status == runner.Waiting)
}

// Confirmation tells whether the question is one of yes or no.
func (h headView) Confirmation() bool { return h.Pending.Question.Type == cascades.Confirmation }

// Choice tells whether the question has options.
func (h headView) Choice() bool { return h.Pending.Question.Type == cascades.Choice }

// Edit tells whether the person is to change a text.
func (h headView) Edit() bool { return h.Pending.Question.Type == cascades.Edit }

func (s *Server) head(run *journal.Run, t *trace.Run) headView {
	h := headView{
		RunID: run.RunID, Cascade: run.CascadeID, File: run.File, Status: run.Status, Started: run.Started, Phases: len(t.Phases),
		Usage: t.Usage, Error: run.Error, Pending: run.Pending, Parent: run.Parent, Owner: run.Owner, Guest: run.Guest, CanOrder: s.desk.Open() == nil, URL: links.Run(run.RunID),
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
	return h
}

// maxTroubles bounds what stands at the top of a page, and maxOpen how many
// phases are open when it is loaded.
const (
	maxTroubles = 5
	maxOpen     = 3
)

func (s *Server) runPage(w http.ResponseWriter, r *http.Request) error {
	run, err := s.o.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	t, last, err := s.fold(r.Context(), run)
	if err != nil {
		return err
	}
	if run.RunID != r.PathValue("id") {
		http.Redirect(w, r, links.Run(run.RunID), http.StatusFound)
		return nil
	}
	v := runView{frame: s.frame(run.CascadeID+" · "+run.RunID, "runs"), Head: s.head(run, t)}
	if len(t.Input) > 0 {
		v.Input = newText(run.RunID, "input", formats.Pretty(t.Input), ref{what: "input"})
	}
	v.Output = newText(run.RunID, "output", formats.Pretty(t.Output), ref{what: "result"})
	v.Troubles = newTroubles(run.RunID, t)
	v.Phases = phaseRows(run, t, t.Phases)
	for i, p := range t.Phases {
		if s.desk.Open() == nil && feeds.Over(run.Status) {
			v.Phases[i].Again = links.To(links.Run(run.RunID, "/again"), "from", p.Name)
		}
	}
	opened := toOpen(v.Phases, r.URL.Query().Get("open"))
	for _, i := range opened {
		v.Phases[i].Body = newBody(run.RunID, t.Phases[i], false, 0)
	}
	if !feeds.Over(run.Status) {
		v.Live = links.To(links.Run(run.RunID, "/live"), "after", strconv.FormatInt(last, 10), "status", run.Status)
	}
	return s.render(w, r, http.StatusOK, "run", v)
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

// A phaseRow is a phase in the timeline of a run.
type phaseRow struct {
	Path     event.Path
	Name     string
	Cascade  string
	Status   string
	Started  time.Time
	Tally    *tally // of a phase with each
	Side     int    // how many phases a group has
	Attempts int
	Turns    int
	Noes     int // verdicts that were a no
	Errors   int // checks that could not say
	Usage    model.Usage
	Took     time.Duration
	Bar      bar
	Next     string
	Failing  string // the last check that said no
	Broken   string // the last that could not say
	Why      string // there is no output, where no check tells
	URL      string
	Body     *bodyView // nil where it is fetched when it is opened
	Again    string    // the address of the form that runs it again from here; "" where it cannot be
	OOB      bool      // it takes the place of itself in a page
}

// A bar is a part of a stretch of time, in thousandths.
type bar struct{ From, Width float64 }

func newBar(from, to, start, end time.Time) bar {
	whole := float64(end.Sub(start))
	if whole <= 0 {
		return bar{0, 1000}
	}
	if to.IsZero() {
		to = end
	}
	b := bar{1000 * float64(from.Sub(start)) / whole, 1000 * float64(to.Sub(from)) / whole}
	b.From = max(0, min(b.From, 998))
	b.Width = max(2, min(b.Width, 1000-b.From))
	return b
}

func phaseRows(run *journal.Run, t *trace.Run, list []*trace.Phase) []phaseRow {
	rows, end := make([]phaseRow, len(list)), t.Finished
	if run.Status == journal.Running {
		end = time.Now() // what goes on has gone on since the last event
	}
	for i, p := range list {
		rows[i] = newPhaseRow(run.RunID, p, t.Started, end)
	}
	return rows
}

func newPhaseRow(run string, p *trace.Phase, start, end time.Time) phaseRow {
	row := phaseRow{
		Path: p.Path, Name: rowName(p), Cascade: p.Cascade, Status: p.Status, Started: p.Started, Attempts: len(p.Attempts), Usage: p.Usage(),
		Took: p.Took(), Bar: newBar(p.Started, p.Finished, start, end), Next: p.Next,
		URL: links.Phase(run, p.Path),
	}
	if p.Items > 0 || len(p.Branches) > 0 && p.Branches[0].Item >= 0 {
		row.Tally = new(newTally(p))
	} else {
		row.Side = len(p.Branches)
	}
	row.count(p)
	return row
}

// count adds what is in a visit and in its branches, but not in the cascades
// within it.
func (row *phaseRow) count(p *trace.Phase) {
	for _, a := range p.Attempts {
		row.Turns += len(a.Turns)
	}
	p.Visit(trace.Visitor{Verdict: func(v *trace.Verdict) {
		switch {
		case v.Skipped():
		case v.Valid == nil:
			row.Errors++
			row.Broken = v.Validator
		case !*v.Valid:
			row.Noes++
			row.Failing = v.Validator
		}
	}})
	for _, b := range p.Branches {
		row.count(b)
	}
}

func (s *Server) phasePage(w http.ResponseWriter, r *http.Request) error {
	run, t, err := s.load(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	at := event.Path(r.URL.Query().Get("at"))
	for p := range t.All() {
		if p.Path != at {
			continue
		}
		body := newBody(run.RunID, p, r.URL.Query().Get("all") != "", number(r.URL.Query().Get("from")))
		if isPart(r) {
			return s.render(w, r, http.StatusOK, "phase-body", body)
		}
		v := struct {
			frame
			Head headView
			Row  phaseRow
		}{s.frame(longName(p)+" · "+run.RunID, "runs"), s.head(run, t), newPhaseRow(run.RunID, p, t.Started, t.Finished)}
		v.Row.Body = body
		return s.render(w, r, http.StatusOK, "phase", v)
	}
	return problems.New(http.StatusNotFound, "not_found", "the run has no such phase")
}

package pages

import (
	"net/http"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// An againView is the form that makes a new run from a stored run.
type againView struct {
	frame
	Head    headView
	RunID   string // the name of the new run; "" if there is no form
	From    string
	Phases  []string
	Fields  []fieldView
	Offered bool // the current files can be used
	Changed bool
	Problem *orders.Problem
}

// againForm returns the form with the values of the stored run.
func (s *Site) againForm(r *http.Request) (v againView, run *journal.Run, c *cascades.Cascade, err error) {
	if run, err = s.o.Orders.Run(r.Context(), r.PathValue("id")); err != nil {
		return v, nil, nil, err
	}
	v = againView{frame: s.frame("Run again · "+run.RunID, "runs"), Head: headView{RunID: run.RunID, Cascade: run.CascadeID, URL: runLink(run.RunID)}}
	v.Offered = slices.Contains(s.o.Cascades, run.Start.Settings["cascade"])
	if c, err = s.cascadeOf(run); err != nil {
		return v, run, nil, orders.NewProblem(http.StatusConflict, "no_cascade", "the run's cascade cannot be read any more: "+err.Error())
	}
	for _, p := range c.Phases {
		v.Phases = append(v.Phases, p.Name)
	}
	for _, in := range c.Inputs {
		value, given := run.Start.Input[in.Name]
		if given {
			in.Default, in.HasDefault = value, true
		}
		f := newField(in)
		f.Stays = given
		if reports.Visible(f.Value) != f.Value { // a form must not change invisible characters
			f.Kind = "fixed"
		}
		v.Fields = append(v.Fields, f)
	}
	return v, run, c, nil
}

func (s *Site) againPage(w http.ResponseWriter, r *http.Request) error {
	v, run, _, err := s.againForm(r)
	if err != nil {
		return err
	}
	v.RunID = runner.NewRunID(time.Now())
	v.From = r.URL.Query().Get("from")
	if p := run.Start.Files; v.From == "" && len(p) > 0 && len(v.Phases) > 0 {
		v.From = v.Phases[0]
	}
	return s.render(w, http.StatusOK, "again", v)
}

func (s *Site) againPosted(w http.ResponseWriter, r *http.Request) error {
	v, run, c, err := s.againForm(r)
	if err != nil {
		return err
	}
	form, err := api.Form(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	v.RunID, v.From, v.Changed = form("run_id"), form("from"), form("changed") != ""
	change := orders.Change{RunID: v.RunID, From: v.From, CurrentFiles: v.Changed, Watched: true, Input: map[string]any{}}
	for i, in := range c.Inputs {
		in.HasDefault = in.HasDefault || v.Fields[i].Stays
		if f := &v.Fields[i]; f.Kind != "fixed" && !f.take(r, in, form, change.Input) {
			err = errTyped
		}
	}
	if err == nil && !s.o.Names(r.Context(), change.RunID) {
		err = errName
	}
	if err == nil {
		var made orders.RunState
		if made, err = s.o.Orders.Again(r.Context(), run, change); err == nil {
			return back(w, r, made.RunID)
		}
	}
	v.Problem = orders.ProblemOf(w, r, err)
	v.RunID = runner.NewRunID(time.Now())
	return s.render(w, v.Problem.Status, "again", v)
}

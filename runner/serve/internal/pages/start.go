package pages

import (
	"errors"
	"net/http"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

type startView struct {
	frame
	Cascades []string
	Models   []string
	Cascade  string // "" if none is selected
	Model    string
	RunID    string // the name of the new run, so that a form sent twice starts one run; "" if there is no form
	Fields   []fieldView
	Problem  *orders.Problem // why no run started
}

func (s *Site) startView(cascade string) startView {
	v := startView{frame: s.frame("Start a run", "runs"), Cascades: s.o.Cascades, Models: s.o.Models, Cascade: cascade}
	if cascade == "" && len(s.o.Cascades) == 1 {
		v.Cascade = s.o.Cascades[0]
	}
	return v
}

// startPage shows the offered cascades, or the form of one.
func (s *Site) startPage(w http.ResponseWriter, r *http.Request) error {
	if err := s.o.Orders.Enabled(); err != nil {
		return err
	}
	v := s.startView(r.URL.Query().Get("cascade"))
	if v.Cascade == "" {
		return s.render(w, http.StatusOK, "start", v)
	}
	inputs, err := s.o.Orders.Inputs(v.Cascade)
	if err != nil {
		return s.unstarted(w, r, v, err)
	}
	v.RunID = runner.NewRunID(time.Now())
	for _, in := range inputs {
		v.Fields = append(v.Fields, newField(in))
	}
	return s.render(w, http.StatusOK, "start", v)
}

// startForm starts a run and shows it. If that fails, it shows the form with the errors.
func (s *Site) startForm(w http.ResponseWriter, r *http.Request) error {
	if err := s.o.Orders.Enabled(); err != nil {
		return err
	}
	form, err := api.Form(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	v := s.startView(form("cascade"))
	v.Model, v.RunID = form("model"), form("run_id")
	inputs, err := s.o.Orders.Inputs(v.Cascade)
	if err != nil {
		return s.unstarted(w, r, v, err)
	}
	o := orders.Order{Cascade: v.Cascade, Model: v.Model, RunID: v.RunID, Watched: true, Input: map[string]any{}}
	wrong := false
	for _, in := range inputs {
		f := newField(in)
		wrong = !f.take(r, in, form, o.Input) || wrong
		v.Fields = append(v.Fields, f)
	}
	if wrong {
		return s.unstarted(w, r, v, errTyped)
	}
	if !s.o.Names(r.Context(), o.RunID) {
		return s.unstarted(w, r, v, errName)
	}
	run, err := s.o.Orders.Start(r.Context(), o)
	if err != nil {
		v.addErrors(err)
		return s.unstarted(w, r, v, err)
	}
	return back(w, r, run.RunID)
}

// addErrors adds the errors of inputs to their fields.
func (v *startView) addErrors(err error) {
	var list cascades.InputErrors
	errors.As(err, &list)
	for _, e := range list {
		for i := range v.Fields {
			if f := &v.Fields[i]; f.Name == e.Name && f.Wrong == "" {
				f.Wrong = e.Message
			}
		}
	}
}

func (s *Site) unstarted(w http.ResponseWriter, r *http.Request, v startView, err error) error {
	v.Problem = orders.ProblemOf(w, r, err)
	v.RunID = runner.NewRunID(time.Now())
	if errors.Is(err, orders.ErrNoCascade) || errors.As(err, new(syntax.Diagnostics)) {
		v.RunID = "" // there is nothing to fill in
	}
	return s.render(w, v.Problem.Status, "start", v)
}

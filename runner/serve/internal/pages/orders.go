package pages

import (
	"net/http"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
)

// answerForm takes the answer that a person gives on the page.
func (s *Site) answerForm(w http.ResponseWriter, r *http.Request) error {
	run, err := s.o.Desk.About(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	form, err := api.Form(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	var value any = form("value")
	key := event.Path(form("question"))
	if p, err := run.Question(key); err == nil && p.Question.Type == cascades.Confirmation {
		switch value {
		case "yes":
			value = true
		case "no":
			value = false
		}
	}
	if err := s.o.Desk.Answer(r.Context(), run, key, runner.Answer{Value: value, By: form("by")}); err != nil {
		return err
	}
	return back(w, r, run.RunID)
}

func (s *Site) cancelForm(w http.ResponseWriter, r *http.Request) error {
	return s.order(w, r, func(id string) error { return s.o.Desk.Cancel(id) })
}

func (s *Site) resumeForm(w http.ResponseWriter, r *http.Request) error {
	return s.order(w, r, func(id string) error { return s.o.Desk.Resume(r.Context(), id) })
}

// order gives an order about a run and shows the run again.
func (s *Site) order(w http.ResponseWriter, r *http.Request, give func(id string) error) error {
	run, err := s.o.Desk.About(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := give(run.RunID); err != nil {
		return err
	}
	return back(w, r, run.RunID)
}

// back shows the run again.
func back(w http.ResponseWriter, r *http.Request, id string) error {
	http.Redirect(w, r, runLink(id), http.StatusSeeOther)
	return nil
}

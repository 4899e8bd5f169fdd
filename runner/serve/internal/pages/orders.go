package pages

import (
	"net/http"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
)

// answerForm stores the answer of a form.
func (s *Site) answerForm(w http.ResponseWriter, r *http.Request) error {
	run, err := s.o.Orders.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	form, err := api.Form(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	if err := s.answer(r, run, event.Path(form("question")), form("value"), form("by")); err != nil {
		return err
	}
	return back(w, r, run.RunID)
}

func (s *Site) cancelForm(w http.ResponseWriter, r *http.Request) error {
	return s.order(w, r, func(id string) error { return s.o.Orders.Cancel(id) })
}

func (s *Site) resumeForm(w http.ResponseWriter, r *http.Request) error {
	return s.order(w, r, func(id string) error { return s.o.Orders.Resume(r.Context(), id) })
}

// order executes a request and shows the run again.
func (s *Site) order(w http.ResponseWriter, r *http.Request, give func(id string) error) error {
	run, err := s.o.Orders.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := give(run.RunID); err != nil {
		return err
	}
	return back(w, r, run.RunID)
}

func back(w http.ResponseWriter, r *http.Request, id string) error {
	http.Redirect(w, r, runLink(id), http.StatusSeeOther)
	return nil
}

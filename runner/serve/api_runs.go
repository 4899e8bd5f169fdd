package serve

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

func (s *Server) listCascades(w http.ResponseWriter, _ *http.Request) error {
	list := struct {
		Cascades []string `json:"cascades"`
		Models   []string `json:"models"`
	}{listed(s.cascades()), listed(s.o.Models)}
	return answer(w, http.StatusOK, list)
}

func (s *Server) startRun(w http.ResponseWriter, r *http.Request) error {
	if err := s.orders.Enabled(); err != nil {
		return err
	}
	wait, err := waitParameter(r)
	if err != nil {
		return err
	}
	body := struct {
		Cascade string
		Input   map[string]any
		Model   string
		RunID   string `json:"run_id"`
	}{Input: map[string]any{}}
	if err := s.read(w, r, "StartRun", &body); err != nil {
		return err
	}
	o := orders.Order{Cascade: body.Cascade, Model: body.Model, RunID: body.RunID, Input: body.Input}
	run, err := s.orders.Start(r.Context(), o)
	if err != nil {
		return err
	}
	return s.begun(w, r, run, wait)
}

func (s *Server) runAgain(w http.ResponseWriter, r *http.Request) error {
	run, err := s.orders.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	wait, err := waitParameter(r)
	if err != nil {
		return err
	}
	var body struct {
		From        string
		Input       map[string]any
		WithChanges bool   `json:"with_changes"`
		RunID       string `json:"run_id"`
	}
	if err := s.read(w, r, "RunAgain", &body); err != nil {
		return err
	}
	change := orders.Change{RunID: body.RunID, From: body.From, CurrentFiles: body.WithChanges, Input: body.Input}
	made, err := s.orders.Again(r.Context(), run, change)
	if err != nil {
		return err
	}
	return s.begun(w, r, made, wait)
}

// begun answers a request that has begun a run. If the client waits, and the run ends or asks a
// question in time, the answer is the run. Otherwise it is the state of the run.
func (s *Server) begun(w http.ResponseWriter, r *http.Request, run orders.RunState, wait time.Duration) error {
	w.Header().Set("Location", "/v1/runs/"+url.PathEscape(run.RunID))
	if wait > 0 {
		status, err := s.settled(r.Context(), run.RunID, wait)
		if err != nil {
			return err
		}
		if status != journal.Running {
			return s.show(w, r, run.RunID)
		}
	}
	if run.Repeated {
		return answer(w, http.StatusOK, run)
	}
	return answer(w, http.StatusAccepted, run)
}

// settled waits until a run no longer runs, the time is over, or the server closes. It returns
// the status of the run.
func (s *Server) settled(ctx context.Context, id string, wait time.Duration) (string, error) {
	changes, stop := s.live.Changes(id)
	defer stop()
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		run, err := s.o.Store.Run(ctx, id)
		switch {
		case err != nil:
			return "", err
		case run.Status != journal.Running:
			return run.Status, nil
		}
		select {
		case <-changes:
		case <-late.C:
			return journal.Running, nil
		case <-s.closing:
			return journal.Running, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// listed returns an empty list instead of nil, for JSON.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (s *Server) listRuns(w http.ResponseWriter, r *http.Request) error {
	f, err := api.RunFilter(r.URL.Query(), 50)
	if err != nil {
		return err
	}
	f.Limit++ // one more shows whether the list continues
	done := s.metrics.Store("runs")
	runs, err := s.o.Store.Runs(r.Context(), f)
	done()
	if err != nil {
		return err
	}
	body := struct {
		Runs []journal.Summary `json:"runs"`
		Next string            `json:"next,omitempty"` // the value of before for the next page
	}{Runs: listed(runs)}
	if len(runs) == f.Limit {
		body.Runs = runs[:f.Limit-1]
		body.Next = body.Runs[len(body.Runs)-1].RunID
	}
	return answer(w, http.StatusOK, body)
}

// A runBody is the output of the command show, and the open questions.
type runBody struct {
	engine.Result
	Questions []questionBody `json:"questions,omitempty"`
}

// A questionBody is an open question with its text.
type questionBody struct {
	journal.Pending
	Subject *subjectBody `json:"subject,omitempty"`
}

// A subjectBody is a [trace.Subject] with the difference to the previous version.
type subjectBody struct {
	Attempt  event.Path      `json:"attempt"`
	Text     string          `json:"text"`
	Verdicts []event.Verdict `json:"verdicts"`
	Previous event.Path      `json:"previous,omitempty"`
	Diff     string          `json:"diff,omitempty"`
}

// questions returns the open questions of a run.
func (s *Server) questions(ctx context.Context, run *journal.Run) ([]questionBody, error) {
	if len(run.Pending) == 0 {
		return nil, nil
	}
	t, err := trace.Fold(s.o.Store.Events(ctx, run.RunID, 0, journal.Brief))
	if err != nil {
		return nil, err
	}
	list := make([]questionBody, len(run.Pending))
	for i, p := range run.Pending {
		list[i].Pending = p
		if about := t.Subject(p.Path); about != nil {
			diff := ""
			if about.Before != "" {
				diff = textdiff.Unified("previous version", "this version", about.Previous, about.Text)
			}
			list[i].Subject = &subjectBody{about.Attempt, about.Text, listed(about.Verdicts), about.Before, diff}
		}
	}
	return list, nil
}

func (s *Server) getRun(w http.ResponseWriter, r *http.Request) error {
	return s.show(w, r, r.PathValue("id"))
}

// show answers with a run.
func (s *Server) show(w http.ResponseWriter, r *http.Request, id string) error {
	defer s.metrics.Store("run")()
	run, err := s.o.Store.Run(r.Context(), id)
	if err != nil {
		return err
	}
	result, err := s.o.Store.Result(r.Context(), run.RunID)
	if err != nil {
		return err
	}
	result.Status = run.Status
	questions, err := s.questions(r.Context(), run)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, runBody{whole(result), questions})
}

// whole replaces nil lists by empty ones.
func whole(r engine.Result) engine.Result {
	if r.Outputs == nil {
		r.Outputs = map[string]any{}
	}
	r.Phases, r.Verdicts, r.Degraded = listed(r.Phases), listed(r.Verdicts), listed(r.Degraded)
	return r
}

func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.orders.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := noBody(w, r, ""); err != nil {
		return err
	}
	if err := s.orders.Cancel(run.RunID); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, orders.RunState{RunID: run.RunID, Status: "cancelling"})
}

func (s *Server) resumeRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.orders.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := noBody(w, r, fmt.Sprintf(": /v1/runs/%[1]s/again makes a new run, /v1/runs/%[1]s/answer takes an answer", run.RunID)); err != nil {
		return err
	}
	if slices.ContainsFunc(run.Pending, func(p journal.Pending) bool { return !p.Expired }) {
		return orders.NewProblem(http.StatusConflict, "waiting", "the run waits for an answer: post it to /v1/runs/"+run.RunID+"/answer")
	}
	if err := s.orders.Resume(r.Context(), run.RunID); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, orders.RunState{RunID: run.RunID, Status: journal.Running})
}

func (s *Server) answerRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.orders.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	var body struct {
		Question event.Path
		Value    any
		By       string
	}
	if err := s.read(w, r, "Answer", &body); err != nil {
		return err
	}
	if err := s.orders.Answer(r.Context(), run, body.Question, engine.Answer{Value: body.Value, By: body.By}); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, orders.RunState{RunID: run.RunID, Status: journal.Running})
}

package serve

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

func (s *Server) listCascades(w http.ResponseWriter, _ *http.Request) error {
	list := struct {
		Cascades []string `json:"cascades"`
		Models   []string `json:"models"`
	}{listed(s.o.Cascades), listed(s.o.Models)}
	return answer(w, http.StatusOK, list)
}

func (s *Server) startRun(w http.ResponseWriter, r *http.Request) error {
	if err := s.desk.Open(); err != nil {
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
	run, err := s.desk.Start(r.Context(), o)
	if err != nil {
		return err
	}
	return begun(w, run)
}

// runAgain is the order over HTTP.
func (s *Server) runAgain(w http.ResponseWriter, r *http.Request) error {
	run, err := s.desk.About(r.Context(), r.PathValue("id"))
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
	change := orders.Change{RunID: body.RunID, From: body.From, Changed: body.WithChanges, Input: body.Input}
	made, err := s.desk.Again(r.Context(), run, change)
	if err != nil {
		return err
	}
	return begun(w, made)
}

// begun tells of a run that was ordered: of the one there is, where the order is
// repeated.
func begun(w http.ResponseWriter, run orders.Standing) error {
	w.Header().Set("Location", "/v1/runs/"+url.PathEscape(run.RunID))
	if run.Repeated {
		return answer(w, http.StatusOK, run)
	}
	return answer(w, http.StatusAccepted, run)
}

// listed is a list that JSON writes as one, also where it is empty.
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
	f.Limit++ // one more tells whether the list goes on
	runs, err := s.o.Store.Runs(r.Context(), f)
	if err != nil {
		return err
	}
	body := struct {
		Runs []journal.Summary `json:"runs"`
		Next string            `json:"next,omitempty"` // give it as before
	}{Runs: listed(runs)}
	if len(runs) == f.Limit {
		body.Runs = runs[:f.Limit-1]
		body.Next = body.Runs[len(body.Runs)-1].RunID
	}
	return answer(w, http.StatusOK, body)
}

// A runBody is a run as the command line's show prints it, and its open questions.
type runBody struct {
	engine.Result
	Questions []journal.Pending `json:"questions,omitempty"` // the open ones
}

func (s *Server) getRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.o.Store.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	result, err := s.o.Store.Result(r.Context(), run.RunID)
	if err != nil {
		return err
	}
	result.Status = run.Status
	return answer(w, http.StatusOK, runBody{whole(result), run.Pending})
}

// whole has lists where the shape promises lists.
func whole(r engine.Result) engine.Result {
	if r.Outputs == nil {
		r.Outputs = map[string]any{}
	}
	r.Phases, r.Verdicts, r.Degraded = listed(r.Phases), listed(r.Verdicts), listed(r.Degraded)
	return r
}

func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.desk.About(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := bare(w, r, nil); err != nil {
		return err
	}
	if err := s.desk.Cancel(run.RunID); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, orders.Standing{RunID: run.RunID, Status: "cancelling"})
}

func (s *Server) resumeRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.desk.About(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := bare(w, r, otherwise(run.RunID)); err != nil {
		return err
	}
	if slices.ContainsFunc(run.Pending, func(p journal.Pending) bool { return !p.Expired }) {
		return orders.NewProblem(http.StatusConflict, "waiting", "the run waits for an answer: post it to /v1/runs/"+run.RunID+"/answer")
	}
	if err := s.desk.Resume(r.Context(), run.RunID); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, orders.Standing{RunID: run.RunID, Status: journal.Running})
}

// otherwise says how what a resume does not take is asked for.
func otherwise(id string) map[string]string {
	again := "POST /v1/runs/" + id + "/again makes a new run with it"
	post := "an answer is posted to /v1/runs/" + id + "/answer"
	return map[string]string{
		"from": again, "input": again, "with_changes": again, "force": again, "run_id": again,
		"take": "capstan resume " + id + " --take takes it over", "value": post, "answer": post,
		"model": "the run keeps its model", "cascade": "the run keeps its cascade",
	}
}

func (s *Server) answerRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.desk.About(r.Context(), r.PathValue("id"))
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
	if err := s.desk.Answer(r.Context(), run, body.Question, runner.Answer{Value: body.Value, By: body.By}); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, orders.Standing{RunID: run.RunID, Status: journal.Running})
}

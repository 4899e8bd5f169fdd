package serve

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/validators/schema"
)

// notOffered is the answer where the operator does not offer something.
func notOffered(what string) error {
	return problem(http.StatusNotImplemented, "not_offered", "this server "+what)
}

func (s *Server) listCascades(w http.ResponseWriter, _ *http.Request) error {
	list := struct {
		Cascades []string `json:"cascades"`
		Models   []string `json:"models"`
	}{listed(s.o.Cascades), listed(s.o.Models)}
	return answer(w, http.StatusOK, list)
}

// A standing is where a run stands, for who has ordered something of it.
type standing struct {
	RunID  string `json:"run_id"`
	Status string `json:"status"`
}

func (s *Server) startRun(w http.ResponseWriter, r *http.Request) error {
	if s.o.Runs == nil {
		return notOffered("only shows runs")
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
	run, repeated, err := s.startOnce(r, o)
	if err != nil {
		return err
	}
	return begun(w, run, repeated)
}

// begun tells of a run that was ordered: of the one there is, where the order is
// repeated.
func begun(w http.ResponseWriter, run standing, repeated bool) error {
	w.Header().Set("Location", "/v1/runs/"+url.PathEscape(run.RunID))
	if repeated {
		return answer(w, http.StatusOK, run)
	}
	return answer(w, http.StatusAccepted, run)
}

// startOnce starts a run; of an order that is repeated under its name it gives
// the run there is.
func (s *Server) startOnce(r *http.Request, o orders.Order) (run standing, repeated bool, err error) {
	id, err := s.o.Runs.Start(r.Context(), o)
	if errors.Is(err, runner.ErrRunExists) || errors.Is(err, runner.ErrRunBusy) {
		run, err = s.sameRun(r, o)
		return run, true, err
	}
	return standing{id, journal.Running}, false, err
}

var errOther = problem(http.StatusConflict, "run_exists", "there is a run of that name, of another order")

// sameRun is the run of an order under a name that is taken: a repetition gets
// the run, anything else a no.
func (s *Server) sameRun(r *http.Request, o orders.Order) (standing, error) {
	run, err := s.o.Store.Run(r.Context(), o.RunID)
	if errors.Is(err, runner.ErrNoRun) || err == nil && run.RunID != o.RunID {
		return standing{}, runner.ErrRunBusy // it is about to be kept
	}
	if err != nil {
		return standing{}, err
	}
	start := run.Start
	if start.Settings["cascade"] != o.Cascade || start.Model != o.Model && o.Model != "" || !equal(start.Input, o.Input) {
		return standing{}, errOther
	}
	return standing{run.RunID, run.Status}, nil
}

func equal(a, b any) bool {
	x, err := schema.Plain(a)
	y, wrong := schema.Plain(b)
	return err == nil && wrong == nil && reflect.DeepEqual(x, y)
}

// listed is a list that JSON writes as one, also where it is empty.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// maxList is how many runs one answer lists.
const maxList = 500

func (s *Server) listRuns(w http.ResponseWriter, r *http.Request) error {
	f, err := filter(r.URL.Query(), 50)
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

// statuses are those that a list can be asked for.
var statuses = []string{journal.Running, runner.Waiting, runner.Succeeded, runner.Blocked, runner.Exhausted, runner.Failed, runner.OverBudget, runner.Cancelled}

// filter reads the filter of a list from a query.
func filter(q url.Values, limit int) (journal.Filter, error) {
	f := journal.Filter{Status: q.Get("status"), Cascade: q.Get("cascade"), Text: q.Get("q"), Words: q.Get("words"), Before: q.Get("before"), Limit: limit}
	if f.Status != "" && !slices.Contains(statuses, f.Status) {
		return f, badQuery("status must be one of %v", statuses)
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxList {
			return f, badQuery("limit must be from 1 to %d", maxList)
		}
		f.Limit = n
	}
	since, until, err := between(q)
	f.Since, f.Until = since, until
	return f, err
}

// between reads since and until, which are times or whole days, of which the last
// one counts too. What is not given is zero.
func between(q url.Values) (since, until time.Time, err error) {
	read := func(name string, days int) (time.Time, error) {
		text := q.Get(name)
		if text == "" {
			return time.Time{}, nil
		}
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return t.AddDate(0, 0, days), nil
		}
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return t, badQuery("%s must be a day such as 2006-01-02, or a time such as 2006-01-02T15:04:05Z", name)
		}
		return t, nil
	}
	if since, err = read("since", 0); err == nil {
		until, err = read("until", 1)
	}
	return since, until, err
}

func badQuery(format string, args ...any) error {
	return problem(http.StatusBadRequest, "bad_query", fmt.Sprintf(format, args...))
}

// A runBody is a run as the command line's show prints it, and what it waits
// for.
type runBody struct {
	engine.Result
	Waiting *journal.Pending `json:"waiting,omitempty"`
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
	run, err := s.ordered(r)
	if err != nil {
		return err
	}
	if err := bare(w, r, nil); err != nil {
		return err
	}
	if err := s.o.Runs.Cancel(run.RunID); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, standing{run.RunID, "cancelling"})
}

func (s *Server) resumeRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.ordered(r)
	if err != nil {
		return err
	}
	if err := bare(w, r, otherwise(run.RunID)); err != nil {
		return err
	}
	if run.Pending != nil && !run.Pending.Expired {
		return problem(http.StatusConflict, "waiting", "the run waits for an answer: post it to /v1/runs/"+run.RunID+"/answer")
	}
	if err := s.o.Runs.Resume(r.Context(), run.RunID); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, standing{run.RunID, journal.Running})
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

// ordered gives the run that a request orders something of.
func (s *Server) ordered(r *http.Request) (*journal.Run, error) {
	if s.o.Runs == nil {
		return nil, notOffered("only shows runs")
	}
	return s.o.Store.Run(r.Context(), r.PathValue("id"))
}

func (s *Server) answerRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.ordered(r)
	if err != nil {
		return err
	}
	var body struct {
		Value any
		By    string
	}
	if err := s.read(w, r, "Answer", &body); err != nil {
		return err
	}
	if err := s.answerWith(r, run, runner.Answer{Value: body.Value, By: body.By}); err != nil {
		return err
	}
	return answer(w, http.StatusAccepted, standing{run.RunID, journal.Running})
}

var errNotWaiting = problem(http.StatusConflict, "not_waiting", "the run does not wait for an answer")

// answerWith keeps an answer and goes on with the run. An answer that is kept
// though the run could not be gone on with says so.
func (s *Server) answerWith(r *http.Request, run *journal.Run, a runner.Answer) error {
	if run.Pending == nil {
		return errNotWaiting
	}
	if wrong := run.Pending.Question.Unfit(a.Value); wrong != "" && !run.Pending.Expired {
		return problem(http.StatusUnprocessableEntity, "bad_answer", wrong)
	}
	if err := s.o.Store.Answer(r.Context(), run.RunID, a); err != nil {
		if errors.Is(err, runner.ErrAnswered) { // somebody else has, meanwhile
			return errNotWaiting
		}
		return err
	}
	err := s.o.Runs.Resume(r.Context(), run.RunID)
	if no, ok := errors.AsType[*Problem](err); ok {
		return problem(no.Status, no.Code, "the answer is kept, but: "+no.Detail)
	}
	if errors.Is(err, orders.ErrFull) || errors.Is(err, orders.ErrClosed) {
		return problem(http.StatusServiceUnavailable, "answered_not_resumed", "the answer is kept, but "+err.Error()+": resume the run later")
	}
	return err
}

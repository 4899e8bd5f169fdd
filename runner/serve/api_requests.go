package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
	"github.com/seed61713e19/capstan/validators/request"
)

// Requests handles requests of the validation request protocol. [dispatch.Dispatcher] documents
// the methods.
type Requests interface {
	Open(r *request.Request) (attempt int, err error)
	Deliver(text []byte) (dispatch.Receipt, error)
	Status(taskID string) (dispatch.Standing, error)
	Wait(ctx context.Context, taskID string) (dispatch.Outcome, error)
}

// refusals are the errors of a dispatcher that clients may read.
var refusals = []struct {
	err    error
	status int
	code   string
}{
	{dispatch.ErrOpen, http.StatusConflict, "task_open"},
	{dispatch.ErrUnknown, http.StatusNotFound, "unknown_task"},
	{dispatch.ErrFull, http.StatusServiceUnavailable, "full"},
	{dispatch.ErrClosed, http.StatusServiceUnavailable, "closing"},
}

// refused returns the problem of an error of the dispatcher.
func refused(err error) error {
	if broken, ok := errors.AsType[*request.ProtocolError](err); ok {
		p := orders.NewProblem(http.StatusUnprocessableEntity, "protocol_error", "the body is no message of the validation request protocol")
		for _, b := range broken.Problems {
			p.Errors = append(p.Errors, orders.Place{Path: b.Field, Message: b.Message})
		}
		return p
	}
	for _, no := range refusals {
		if errors.Is(err, no.err) {
			return orders.NewProblem(no.status, no.code, err.Error())
		}
	}
	return err
}

func (s *Server) openRequest(w http.ResponseWriter, r *http.Request) error {
	if s.o.Requests == nil {
		return orders.NotOffered("takes no validation requests")
	}
	wait, err := waitParameter(r)
	if err != nil {
		return err
	}
	text, err := api.Body(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	message, err := request.ParseRequest(text)
	if err != nil {
		return refused(err)
	}
	if _, err := s.o.Requests.Open(message); err != nil {
		return refused(err)
	}
	w.Header().Set("Location", "/v1/validation-requests/"+url.PathEscape(message.TaskID))
	return s.task(w, r, message.TaskID, wait, http.StatusAccepted)
}

func (s *Server) getRequest(w http.ResponseWriter, r *http.Request) error {
	if s.o.Requests == nil {
		return orders.NotOffered("takes no validation requests")
	}
	wait, err := waitParameter(r)
	if err != nil {
		return err
	}
	return s.task(w, r, r.PathValue("task_id"), wait, http.StatusOK)
}

// maxWait is the maximum of the parameter wait.
const maxWait = 10 * time.Minute

// waitParameter returns how long the client waits for a task or a run.
func waitParameter(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 || wait > maxWait {
		return 0, orders.BadQuery("wait must be a duration from 0s to 10m, such as 30s, not %.40q", text)
	}
	return wait, nil
}

// task answers with the state of a task. The status of an open task is open.
func (s *Server) task(w http.ResponseWriter, r *http.Request, id string, wait time.Duration, open int) error {
	if wait > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		s.o.Requests.Wait(ctx, id) // the status below shows the result
	}
	standing, err := s.o.Requests.Status(id)
	if err != nil {
		return refused(err)
	}
	status := http.StatusOK
	if standing.Open {
		status = open
	}
	return answer(w, status, standing)
}

// deliverResponse accepts the response of an external validator.
func (s *Server) deliverResponse(w http.ResponseWriter, r *http.Request) error {
	if s.o.Requests == nil {
		return orders.NotOffered("takes no validation requests")
	}
	text, err := api.Body(w, r, api.MaxBody)
	if err != nil {
		return err
	}
	given, err := request.ParseResponse(text)
	if err != nil {
		return refused(err)
	}
	if given.TaskID != r.PathValue("task_id") {
		return orders.NewProblem(http.StatusUnprocessableEntity, "other_task", "the response is of another task than the address")
	}
	receipt, err := s.o.Requests.Deliver(text)
	if err != nil {
		return refused(err)
	}
	return answer(w, http.StatusOK, receipt)
}

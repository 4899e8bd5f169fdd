package serve

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/seed61713e19/capstan/runner/serve/internal/api"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/validators/request"
)

// Requests takes requests of the validation request protocol to validators. A
// [*request.Dispatcher] does; what each method promises is said there.
type Requests interface {
	Open(r *request.Request) (attempt int, err error)
	Deliver(text []byte) (request.Receipt, error)
	Status(taskID string) (request.Standing, error)
	Wait(ctx context.Context, taskID string) (request.Outcome, error)
}

// refusals are what a dispatcher may say no with.
var refusals = []struct {
	err    error
	status int
	code   string
}{
	{request.ErrOpen, http.StatusConflict, "task_open"},
	{request.ErrUnknown, http.StatusNotFound, "unknown_task"},
	{request.ErrFull, http.StatusServiceUnavailable, "full"},
	{request.ErrClosed, http.StatusServiceUnavailable, "closing"},
}

// refused is the problem of a dispatcher's no.
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
	wait, err := patience(r)
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
	wait, err := patience(r)
	if err != nil {
		return err
	}
	return s.task(w, r, r.PathValue("task_id"), wait, http.StatusOK)
}

// maxWait is how long an answer may be waited for.
const maxWait = time.Minute

// patience is how long the caller will wait for a task to settle.
func patience(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("wait")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > int(maxWait/time.Second) {
		return 0, orders.BadQuery("wait must be from 0 to %d seconds", maxWait/time.Second)
	}
	return time.Duration(n) * time.Second, nil
}

// task tells where a task stands; open is the status while it is not settled.
func (s *Server) task(w http.ResponseWriter, r *http.Request, id string, wait time.Duration, open int) error {
	if wait > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		s.o.Requests.Wait(ctx, id) // where it stands is asked below, whatever came of it
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

// deliverResponse takes the response of a validator from outside.
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

package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/orders"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A gateBody is a validator as the list shows it.
type gateBody struct {
	Name        string         `json:"name"`
	Kind        string         `json:"kind"` // computed, judge or effect
	Description string         `json:"description"`
	Parameters  map[string]any `json:"parameters"`
}

func (s *Server) listGates(w http.ResponseWriter, _ *http.Request) error {
	body := struct {
		Gates []gateBody `json:"gates"`
	}{[]gateBody{}}
	for _, v := range s.o.Gates.List() {
		body.Gates = append(body.Gates, gateBody{v.Name, v.Kind(), v.Description, v.Params()})
	}
	return answer(w, http.StatusOK, body)
}

// maxJudging is how long a gate may take over a posted text.
const maxJudging = 10 * time.Minute

// judge judges a posted text. A no is a verdict like a yes; that there is no
// verdict is a problem.
func (s *Server) judge(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	if _, err := s.o.Gates.Find(name); err != nil {
		return orders.NewProblem(http.StatusNotFound, "unknown_gate", fmt.Sprintf("no gate is called %q; GET /v1/gates lists them", name))
	}
	var body struct {
		Content string
		With    map[string]any
	}
	if err := s.read(w, r, "Judge", &body); err != nil {
		return err
	}
	v, err := cascades.Use(name, body.With, cascades.Known{Validators: s.o.Gates})
	if err != nil {
		return orders.NewProblem(http.StatusUnprocessableEntity, "bad_parameters", err.Error())
	}
	subject := validators.Subject{Content: body.Content, Attempt: 1}
	subject.Output, _ = schema.Parse([]byte(body.Content))
	ctx, cancel := context.WithTimeout(r.Context(), maxJudging)
	defer cancel()
	verdict, err := s.o.Runner.Judge(ctx, &cascades.Cascade{ID: "gate"}, v, subject)
	if err != nil {
		return unsaid(name, err)
	}
	return answer(w, http.StatusOK, verdict)
}

// unsaid is the problem of a validator that could not say: 503 where it may be
// able to later.
func unsaid(name string, err error) error {
	status := http.StatusBadGateway
	var failure *model.Failure
	if errors.As(err, &failure) && failure.Temporary() || errors.Is(err, context.DeadlineExceeded) {
		status = http.StatusServiceUnavailable
	}
	why := strings.TrimPrefix(err.Error(), "validator "+name+": ")
	return orders.NewProblem(status, "no_verdict", "gate "+name+" gave no verdict: "+why)
}

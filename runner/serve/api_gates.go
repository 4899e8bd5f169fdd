package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
	"github.com/seed61713e19/capstan/validators"
)

func (s *Server) listGates(w http.ResponseWriter, _ *http.Request) error {
	body := struct {
		Gates []orders.Gate `json:"gates"`
	}{[]orders.Gate{}}
	for _, v := range s.o.Gates.List() {
		body.Gates = append(body.Gates, orders.Gate{Name: v.Name, Kind: v.Kind(), Description: v.Description, Parameters: v.Params()})
	}
	if s.orders.Enabled() == nil {
		body.Gates = append(body.Gates, s.orders.Gates()...)
	}
	return answer(w, http.StatusOK, body)
}

// maxJudging limits the time of a judgement.
const maxJudging = 10 * time.Minute

// judge answers with the verdict of a gate on a posted text. The status is 200 for passed and
// failed texts. If the gate gives no verdict, the answer is a problem.
func (s *Server) judge(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	var body struct {
		Content        string
		With           map[string]any
		Input, Outputs map[string]any
	}
	if err := s.read(w, r, "Judge", &body); err != nil {
		return err
	}
	subject := validators.Subject{Content: body.Content, Attempt: 1, Input: body.Input, Outputs: body.Outputs}
	subject.Output, _ = schema.Parse([]byte(body.Content))
	ctx, cancel := context.WithTimeout(r.Context(), maxJudging)
	defer cancel()
	judge := s.judgeKnown
	if strings.Contains(name, ":") {
		judge = s.judgeOwn
	}
	verdict, err := judge(ctx, name, body.With, subject)
	if none, ok := errors.AsType[*orders.NoVerdictError](err); ok {
		return noVerdict(name, none.Err)
	}
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, verdict)
}

// judgeKnown uses a validator of [Options.Gates].
func (s *Server) judgeKnown(ctx context.Context, name string, with map[string]any, on validators.Subject) (validators.Verdict, error) {
	if _, err := s.o.Gates.Find(name); err != nil {
		return validators.Verdict{}, unknownGate(name)
	}
	v, err := cascades.Use(name, with, cascades.Known{Validators: s.o.Gates})
	if err != nil {
		return validators.Verdict{}, orders.NewProblem(http.StatusUnprocessableEntity, "bad_parameters", err.Error())
	}
	verdict, err := s.o.Runner.Judge(ctx, &cascades.Cascade{ID: "gate"}, v, on)
	s.metrics.Judged(name, verdict, err)
	if err != nil {
		return verdict, &orders.NoVerdictError{Err: err}
	}
	return verdict, nil
}

// judgeOwn uses a validator that an offered cascade defines: CASCADE:NAME.
func (s *Server) judgeOwn(ctx context.Context, name string, with map[string]any, on validators.Subject) (validators.Verdict, error) {
	if err := s.orders.Enabled(); err != nil {
		return validators.Verdict{}, err
	}
	if len(with) > 0 {
		return validators.Verdict{}, orders.NewProblem(http.StatusUnprocessableEntity, "bad_parameters",
			"the cascade sets the parameters of "+name+": send no with")
	}
	cascade, own, _ := strings.Cut(name, ":")
	verdict, err := s.orders.Judge(ctx, cascade, own, on)
	none, isNone := errors.AsType[*orders.NoVerdictError](err)
	switch {
	case errors.Is(err, orders.ErrNoCascade), errors.Is(err, orders.ErrNoGate):
		return verdict, unknownGate(name)
	case isNone:
		s.metrics.Judged(name, verdict, none)
	case err == nil:
		s.metrics.Judged(name, verdict, nil)
	}
	return verdict, err
}

func unknownGate(name string) error {
	return orders.NewProblem(http.StatusNotFound, "unknown_gate", fmt.Sprintf("no gate is called %q; GET /v1/gates lists them", name))
}

// noVerdict returns the problem of a gate without a verdict. The status is 503 if the gate may
// give a verdict later.
func noVerdict(name string, err error) error {
	status := http.StatusBadGateway
	var failure *model.Failure
	if errors.As(err, &failure) && failure.Temporary() || errors.Is(err, context.DeadlineExceeded) {
		status = http.StatusServiceUnavailable
	}
	own := name[strings.LastIndexByte(name, ':')+1:]
	reason := strings.TrimPrefix(err.Error(), "validator "+own+": ")
	return orders.NewProblem(status, "no_verdict", "gate "+name+" gave no verdict: "+reason)
}

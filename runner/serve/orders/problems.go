package orders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
)

// A Problem is an answer that is none: RFC 9457's object, with a code that
// stays the same.
type Problem struct {
	Type        string       `json:"type"` // about:blank
	Title       string       `json:"title"`
	Status      int          `json:"status"`
	Code        string       `json:"code"`
	Detail      string       `json:"detail"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"` // of a cascade that is wrong
	Errors      []Place      `json:"errors,omitempty"`      // of a body that is wrong
}

// A Place is one thing that is wrong in a body.
type Place struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// A Diagnostic is one thing that is wrong in a cascade.
type Diagnostic struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error gives code and detail.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// NewProblem is a problem of a status with its code.
func NewProblem(status int, code, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// BadQuery is the problem of a query that cannot be read.
func BadQuery(format string, args ...any) error {
	return NewProblem(http.StatusBadRequest, "bad_query", fmt.Sprintf(format, args...))
}

// NotOffered is the problem where the operator does not offer something.
func NotOffered(what string) error {
	return NewProblem(http.StatusNotImplemented, "not_offered", "this server "+what)
}

// known are the errors that are told as they are.
var known = []struct {
	err    error
	status int
	code   string
}{
	{runner.ErrNoRun, http.StatusNotFound, "no_run"},
	{runner.ErrRunExists, http.StatusConflict, "run_exists"},
	{runner.ErrRunBusy, http.StatusConflict, "run_busy"},
	{runner.ErrExpired, http.StatusConflict, "expired"},
	{errNone, http.StatusNotImplemented, "not_offered"},
	{errOther, http.StatusConflict, "run_exists"},
	{ErrElsewhere, http.StatusConflict, "elsewhere"},
	{errNotWaiting, http.StatusConflict, "not_waiting"},
	{ErrNoCascade, http.StatusUnprocessableEntity, "unknown_cascade"},
	{errNoPhase, http.StatusUnprocessableEntity, "unknown_phase"},
	{errNoModel, http.StatusUnprocessableEntity, "unknown_model"},
	{ErrNotRunning, http.StatusConflict, "not_running_here"},
	{ErrFull, http.StatusTooManyRequests, "full"},
	{ErrClosed, http.StatusServiceUnavailable, "closing"},
	{runner.ErrAway, http.StatusServiceUnavailable, "unavailable"},
}

// of is what is told of an error: of those that are the server's own
// trouble, only that there was one.
func of(err error) *Problem {
	if kept, ok := errors.AsType[*KeptError](err); ok {
		return ofKept(kept.Err)
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if unfit, ok := errors.AsType[UnfitError](err); ok {
		return NewProblem(http.StatusUnprocessableEntity, "bad_answer", unfit.Error())
	}
	if several, ok := errors.AsType[severalError](err); ok {
		return NewProblem(http.StatusConflict, "several_questions", several.Error())
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return NewProblem(k.status, k.code, k.err.Error())
		}
	}
	if input, ok := errors.AsType[cascades.InputErrors](err); ok {
		return wrongInput(input)
	}
	var unready *runner.Error
	if errors.As(err, &unready) && unready.Code == runner.Invalid {
		return NewProblem(http.StatusServiceUnavailable, "not_ready", unready.Message)
	}
	if diagnostics, ok := errors.AsType[cascades.Diagnostics](err); ok {
		return wrongCascade(diagnostics)
	}
	return NewProblem(http.StatusInternalServerError, "internal", "something broke; the server's log says what")
}

// ofKept is the problem of a run that did not go on with its answer.
func ofKept(err error) *Problem {
	if errors.Is(err, ErrFull) || errors.Is(err, ErrClosed) || errors.Is(err, runner.ErrAway) {
		return NewProblem(http.StatusServiceUnavailable, "answered_not_resumed", "the answer is kept, but "+of(err).Detail+": resume the run later")
	}
	if no, ok := errors.AsType[*Problem](err); ok {
		return NewProblem(no.Status, no.Code, "the answer is kept, but: "+no.Detail)
	}
	return of(err)
}

func wrongInput(list cascades.InputErrors) *Problem {
	p := NewProblem(http.StatusUnprocessableEntity, "invalid_input", list.Error())
	for _, e := range list {
		message := e.Message
		if e.Suggestion != "" {
			message += ", did you mean " + strconv.Quote(e.Suggestion) + "?"
		}
		p.Errors = append(p.Errors, Place{Path: "$.input." + e.Name, Message: message})
	}
	return p
}

func wrongCascade(list cascades.Diagnostics) *Problem {
	p := NewProblem(http.StatusUnprocessableEntity, "invalid_cascade", "the cascade has mistakes")
	for _, d := range list {
		p.Diagnostics = append(p.Diagnostics, Diagnostic{d.File, d.Line, d.Column, string(d.Code), d.Message})
	}
	return p
}

// ProblemOf is what is told of an error that a request met, which w hears when to come back
// after; the log gets the rest. That the server has enough to do, or nothing any more,
// is no trouble of its own.
func ProblemOf(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) *Problem {
	p := of(err)
	later := p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests
	level := slog.LevelError
	if later {
		w.Header().Set("Retry-After", "5")
	}
	if later && !errors.Is(err, runner.ErrAway) {
		level = slog.LevelInfo
	}
	if (later || p.Status >= 500) && !errors.Is(err, context.Canceled) {
		log.Log(r.Context(), level, "request", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return p
}

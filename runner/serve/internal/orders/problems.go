package orders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/nextsteps"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// A Problem is an error as an answer in HTTP: the object of RFC 9457, with a code that
// stays the same.
type Problem struct {
	Type        string       `json:"type"` // about:blank
	Title       string       `json:"title"`
	Status      int          `json:"status"`
	Code        string       `json:"code"`
	Detail      string       `json:"detail"`
	Diagnostics []Diagnostic `json:"diagnostics,omitempty"` // mistakes of a cascade
	Errors      []Place      `json:"errors,omitempty"`      // mistakes of a body
}

// A Place is a mistake in a body.
type Place struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// A Diagnostic is a mistake in a cascade.
type Diagnostic struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error returns the code and the detail.
func (p *Problem) Error() string { return p.Code + ": " + p.Detail }

// NewProblem returns a problem with a status and a code.
func NewProblem(status int, code, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// BadQuery returns the problem of an invalid query.
func BadQuery(format string, args ...any) error {
	return NewProblem(http.StatusBadRequest, "bad_query", fmt.Sprintf(format, args...))
}

// NotOffered returns the problem of a feature that the operator does not offer.
func NotOffered(what string) error {
	return NewProblem(http.StatusNotImplemented, "not_offered", "this server "+what)
}

// known are the errors whose texts clients may read.
var known = []struct {
	err    error
	status int
	code   string
}{
	{runner.ErrNoRun, http.StatusNotFound, "no_run"},
	{runner.ErrRunExists, http.StatusConflict, "run_exists"},
	{runner.ErrRunBusy, http.StatusConflict, "run_busy"},
	{runner.ErrExpired, http.StatusConflict, "expired"},
	{nextsteps.ErrElsewhere, http.StatusConflict, "elsewhere"},
	{ErrNoCascade, http.StatusUnprocessableEntity, "unknown_cascade"},
	{ErrNoGate, http.StatusNotFound, "unknown_gate"},
	{ErrNotRunning, http.StatusConflict, "not_running_here"},
	{ErrFull, http.StatusTooManyRequests, "full"},
	{ErrClosed, http.StatusServiceUnavailable, "closing"},
	{runner.ErrAway, http.StatusServiceUnavailable, "unavailable"},
}

// problem returns the problem of an error. It hides errors of the server itself.
func problem(err error) *Problem {
	if answered, ok := errors.AsType[*NotResumedError](err); ok {
		return notResumed(answered.Err)
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return NewProblem(k.status, k.code, k.err.Error())
		}
	}
	if input, ok := errors.AsType[cascades.InputErrors](err); ok {
		return wrongInput(input)
	}
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Code == engine.Invalid {
		return NewProblem(http.StatusServiceUnavailable, "not_ready", e.Message)
	}
	if diagnostics, ok := errors.AsType[syntax.Diagnostics](err); ok {
		return wrongCascade(diagnostics)
	}
	return NewProblem(http.StatusInternalServerError, "internal", "something broke; the server's log says what")
}

// notResumed returns the problem of a run that did not resume with its answer.
func notResumed(err error) *Problem {
	if errors.Is(err, ErrFull) || errors.Is(err, ErrClosed) || errors.Is(err, runner.ErrAway) {
		return NewProblem(http.StatusServiceUnavailable,
			"answered_not_resumed", "the answer is stored, but "+problem(err).Detail+": resume the run later")
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return NewProblem(p.Status, p.Code, "the answer is stored, but: "+p.Detail)
	}
	return problem(err)
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

func wrongCascade(list syntax.Diagnostics) *Problem {
	p := NewProblem(http.StatusUnprocessableEntity, "invalid_cascade", "the cascade has mistakes")
	for _, d := range list {
		p.Diagnostics = append(p.Diagnostics, Diagnostic{d.File, d.Line, d.Column, string(d.Code), d.Message})
	}
	return p
}

// ProblemOf returns the answer to a request that failed. It sets the header Retry-After,
// and fills in the [Note] for the log: the client does not learn the text of an error of
// the server.
func ProblemOf(w http.ResponseWriter, r *http.Request, err error) *Problem {
	p := problem(err)
	later := p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests
	if later {
		w.Header().Set("Retry-After", "5")
	}
	note, noted := r.Context().Value(noteKey{}).(*Note)
	if !noted {
		return p
	}
	note.Code = p.Code
	if (later || p.Status >= 500) && !errors.Is(err, context.Canceled) {
		note.Err = err
		if !later || errors.Is(err, runner.ErrAway) {
			note.Level = slog.LevelError
		}
	}
	return p
}

// A Note is the part of a request's log line that the error of the request adds.
type Note struct {
	Code  string // of the problem; "" if the request met no error
	Err   error  // of the server; nil if the client is to blame
	Level slog.Level
}

type noteKey struct{}

// WithNote returns a request for which [ProblemOf] fills in the note.
func WithNote(r *http.Request, n *Note) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), noteKey{}, n))
}

package serve

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve/orders"
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

func problem(status int, code, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
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
	{orders.ErrNoCascade, http.StatusUnprocessableEntity, "unknown_cascade"},
	{orders.ErrNoPhase, http.StatusUnprocessableEntity, "unknown_phase"},
	{orders.ErrNoModel, http.StatusUnprocessableEntity, "unknown_model"},
	{orders.ErrNotRunning, http.StatusConflict, "not_running_here"},
	{orders.ErrFull, http.StatusTooManyRequests, "full"},
	{orders.ErrClosed, http.StatusServiceUnavailable, "closing"},
}

// asProblem is what is told of an error: of those that are the server's own
// trouble, only that there was one.
func asProblem(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	for _, k := range known {
		if errors.Is(err, k.err) {
			return problem(k.status, k.code, k.err.Error())
		}
	}
	if input, ok := errors.AsType[cascades.InputErrors](err); ok {
		return wrongInput(input)
	}
	var unready *runner.Error
	if errors.As(err, &unready) && unready.Code == runner.Invalid {
		return problem(http.StatusServiceUnavailable, "not_ready", unready.Message)
	}
	if diagnostics, ok := errors.AsType[cascades.Diagnostics](err); ok {
		return wrongCascade(diagnostics)
	}
	return problem(http.StatusInternalServerError, "internal", "something broke; the server's log says what")
}

func wrongInput(list cascades.InputErrors) *Problem {
	p := problem(http.StatusUnprocessableEntity, "invalid_input", list.Error())
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
	p := problem(http.StatusUnprocessableEntity, "invalid_cascade", "the cascade has mistakes")
	for _, d := range list {
		p.Diagnostics = append(p.Diagnostics, Diagnostic{d.File, d.Line, d.Column, string(d.Code), d.Message})
	}
	return p
}

// told is what is told of an error; the log gets the rest. That the server has
// enough to do, or nothing any more, is no trouble of its own.
func (s *Server) told(w http.ResponseWriter, r *http.Request, err error) *Problem {
	p := asProblem(err)
	later := p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests
	level := slog.LevelError
	if later {
		w.Header().Set("Retry-After", "5")
		level = slog.LevelInfo
	}
	if (later || p.Status >= 500) && !errors.Is(err, context.Canceled) {
		s.o.Log.Log(r.Context(), level, "request", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return p
}

// refuse answers with an error: a problem for the API, a page for people.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := s.told(w, r, err)
	if !isAPI(r) {
		s.errorPage(w, r, p)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	json.NewEncoder(w).Encode(p)
}

// answer writes a JSON body.
func answer(w http.ResponseWriter, status int, body any) error {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(body) // the reader may be gone: nobody is left to tell
	return nil
}

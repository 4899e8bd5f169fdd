// Package endings returns the next step after a run, for each way in which a run
// can end or pause.
package endings

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Step is what a person may do next about a run. A page that shows every attempt
// needs Do only.
type Step struct {
	Look string // the command that shows more; "" for none
	Do   string // the command that continues the run; "" for none
}

// Lines returns the parts of the step that there are.
func (s Step) Lines() []string {
	return slices.DeleteFunc([]string{s.Look, s.Do}, func(line string) bool { return line == "" })
}

// The kinds of endings that no code of a run's error names.
const (
	edit      = "waiting: edit"
	expired   = "waiting: expired"
	answered  = "waiting: answered"
	elsewhere = "waiting: elsewhere"
	guest     = "elsewhere"
	stopped   = "cancelled: stopped"
)

// steps holds a row for each way a run can end or pause. RUN is the run's name.
var steps = map[string]Step{
	engine.Succeeded: {},
	engine.Blocked: {
		"capstan show RUN --attempts shows the text and why it was rejected",
		"change the cascade, then capstan resume RUN --with-changes",
	},
	engine.Exhausted: {
		"capstan show RUN --attempts shows each attempt and why it was rejected",
		"change the cascade, then capstan resume RUN --with-changes",
	},
	engine.Failed:     {"", "capstan resume RUN continues from the last finished step"},
	engine.Cancelled:  {"", "capstan resume RUN continues from the last finished step"},
	engine.OverBudget: {"", "raise the limit, then capstan resume RUN --with-changes"},
	engine.Invalid:    {"", "correct the cascade, then capstan resume RUN --with-changes, or the input: capstan resume RUN --input NAME=VALUE"},
	engine.TakenOver:  {"capstan show RUN shows how the other process continues it", ""},
	engine.Waiting:    {"", "capstan answer RUN VALUE, then capstan resume RUN"},
	edit:              {"", "capstan answer RUN --show > text.md, edit text.md, capstan answer RUN --file text.md, then capstan resume RUN"},
	expired:           {"", "capstan resume RUN continues without an answer"},
	answered:          {"", "capstan resume RUN continues with the answer"},
	elsewhere:         {"", "capstan-temporal answer RUN VALUE"},
	stopped:           {"", "capstan resume RUN --from PHASE makes a new run from that phase"},
	guest:             {"capstan show RUN --attempts shows every attempt", ""},
	journal.Running:   {"capstan events RUN --follow shows its progress", ""},
}

// Next returns the step after a run with a result.
func Next(r engine.Result) Step {
	return step(r.RunID, code(r))
}

// After returns the step after a stored run. It takes the run's question and owner
// into account, which a result does not name.
func After(run *journal.Run, r engine.Result) Step {
	kind := code(r)
	switch p := run.Pending; {
	case run.Guest && kind == engine.Waiting && p != nil:
		kind = elsewhere
	case run.Guest && kind != engine.Succeeded:
		kind = guest
	case kind != engine.Waiting:
	case p == nil:
		kind = answered
	case p.Expired:
		kind = expired
	case p.Question.Type == cascades.Edit:
		kind = edit
	}
	return step(run.RunID, kind)
}

func step(run, kind string) Step {
	s := steps[kind]
	return Step{strings.ReplaceAll(s.Look, "RUN", run), strings.ReplaceAll(s.Do, "RUN", run)}
}

// code is the row of a result: the code of its error, or its status without one.
func code(r engine.Result) string {
	switch {
	case slices.ContainsFunc(r.Answers, func(a event.Answer) bool { return engine.Stops(a.Path, engine.Answer{Value: a.Value}) }):
		return stopped
	case r.Error != nil:
		return r.Error.Code
	}
	return r.Status
}

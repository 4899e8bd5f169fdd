// Package nextsteps returns the next step for a person after a run, for each
// way in which a run can end or pause:
//
//	step := nextsteps.Next(result)
//	fmt.Println(step.Do) // capstan resume …
//
// Begin with the table steps.
package nextsteps

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Step is a person's next action for a run. A page that shows every attempt needs
// only Do.
type Step struct {
	Look    string   // the command that shows more, or ""
	Answers []string // the commands that answer the open questions, if there are several
	Do      string   // the command that continues the run, or ""
}

// Lines returns the parts of the step that are not empty.
func (s Step) Lines() []string {
	lines := append(append([]string{s.Look}, s.Answers...), s.Do)
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// Kinds of endings without an error code.
const (
	edit      = "waiting: edit"
	expired   = "waiting: expired"
	answered  = "waiting: answered"
	several   = "waiting: several"
	elsewhere = "waiting: elsewhere"
	guest     = "elsewhere"
	hook      = "hook"
	stopped   = "cancelled: stopped"
)

// steps has a row for each way in which a run can end or pause. RUN stands for
// the run's name.
var steps = map[string]Step{
	engine.Succeeded: {},
	engine.Blocked: {
		Look: "capstan show RUN --attempts shows the text and why it was rejected",
		Do:   "change the cascade, then capstan resume RUN --with-changes",
	},
	engine.Exhausted: {
		Look: "capstan show RUN --attempts shows each attempt and why it was rejected",
		Do:   "change the cascade, then capstan resume RUN --with-changes",
	},
	engine.Failed:     {Do: "capstan resume RUN continues from the last finished step"},
	engine.Cancelled:  {Do: "capstan resume RUN continues from the last finished step"},
	engine.OverBudget: {Do: "raise the limit, then capstan resume RUN --with-changes"},
	engine.Invalid:    {Do: "correct the cascade, then capstan resume RUN --with-changes, or the input: capstan resume RUN --input NAME=VALUE"},
	engine.TakenOver:  {Look: "capstan show RUN shows how the other process continues it"},
	engine.Waiting:    {Look: "capstan answer RUN shows the question with its text", Do: "capstan answer RUN VALUE, then capstan resume RUN"},
	edit:              {Look: "capstan answer RUN shows the question with its text", Do: "capstan answer RUN --show > text.md, edit text.md, capstan answer RUN --file text.md, then capstan resume RUN"},
	expired:           {Do: "capstan resume RUN continues without an answer"},
	answered:          {Do: "capstan resume RUN continues with the answer"},
	several:           {Look: "capstan answer RUN shows the questions with their texts", Do: "capstan resume RUN continues after the answers"},
	elsewhere:         {Do: "capstan-temporal answer RUN VALUE"},
	stopped:           {Do: "capstan resume RUN --from PHASE makes a new run from that phase"},
	hook:              {Look: "capstan show RUN --attempts shows the text and why it was rejected", Do: "the next event of the agent is checked with the present cascade"},
	guest:             {Look: "capstan show RUN --attempts shows every attempt"},
	journal.Running:   {Look: "capstan events RUN --follow shows its progress"},
}

// Next returns the step after a run with a result.
func Next(r engine.Result) Step {
	return step(r.RunID, code(r))
}

// After returns the step after a stored run. It also considers the run's
// questions and owner, which a result does not contain.
func After(run *journal.Run, r engine.Result) Step {
	open := slices.DeleteFunc(slices.Clone(run.Pending), func(p journal.Pending) bool { return p.Expired })
	kind := code(r)
	switch {
	case run.Start.Settings["hook_event"] != "" && kind != engine.Succeeded: // a hook of an agent, which does not wait for a resumed run
		kind = hook
	case run.External && kind == engine.Waiting && len(open) > 0:
		kind = elsewhere
	case run.External && kind != engine.Succeeded:
		kind = guest
	case kind != engine.Waiting:
	case len(run.Pending) == 0:
		kind = answered
	case len(open) == 0:
		kind = expired
	case len(open) > 1:
		kind = several
	case open[0].Question.Type == cascades.Edit:
		kind = edit
	}
	s := step(run.RunID, kind)
	if run.Only != "" {
		s.Do = strings.Replace(s.Do, "capstan resume "+run.RunID+" --with-changes", "capstan run --only "+run.Only+" --from-run "+run.Parent, 1)
	}
	switch {
	case len(open) < 2:
	case kind == several:
		for _, p := range open {
			s.Answers = append(s.Answers, runner.AnswerCommand(run.RunID, p.Path))
		}
	case kind == elsewhere:
		s.Do = ""
		for _, p := range open {
			s.Answers = append(s.Answers, strings.Replace(runner.AnswerCommand(run.RunID, p.Path), "capstan", "capstan-temporal", 1))
		}
	}
	return s
}

func step(run, kind string) Step {
	s := steps[kind]
	return Step{Look: strings.ReplaceAll(s.Look, "RUN", run), Do: strings.ReplaceAll(s.Do, "RUN", run)}
}

// code returns the row of a result: the code of its error, or else its status.
func code(r engine.Result) string {
	switch {
	case slices.ContainsFunc(r.Answers, func(a event.Answer) bool { return engine.Stops(a.Path, engine.Answer{Value: a.Value}) }):
		return stopped
	case r.Error != nil:
		return r.Error.Code
	}
	return r.Status
}

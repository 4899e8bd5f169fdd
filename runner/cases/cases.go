// Package cases makes tests of runs. [Freeze] writes a recorded run as a directory
// of readable files that belongs in version control; [Load] reads one back, and
// [Case.Run] runs its cascade again with every answer taken from the files: no
// model, tool, program, server or person is asked. What is pure (templates,
// expressions, schemas, built-in validators) is computed anew. A request that is not
// the frozen one, a verdict, a route or an output that has become another is a
// [Difference].
//
// A run comes in as what it began with and what its effects came to. A host
// answers from these (replay.go), branches.go has its branches take turns, and
// compare.go holds what was asked for and what came of it against what there was.
// To freeze is to replay once and to write only what comes to the same; write.go and
// load.go know the files, and [Case.Update] rewrites those whose difference is meant.
//
// Two decisions shaped it. Effects are found by their path, not by their order: who
// adds a check to one phase is told of that phase alone. And what chance decided
// (which branch began first, or was ahead of another that ended it; in which order an
// evaluator saw the candidates) is guessed until the run comes out as it was, and the
// guess is kept with the case. A run of which no guess does is refused.
//
// A case has no time, no machine and no run in it: the same run gives the same bytes.
// Begin with freeze.go.
package cases

import (
	"encoding/json"
	"slices"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// formatVersion is the format of the directories that this package writes, and the
// only one that it reads.
const formatVersion = 1

// A Case is a frozen run. It is not changed by running it, and any number of
// goroutines may.
type Case struct {
	Name string // of the directory
	Dir  string

	cascade string            // the file, relative to Dir
	source  string            // the folder of the file that ran, relative to Dir; "" where no program judged
	files   map[string]string // names that the cascade asks for → files, relative to Dir
	model   string
	seed    string // what the order of an evaluator's candidates hangs on
	order   int    // in which branches begin that begin together
	input   map[string]any
	effects []*effect // in the order in which they are asked for
	want    expectation
}

// An expectation is what a run is wanted to come to.
type expectation struct {
	status   string
	err      *event.Error
	calls    int
	phases   []engine.PhaseRecord
	outputs  map[string]any
	degraded []engine.Degraded
	verdicts []event.Verdict // in the order in which they were told
}

// expected is what a result is expected to be when the run is done again.
func expected(r engine.Result, verdicts []event.Verdict) expectation {
	return expectation{
		status: r.Status, err: r.Error, calls: r.Usage.Calls, phases: r.Phases,
		outputs: r.Outputs, degraded: r.Degraded, verdicts: verdicts,
	}
}

// A kind says what an effect is.
type kind string

const (
	callKind     kind = "call"
	toolKind     kind = "tool"
	findingKind  kind = "validator"
	questionKind kind = "ask"
	timeoutKind  kind = "timeout"
)

// An effect is what was asked of the world at a path and what came of it. Of
// what is asked, the field of its kind is set; of what came, none where the
// run ended or was cut short before it came.
type effect struct {
	at   event.Path
	kind kind

	request  *request
	call     *tool.Call
	check    *judged
	question *engine.Question

	response *model.Response
	result   *tool.Result
	finding  *engine.Finding
	answer   *engine.Answer
	timedOut bool
}

// evaluator is the role of one who picks among soundings.
const evaluator = "evaluator"

// A judged is what a validator was given.
type judged struct {
	name string
	text string // the digest of it

	program string // the digest of a program's arguments, settings and files; "" of other validators
}

// A request is a model's. Of a conversation that goes on it has what is new.
type request struct {
	model    string
	asks     string // "" for a phase, "judge NAME" or "evaluator"
	base     event.Path
	messages []model.Message // behind those of base and its reply
	tools    []model.Tool
	schema   json.RawMessage
	params   string // JSON; "" for none
}

// answered tells whether anything came of the effect.
func (e *effect) answered() bool {
	return e.response != nil || e.result != nil || e.finding != nil || e.answer != nil || e.timedOut
}

// asked tells whether it is known what was asked.
func (e *effect) asked() bool {
	return e.request != nil || e.call != nil || e.check != nil || e.question != nil
}

// answeredBy takes over what came of the same effect before.
func (e *effect) answeredBy(before *effect) {
	if before != nil {
		e.response, e.result, e.finding, e.answer = before.response, before.result, before.finding, before.answer
	}
}

// byPath finds effects by their addresses.
func byPath(list []*effect) map[event.Path]*effect {
	out := make(map[event.Path]*effect, len(list))
	for _, e := range list {
		out[e.at] = e
	}
	return out
}

// whole gives all messages of a request.
func whole(e *effect, all map[event.Path]*effect) []model.Message {
	var parts [][]model.Message
	for e != nil && e.request != nil {
		parts = append(parts, e.request.messages)
		if e = all[e.request.base]; e != nil && e.response != nil {
			parts = append(parts, []model.Message{{Role: model.Assistant, Content: e.response.Text, ToolCalls: e.response.ToolCalls}})
		}
	}
	slices.Reverse(parts)
	return slices.Concat(parts...)
}

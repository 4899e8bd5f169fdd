// Package testcases records runs as test cases and replays them. [Record] writes a run as a folder
// of readable files for version control. [Load] reads a folder, and [Case.Run] runs its cascade
// with every answer from the files. No model, tool, program, server or person is called. Templates,
// expressions, schemas and built-in validators are evaluated again. A changed request, verdict,
// route or output is a [Difference].
//
// Record replays the run once (replay.go, branches.go) and writes it only if the replay has the
// same result (compare.go). The files are defined in page.go, written in write.go, and read in
// load.go and entries.go, and have their YAML from yaml.go. [Case.Update] rewrites the expectations.
//
// Effects are found by their path. Therefore a new check in one phase changes only that phase.
// Record tries random choices until the replay has the same result, and stores them as two numbers.
// Examples are the order of parallel branches and the order of candidates.
//
// A test case contains no time, no machine and no name of a run, so the same run gives the same
// bytes. Begin with [Record].
package testcases

import (
	"encoding/json"
	"slices"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// formatVersion is the only version of the files that this package writes and reads.
const formatVersion = 1

// A Case is a recorded run. Any number of goroutines may run it.
type Case struct {
	Name string
	Dir  string

	page    casePage
	input   map[string]any
	effects []*effect // in the order of their requests
}

// A kind is the kind of an effect.
type kind string

const (
	callKind     kind = "call"
	toolKind     kind = "tool"
	findingKind  kind = "validator"
	questionKind kind = "ask"
	timeoutKind  kind = "timeout"
)

// An effect is a request and its answer. One field of each group is set. An effect without an
// answer was interrupted.
type effect struct {
	at   event.Path
	kind kind

	request  *request
	call     *tool.Call
	check    *validation
	question *engine.Question

	response *model.Response
	result   *tool.Result
	finding  *engine.Finding
	answer   *engine.Answer
	timedOut bool
}

// evaluator is the role of the model that selects among soundings.
const evaluator = "evaluator"

// A validation is the input of a validator.
type validation struct {
	name   string
	digest string // of the text

	program string // the digest of a program's arguments, settings and files; "" for other validators
}

// A request is a request to a model. In a continued conversation, it contains the new messages.
type request struct {
	model    string
	role     string // "" for a phase, "judge NAME" or "evaluator"
	base     event.Path
	messages []model.Message // after those of base and its reply
	tools    []model.Tool
	schema   json.RawMessage
	params   string // JSON; "" for none
}

// answered reports whether the effect has an answer.
func (e *effect) answered() bool {
	return e.response != nil || e.result != nil || e.finding != nil || e.answer != nil || e.timedOut
}

// asked reports whether the request is known.
func (e *effect) asked() bool {
	return e.request != nil || e.call != nil || e.check != nil || e.question != nil
}

// answeredBy copies the answer of an earlier effect.
func (e *effect) answeredBy(before *effect) {
	if before != nil {
		e.response, e.result, e.finding, e.answer = before.response, before.result, before.finding, before.answer
	}
}

// byPath indexes effects by their paths.
func byPath(list []*effect) map[event.Path]*effect {
	out := make(map[event.Path]*effect, len(list))
	for _, e := range list {
		out[e.at] = e
	}
	return out
}

// allMessages returns all messages of a request.
func allMessages(e *effect, all map[event.Path]*effect) []model.Message {
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

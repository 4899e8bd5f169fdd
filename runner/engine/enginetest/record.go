// Package enginetest is the suite for hosts of the engine, shipped or yours: [Run]
// and [RunKept] run the shipped transcripts on one, and break them off at every
// effect, to see that they end as if nothing had been.
//
// A [Story] (story.go) is a cascade, what models and people say, and the transcript
// that comes of it, a line for each event; testdata has them, one for each sentence
// of the language, and random.go writes others by chance. A story is run on a host
// and its events become lines (transcript.go), which are held against those that it
// wants, and against what is promised of the events of any run (promises.go): that
// what begins ends, that nothing is released on a no, that the result is what was
// told.
//
// With it come hosts to try other things on: one that records the effects of a run
// and one that replays them without a model, tool or validator (record.go,
// replay.go); one whose effects are made by a worker that has only the cascade
// (elsewhere.go); one that makes the k-th effect fail (fault.go). Branches are run in
// their order, for a transcript to be the same each time.
//
// Nothing here is part of the program. Begin with suite.go; -update writes the
// transcripts anew.
package enginetest

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Journal is what the effects of a run came to, by their paths.
type Journal struct {
	mu      sync.Mutex
	effects map[event.Path]json.RawMessage
	twice   []event.Path
}

// NewJournal makes an empty journal.
func NewJournal() *Journal { return &Journal{effects: map[event.Path]json.RawMessage{}} }

// Len is the number of effects.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.effects)
}

// Effects gives a copy of what was recorded.
func (j *Journal) Effects() map[event.Path]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make(map[event.Path]string, len(j.effects))
	for at, text := range j.effects {
		out[at] = string(text)
	}
	return out
}

// Twice lists the paths that two effects of one run had: there must be none.
func (j *Journal) Twice() []event.Path { return j.twice }

func (j *Journal) put(at event.Path, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("effect %s does not encode: %v", at, err))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, there := j.effects[at]; there {
		j.twice = append(j.twice, at)
	}
	j.effects[at] = text
}

func (j *Journal) get(at event.Path, v any) bool {
	j.mu.Lock()
	text, ok := j.effects[at]
	j.mu.Unlock()
	if !ok {
		return false
	}
	if err := schema.Unmarshal(text, v); err != nil {
		panic(fmt.Sprintf("effect %s does not decode: %v", at, err))
	}
	return true
}

// Recorder is a host that lets another one make the effects and notes them.
// What is in the journal already is not made again, so that a recorder over a
// part of a run's journal goes on from there.
type Recorder struct {
	engine.Host
	Journal *Journal
}

func effect[T any](r *Recorder, at event.Path, make func() (T, error)) (T, error) {
	var v T
	if r.Journal.get(at, &v) {
		return v, nil
	}
	v, err := make()
	if err == nil {
		r.Journal.put(at, v)
	}
	return v, err
}

// Model records a model's answer.
func (r *Recorder) Model(at event.Path, req model.Request) (model.Response, error) {
	return effect(r, at, func() (model.Response, error) { return r.Host.Model(at, req) })
}

// Tool records a tool's result.
func (r *Recorder) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	return effect(r, at, func() (tool.Result, error) { return r.Host.Tool(at, job) })
}

// Validate records a finding.
func (r *Recorder) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	return effect(r, at, func() (engine.Finding, error) { return r.Host.Validate(at, v) })
}

// Ask records a person's answer.
func (r *Recorder) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	return effect(r, at, func() (engine.Answer, error) { return r.Host.Ask(at, q) })
}

// Each records the branches too.
func (r *Recorder) Each(n, limit int, body func(engine.Host, int) error) error {
	return r.Host.Each(n, limit, func(h engine.Host, i int) error { return body(r.over(h), i) })
}

// Within records the body too.
func (r *Recorder) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return r.Host.Within(at, d, func(h engine.Host) error { return body(r.over(h)) })
}

func (r *Recorder) over(h engine.Host) *Recorder { return &Recorder{h, r.Journal} }

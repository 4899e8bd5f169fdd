package storytest

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Journal stores the results of a run's effects by path.
type Journal struct {
	mu      sync.Mutex
	effects map[event.Path]json.RawMessage
	twice   []event.Path
}

// NewJournal returns an empty journal.
func NewJournal() *Journal { return &Journal{effects: map[event.Path]json.RawMessage{}} }

// Len returns the number of effects.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.effects)
}

// Effects returns a copy of the recorded effects.
func (j *Journal) Effects() map[event.Path]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := make(map[event.Path]string, len(j.effects))
	for at, text := range j.effects {
		out[at] = string(text)
	}
	return out
}

// Duplicates returns the paths that two effects of one run had, which is an
// error.
func (j *Journal) Duplicates() []event.Path { return j.twice }

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

// Recorder is a host that records the effects of another host. Effects in the
// journal are not made again. So a recorder with a part of a run's journal
// continues from there.
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

// Model records a model's reply.
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

package enginetest

import (
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Replayer gives a host whose effects all come from the journal: one that is
// not there is an error. Branches, time and events are the inner host's, which
// makes no effect.
func Replayer(inner engine.Host, j *Journal) engine.Host {
	return &Recorder{Host: dead{inner}, Journal: j}
}

// dead is a host that can make no effect.
type dead struct{ engine.Host }

func unrecorded(at event.Path) error { return fmt.Errorf("effect %s was not recorded", at) }

func (dead) Model(at event.Path, _ model.Request) (model.Response, error) {
	return model.Response{}, unrecorded(at)
}

func (dead) Tool(at event.Path, _ engine.Job) (tool.Result, error) {
	return tool.Result{}, unrecorded(at)
}

func (dead) Validate(at event.Path, _ engine.Validation) (engine.Finding, error) {
	return engine.Finding{}, unrecorded(at)
}

func (dead) Ask(at event.Path, _ engine.Question) (engine.Answer, error) {
	return engine.Answer{}, unrecorded(at)
}

// Branches of a dead host make no effect either: the recorder around it wraps
// what Each and Within hand out, so they must hand out dead hosts.
func (d dead) Each(n, limit int, body func(engine.Host, int) error) error {
	return d.Host.Each(n, limit, func(h engine.Host, i int) error { return body(dead{h}, i) })
}

func (d dead) Within(at event.Path, limit time.Duration, body func(engine.Host) error) error {
	return d.Host.Within(at, limit, func(h engine.Host) error { return body(dead{h}) })
}

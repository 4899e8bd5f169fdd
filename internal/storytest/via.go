package storytest

import (
	"fmt"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// via is a host that passes every effect of another host, also those of its
// branches, through a function.
type via struct {
	engine.Host
	way func(at event.Path, pure bool, effect func() error) error
}

func (v via) Model(at event.Path, req model.Request) (r model.Response, err error) {
	err = v.way(at, false, func() (err error) { r, err = v.Host.Model(at, req); return err })
	return r, err
}

func (v via) Tool(at event.Path, job engine.Job) (r tool.Result, err error) {
	err = v.way(at, false, func() (err error) { r, err = v.Host.Tool(at, job); return err })
	return r, err
}

func (v via) Validate(at event.Path, check engine.Validation) (f engine.Finding, err error) {
	err = v.way(at, check.Pure, func() (err error) { f, err = v.Host.Validate(at, check); return err })
	return f, err
}

func (v via) Ask(at event.Path, q engine.Question) (a engine.Answer, err error) {
	if q.Path != at {
		return a, fmt.Errorf("the question at %s has the path %q", at, q.Path)
	}
	err = v.way(at, false, func() (err error) { a, err = v.Host.Ask(at, q); return err })
	return a, err
}

func (v via) Each(n, limit int, body func(engine.Host, int) error) error {
	return v.Host.Each(n, limit, func(h engine.Host, i int) error { return body(via{h, v.way}, i) })
}

func (v via) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return v.Host.Within(at, d, func(h engine.Host) error { return body(via{h, v.way}) })
}

package enginetest

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// ErrFault is how an effect ends that a [Fault] makes fail: the process is
// gone, as far as the run is concerned.
var ErrFault = errors.New("the host is gone")

// A Fault is a host whose k-th effect (from 1), and every one after it, ends in
// [ErrFault] without being made.
type Fault struct {
	engine.Host
	K     int64
	count *atomic.Int64
}

// NewFault makes the k-th effect of inner fail.
func NewFault(inner engine.Host, k int64) *Fault { return &Fault{inner, k, new(atomic.Int64)} }

func (f *Fault) gone() bool { return f.count.Add(1) >= f.K }

// Model fails or asks the inner host.
func (f *Fault) Model(at event.Path, req model.Request) (model.Response, error) {
	if f.gone() {
		return model.Response{}, ErrFault
	}
	return f.Host.Model(at, req)
}

// Tool fails or asks the inner host.
func (f *Fault) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	if f.gone() {
		return tool.Result{}, ErrFault
	}
	return f.Host.Tool(at, job)
}

// Validate fails or asks the inner host.
func (f *Fault) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	if f.gone() {
		return engine.Finding{}, ErrFault
	}
	return f.Host.Validate(at, v)
}

// Ask fails or asks the inner host.
func (f *Fault) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	if f.gone() {
		return engine.Answer{}, ErrFault
	}
	return f.Host.Ask(at, q)
}

// Each counts the effects of all branches together.
func (f *Fault) Each(n, limit int, body func(engine.Host, int) error) error {
	return f.Host.Each(n, limit, func(h engine.Host, i int) error { return body(&Fault{h, f.K, f.count}, i) })
}

// Within counts the body's effects too.
func (f *Fault) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return f.Host.Within(at, d, func(h engine.Host) error { return body(&Fault{h, f.K, f.count}) })
}

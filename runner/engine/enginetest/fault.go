package enginetest

import (
	"errors"
	"sync/atomic"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
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

// NewFault makes the k-th effect of inner fail, those of all its branches counted
// together.
func NewFault(inner engine.Host, k int64) *Fault {
	f := &Fault{K: k, count: new(atomic.Int64)}
	f.Host = via{inner, func(_ event.Path, _ bool, effect func() error) error {
		if f.count.Add(1) >= f.K {
			return ErrFault
		}
		return effect()
	}}
	return f
}

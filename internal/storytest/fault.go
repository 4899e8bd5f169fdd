package storytest

import (
	"errors"
	"sync/atomic"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// ErrFault is the error of an effect that a [Fault] makes fail, as if the
// process had ended.
var ErrFault = errors.New("the host is gone")

// A Fault is a host that fails from the K-th effect on, counted from 1. The failed
// effects are not made.
type Fault struct {
	engine.Host
	K     int64
	count *atomic.Int64
}

// NewFault returns a host that fails at the k-th effect of inner, counted over
// all branches.
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

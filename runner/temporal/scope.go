package temporal

import (
	"errors"

	"go.temporal.io/sdk/workflow"
)

// A scope is a cancellable context with the reason of its cancellation, which a
// workflow's context lacks.
type scope struct {
	ctx    workflow.Context
	end    workflow.CancelFunc
	parent *scope
	reason error
	over   *bool // cancelled by end
}

var errCancelled = errors.New("the workflow was cancelled")

// inner returns a scope inside this one.
func (s *scope) inner() *scope {
	ctx, end := workflow.WithCancel(s.ctx)
	return &scope{ctx: ctx, end: end, parent: s, over: new(bool)}
}

// on returns the scope for a coroutine.
func (s *scope) on(ctx workflow.Context) *scope {
	return &scope{ctx: ctx, parent: s}
}

// cancel ends the scope. The first reason is final.
func (s *scope) cancel(reason error) {
	if *s.over {
		return
	}
	*s.over = true
	if s.ctx.Err() == nil {
		s.reason = reason
	}
	s.end()
}

// Stopped returns the reason why the scope is over, or nil.
func (s *scope) Stopped() error {
	if s.ctx.Err() == nil {
		return nil
	}
	for at := s; at != nil; at = at.parent {
		if at.reason != nil {
			return at.reason
		}
	}
	return errCancelled
}

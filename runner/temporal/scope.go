package temporal

import (
	"errors"

	"go.temporal.io/sdk/workflow"
)

// A scope is a context that can be cancelled, with why it was: a workflow's
// context does not say.
type scope struct {
	ctx    workflow.Context
	end    workflow.CancelFunc
	parent *scope
	why    error
	over   *bool // cancelled by end
}

var errCancelled = errors.New("the workflow was cancelled")

// inner makes a scope within this one.
func (s *scope) inner() *scope {
	ctx, end := workflow.WithCancel(s.ctx)
	return &scope{ctx: ctx, end: end, parent: s, over: new(bool)}
}

// on is the scope on a coroutine of its own.
func (s *scope) on(ctx workflow.Context) *scope {
	return &scope{ctx: ctx, parent: s}
}

// cancel ends the scope; the first reason stands.
func (s *scope) cancel(why error) {
	if *s.over {
		return
	}
	*s.over = true
	if s.ctx.Err() == nil {
		s.why = why
	}
	s.end()
}

// Stopped says why the scope is over, nil while it is not.
func (s *scope) Stopped() error {
	if s.ctx.Err() == nil {
		return nil
	}
	for at := s; at != nil; at = at.parent {
		if at.why != nil {
			return at.why
		}
	}
	return errCancelled
}

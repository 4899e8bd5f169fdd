package query

import (
	"database/sql/driver"
	"sync"

	"github.com/seed61713e19/capstan/runner/journal/statements"
)

// An ear takes what a statement gives for as long as somebody listens: one that
// does not stop in time must not write what was handed on.
type ear struct {
	mu     sync.Mutex
	closed bool
	to     statements.Statement
}

func (e *ear) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// statement is the statement as it is run.
func (e *ear) statement() statements.Statement {
	s := e.to
	s.Columns = func(names []string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !e.closed {
			e.to.Columns(names)
		}
	}
	s.Row = func(values []driver.Value) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return !e.closed && e.to.Row(values)
	}
	return s
}

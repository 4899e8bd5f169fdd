package query

import (
	"database/sql/driver"
	"sync"

	"github.com/seed61713e19/capstan/internal/databases"
)

// A relay forwards the rows of a statement until it is closed. A statement that
// continues after its timeout must not change the result.
type relay struct {
	mu     sync.Mutex
	closed bool
	to     databases.Statement
}

func (e *relay) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// statement returns the statement with the relay as the receiver of rows.
func (e *relay) statement() databases.Statement {
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

// Package patterns compiles regular expressions at their first use. A process
// that prints its version uses two or three of a hundred, and compiling all of
// them would take most of its time. TestPatterns in package runner compiles
// each pattern, so that a test finds a broken pattern.
package patterns

import (
	"regexp"
	"sync"
)

// Lazy returns a pattern in Go's syntax that is compiled once, at its first use.
// An invalid pattern panics then. It is safe for concurrent use.
//
//go:noinline
func Lazy(expr string) func() *regexp.Regexp {
	return (&lazy{expr: expr}).compiled
}

// lazy is small, because a process has 150 lazy patterns and compiles few.
type lazy struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func (l *lazy) compiled() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.expr) })
	return l.re
}

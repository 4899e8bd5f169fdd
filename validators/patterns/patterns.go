// Package patterns is how this module keeps regular expressions: as text until
// somebody asks. A process that shows its version or reads one file uses two or
// three of a hundred, and compiling them all is most of what such a command would
// do. runner/floors_test.go compiles each of them, so that a broken one is found
// before its first use.
package patterns

import (
	"regexp"
	"sync"
)

// Lazy is a pattern in Go's syntax that is compiled when it is first asked for,
// once, and panics then if it is none. It is safe for concurrent use.
//
//go:noinline
func Lazy(expr string) func() *regexp.Regexp {
	return (&lazy{expr: expr}).compiled
}

// Sought is [Lazy] for a pattern that hardly any text matches: what must stand in
// those that do is looked for first.
func Sought(expr string) func() Pattern {
	return sync.OnceValue(func() Pattern {
		p, err := Compile(expr)
		if err != nil {
			panic(err)
		}
		return p
	})
}

// A lazy pattern is little more than its text: there are 150 in a process that may
// ask for none.
type lazy struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

func (l *lazy) compiled() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.expr) })
	return l.re
}

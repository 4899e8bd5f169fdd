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
func Lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// Package reader reads the values of a cascade file: mappings with declared keys, texts,
// numbers and lists. It reports values that it cannot read. Its advice covers the keys and
// words of Windlass. The package does not interpret the keys.
package reader

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// A Reader reads the values of a file, and reports the values that it cannot read.
type Reader struct {
	*findings.Report
	Nodes   int                              // number of values that were read, including those of aliases
	Ignored []*yaml.Node                     // keys of other programs that have no effect
	Observe func(o *Object, key string)      // called for each key that is read; may be nil
	Params  func(name string) map[string]any // returns the parameters of a validator; may be nil

	depth int
}

// New returns a reader of a file.
func New(file *syntax.File) *Reader { return &Reader{Report: &findings.Report{File: file}} }

// Continue returns a reader of another file that shares the limits of r. After the new reader
// has read the file, call [Reader.Merge].
func (r *Reader) Continue(file *syntax.File) *Reader {
	next := New(file)
	next.Nodes, next.Closed, next.Compared, next.Params = r.Nodes, r.Closed, r.Compared, r.Params
	return next
}

// Merge adds the counts of a reader that [Reader.Continue] has returned. It does not add the
// diagnostics.
func (r *Reader) Merge(next *Reader) {
	r.Nodes, r.Closed, r.Compared = next.Nodes, next.Closed, next.Compared
}

// Tree returns the value of the file. It reports a mistake in the text, a value that is too
// deep, and a value that contains itself; it then returns nil.
func (r *Reader) Tree() *yaml.Node {
	root, mistake := r.File.Tree()
	switch {
	case mistake != nil && len(syntax.Unmarked(r.File.Source)) > syntax.MaxSource:
		r.Error(nil, codes.TooLarge, "%s", mistake.Message)
	case mistake != nil:
		r.ErrorAt(syntax.Position{File: r.File.Name, Line: mistake.Line, Column: mistake.Column}, codes.Syntax, "%s", mistake.Message)
	case r.Sound(root.Content[0], nil):
		return root.Content[0]
	}
	return nil
}

// Inside returns a function that maps a line and a column of the text of a scalar to a
// position in the file.
func (r *Reader) Inside(n *yaml.Node) func(line, column int) syntax.Position {
	place := r.File.Inside(n)
	return func(line, column int) syntax.Position {
		at := place(line, column)
		return syntax.Position{File: r.File.Name, Line: at.Line, Column: at.Column}
	}
}

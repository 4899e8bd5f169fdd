package edit

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// An InputError lists what is wrong with what the harness gave.
type InputError struct{ Problems []Problem }

// Error gives a line for each problem.
func (e *InputError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// A Problem is one thing that is wrong with a file. Line and Column count from
// 1; they are 0 where it has no place.
type Problem struct {
	File         string
	Line, Column int
	Message      string
}

// String gives file:line:column: message.
func (p Problem) String() string { return p.place() + ": " + p.Message }

func (p Problem) place() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// maxProblems is how many problems of one file are told.
const maxProblems = 50

// A reader collects what is wrong with one file.
type reader struct {
	file  string
	wrong []Problem
}

// at notes a problem with a place in the file; nil is the whole of it.
func (r *reader) at(n *yaml.Node, format string, args ...any) {
	if len(r.wrong) == maxProblems {
		return
	}
	p := Problem{File: r.file, Message: clean(fmt.Sprintf(format, args...))}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	r.wrong = append(r.wrong, p)
}

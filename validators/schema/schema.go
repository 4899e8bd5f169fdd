// Package schema checks plain values against JSON Schemas, decodes JSON into
// the plain values everything else works on, and takes JSON out of the prose a
// model wraps it in.
//
// Plain values are nil, bool, string, int, float64, json.Number, []any and
// map[string]any. A number is an int or a float64 where that encodes again digit
// for digit as it was written, and otherwise a json.Number: an integer of more
// than 64 bits, and 1.0, 1.10, 1e2, -0. [Compare] compares them as the decimal
// numbers that they are.
//
// The evaluator is our own. Schemas are recursive unions more often than not,
// and the libraries there are evaluate these in time that doubles with each
// level of a hostile value, heed no context, and either compare numbers as
// floats or take some milliseconds of every program's start to compile all the
// drafts. This one remembers, counts and can be stopped, starts with nothing, and
// is held against the test suite of JSON Schema and against a library in tests.
//
// A schema becomes nodes once (compile.go, node.go), which are then asked about values
// (evaluate.go); extract.go finds JSON in prose. Begin with [Compile].
package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	source any
	root   *node
	traits traits

	encode  sync.Once
	encoded []byte
	fault   error
}

// Compile compiles a schema given as a plain value. The dialect is 2020-12
// unless the schema's $schema says otherwise: drafts 4, 6, 7 and 2019-09 are
// known. Formats are asserted, patterns are in RE2 syntax, and only references
// within the schema itself and to those dialects resolve: nothing is fetched.
func Compile(source any) (*Schema, error) {
	c := newCompiler()
	res, err := c.add(root, source, draft20)
	if err == nil {
		err = c.checked(res)
	}
	var s *Schema
	if err == nil {
		s, err = c.finish(res)
	}
	if err != nil {
		return nil, errors.New(Clip(strings.ReplaceAll(err.Error(), root, "schema"), maxMessage))
	}
	return s, nil
}

// root is the address a schema is compiled under; it shows in no message.
const root = "mem:///schema.json"

// Source is the schema as it was given to [Compile].
func (s *Schema) Source() any { return s.source }

// PropertyNames are the properties that the schema names, at any depth.
func (s *Schema) PropertyNames() map[string]bool {
	names := map[string]bool{}
	propertyNames(s.source, names)
	return names
}

func propertyNames(schema any, into map[string]bool) {
	switch s := schema.(type) {
	case []any:
		for _, e := range s {
			propertyNames(e, into)
		}
	case map[string]any:
		if properties, ok := s["properties"].(map[string]any); ok {
			for name := range properties {
				into[name] = true
			}
		}
		for _, e := range s {
			propertyNames(e, into)
		}
	}
}

// MarshalJSON gives the schema's source. It is encoded once: the bytes must not
// be changed.
func (s *Schema) MarshalJSON() ([]byte, error) {
	s.encode.Do(func() { s.encoded, s.fault = json.Marshal(s.source) })
	return s.encoded, s.fault
}

// A Violation is one place where a value breaks a schema.
type Violation struct {
	Path     string `json:"path"`               // where in the value: $.items[0].name
	Rule     string `json:"rule"`               // the keyword that was broken: required, minLength
	Message  string `json:"message"`            // what is wrong, in words
	Expected string `json:"expected,omitempty"` // what the rule asks for
	Got      string `json:"got,omitempty"`      // what stands there, cut to a line
}

// String gives the violation as one line: path, message.
func (v Violation) String() string { return v.Path + ": " + v.Message }

// Error is [Violation.String].
func (v Violation) Error() string { return v.String() }

// maxViolations and maxMessage bound what one check reports: it goes into a
// prompt.
const (
	maxViolations = 50
	maxMessage    = 400
)

// Check lists where value breaks the schema, at most 50 places, ordered by
// place and rule, so the same value always gives the same list; none means that
// it is valid. Work grows with the schema's places times the value's at worst,
// and is bounded: beyond the bound, or where stop says to stop, there is no
// telling, [ErrUntold].
func (s *Schema) Check(stop Stop, value any) ([]Violation, error) {
	return s.check(newWork(stop), value)
}

func (s *Schema) check(w *work, value any) ([]Violation, error) {
	if s == nil {
		return nil, nil
	}
	e := &evaluation{work: w, traits: s.traits, kept: map[visit]*result{}}
	top, outside := &place{value: value}, &scope{}
	ok, _ := e.visit(s.root, top, outside, false)
	if !ok && w.err == nil {
		e.visit(s.root, top, outside, true)
	}
	if w.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUntold, w.err)
	}
	return e.violations(), nil
}

// Refusal is [Schema.Check] in one line, for who sends values to a program: all
// that is wrong, nil where nothing is, or why there is no telling.
func (s *Schema) Refusal(stop Stop, value any) error {
	broken, err := s.Check(stop, value)
	if err != nil || len(broken) == 0 {
		return err
	}
	words := make([]string, len(broken))
	for i, b := range broken {
		words[i] = strings.TrimPrefix(b.String(), "$: ")
	}
	return errors.New(strings.Join(words, "; "))
}

// A note is a violation to be put into words, if it is among the first.
type note struct {
	at   *place
	word string
	n    *node
	said func() Violation
	id   int // of the note and its copies
	tied int // number of alternatives, if it lists those that fit equally well
}

// said is a violation that has nothing to it but words.
func said(message string) func() Violation {
	return func() Violation { return Violation{Message: message} }
}

// note takes one down.
func (e *evaluation) note(n *node, p *place, word string, said func() Violation) {
	if !e.spend(priceSaid + p.depth/8) {
		return
	}
	e.taken++
	e.notes = append(e.notes, note{at: p, word: word, n: n, said: said, id: e.taken})
	if len(e.notes) > 10*maxViolations {
		e.first()
	}
}

// first keeps the notes that will be told.
func (e *evaluation) first() {
	slices.SortStableFunc(e.notes, func(a, b note) int {
		return cmp.Or(a.at.compare(b.at), strings.Compare(a.word, b.word), strings.Compare(a.n.at, b.n.at), cmp.Compare(a.id, b.id))
	})
	e.notes = slices.CompactFunc(e.notes, func(a, b note) bool { return a.id == b.id })
	e.notes = e.notes[:min(len(e.notes), maxViolations)]
}

func (e *evaluation) violations() []Violation {
	if len(e.notes) == 0 {
		return nil
	}
	e.first()
	out := make([]Violation, len(e.notes))
	for i, n := range e.notes {
		v := n.said()
		v.Path, v.Rule, v.Message = pathOf(n.at.steps()), n.word, Clip(v.Message, maxMessage)
		out[i] = v
	}
	return out
}

// Clip cuts s to at most n bytes on a rune boundary and says so.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

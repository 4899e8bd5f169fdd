// Package schema validates plain values against JSON Schemas. It also decodes
// JSON into plain values and extracts JSON from the replies of models.
//
//	s, err := schema.Compile(map[string]any{"type": "object", "required": []any{"name"}})
//	v, violations, err := schema.Extract(nil, "Here it is: {\"age\": 3}", s)
//	// violations: $: missing property 'name'
//
// Plain values are nil, bool, string, int, float64, json.Number, []any and
// map[string]any. A number is an int or a float64 if that encodes again as it
// was written. Otherwise it is a json.Number: an integer of more than 64 bits,
// 1.0, 1.10, 1e2 or -0. [Compare] compares numbers by their decimal digits.
//
// The package has its own evaluator. Most schemas of cascades are recursive
// unions. The known libraries need time that doubles with each level of a
// hostile value, and they ignore contexts. They compare numbers as floats, or
// take milliseconds of each program start to compile all drafts. This evaluator
// stores results, counts its work and can be stopped. Tests compare it with the
// test suite of JSON Schema and with a library.
//
// [Compile] turns a schema into nodes once (compile.go, node.go). evaluate.go
// evaluates them for a value, and extract.go finds JSON in prose. Begin with
// [Compile].
package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/clips"
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

// Compile compiles a schema, which must be a plain value. The default dialect
// is 2020-12; $schema may name draft 4, 6, 7 or 2019-09 instead. Formats are
// checked, and patterns are ECMA regular expressions. References must lead into
// the schema or to those dialects: Compile fetches nothing.
func Compile(source any) (*Schema, error) {
	c := newCompiler()
	res, err := c.add(root, source, draft20)
	if err == nil {
		err = c.checkDialects(res)
	}
	var s *Schema
	if err == nil {
		s, err = c.finish(res)
	}
	if err != nil {
		return nil, errors.New(clips.Bytes(strings.ReplaceAll(err.Error(), root, "schema"), maxMessage))
	}
	return s, nil
}

// root is the address of the compiled schema. No message shows it.
const root = "mem:///schema.json"

// Source returns the schema that was passed to [Compile].
func (s *Schema) Source() any { return s.source }

// PropertyNames returns the names of the schema's properties, at any depth.
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

// MarshalJSON returns the source of the schema. It encodes once, so the bytes
// must not be changed.
func (s *Schema) MarshalJSON() ([]byte, error) {
	s.encode.Do(func() { s.encoded, s.fault = json.Marshal(s.source) })
	return s.encoded, s.fault
}

// A Violation is one place where a value breaks a schema.
type Violation struct {
	Path     string `json:"path"`               // path in the value, such as $.items[0].name
	Rule     string `json:"rule"`               // the broken keyword, such as required or minLength
	Message  string `json:"message"`            // the error in words
	Expected string `json:"expected,omitempty"` // the value that the keyword requires
	Got      string `json:"got,omitempty"`      // the value found, cut to one line
}

// String returns the path and the message in one line.
func (v Violation) String() string { return v.Path + ": " + v.Message }

// Error implements error.
func (v Violation) Error() string { return v.String() }

// maxViolations and maxMessage limit the report of one check, because it goes
// into a prompt.
const (
	maxViolations = 50
	maxMessage    = 400
)

// Check returns the places where value breaks the schema, at most 50, ordered
// by place and keyword. The same value always gives the same list. An empty
// list means that value is valid.
//
// The work grows at most with the schema's places times the value's places, and
// it is limited. Beyond the limit, or after stop returned an error, Check
// returns [ErrUnchecked].
func (s *Schema) Check(stop Stop, value any) ([]Violation, error) {
	return s.check(newBudget(stop), value)
}

func (s *Schema) check(w *budget, value any) ([]Violation, error) {
	if s == nil {
		return nil, nil
	}
	e := &evaluation{budget: w, traits: s.traits, results: map[visit]*result{}}
	top, outside := &place{value: value}, &scope{}
	ok, _ := e.visit(s.root, top, outside, false)
	if !ok && w.err == nil {
		e.visit(s.root, top, outside, true)
	}
	if w.err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnchecked, w.err)
	}
	return e.violations(), nil
}

// Validate is [Schema.Check] with an error that lists all violations in one
// line. It returns nil if value is valid.
func (s *Schema) Validate(stop Stop, value any) error {
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

// A note is a violation that is formatted only if the report contains it.
type note struct {
	at        *place
	word      string
	n         *node
	violation func() Violation
	id        int // shared by the copies of a note
	tied      int // number of alternatives, if the note lists alternatives that fit equally well
}

// message returns the function for a violation that has only a message.
func message(message string) func() Violation {
	return func() Violation { return Violation{Message: message} }
}

// note adds a note to the evaluation.
func (e *evaluation) note(n *node, p *place, word string, violation func() Violation) {
	if !e.spend(costViolation + p.depth/8) {
		return
	}
	e.noteCount++
	e.notes = append(e.notes, note{at: p, word: word, n: n, violation: violation, id: e.noteCount})
	if len(e.notes) > 10*maxViolations {
		e.truncate()
	}
}

// truncate sorts the notes and drops those that the report will not contain.
func (e *evaluation) truncate() {
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
	e.truncate()
	out := make([]Violation, len(e.notes))
	for i, n := range e.notes {
		v := n.violation()
		v.Path, v.Rule, v.Message = pathOf(n.at.steps()), n.word, clips.Bytes(v.Message, maxMessage)
		out[i] = v
	}
	return out
}

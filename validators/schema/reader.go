package schema

import (
	"errors"
	"fmt"
	"strconv"
)

// maxNesting bounds how deep JSON may nest: what works on values recurses. What
// holds such a value, an event or a run's result, nests deeper, and is read by
// encoding/json and others' libraries, of which some stop at 10,000.
const maxNesting = 9_000

var errNested = fmt.Errorf("the JSON nests deeper than %d levels", maxNesting)

// A reader makes the plain value of one JSON document. Keys that stand twice in
// an object are noted: which of the two counts is a matter of who reads, so
// such a document says nothing that can be relied on.
type reader struct {
	text  string
	pos   int
	path  []step // keys and indexes on the way to the value that is read
	twice []Violation
	err   error // what the grammar of JSON has nothing against
}

var errNoDocument = errors.New("not one JSON document")

// read gives the value of text, which is to be one document and nothing else.
// Where it is none the error is errNoDocument; why is for [explain] to say.
func read(text string) (value any, twice []Violation, err error) {
	r := reader{text: text}
	value, ok := r.value()
	switch {
	case r.err != nil:
		return nil, nil, r.err
	case !ok || spaceAt(text, r.pos) < len(text):
		return nil, nil, errNoDocument
	}
	return value, r.twice, nil
}

func (r *reader) value() (any, bool) {
	r.pos = spaceAt(r.text, r.pos)
	if r.pos == len(r.text) {
		return nil, false
	}
	switch c := r.text[r.pos]; {
	case (c == '{' || c == '[') && len(r.path) == maxNesting:
		r.err = errNested
		return nil, false
	case c == '{':
		return r.object()
	case c == '[':
		return r.array()
	case c == '"':
		return r.string()
	}
	start := r.pos
	end, ok := scalarEnd(r.text, start)
	if !ok {
		return nil, false
	}
	r.pos = end
	switch r.text[start] {
	case 't':
		return true, true
	case 'f':
		return false, true
	case 'n':
		return nil, true
	}
	v, err := number(r.text[start:end])
	r.err = err
	return v, err == nil
}

func (r *reader) string() (string, bool) {
	if r.pos == len(r.text) || r.text[r.pos] != '"' {
		return "", false
	}
	end, plain, ok := stringEnd(r.text, r.pos)
	if !ok {
		return "", false
	}
	s := r.text[r.pos+1 : end-1]
	r.pos = end
	if !plain {
		s = unescaped(s)
	}
	return s, true
}

func (r *reader) object() (any, bool) {
	object := map[string]any{}
	r.pos++
	if r.after('}') {
		return object, true
	}
	for {
		r.pos = spaceAt(r.text, r.pos)
		key, ok := r.string()
		if !ok || !r.after(':') {
			return nil, false
		}
		r.path = append(r.path, step{name: key, index: -1})
		if _, again := object[key]; again {
			r.note(key)
		}
		if object[key], ok = r.value(); !ok {
			return nil, false
		}
		r.path = r.path[:len(r.path)-1]
		if r.after('}') {
			return object, true
		}
		if !r.after(',') {
			return nil, false
		}
	}
}

func (r *reader) array() (any, bool) {
	list := []any{}
	r.pos++
	if r.after(']') {
		return list, true
	}
	r.path = append(r.path, step{})
	for {
		r.path[len(r.path)-1].index = len(list)
		v, ok := r.value()
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if r.after(']') {
			r.path = r.path[:len(r.path)-1]
			return list, true
		}
		if !r.after(',') {
			return nil, false
		}
	}
}

// after takes the mark c, white space before it, if it is what comes next.
func (r *reader) after(c byte) bool {
	at := spaceAt(r.text, r.pos)
	if at == len(r.text) || r.text[at] != c {
		return false
	}
	r.pos = at + 1
	return true
}

func (r *reader) note(key string) {
	if len(r.twice) < maxViolations {
		r.twice = append(r.twice, Violation{
			Path: pathOf(r.path), Rule: "uniqueKeys", Message: "the key " + strconv.Quote(Clip(key, maxShown)) + " stands twice",
			Expected: "each key once", Got: Clip(key, maxShown),
		})
	}
}

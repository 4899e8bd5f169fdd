package schema

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Decision is the key of an answer that everything hangs on: valid of a
// verdict, winner of an evaluation.
type Decision struct {
	Key string
	// Accept tells whether a candidate is an answer: an object with the key, or a
	// bare value in its place.
	Accept func(candidate any) bool
	// Against tells whether a word speaks against a value, where it stands behind
	// the key in what is no JSON.
	Against func(value any, word string) bool
}

// ErrUndecided says that an answer says two things.
var ErrUndecided = errors.New("the answer is ambiguous")

// Decide takes the decision out of an answer: the last candidate that is
// accepted, candidates as [Extract] finds them; where none is, the last that
// parses, for the caller to say what it lacks.
//
// Where the answer says anything else too there is no decision, [ErrUndecided],
// whatever stands last: what is quoted, drafted or repeated must not be taken
// for what was decided. Every object in the answer that has the key, at any
// depth, in any candidate and however its case is spelt, must have the same
// value there, and no key twice; and what stands around the candidates, broken
// JSON above all, must not speak against it. What a model thought aloud counts
// too, unless the answer begins with it: the tags may be quotations. Of the key valid,
//
//	{"valid":false} would be {"valid":true}
//	{"valid":true} but "valid": false, I think
//	so <think>{"valid":false}</think>{"valid":true}
//
// are ambiguous, and <think>{"valid":false}</think>{"valid":true} is a yes.
func (d Decision) Decide(text string) (any, error) {
	found, opening := pieces(text)
	w := weighing{Decision: d}
	known := found[:0:0]
	for _, p := range found {
		ok := p.end <= opening
		if !ok {
			var err error
			if ok, err = w.candidate(text[p.start:p.end], p.thought); err != nil {
				return nil, err
			}
		}
		if ok {
			known = append(known, p)
		}
	}
	switch {
	case w.accepted:
		return w.chosen, w.around(blanked(text, known)[opening:])
	case w.parsed:
		return w.last, nil
	}
	return nil, noJSON(text)
}

// A weighing holds what an answer says in one place against the others.
type weighing struct {
	Decision
	said             []any // values of the key; those behind the first are the same
	chosen, last     any
	accepted, parsed bool
}

// candidate weighs one piece; ok tells whether it could be read.
func (w *weighing) candidate(text string, thought bool) (ok bool, err error) {
	v, twice, err := readPiece(text)
	if err != nil {
		return false, nil
	}
	said := says(nil, v, w.Key)
	if _, bare := v.(bool); bare {
		said = []any{v}
	}
	if len(said) > 0 && len(twice) > 0 {
		return true, fmt.Errorf("%w: %v", ErrUndecided, twice[0])
	}
	w.said = append(w.said[:min(1, len(w.said))], said...)
	for _, s := range w.said {
		if !same(s, w.said[0]) {
			return true, fmt.Errorf("%w: %q is %s in one place and %s in another", ErrUndecided, w.Key, show(w.said[0]), show(s))
		}
	}
	if !thought {
		w.last, w.parsed = v, true
		if w.Accept(v) {
			w.chosen, w.accepted = v, true
		}
	}
	return true, nil
}

// says lists the values of a key in v, at any depth.
func says(list []any, v any, key string) []any {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			list = says(list, item, key)
		}
	case map[string]any:
		for name, value := range v {
			if strings.EqualFold(name, key) {
				list = append(list, value)
			}
			list = says(list, value, key)
		}
	}
	return list
}

func same(a, b any) bool {
	if order, numbers := Compare(a, b); numbers {
		return order == 0
	}
	return reflect.DeepEqual(a, b)
}

// around looks at what is no JSON for the key and a value behind it.
func (w *weighing) around(rest string) error {
	if strings.Contains(rest, `\u`) {
		rest = escape().ReplaceAllStringFunc(rest, unescaped)
	}
	for {
		at := indexFold(rest, w.Key)
		if at < 0 {
			return nil
		}
		wordy := at > 0 && (rest[at-1] == '_' || isLetter(rest[at-1]))
		rest = rest[at+len(w.Key):]
		if m := behindKey().FindStringSubmatch(rest[:min(len(rest), 80)]); m != nil && !wordy && w.Against(w.said[0], strings.ToLower(m[1])) {
			return fmt.Errorf("%w: %q is %s, and %s where there is no JSON", ErrUndecided, w.Key, show(w.said[0]), m[1])
		}
	}
}

var (
	escape    = patterns.Lazy(`\\u[0-9a-fA-F]{4}`)
	behindKey = patterns.Lazy(`^[\s"'\x60’”*\\]*[:=][\s"'\x60‘“*\\]*([A-Za-z0-9]+)`)
)

// indexFold is the offset of a word of ASCII in text, whatever its case.
func indexFold(text, word string) int {
	for from := 0; ; {
		i := strings.IndexAny(text[from:], strings.ToLower(word[:1])+strings.ToUpper(word[:1]))
		if i < 0 || from+i+len(word) > len(text) {
			return -1
		}
		if from += i; strings.EqualFold(text[from:from+len(word)], word) {
			return from
		}
		from++
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// NumberUpTo is the choice of a whole number from 1 to n.
func NumberUpTo(key string, n int) Decision {
	return Decision{
		Key: key,
		Accept: func(candidate any) bool {
			object, _ := candidate.(map[string]any)
			number, ok := Whole(object[key])
			return ok && number >= 1 && number <= n
		},
		Against: func(value any, word string) bool {
			chosen, _ := Whole(value)
			number, err := strconv.Atoi(word)
			return err == nil && number != chosen
		},
	}
}

package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/modelmarkup"
	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// oneSchedule refuses a text that contains more than one schedule or review, JSON that
// can be read in two ways, or JSON that is incomplete: the text ends inside an object,
// or the value stands in an object that breaks. It does not look at a model's thinking.
//
//	{"schedule": {"items": []}, "notes": "the we   is cut off
//	{"schedule": {"items": []}, "notes": oops}     breaks
//	for {x} and {"y" …}: {"items": []}             is whole: it stands in neither
func oneSchedule(text string) error {
	if jsontext.Value(text).IsValid(lenient...) { // one document, whatever its keys
		return signatures.UnambiguousText([]byte(text))
	}
	text, _ = modelmarkup.Cut(text)
	all := []byte(strings.TrimRight(text, " \t\r\n"))
	meant, broken, whole, budget := 0, 0, false, 8*len(all)+1<<16
	for at := 0; ; {
		begin := opening().FindIndex(all[at:])
		if begin == nil {
			break
		}
		at += begin[0]
		value, cost, err := piece(all[at:])
		if budget -= cost; budget < 0 {
			return errors.New("there are too many broken pieces of JSON to say which is the schedule")
		}
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return errors.New("the text is cut off: it ends inside JSON that is not closed")
		case err != nil && all[at] == '{':
			broken = max(broken, at+cost)
			fallthrough
		case err != nil || all[at] == '[': // what it lists is looked at
			at++
			continue
		}
		if err := signatures.UnambiguousText(value); err != nil {
			return err
		}
		at += cost
		if whole = at > broken; isAnswer(value) {
			if meant++; !whole {
				return errBroken
			}
		}
	}
	switch {
	case broken > 0 && !whole: // what is whole last is what was taken for the schedule
		return errBroken
	case meant > 1:
		return fmt.Errorf("the text holds %d answers in JSON: which of them is meant?", meant)
	}
	return nil
}

var errBroken = errors.New("a JSON object breaks, and a part of it is not judged for the whole")

// opening is how an object begins, or a list of them.
var opening = patterns.Lazy(`\{\s*["}]|\[\s*\{`)

// piece reads the JSON that a text begins with, and tells how many bytes of it were
// read, to its end or to where it breaks.
func piece(text []byte) (value jsontext.Value, cost int, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), lenient...)
	value, err = d.ReadValue()
	var broken *jsontext.SyntacticError
	switch {
	case err == nil:
		return value, int(d.InputOffset()), nil
	case errors.As(err, &broken):
		return nil, int(broken.ByteOffset) + 1, err
	}
	return nil, len(text), err
}

// lenient reads JSON as most readers do.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// isAnswer tells whether a piece of JSON is a schedule or a review, or holds one: by
// its keys, however they are escaped.
func isAnswer(v jsontext.Value) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(v), lenient...)
	for {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		in, n := d.StackIndex(d.StackDepth())
		if in != '{' || n%2 == 0 || token.Kind() != '"' { // no key
			continue
		}
		if key := token.String(); key == "items" || strings.HasPrefix(key, "revenue_aggressiveness") {
			return true
		}
	}
}

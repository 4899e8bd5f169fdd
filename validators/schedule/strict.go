package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// oneSchedule refuses a text that holds more than one schedule, or review of
// one, or anything like JSON that can be read in two ways. What a model thought
// aloud before it answered is not looked at.
func oneSchedule(text string) error {
	if jsontext.Value(text).IsValid(lenient...) { // one document, whatever its keys
		return signatures.UnambiguousText([]byte(text))
	}
	if at := strings.LastIndex(text, thought); at >= 0 {
		text = text[at+len(thought):]
	}
	rest, meant, budget := []byte(text), 0, 8*len(text)+1<<16
	for {
		begin := opening().FindIndex(rest)
		if begin == nil {
			break
		}
		rest = rest[begin[0]:]
		value, cost := piece(rest)
		if budget -= cost; budget < 0 {
			return errors.New("there are too many broken pieces of JSON to say which is the schedule")
		}
		if value == nil {
			rest = rest[1:]
			continue
		}
		if err := signatures.UnambiguousText(value); err != nil {
			return err
		}
		if rest = rest[cost:]; isAnswer(value) {
			meant++
		}
	}
	if meant > 1 {
		return fmt.Errorf("the text holds %d answers in JSON: which of them is meant?", meant)
	}
	return nil
}

const thought = "</think>"

// opening is how an object begins.
var opening = patterns.Lazy(`\{\s*["}]`)

// piece reads the JSON object that a text begins with, nil where it breaks, and
// tells how many bytes were read for that.
func piece(text []byte) (value jsontext.Value, cost int) {
	d := jsontext.NewDecoder(bytes.NewBuffer(text), lenient...)
	value, err := d.ReadValue()
	var broken *jsontext.SyntacticError
	switch {
	case err == nil:
		return value, int(d.InputOffset())
	case errors.As(err, &broken):
		return nil, int(broken.ByteOffset) + 1
	}
	return nil, len(text)
}

// lenient reads JSON as most readers do.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// isAnswer tells whether a piece of JSON is a schedule or a review.
func isAnswer(v jsontext.Value) bool {
	return bytes.Contains(v, []byte(`"items"`)) || bytes.Contains(v, []byte(`"revenue_aggressiveness`))
}

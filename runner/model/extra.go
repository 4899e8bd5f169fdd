package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// An Extra is what an answer or a tool call carries beside what every endpoint
// knows, such as what a reasoning model thought, or its signature: the members
// of one JSON object, whose names and values are the endpoint's. Its text is
// always the same for the same members in the same order, however they were
// escaped. "" is none.
type Extra string

// ExtraOf makes an Extra of a JSON object; an empty one is none.
func ExtraOf(object []byte) (Extra, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, object); err != nil {
		return "", err
	}
	switch text := b.String(); {
	case text == "{}":
		return "", nil
	case text[0] != '{':
		return "", errors.New("extra: want an object")
	}
	return Extra(plainStrings(b.Bytes())), nil
}

// MarshalJSON writes the object.
func (e Extra) MarshalJSON() ([]byte, error) {
	if e == "" {
		return []byte("{}"), nil
	}
	return []byte(e), nil
}

// UnmarshalJSON reads an object as [ExtraOf] does.
func (e *Extra) UnmarshalJSON(text []byte) (err error) {
	*e, err = ExtraOf(text)
	return err
}

// join is an object with the members of e at its end.
func (e Extra) join(object []byte) []byte {
	if e == "" {
		return object
	}
	return append(append(object[:len(object)-1], ','), e[1:]...)
}

// Has says whether there is a member of that name.
func (e Extra) Has(name string) bool {
	if !strings.Contains(string(e), `"`+name+`"`) {
		return false
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal([]byte(e), &all) // it is an object
	_, ok := all[name]
	return ok
}

// plainStrings writes the strings of compact JSON as appendWire does.
func plainStrings(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		start := bytes.IndexByte(raw, '"')
		if start < 0 {
			break
		}
		end := start + 1
		for raw[end] != '"' {
			if raw[end] == '\\' {
				end++
			}
			end++
		}
		end++
		var said string
		_ = json.Unmarshal(raw[start:end], &said) // a string of valid JSON
		out, _ = appendWire(append(out, raw[:start]...), said)
		raw = raw[end:]
	}
	return append(out, raw...)
}

package model

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// An Extra holds members of an answer or a tool call that are specific to an
// endpoint, such as the thoughts of a reasoning model or their signature. It is
// one JSON object, whose names and values the endpoint chooses. The same
// members in the same order always have the same text, however they were
// escaped. "" has no members.
type Extra string

// ExtraOf returns a JSON object as an Extra. A duplicate name and invalid UTF-8 are
// errors.
func ExtraOf(object []byte) (Extra, error) {
	text, err := jsontext.AppendFormat(nil, object, jsontext.PreserveRawStrings(false), jsontext.EscapeForJS(true))
	switch {
	case err != nil:
		return "", err
	case string(text) == "{}":
		return "", nil
	case text[0] != '{':
		return "", errors.New("extra: want an object")
	}
	return Extra(text), nil
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

// join returns an object with the members of e at its end.
func (e Extra) join(object []byte) []byte {
	if e == "" {
		return object
	}
	return append(append(object[:len(object)-1], ','), e[1:]...)
}

// Has reports whether e has a member of that name.
func (e Extra) Has(name string) bool {
	if !strings.Contains(string(e), `"`+name+`"`) {
		return false
	}
	var all map[string]json.RawMessage
	_ = json.Unmarshal([]byte(e), &all) // an Extra is always an object
	_, ok := all[name]
	return ok
}

package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
)

// The readers of replies take each member by itself: a member of an unexpected
// kind counts as missing, and the rest of the reply counts.

// Parse parses a reply, or an event of one. A duplicate name and too many values are
// failures, and so is invalid UTF-8 in a whole reply. Pieces of texts are checked by
// [Text], because a character may begin in one event and end in another.
func Parse(ctx context.Context, text []byte, whole bool) (jsontree.Value, error) {
	v, err := jsontree.Parse(ctx, text, jsontree.Options{InvalidUTF8: !whole})
	if errors.Is(err, jsontree.ErrTooManyValues) || errors.Is(err, jsontext.ErrDuplicateName) {
		err = &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the reply cannot be used: %s", err)}
	}
	return v, err
}

// Encode returns the JSON of v. It does not escape <, > and &, because each
// escape has six bytes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// Merge returns an object with the members of extra. A member of extra replaces
// a member of the object.
func Merge(object []byte, extra model.Extra) ([]byte, error) {
	if extra == "" {
		return object, nil
	}
	var members map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(object, &members), json.Unmarshal([]byte(extra), &members)); err != nil {
		return nil, err
	}
	return Encode(members)
}

// Word returns the text of a string, "" for null or a missing value, and any other
// value as it is written.
func Word(v jsontree.Value) string {
	switch text, ok := v.Text(); {
	case ok:
		return text
	case v.Kind() == 'n':
		return ""
	}
	return string(v.Raw())
}

// Empty reports whether a value is missing, null, false, "", or an empty list
// or object.
func Empty(v jsontree.Value) bool {
	raw := v.Raw()
	return string(raw) == "null" || string(raw) == "false" || string(raw) == `""` || len(bytes.Trim(raw, "[]{} \n\t\r")) == 0
}

// Names returns the names of an extra's members.
func Names(e model.Extra) (list []string) {
	if e == "" {
		return nil
	}
	v, _ := jsontree.Parse(context.Background(), []byte(e), jsontree.Options{}) // made by [model.ExtraOf]
	for name := range v.Members() {
		list = append(list, string(name))
	}
	return list
}

// maxTokens is the largest number of tokens that is believed: it exceeds every
// budget, and sums of it fit into an integer and into a database.
const maxTokens = 1 << 40

// tokens returns a number of tokens, written as 12, 12.0 or "12". ok is false for
// anything else. A number above [maxTokens] is maxTokens.
func tokens(v jsontree.Value) (n int, ok bool) {
	f, ok := number(v)
	if !ok || f != math.Trunc(f) {
		return 0, false
	}
	return int(min(f, maxTokens)), true
}

// number returns a number that is not negative, as a number or in a string.
func number(v jsontree.Value) (f float64, ok bool) {
	f, err := strconv.ParseFloat(Word(v), 64)
	if err != nil && !math.IsInf(f, 1) || !(f >= 0) {
		return 0, false
	}
	return min(f, math.MaxFloat64), true
}

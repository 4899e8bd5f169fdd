package openai

import (
	"bytes"
	"context"
	"math"
	"strconv"

	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
)

// The readers of replies take each member by itself: a member of an unexpected
// kind counts as missing, and the rest of the reply counts.

// word returns the text of a string, "" for null or a missing value, and any other
// value as it is written.
func word(v jsontree.Value) string {
	switch text, ok := v.Text(); {
	case ok:
		return text
	case v.Kind() == 'n':
		return ""
	}
	return string(v.Raw())
}

// empty reports whether a value is missing, null, false, "", or a list or an object
// with nothing in it.
func empty(v jsontree.Value) bool {
	raw := v.Raw()
	return string(raw) == "null" || string(raw) == "false" || string(raw) == `""` || len(bytes.Trim(raw, "[]{} \n\t\r")) == 0
}

// names returns the names of an extra's members.
func names(e model.Extra) (list []string) {
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
	f, err := strconv.ParseFloat(word(v), 64)
	if err != nil && !math.IsInf(f, 1) || !(f >= 0) {
		return 0, false
	}
	return min(f, math.MaxFloat64), true
}

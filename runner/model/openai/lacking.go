package openai

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
)

// The fields of a request that an endpoint may not know, and can do without.
const (
	formatField = "response_format"
	usageField  = "stream_options"
)

// A lack is a field that an endpoint does not take for a model.
type lack struct {
	field, model string
	format       string // the one that it does not take; "" if it takes none
}

func noFormat(q *question) lack   { return lack{formatField, q.name, ""} }
func notThisOne(q *question) lack { return lack{formatField, q.name, string(q.format)} }
func noUsage(q *question) lack    { return lack{usageField, q.name, ""} }

func (q *question) without(field string) bool {
	return slices.ContainsFunc(q.lacks, func(l lack) bool { return l.field == field })
}

// giveUp says whether a failure is about a field that the question can do
// without, and leaves it out from now on.
func (q *question) giveUp(f *model.Failure) bool {
	if f.Status != http.StatusBadRequest && f.Status != http.StatusUnprocessableEntity {
		return false
	}
	text := strings.ToLower(f.Message)
	switch {
	case q.stream && !q.without(usageField) && mentions(text, "stream_options", "include_usage"):
		q.lacks = append(q.lacks, noUsage(q))
	case q.format == nil || q.without(formatField):
		return false
	case strings.Contains(text, "invalid schema"):
		q.lacks = append(q.lacks, notThisOne(q))
	case mentions(text, "response_format", "response format", "json_schema", "json schema", "structured output", "guided", "grammar"):
		q.lacks = append(q.lacks, noFormat(q))
	default:
		return false
	}
	return true
}

func mentions(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// lacking is what an endpoint was found to lack, for as long as the client
// lives.
type lacking struct {
	mu    sync.RWMutex
	known map[lack]bool
}

// of lists what q has to do without.
func (k *lacking) of(q *question) []lack {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if len(k.known) == 0 {
		return nil
	}
	var list []lack
	if q.stream && k.known[noUsage(q)] {
		list = append(list, noUsage(q))
	}
	if q.format == nil {
		return list
	}
	for _, l := range []lack{noFormat(q), notThisOne(q)} {
		if k.known[l] {
			list = append(list, l)
		}
	}
	return list
}

// learn remembers what a question was answered without.
func (k *lacking) learn(list []lack) {
	if len(list) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) > 1000 {
		k.known = map[lack]bool{}
	}
	for _, l := range list {
		k.known[l] = true
	}
}

package openai

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// The table has a row for each finish reason that endpoints document. Its columns are
//
//	meaning  see the constants
//	word     the reason in small letters
//	source   a vendor's documentation, or two independent reports
//	match    the reason as an endpoint sends it
//	no       a reason that is unknown
//
//go:embed tables/finish.tsv
var finishTable string

// The meanings of finish reasons.
const (
	ended    = "end"      // complete
	calls    = "calls"    // complete, with calls of tools
	tooLong  = "length"   // cut at a token limit
	withheld = "withheld" // removed by a content filter
	broken   = "broken"   // incomplete; the request may succeed later
	paused   = "paused"   // to be continued by another request
)

var finishMeanings = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(finishTable) {
		if cells := strings.Split(line, "\t"); cells[0] != "meaning" {
			words[cells[1]] = cells[0]
		}
	}
	return words
})

// meaning returns the meaning of a finish reason, or "" if it is unknown. A
// reason may have two
// parts, such as "content_filter: OTHER".
func meaning(reason string, normal []string) string {
	is := func(word string) bool { return strings.EqualFold(word, reason) }
	if slices.ContainsFunc(normal, is) {
		return ended
	}
	first, second, _ := strings.Cut(strings.ToLower(reason), ":")
	for _, word := range []string{strings.TrimSpace(second), first} {
		if m := finishMeanings()[word]; m != "" {
			return m
		}
	}
	return ""
}

// byItself reports whether the finish reason means a complete answer.
func byItself(reason string, normal []string) bool {
	m := meaning(reason, normal)
	return m == ended || m == calls
}

// nothing is the message for a reply without an answer.
const nothing = "the model said nothing: the reply has no answer"

// unanswered returns the failure of a draft that is not an answer, or nil.
func unanswered(d protocol.Draft, full bool, p model.Provider) *model.Failure {
	f := unfinished(d, full, d.Finish, p)
	if f == nil && d.Native != "" { // the native reason of a router's provider can be more precise
		if native := unfinished(d, full, d.Native, p); native != nil && native.Class != model.Unusable {
			f = native
		}
	}
	blank := strings.TrimSpace(d.Text) == "" && len(d.Calls) == 0
	switch {
	case d.Refusal != "":
		return &model.Failure{Class: model.Refused, Message: d.Refusal}
	case !d.Answered:
		return &model.Failure{Class: model.Empty, Message: nothing}
	case f != nil:
		return f
	case d.Invalid:
		return protocol.ErrInvalid()
	case d.Count > protocol.MaxCalls:
		message := fmt.Sprintf("the model wants %d tools called at once; %d is the most", d.Count, protocol.MaxCalls)
		return &model.Failure{Class: model.Unusable, Message: message}
	case blank && d.Shape != "": // another answer would have the same shape
		return &model.Failure{Class: model.Unusable, Message: d.Shape}
	case blank:
		return &model.Failure{Class: model.Empty, Message: "the model said nothing"}
	}
	return nil
}

// unfinished returns the failure of an incomplete answer. An answer without a
// finish reason is
// complete unless a tool call is incomplete or the answer reached the token
// limit.
func unfinished(d protocol.Draft, full bool, reason string, p model.Provider) *model.Failure {
	class, what := model.Unusable, fmt.Sprintf("the answer did not end by itself, as far as is known; "+
		"if this reason means a normal end here, add it to finish of the provider %s in the cascade's providers", p.Name)
	m := meaning(reason, p.Finish)
	switch {
	case reason == "" && full:
		m = tooLong
	case reason == "" && slices.ContainsFunc(d.Calls, func(c model.ToolCall) bool { return !c.Whole() }):
		class, what = model.Unavailable, "the endpoint broke off in a tool call"
	case reason == "", m == ended, m == calls && len(d.Calls) > 0:
		return nil
	}
	switch m {
	case calls:
		what = "the answer ends for its tool calls and has none"
	case tooLong:
		class, what = model.Truncated, fmt.Sprintf("the answer hit the token limit after %d characters", utf8.RuneCountInString(d.Text))
	case withheld:
		class, what = model.Refused, "a content filter held the answer back"
	case broken:
		class, what = model.Unavailable, "the endpoint broke off"
	case paused:
		what = "the endpoint paused the answer, which Capstan does not continue"
	}
	if reason == "" {
		reason = "none"
	}
	return &model.Failure{Class: class, Message: what + ": finish reason " + reason}
}

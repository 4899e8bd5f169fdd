package openai

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/model"
)

// The words that endpoints have for why an answer ended, in small letters.
// Only an answer that ended by itself is one; a word that stands nowhere here
// is no reason to believe that it did.
var (
	itself = []string{string(api.FinishReasonStop), "end_turn", "eos", "eos_token", "stop_sequence"}
	calls  = []string{string(api.FinishReasonToolCalls), string(api.FinishReasonFunctionCall), "tool_call", "tool_use"}

	tooLong = []string{string(api.FinishReasonLength), "model_length", "max_tokens", "max_output_tokens", "max_length",
		"max_completion_tokens", "model_context_window_exceeded", "context_length_exceeded"}
	withheld = []string{"safety", "recitation", "refusal", "blocklist", "prohibited_content", "spii", "image_safety", "language",
		"sensitive", "guardrail_intervened"}
	brokenOff = []string{"error", "abort", "aborted", "cancelled", "canceled", "timeout", "network_error", "insufficient_system_resource"}
)

// byItself says whether a reason is one of an answer that ended by itself.
func byItself(reason string) bool {
	word := strings.ToLower(reason)
	return slices.Contains(itself, word) || slices.Contains(calls, word)
}

// maxCalls is how many tools a model may want called in one answer.
const maxCalls = 100

// nothing is what is told of an answer in which nobody says anything.
const nothing = "the model said nothing: the answer has no choices"

// unanswered returns why a draft is no answer, nil if it is one.
func (d draft) unanswered() *model.Failure {
	f := d.unfinished(d.finish)
	if f == nil && d.native != "" { // behind a router the reason may be told better
		if native := d.unfinished(d.native); native != nil && native.Class != model.Unusable {
			f = native
		}
	}
	switch {
	case d.refusal != "":
		return &model.Failure{Class: model.Refused, Message: d.refusal}
	case !d.chosen:
		return &model.Failure{Class: model.Empty, Message: nothing}
	case d.finish == "" && d.whole: // it would come so again
		return &model.Failure{Class: model.Unusable, Message: "the answer has no finish reason: it may be half of one"}
	case d.finish == "":
		return &model.Failure{Class: model.Unavailable, Message: "the endpoint broke off: the answer has no finish reason"}
	case f != nil:
		return f
	case d.invalid:
		return errInvalid()
	case d.count > maxCalls:
		return &model.Failure{Class: model.Unusable, Message: fmt.Sprintf("the model wants %d tools called at once; %d is the most", d.count, maxCalls)}
	case strings.TrimSpace(d.text) == "" && len(d.calls) == 0:
		return &model.Failure{Class: model.Empty, Message: "the model said nothing"}
	}
	return nil
}

// unfinished is why an answer that ended for a reason did not end by itself.
func (d draft) unfinished(reason string) *model.Failure {
	class, what := model.Unusable, "the answer did not end by itself, as far as is known"
	switch word := strings.ToLower(reason); {
	case slices.Contains(itself, word), slices.Contains(calls, word) && len(d.calls) > 0:
		return nil
	case slices.Contains(calls, word):
		what = "the answer ends for its tool calls and has none"
	case slices.Contains(tooLong, word):
		class, what = model.Truncated, fmt.Sprintf("the answer hit the token limit after %d characters", utf8.RuneCountInString(d.text))
	case slices.Contains(withheld, word), strings.HasPrefix(word, string(api.FinishReasonContentFilter)):
		class, what = model.Refused, "a content filter held the answer back"
	case slices.Contains(brokenOff, word):
		class, what = model.Unavailable, "the endpoint broke off"
	}
	return &model.Failure{Class: class, Message: what + ": finish reason " + reason}
}

package messages

import (
	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates/prompts"
)

// AfterSummary is the message to the model after a summary that replaces
// earlier messages.
const AfterSummary = "That sums up what was said and done before and is left out here, since the conversation has become too long. Go on from there."

// The prompt asks for a number of words. Without room for a few sentences there
// is no summary.
const (
	tokensPerWord = 3
	minWords      = 20
)

// minShown is the minimum length to which messages are cut, in bytes.
const minShown = 100

// Summary returns the prompt for a summary of past messages in at most tokens
// tokens. It returns "" if that is too little for a summary. The prompt weighs
// at most room: the longest messages are cut to equal length until it fits. If
// they would become too short, Summary also returns "".
func Summary(task string, past []model.Message, tokens, room int) (question string, err error) {
	if tokens/tokensPerWord < minWords {
		return "", nil
	}
	texts, longest := make([]string, len(past)), 0
	for i, m := range past {
		texts[i] = m.Content
		for _, c := range m.ToolCalls {
			texts[i] += "\n" + c.Name + " " + c.Arguments
		}
		longest = max(longest, len(texts[i]))
	}
	vars := map[string]any{"task": task, "words": tokens / tokensPerWord, "mark": prompts.Mark(append(texts, task)...)}
	for ; ; longest /= 2 {
		var shown []any
		for i, m := range past {
			shown = append(shown, map[string]any{"who": string(m.Role), "text": clips.Bytes(texts[i], longest)})
		}
		vars["messages"] = shown
		question, err = Prompt("conversation_summary", vars)
		if err != nil || exchanges.Weigh(question) <= room {
			return question, err
		}
		if longest < minShown {
			return "", nil
		}
	}
}

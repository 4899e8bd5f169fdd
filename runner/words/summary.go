package words

import (
	"github.com/seed61713e19/capstan/runner/exchanges"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates/prompts"
	"github.com/seed61713e19/capstan/validators/schema"
)

// Summed is what is said to a model of its summary, which stands in the place of
// what it is of.
const Summed = "That sums up what was said and done before and is left out here, since the conversation has become too long. Go on from there."

// A summary is asked for in words, of which a token is a part, and not where there
// is no room for a few sentences.
const (
	tokensOfWord = 3
	fewestWords  = 20
)

// leastShown is, in bytes, how little is shown of the longest messages.
const leastShown = 100

// Summary asks for a text of at most so many tokens that takes the place of
// messages about a task; "" where that is too little for one. The question weighs
// no more than room: the longest messages are cut, all at the same length, until
// it does, and where that does not help it is "" too.
func Summary(task string, past []model.Message, tokens, room int) (question string, err error) {
	if tokens/tokensOfWord < fewestWords {
		return "", nil
	}
	said, longest := make([]string, len(past)), 0
	for i, m := range past {
		said[i] = m.Content
		for _, c := range m.ToolCalls {
			said[i] += "\n" + c.Name + " " + c.Arguments
		}
		longest = max(longest, len(said[i]))
	}
	vars := map[string]any{"task": task, "words": tokens / tokensOfWord, "mark": prompts.Mark(append(said, task)...)}
	for ; ; longest /= 2 {
		var shown []any
		for i, m := range past {
			shown = append(shown, map[string]any{"who": string(m.Role), "text": schema.Clip(said[i], longest)})
		}
		vars["messages"] = shown
		question, err = Prompt("conversation_summary", vars)
		if err != nil || exchanges.Weigh(question) <= room {
			return question, err
		}
		if longest < leastShown {
			return "", nil
		}
	}
}

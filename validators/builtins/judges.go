package builtins

import (
	"sync"

	"github.com/seed61713e19/capstan/templates/prompts"
	"github.com/seed61713e19/capstan/validators"
)

// judges returns the validators that a model decides. Their criteria are embedded prompts.
var judges = sync.OnceValue(func() []validators.Validator {
	return []validators.Validator{
		shippedJudge("grammar_check", "Validates grammar and spelling in text"),
		shippedJudge("content_safety", "Validates that the content is safe and appropriate"),
		shippedJudge("style_check", "Validates clarity, tone and consistency of style"),
		shippedJudge("quality_check", "Validates that the text is complete, sound and of use for its purpose"),
	}
})

// shippedJudge returns the judge whose criteria are the prompt of the same
// name. A test checks that the prompt exists.
func shippedJudge(name, description string) validators.Validator {
	criteria, _ := prompts.Source(name)
	return validators.NewJudge(name, description, criteria)
}

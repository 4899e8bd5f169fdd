package runner_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
)

// A model is anything with a method Call. This one answers from a table, and reports what
// each answer has cost.
type phrasebook map[string]string

func (p phrasebook) Call(_ context.Context, req model.Request) (model.Response, error) {
	word := req.Messages[len(req.Messages)-1].Content
	text, known := p[word]
	if !known {
		return model.Response{}, &model.Failure{Class: model.Rejected, Message: "the phrase book has no " + word}
	}
	usage := model.Usage{Calls: 1, InputTokens: len(strings.Fields(word)), OutputTokens: len(strings.Fields(text))}
	return model.Response{Text: text, Usage: usage}, nil
}

// Your model answers the phases of a cascade.
func ExampleWithModel() {
	r, err := runner.New(runner.WithModel(phrasebook{"owl": "die Eule"}))
	if err != nil {
		panic(err)
	}
	c, err := r.Parse("translate.yaml", []byte(`
cascade_id: translate
inputs_schema: {word: {type: string}}
phases:
  - {name: translate, instructions: "{{ input.word }}"}
`))
	if err != nil {
		panic(err)
	}
	res, err := r.Run(context.Background(), c, map[string]any{"word": "owl"})
	fmt.Println(res.Output, err, res.Usage.Tokens(), "tokens")
	_, err = r.Run(context.Background(), c, map[string]any{"word": "heron"})
	fmt.Println(err)
	// Output:
	// die Eule <nil> 3 tokens
	// phase translate: failed: model: rejected: the phrase book has no heron
}

package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/validators"
)

// Your validator is a function with typed parameters and a subject. Cascades use it by
// its name.
func ExampleWithValidators() {
	signed := validators.New("signed", "Validates that a letter ends with a signature",
		func(_ context.Context, p struct {
			By string `json:"by" jsonschema:"name under the letter"`
		}, s validators.Subject) (validators.Verdict, error) {
			if !strings.HasSuffix(strings.TrimSpace(s.Content), p.By) {
				return validators.Fail("the letter does not end with %s", p.By), nil
			}
			return validators.Pass("%s has signed", p.By), nil
		})

	r, err := runner.New(runner.WithValidators(signed))
	if err != nil {
		panic(err)
	}
	c, err := r.Parse("letter.yaml", []byte(`
cascade_id: letter
inputs_schema: {letter: {type: string}}
phases:
  - name: send
    compose: "{{ input.letter }}"
    wards:
      post: [{validator: signed, with: {by: Ada}}]
`))
	if err != nil {
		panic(err)
	}
	for _, letter := range []string{"Dear Grace, … Ada", "Dear Grace, …"} {
		res, err := r.Run(context.Background(), c, map[string]any{"letter": letter})
		var rejected *engine.Error
		if errors.As(err, &rejected) && rejected.Code == engine.Blocked {
			fmt.Println("rejected:", res.Verdicts[0].Reason)
			continue
		}
		fmt.Println(res.Output)
	}
	// Output:
	// Dear Grace, … Ada
	// rejected: the letter does not end with Ada
}

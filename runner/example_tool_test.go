package runner_test

import (
	"context"
	"fmt"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Your tool is a function with typed parameters. It declares its effects, so that Capstan
// knows whether a call may be repeated after a crash.
func ExampleWithTools() {
	price := tool.New("price", "Returns the price of an article in euros",
		func(_ context.Context, p struct {
			Article string `json:"article" jsonschema:"name of the article"`
		}) (any, error) {
			prices := map[string]float64{"kettle": 39.5}
			euros, known := prices[p.Article]
			if !known {
				return nil, fmt.Errorf("no article is called %s", p.Article)
			}
			return euros, nil
		}).WithEffect(tool.None)

	r, err := runner.New(runner.WithTools(price))
	if err != nil {
		panic(err)
	}
	// A phase calls the tool itself here. A model calls the tools in the list tackle.
	c, err := r.Parse("price.yaml", []byte(`
cascade_id: price
inputs_schema: {article: {type: string}}
phases:
  - {name: find, tool: price, inputs: {article: "{{ input.article }}"}}
  - {name: say, compose: "The {{ input.article }} costs {{ outputs.find }} euros."}
`))
	if err != nil {
		panic(err)
	}
	res, err := r.Run(context.Background(), c, map[string]any{"article": "kettle"})
	fmt.Println(res.Output, err)
	_, err = r.Run(context.Background(), c, map[string]any{"article": "pot"})
	fmt.Println(err)
	// Output:
	// The kettle costs 39.5 euros. <nil>
	// phase find: failed: tool price: error: no article is called pot
}

package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// A journal stores runs in a file. A run that waits for a person ends, and a later call of
// Resume continues it with the answer. There is a single call of the model.
func ExampleWithJournal() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(filepath.Join(dir, "runs.db"), journal.Options{})
	if err != nil {
		panic(err)
	}
	defer j.Close()
	calls := 0
	r, err := runner.New(runner.WithJournal(j), runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
		calls++
		return model.Response{Text: "Owls hunt at night."}, nil
	})))
	if err != nil {
		panic(err)
	}
	c, err := r.Parse("post.yaml", []byte(`
cascade_id: post
phases:
  - {name: draft, instructions: Write about owls., human_input: {prompt: "Publish it?", type: confirmation}}
`))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	res, err := r.Run(ctx, c, nil, runner.WithRunID("owls"))
	fmt.Println(res.Status, err)
	if err := j.Answer(ctx, "owls", "", engine.Answer{Value: true, By: "Ada"}); err != nil {
		panic(err)
	}
	res, err = r.Resume(ctx, "owls")
	fmt.Println(res.Output, err, calls)
	// Output:
	// waiting phase draft: waiting: Publish it?
	// Owls hunt at night. <nil> 1
}

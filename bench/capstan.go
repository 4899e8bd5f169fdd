package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// source is the workload as a cascade.
const source = `cascade_id: bench
phases:
  - name: a
    instructions: "Say: {{ input.words }}"
    rules: {max_turns: %d, turn_prompt: "{{ input.words }}"}
    wards:
      turn:
        - {expr: "len(content) > 2", mode: retry}
        - {validator: non_empty, mode: retry}
        - {validator: max_length, with: {max: 1000}, mode: retry}
`

// gated runs the cascade without a journal. A sink encodes every event.
func gated(url string, turns int) (talk, error) {
	return capstan(url, turns, runner.WithSink(event.Func(func(e event.Event) {
		if e.Kind == event.ModelReplied {
			e.MarshalJSON()
		}
	})))
}

// journaled runs the cascade with a journal at its default durability, so a
// killed run can be resumed. The file is deleted when the process ends.
func journaled(url string, turns int) (talk, error) {
	dir := os.Getenv(scratch)
	if dir == "" {
		return nil, fmt.Errorf("%s names no folder", scratch)
	}
	j, err := journal.Open(filepath.Join(dir, fmt.Sprintf("%d-%d.db", os.Getpid(), turns)), journal.Options{})
	if err != nil {
		return nil, err
	}
	return capstan(url, turns, runner.WithJournal(j))
}

func capstan(url string, turns int, options ...runner.Option) (talk, error) {
	client, err := openai.New(openai.Options{BaseURL: url, APIKey: "key"})
	if err != nil {
		return nil, err
	}
	r, err := runner.New(append(options, runner.WithModel(client), runner.WithModelName("m"))...)
	if err != nil {
		return nil, err
	}
	c, err := cascades.Parse("bench.yaml", fmt.Appendf(nil, source, turns), nil, r.Known())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		_, err := r.Run(ctx, c, map[string]any{"words": words})
		return err
	}, nil
}

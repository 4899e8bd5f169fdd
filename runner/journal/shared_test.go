package journal

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/model"
)

// TestAttemptsShared: shared and replayed attempts are marked, and repeated
// ones are not.
func TestAttemptsShared(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		text := "Hello"
		if r.Validator != "" {
			text = `{"valid": true, "reason": "warm"}`
		}
		return model.Response{Text: text, Usage: model.Usage{Calls: 1}}, nil
	})
	const source = `cascade_id: p
phases:
  - {name: draft, instructions: Write., wards: {post: [{expr: "len(content) > 2"}, {judge: "Is it friendly?", name: tone, mode: retry}]}}
  - {name: sum, instructions: Sum up., wards: {post: [{expr: "len(content) > 2"}]}}
`
	run := func(name, id string, m model.Model, more ...runner.RunOption) {
		t.Helper()
		r, c := runnerOver(t, j, m, runner.WithModelName(name)), load(t, source)
		if _, err := r.Run(t.Context(), c, nil, append(more, runner.WithRunID(id))...); err != nil {
			t.Fatal(err)
		}
	}
	run("m", "one", m)
	run("m", "two", m, runner.WithParent("one", "sum"))
	replayed, err := j.Replay(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	run("replay:one", "three", replayed)
	got := map[string]string{}
	for _, a := range attemptsOf(t, j, Filter{}) {
		words := fmt.Sprint(a.Shared)
		for _, v := range a.Verdicts {
			words += fmt.Sprint(" ", v.Shared)
		}
		got[a.RunID+" "+a.Phase] = words
	}
	for what, want := range map[string]string{
		"one draft": "false false false", "one sum": "false false", "two draft": "true true true", "two sum": "false false",
		"three draft": "true true true", "three sum": "true true",
	} {
		if got[what] != want {
			t.Errorf("%s: %s, want %s", what, got[what], want)
		}
	}
}

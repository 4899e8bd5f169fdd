package runner_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// BenchmarkKept is BenchmarkGatedTurn with a journal at the default durability.
// The difference is the cost of storing every run.
func BenchmarkKept(b *testing.B) {
	w := workloads[0]
	url := modelServer(b, w.reply)
	for _, turns := range []int{1, 10, 50} {
		for _, width := range []int{1, 64} {
			b.Run(fmt.Sprintf("turns=%d/at=%d", turns, width), func(b *testing.B) {
				j, err := journal.Open(filepath.Join(b.TempDir(), "runs.db"), journal.Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer j.Close()
				rounds(b, gatedRun(b, url, w, turns, runner.WithJournal(j)), bareRun(b, bareClient(url), turns), width, turns)
			})
		}
	}
}

// TestBytesOfATurn checks the size of a turn in the file: a prompt and a reply
// of some 720 bytes, three checks and all events.
func TestBytesOfATurn(t *testing.T) {
	size := func(turns int) int64 {
		file := filepath.Join(t.TempDir(), "runs.db")
		j, err := journal.Open(file, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		m := model.Func(func(context.Context, model.Request) (model.Response, error) {
			calls++
			return model.Response{
				Text: fmt.Sprintf("reply %d %s", calls, strings.Repeat("a word ", 30)), Model: "gpt", Finish: "stop",
				Usage: model.Usage{Calls: 1, InputTokens: 1000, OutputTokens: 100},
			}, nil
		})
		r := newRunner(t, runner.WithModel(m), runner.WithModelName("m"), runner.WithJournal(j))
		c := parsed(t, r, fmt.Sprintf(`cascade_id: talk
phases:
  - name: a
    instructions: "Say: {{ input.words }}"
    rules: {max_turns: %d, turn_prompt: "{{ turn }} {{ input.words }}"}
    wards:
      turn: [{expr: "len(content) > 2"}, {validator: non_empty, mode: retry}, {validator: max_length, with: {max: 1000}, mode: retry}]`, turns))
		if _, err := r.Run(t.Context(), c, map[string]any{"words": strings.Repeat("b word ", 70)}); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if n := (size(400) - size(200)) / 200; n > 1700 { // on a busy machine, packs are smaller
		t.Errorf("a turn takes %d bytes", n)
	} else {
		t.Logf("a turn takes %d bytes", n)
	}
}

package runner_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// BenchmarkKept is BenchmarkGatedTurn with the run kept, at the default
// durability: what it costs to keep every run.
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

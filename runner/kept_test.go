//go:build unix

package runner_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
)

// BenchmarkKept holds the turn of BenchmarkGatedTurn against the bare call of
// the same history when the run is kept, at the default durability: what it
// costs to keep every run. Bare, gated and kept conversations take turns, so
// that what else the machine does is the same for all; the ratios are to the
// bare ones, of the time that passed and of the processors' time, and the model's
// server is in both.
func BenchmarkKept(b *testing.B) {
	url := loopback(b)
	for _, turns := range []int{1, 10, 50} {
		for _, width := range []int{1, 64} {
			b.Run(fmt.Sprintf("turns=%d/width=%d", turns, width), func(b *testing.B) {
				j, err := journal.Open(filepath.Join(b.TempDir(), "runs.db"), journal.Options{})
				if err != nil {
					b.Fatal(err)
				}
				defer j.Close()
				client := bareClient(url)
				kinds := []*spending{
					{run: func() { bareRun(b, client, turns) }},
					{run: gatedRun(b, url, turns)},
					{run: gatedRun(b, url, turns, runner.WithJournal(j))},
				}
				for b.Loop() {
					for _, s := range kinds {
						s.spend(width)
					}
				}
				bare, gated, kept := kinds[0], kinds[1], kinds[2]
				n := float64(b.N * width * turns)
				b.ReportMetric(float64(bare.cpu.Microseconds())/n, "bare-cpu-µs/turn")
				b.ReportMetric(float64(kept.cpu-gated.cpu)/1e3/n, "journal-cpu-µs/turn")
				b.ReportMetric(gated.wall.Seconds()/bare.wall.Seconds(), "gated/bare")
				b.ReportMetric(kept.wall.Seconds()/bare.wall.Seconds(), "kept/bare")
				b.ReportMetric(gated.cpu.Seconds()/bare.cpu.Seconds(), "gated/bare-cpu")
				b.ReportMetric(kept.cpu.Seconds()/bare.cpu.Seconds(), "kept/bare-cpu")
			})
		}
	}
}

// spending is what the runs of one kind have taken.
type spending struct {
	run       func()
	wall, cpu time.Duration
}

// spend has as many runs at the same time.
func (s *spending) spend(width int) {
	began, had := time.Now(), processors()
	var all sync.WaitGroup
	for range width {
		all.Go(s.run)
	}
	all.Wait()
	s.wall += time.Since(began)
	s.cpu += processors() - had
}

// processors is the time that the processors gave to this process.
func processors() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

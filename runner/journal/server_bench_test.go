//go:build unix

package journal

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/postgres/postgrestest"
)

// stores runs a benchmark over a file and over a PostgreSQL of its own, which is
// as careful as it comes but for fsync.
func stores(b *testing.B, body func(b *testing.B, j *Journal)) {
	b.Run("file", func(b *testing.B) { body(b, benchJournal(b, Options{})) })
	c, err := postgrestest.Start()
	if err != nil {
		b.Log(err)
		return
	}
	b.Cleanup(c.Stop)
	for name, o := range map[string]Options{"postgres": {}} {
		b.Run(name, func(b *testing.B) {
			schema := filepath.Base(b.TempDir()) + name
			j, err := Open(c.Address("postgres")+"&search_path=b"+schema+strings.ReplaceAll(time.Now().Format("150405.000000"), ".", ""), o)
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { j.Close() })
			body(b, j)
		})
	}
}

// spent is the processor time that this process has used.
func spent() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkStoreEffect is one effect of a run that is alone, with the events
// around it.
func BenchmarkStoreEffect(b *testing.B) {
	stores(b, func(b *testing.B, j *Journal) {
		r := begin(b, j, runner.Start{RunID: "run"})
		k := newTalker(r.Host(quick{sentence}), "run", sentence)
		var took []time.Duration
		began := spent()
		for b.Loop() {
			took = append(took, k.take(b))
		}
		b.ReportMetric(median(took), "median-µs/effect")
		b.ReportMetric(float64((spent()-began).Microseconds())/float64(len(took)), "cpu-µs/effect")
	})
}

// BenchmarkStoreRuns is runs of 9 effects that cost nothing, 64 at a time.
func BenchmarkStoreRuns(b *testing.B) {
	stores(b, func(b *testing.B, j *Journal) {
		began := spent()
		b.ResetTimer()
		fill(b, j, b.N, 9)
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		b.ReportMetric(float64((spent()-began).Microseconds())/float64(9*b.N), "cpu-µs/effect")
	})
}

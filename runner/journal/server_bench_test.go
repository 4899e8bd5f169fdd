//go:build unix

package journal

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/postgrestest"
	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// stores runs a benchmark over a file, and over a separate PostgreSQL with default
// settings except fsync.
func eachStore(b *testing.B, body func(b *testing.B, j *Journal, server int)) {
	b.Run("file", func(b *testing.B) { body(b, benchJournal(b, Options{}), 0) })
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
			body(b, j, c.PID())
		})
	}
}

// served returns the processor time of a server's processes, if /proc exists.
func served(server int) (all time.Duration) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range list {
		raw, _ := os.ReadFile(name)
		f := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		if len(f) < 15 || f[1] != strconv.Itoa(server) && !strings.HasPrefix(string(raw), strconv.Itoa(server)+" ") {
			continue
		}
		for _, ticks := range f[11:15] { // its own, and that of ended children
			n, _ := strconv.Atoi(ticks)
			all += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return all
}

// BenchmarkStoreEffect measures one effect of a single run with its events.
func BenchmarkStoreEffect(b *testing.B) {
	eachStore(b, func(b *testing.B, j *Journal, server int) {
		r := begin(b, j, runner.Start{RunID: "run"})
		k := newTalker(r.Host(quick{"Reply {turn}: " + sentence}), "run", sentence)
		var took []time.Duration
		began := processor.Time()
		for b.Loop() {
			took = append(took, k.take(b))
		}
		b.ReportMetric(median(took), "median-µs/effect")
		b.ReportMetric(float64((processor.Time()-began).Microseconds())/float64(len(took)), "cpu-µs/effect")
	})
}

// BenchmarkStoreRuns measures 64 concurrent runs of 9 free effects.
func BenchmarkStoreRuns(b *testing.B) {
	eachStore(b, func(b *testing.B, j *Journal, server int) {
		began, servedBefore := processor.Time(), served(server)
		b.ResetTimer()
		fill(b, j, b.N, 9)
		if server != 0 {
			b.ReportMetric(float64((served(server)-servedBefore).Microseconds())/float64(9*b.N), "server-cpu-µs/effect")
		}
		err := j.db.Read(b.Context(), func(c *stores.Conn) error {
			size, err := j.db.Store.Size(c)
			b.ReportMetric(float64(size)/float64(9*b.N), "bytes/effect")
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
		b.ReportMetric(float64((processor.Time()-began).Microseconds())/float64(9*b.N), "cpu-µs/effect")
	})
}

package receipts_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/receipts"
)

var lines = strings.Repeat(strings.Repeat("x", 79)+"\n", 512)

// endless is a text of lines, of any length, that nobody holds.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left, len(lines))
	copy(p, lines[:n])
	e.left -= n
	return n, nil
}

// BenchmarkVerifyGigabyte verifies a text of 1 GB, and a different text, which is
// compared in every spelling. Heap is the additional memory in MB.
func BenchmarkVerifyGigabyte(b *testing.B) {
	const size = 1 << 30
	key, trust := pair(b, 1)
	sum := sha256.New()
	io.Copy(sum, &endless{size})
	c := claim("")
	c.Text = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	sealed := issue(b, key, c)
	for name, n := range map[string]int{"passed": size, "refused": size - 1} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(size)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for b.Loop() {
				text := func() (io.ReadCloser, error) { return io.NopCloser(&endless{n}), nil }
				if r := receipts.Verify(text, sealed, trust, receipts.Demand{}); r.Verdict != name {
					b.Fatal(r)
				}
			}
			runtime.ReadMemStats(&after)
			b.ReportMetric((float64(after.HeapSys)-float64(before.HeapSys))/1e6, "MB-heap")
		})
	}
}

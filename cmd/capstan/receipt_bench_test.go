package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkReceipt measures a run of one model call, which takes 200 ms or 2 s,
// with and without a receipt.
//
// The runs alternate in processes of their own. It reports the shortest time,
// which other load disturbs least, the receipt's share of the time in per cent,
// and the receipt's CPU time. Nearly all of this is the digest of the program,
// which is computed while the model answers.
func BenchmarkReceipt(b *testing.B) {
	dir := b.TempDir()
	file, key, out := filepath.Join(dir, "post.yaml"), filepath.Join(dir, "private.pem"), filepath.Join(dir, "receipt.json")
	text := "cascade_id: post\nphases:\n  - {name: draft, instructions: Write., wards: {post: [{validator: no_secrets}, {validator: non_empty}]}}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	binary := built(b)
	if output, err := exec.Command(binary, "receipt", "keygen", "--dir", dir).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	for _, takes := range []time.Duration{200 * time.Millisecond, 2 * time.Second} {
		b.Run(takes.String(), func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				time.Sleep(takes)
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"choices":[{"message":{"content":"Owls hunt at night."},"finish_reason":"stop"}]}`)
			}))
			defer server.Close()
			run := func(more ...string) (wall, cpu time.Duration) {
				cmd := exec.Command(binary, append([]string{"run", file, "--model", "vllm:m", "--store", "off", "-q"}, more...)...)
				cmd.Env = append(os.Environ(), "VLLM_BASE_URL="+server.URL+"/v1")
				began := time.Now()
				if output, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v\n%s", err, output)
				}
				return time.Since(began), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			}
			var walls, cpus [2][]time.Duration
			for b.Loop() {
				for i, more := range [][]string{nil, {"--receipt", out, "--signing-key", key}} {
					wall, cpu := run(more...)
					walls[i], cpus[i] = append(walls[i], wall), append(cpus[i], cpu)
				}
			}
			least := func(list []time.Duration) float64 { return slices.Min(list).Seconds() * 1000 }
			b.ReportMetric(least(walls[0]), "ms-without")
			b.ReportMetric(least(walls[1]), "ms-with")
			b.ReportMetric(100*(least(walls[1])/least(walls[0])-1), "%-of-the-run")
			b.ReportMetric(least(cpus[1])-least(cpus[0]), "CPU-ms")
		})
	}
}

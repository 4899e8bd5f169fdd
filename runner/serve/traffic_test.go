//go:build unix

package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/processor"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

// busy returns a world with a cascade whose calls take no processor time.
func busy(b *testing.B, phases, limit int, pause time.Duration) *servetest.World {
	b.Helper()
	var text strings.Builder
	text.WriteString("cascade_id: busy\nmodel: m\nphases:\n")
	for i := range phases {
		fmt.Fprintf(&text, "  - {name: phase_%d, instructions: Write.}\n", i)
	}
	file := filepath.Join(b.TempDir(), "busy.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	w := servetest.New(b, func(o *serve.Options) {
		o.Every, o.Cascades, o.Limit, o.Done = 0, map[string]string{"busy": file, "slow": o.Cascades["slow"]}, limit, nil
	})
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		time.Sleep(pause)
		return model.Response{Text: "a text", Usage: model.Usage{Calls: 1}}, nil
	})
	return w
}

// A caller is a client with one connection and little overhead.
type caller struct {
	net.Conn
	in *bufio.Reader
}

func newCaller(w *servetest.World) *caller {
	c, err := net.Dial("tcp", w.HTTP.Listener.Addr().String())
	if err != nil {
		w.Fatal(err)
	}
	return &caller{c, bufio.NewReader(c)}
}

// order orders a run and returns the status of the answer.
func (c *caller) order(body string) (int, error) {
	_, err := fmt.Fprintf(c, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	if err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// follow reads the events of a run to its end.
func (c *caller) follow(id string, data func([]byte)) error {
	if _, err := io.WriteString(c, "GET /v1/runs/"+id+"/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	in := bufio.NewReader(resp.Body)
	for {
		line, err := in.ReadSlice('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if text, ok := bytes.CutPrefix(line, []byte("data: ")); ok && data != nil {
			data(text)
		}
	}
}

// busyOrder orders a run of the busy cascade.
func busyOrder(id string) string { return `{"cascade": "busy", "run_id": "` + id + `"}` }

// BenchmarkOrders measures 16 clients that order runs of seven calls and follow these runs to
// their ends. The metric cpu-ms is the CPU time of server and clients per run.
func BenchmarkOrders(b *testing.B) {
	w := busy(b, 7, 64, 0)
	var left atomic.Int64
	var clients sync.WaitGroup
	b.ResetTimer()
	before := processor.Time()
	for range 16 {
		clients.Go(func() {
			c := newCaller(w)
			defer c.Close()
			for {
				n := left.Add(1)
				if n > int64(b.N) {
					return
				}
				id := fmt.Sprint("run", n)
				status, err := c.order(busyOrder(id))
				if err == nil && status == http.StatusAccepted {
					err = c.follow(id, nil)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	clients.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64((processor.Time()-before).Microseconds())/1e3/float64(b.N), "cpu-ms/run")
}

// BenchmarkEventToClient measures the age of events on arrival.
func BenchmarkEventToClient(b *testing.B) {
	w := busy(b, 7, 64, 3*time.Millisecond)
	var ages []time.Duration
	n := 0
	for b.Loop() {
		n++
		id := fmt.Sprint("run", n)
		c := newCaller(w)
		if _, err := c.order(busyOrder(id)); err != nil {
			b.Fatal(err)
		}
		err := c.follow(id, func(data []byte) {
			var e struct{ Time time.Time }
			if json.Unmarshal(data, &e) == nil && !e.Time.IsZero() {
				ages = append(ages, time.Since(e.Time))
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
	slices.Sort(ages)
	b.ReportMetric(float64(ages[len(ages)/2].Microseconds())/1e3, "ms-median")
	b.ReportMetric(float64(ages[len(ages)*99/100].Microseconds())/1e3, "ms-p99")
}

// BenchmarkFollowers measures a run that a thousand clients follow.
func BenchmarkFollowers(b *testing.B) {
	const followers = 1000
	w := busy(b, 50, 64, 20*time.Millisecond)
	n := 0
	var cpu time.Duration
	var most atomic.Uint64
	for b.Loop() {
		n++
		id := fmt.Sprint("run", n)
		before := processor.Time()
		if r := w.Send("POST", "/v1/runs", busyOrder(id)); r.StatusCode != 202 {
			b.Fatal(r.Text)
		}
		var all sync.WaitGroup
		var events atomic.Int64
		for i := range followers {
			c := newCaller(w)
			all.Go(func() {
				defer c.Close()
				err := c.follow(id, func([]byte) {
					if events.Add(1)%50_000 == 0 { // all are connected
						var m runtime.MemStats
						runtime.ReadMemStats(&m)
						most.Store(max(most.Load(), m.HeapInuse+m.StackInuse))
					}
				})
				if err != nil {
					b.Error(i, err)
				}
			})
		}
		all.Wait()
		cpu += processor.Time() - before
		if want := int64(followers * (len(storedEvents(w, id, 0)) + 1)); events.Load() != want {
			b.Fatalf("%d events, want %d", events.Load(), want)
		}
	}
	b.ReportMetric(cpu.Seconds()/float64(n), "cpu-s")
	b.ReportMetric(float64(most.Load())/1e6, "MB")
}

// BenchmarkRefused orders runs of a full server.
func BenchmarkRefused(b *testing.B) {
	w := busy(b, 7, 1, 0)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`)
	c := newCaller(w)
	defer c.Close()
	for b.Loop() {
		if status, err := c.order(`{"cascade": "busy"}`); status != http.StatusTooManyRequests {
			b.Fatal(status, err)
		}
	}
	close(w.Hold)
}

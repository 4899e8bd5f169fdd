//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/temporal"
)

// TestServerCarriesMuch checks that long texts are in the store and histories
// stay small. It runs 400 effects of 100 KB, a fan-out over 2,000 items, and an
// input of 50 MB.
func TestServerCarriesMuch(t *testing.T) {
	f := newFleet(t)
	f.worker("one")
	f.worker("two")
	long := strings.Repeat("0123456789", 10<<10)
	f.model.answer = func(what string) string {
		if strings.HasPrefix(what, "long") {
			return long
		}
		return what
	}
	list := listOf(400)["list"].([]any)
	for i := range list {
		list[i] = fmt.Sprint("long ", i)
	}
	text := strings.Repeat("0123456789abcdef\n", 50<<20/17)
	for _, c := range []struct {
		id, source string
		input      map[string]any
		output     string
		most       int64 // the maximum size of a history, in bytes
	}{
		{"long", steps(8), map[string]any{"list": list}, "400", 4 << 20},
		{"wide", steps(8), listOf(2000), "2000", 4 << 20},
		{"big", "cascade_id: big\nphases:\n  - {name: a, compose: '{{ input.text }}', wards: {post: [{validator: lines}]}}\n  - {name: b, compose: '{{ outputs.a | length }}'}\n" +
			"validators:\n  lines: {exec: [sh, -c, 'echo \"{\\\"valid\\\": true, \\\"reason\\\": \\\"$(wc -c) bytes\\\"}\"']}\n", map[string]any{"text": text}, strconv.Itoa(len(text)), 64 << 10},
	} {
		began := time.Now()
		f.begin(c.id, c.source, c.input)
		result, err := f.runs.Wait(within(t, 5*time.Minute), c.id)
		if err != nil || result.Status != engine.Succeeded || result.Output != c.output {
			t.Fatalf("%s: %s, %+v: %v", c.id, result.Status, result.Error, err)
		}
		took := time.Since(began)
		histories, events, bytes := f.historySize(c.id)
		t.Logf("%s: %.1f s, %d histories, the longest of %d events and %d KB", c.id, took.Seconds(), histories, events, bytes>>10)
		if bytes > c.most {
			t.Errorf("%s: a history of %d bytes", c.id, bytes)
		}
	}
	asked, _ := f.model.counts()
	if len(asked) != 2400 {
		t.Errorf("%d effects were made, want 2,400", len(asked))
	}
	for what, n := range asked {
		if n != 1 {
			t.Errorf("%q was made %d times", what, n)
		}
	}
}

// TestServerSleepersCostNothing checks that waiting runs cost the workers
// nothing and continue after their answers. CAPSTAN_TEMPORAL_SLEEPERS sets
// their number. Default: 1,000.
func TestServerSleepersCostNothing(t *testing.T) {
	f := newFleet(t)
	many := 1000
	if n, err := strconv.Atoi(os.Getenv("CAPSTAN_TEMPORAL_SLEEPERS")); err == nil {
		many = n
	}
	pids := []int{f.worker("one", "--search-attributes").Process.Pid, f.worker("two", "--search-attributes").Process.Pid}
	began := time.Now()
	f.begin("sleeper-0", asks, nil)
	c := cluster{root: f.dir}
	r, err := c.runner()
	if err != nil {
		t.Fatal(err)
	}
	cascade, err := r.Load(f.write("asks.yaml", asks))
	if err != nil {
		t.Fatal(err)
	}
	var beginning sync.WaitGroup
	for k := range 8 {
		beginning.Go(func() {
			for i := k + 1; i < many; i += 8 {
				if err := f.runs.Begin(t.Context(), temporal.Request{RunID: fmt.Sprint("sleeper-", i), Cascade: cascade}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	beginning.Wait()
	f.sleeping(many, 10*time.Minute)
	asleep := time.Since(began)
	const while = 30 * time.Second
	before := spent(t, pids)
	time.Sleep(while)
	cost := spent(t, pids) - before
	t.Logf("%d runs wait, after %.0f s: two workers take %d ms of the processor's in %s, and %d MB", many, asleep.Seconds(), cost.Milliseconds(), while, resident(t, pids)>>20)
	if share := cost.Seconds() / while.Seconds(); share > 0.05 {
		t.Errorf("the workers take %.1f %% of a processor", 100*share)
	}
	for _, i := range []int{0, many / 2, many - 1} {
		id := fmt.Sprint("sleeper-", i)
		if err := f.runs.Answer(t.Context(), id, temporal.Answer{Value: "yes"}); err != nil {
			t.Fatal(err)
		}
		if result, err := f.runs.Wait(within(t, time.Minute), id); err != nil || result.Status != engine.Succeeded {
			t.Errorf("%s: %+v: %v", id, result, err)
		}
	}
}

// sleeping waits until a number of runs have the status waiting on Temporal's
// page.
func (f *fleet) sleeping(many int, atMost time.Duration) {
	f.t.Helper()
	for ctx := within(f.t, atMost); ; time.Sleep(time.Second) {
		n, err := f.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Query: "CapstanStatus = 'waiting' AND CapstanCascade = 'asks'"})
		if err != nil {
			f.t.Fatal(err)
		}
		if n.Count == int64(many) {
			return
		}
	}
}

// spent returns the processor time of processes.
func spent(t *testing.T, pids []int) (all time.Duration) {
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
		for _, field := range fields[11:13] { // utime and stime of proc(5), in hundredths of a second
			n, _ := strconv.Atoi(field)
			all += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return all
}

// resident returns the resident memory of processes.
func resident(t *testing.T, pids []int) (all int64) {
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			t.Fatal(err)
		}
		pages, _ := strconv.ParseInt(strings.Fields(string(raw))[1], 10, 64)
		all += pages * int64(os.Getpagesize())
	}
	return all
}

package runner_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

const underShadows = `cascade_id: bench
phases:
  - name: a
    instructions: Write.
    wards:
      post:
        - {validator: no_secrets, mode: retry}
        - {expr: "len(content) > 100", mode: retry}
`

const shadowing = `        - {validator: pii, mode: shadow}
        - {validator: input_sanitizer, mode: shadow}
        - {expr: 'content contains "bat"', mode: shadow}
`

// BenchmarkShadow measures three computed wards in shadow on a text of 5 KB
// with two other wards. It compares the CPU time of the thread for forty
// attempts with the wards and forty attempts without the wards, in turns. The
// result is the median of the ratios. If the wards cost nothing, the ratio is
// 1. go test ./runner -run - -bench Shadow -benchtime 100x
func BenchmarkShadow(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	text := strings.Repeat("An owl is a bird of the night. ", 170)
	var began, took time.Duration
	r := newRunner(b, runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: text, Usage: model.Usage{Calls: 1}}, nil
	})), runner.WithSink(event.Func(func(e event.Event) {
		switch e.Kind {
		case event.AttemptStarted:
			began = ofThread(b)
		case event.AttemptFinished:
			took += ofThread(b) - began
		}
	})))
	of := func(c *cascades.Cascade) time.Duration {
		took = 0
		mustRun(b, r, c)
		return took
	}
	without, with := parsed(b, r, underShadows), parsed(b, r, underShadows+shadowing)
	var ratios []float64
	var all time.Duration
	for b.Loop() {
		var one, other time.Duration
		for i := range 40 {
			if i%2 == 0 {
				one, other = one+of(without), other+of(with)
			} else {
				other, one = other+of(with), one+of(without)
			}
		}
		ratios = append(ratios, float64(other)/float64(one))
		all += one
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "times")
	b.ReportMetric(float64(all.Nanoseconds())/float64(40*len(ratios)), "cpu-ns/attempt")
}

// ofThread returns the processor time of this thread.
func ofThread(b *testing.B) time.Duration {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Nano())
}

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// percent returns the current GOGC value. It reads a metric, because a call of
// SetGCPercent and a second call to restore the value could undo a change by
// the collector.
func percent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// TestCollectSeldom checks that GOGC has precedence, and that a large heap is
// collected as usual in Go.
func TestCollectSeldom(t *testing.T) {
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	collectSeldom(func(string) string { return "50" })
	if got := percent(); got != usual {
		t.Errorf("with GOGC it is %d", got)
	}
	collectSeldom(func(string) string { return "" })
	if got := percent(); got != seldom {
		t.Errorf("without it is %d", got)
	}
	much := make([]byte, 2*little)
	for i := 0; percent() != usual && i < 1000; i++ {
		runtime.GC()
		runtime.Gosched() // a cleanup runs in a goroutine of its own
	}
	runtime.KeepAlive(much)
	if got := percent(); got != usual {
		t.Errorf("with much that lives it is %d", got)
	}
	for i := 0; percent() != seldom && i < 1000; i++ {
		runtime.GC()
		runtime.Gosched()
	}
	if got := percent(); got != seldom {
		t.Errorf("when it is gone it is %d", got)
	}
}

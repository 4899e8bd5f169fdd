package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// percent is how often the heap is collected. It is read, not set and set back:
// between the two the collector would be told otherwise, and that be undone.
func percent() int {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return int(sample[0].Value.Uint64())
}

// What the environment says of collecting holds, and much that lives is collected
// as Go does.
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
		runtime.Gosched() // what is told runs in a goroutine of its own
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

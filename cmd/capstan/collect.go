package main

import (
	"runtime"
	"runtime/debug"
)

// These constants set the garbage collector (GOGC). A run allocates much and
// retains little. At Go's default, a heap of a few megabytes is collected so
// often that this takes a tenth of the time. A larger live heap uses the
// default, so that large processes need no more memory.
const (
	seldom = 400
	usual  = 100
	little = 64 << 20 // bytes of live heap
)

// collectSeldom sets a high GOGC while the live heap is small, unless the
// environment sets GOGC. GOMEMLIMIT applies in any case.
func collectSeldom(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(seldom)
		watch(seldom)
	}
}

// watch adjusts GOGC after each collection, by the size of the live heap.
func watch(percent int) {
	runtime.AddCleanup(new([16]byte), func(percent int) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		next := percentOf(m.NextGC * 100 / uint64(100+percent)) // the size of the live heap, which NextGC exceeds by that percentage
		if next != percent {
			debug.SetGCPercent(next)
		}
		watch(next)
	}, percent)
}

func percentOf(live uint64) int {
	if live > little {
		return usual
	}
	return seldom
}

package main

import (
	"runtime"
	"runtime/debug"
)

// How much more than what lives the heap may hold before it is collected, in per
// cent. Runs leave much behind and keep little, and a heap of some megabytes is
// collected so often at Go's own setting that it takes a tenth of the time. What
// holds more is collected as Go does, so that a large process is no larger.
const (
	seldom = 400
	usual  = 100
	little = 64 << 20 // bytes that live
)

// collectSeldom has the heap collected seldom while little lives in it, unless the
// environment says how often (GOGC). A limit that it sets (GOMEMLIMIT) holds in
// any case.
func collectSeldom(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(seldom)
		watch(seldom)
	}
}

// watch looks after each collection at what lives: nothing holds what it has the
// collector find.
func watch(percent int) {
	runtime.AddCleanup(new([16]byte), func(percent int) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		next := percentOf(m.NextGC * 100 / uint64(100+percent)) // what lived, of which the next is that much more
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

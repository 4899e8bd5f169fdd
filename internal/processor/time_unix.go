//go:build unix

// Package processor measures the processor time of tests. [Time] returns a total, so
// the time of a check is the difference of two calls.
package processor

import (
	"syscall"
	"time"
)

// Time returns the processor time of this process since its start.
func Time() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

//go:build unix

// Package processor tells tests what they take of the cores.
package processor

import (
	"syscall"
	"time"
)

// Time is what this process has had of the cores.
func Time() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

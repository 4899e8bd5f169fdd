package processor

import (
	"syscall"
	"time"
)

// Time returns the processor time of this process since its start.
func Time() time.Duration {
	self, err := syscall.GetCurrentProcess()
	var made, ended, kernel, user syscall.Filetime
	if err != nil || syscall.GetProcessTimes(self, &made, &ended, &kernel, &user) != nil {
		return 0
	}
	return 100 * time.Duration(ticks(kernel)+ticks(user))
}

// ticks returns a time in units of 100 ns.
func ticks(t syscall.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }

//go:build !unix && !windows

// Package processor measures the processor time of tests. [Time] returns a total, so
// the time of a check is the difference of two calls.
package processor

import "time"

// Time returns 0, because this system does not report it.
func Time() time.Duration { return 0 }

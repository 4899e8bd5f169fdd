//go:build !unix && !windows

// Package processor tells tests what they take of the cores.
package processor

import "time"

// Time is not known here: what is compared of it is then nothing.
func Time() time.Duration { return 0 }

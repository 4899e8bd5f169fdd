//go:build !unix

package validatorstest

import "time"

// cpuTime is not asked for here.
func cpuTime() time.Duration { return 0 }

package query

import (
	"context"
	"fmt"
	"time"
)

// maxMemory is the maximum growth of the memory of the process during a statement, in
// bytes. SQLite sorts and joins in memory without a limit.
const maxMemory = 512 << 20

// memoryInterval is the time between two measurements of the memory.
const memoryInterval = 20 * time.Millisecond

// errMemory is the error of a statement that exceeds maxMemory.
var errMemory = fmt.Errorf("the statement took more than %d MiB of memory", maxMemory>>20)

// limitMemory returns a context that ends if the memory of the process grows by more
// than maxMemory. On systems without a measurement, only the timeout limits a
// statement.
func limitMemory(ctx context.Context) (context.Context, func()) {
	before, ok := resident()
	ctx, cancel := context.WithCancelCause(ctx)
	if !ok {
		return ctx, func() { cancel(nil) }
	}
	tick := time.NewTicker(memoryInterval)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if now, ok := resident(); ok && now > before+maxMemory {
				cancel(errMemory)
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

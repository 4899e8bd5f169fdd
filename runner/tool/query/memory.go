package query

import (
	"context"
	"fmt"
	"time"
)

// maxMemory is how much more memory the process may take while a statement runs,
// in bytes: SQLite sorts and joins in memory, as much as there is.
const maxMemory = 512 << 20

// pulse is how often the memory is looked at.
const pulse = 20 * time.Millisecond

// errMemory says that a statement took too much.
var errMemory = fmt.Errorf("the statement took more than %d MiB of memory", maxMemory>>20)

// watched is a context that ends where the process takes too much memory from then
// on. Where the system does not tell it, the time that a statement has bounds it
// alone.
func watched(ctx context.Context) (context.Context, func()) {
	before, ok := resident()
	ctx, cancel := context.WithCancelCause(ctx)
	if !ok {
		return ctx, func() { cancel(nil) }
	}
	tick := time.NewTicker(pulse)
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

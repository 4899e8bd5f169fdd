package stores

import "context"

// Limits for the copy from SQLite's log (WAL) to the file.
const (
	CheckpointAfter = 1500  // jobs, of one or a few pages each
	checkpointAlone = 8000  // pages: from here on the rest is copied while nobody writes
	checkpointAtAll = 16000 // pages: from here on the writer waits for the copy
)

// A checkpointer copies SQLite's log to the file on its own connection, because the
// syncs take longer than a thousand effects. It connects at the first copy, because
// most runs end earlier.
type checkpointer struct {
	dial         func() (*Conn, error)
	C            *Conn // nil before the first copy
	RestartPages int64 // length of the log, in pages, from which it is restarted
	requests     chan struct{}
	done         chan struct{}
}

// newCheckpointer returns a checkpointer that copies concurrently with the writer. For
// a long log it takes the writer's turn to copy the rest. SQLite then restarts the log
// in cached pages, which halves the cost of writing.
func newCheckpointer(dial func() (*Conn, error), turn chan struct{}) *checkpointer {
	k := &checkpointer{dial, nil, checkpointAlone, make(chan struct{}, 1), make(chan struct{})}
	go func() {
		defer close(k.done)
		for range k.requests {
			if k.copy() >= k.RestartPages {
				turn <- struct{}{}
				k.copy()
				<-turn
			}
		}
	}()
	return k
}

// copy copies the log without waiting, possibly in part, and returns its length in
// pages. A later call, or SQLite itself, copies the rest.
func (k *checkpointer) copy() (pages int64) {
	if k.C == nil {
		c, err := k.dial()
		if err != nil {
			return 0
		}
		k.C = c
	}
	if row, err := k.C.One(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)"); err == nil && len(row) > 1 {
		pages = Integer(row[1])
	}
	return pages
}

// Request schedules a copy.
func (k *checkpointer) Request() {
	select {
	case k.requests <- struct{}{}:
	default: // a request is already waiting
	}
}

func (k *checkpointer) close() error {
	close(k.requests)
	if <-k.done; k.C == nil {
		return nil
	}
	return k.C.Close()
}

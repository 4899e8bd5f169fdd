package journal

import "context"

// How much is written before it is copied from SQLite's log to the file.
const (
	checkpointAfter = 1500  // jobs, of a page or a few each
	checkpointAlone = 8000  // pages: then nobody writes while the rest is copied
	checkpointAtAll = 16000 // pages: then the writer waits for it
)

// A checkpointer copies what was written from SQLite's log to the file, on a
// connection of its own: its syncs take longer than a thousand effects do. Most
// runs end before there is anything to copy, so it connects when there is.
type checkpointer struct {
	dial func() (*conn, error)
	c    *conn // nil before the first copy
	most int64 // pages of the log: from then on it begins anew
	asks chan struct{}
	over chan struct{}
}

// newCheckpointer makes one that copies while others write. Of a log that has
// become long it copies the rest when it has the turn: then SQLite begins it
// anew, in pages that the system has at hand, which are half as dear to write.
func newCheckpointer(dial func() (*conn, error), turn chan struct{}) *checkpointer {
	k := &checkpointer{dial, nil, checkpointAlone, make(chan struct{}, 1), make(chan struct{})}
	go func() {
		defer close(k.over)
		for range k.asks {
			if k.copy() >= k.most {
				turn <- struct{}{}
				k.copy()
				<-turn
			}
		}
	}()
	return k
}

// copy copies what it can without waiting, and tells how many pages the log has.
// What it cannot copy, a later one does, or SQLite when the log is at its longest.
func (k *checkpointer) copy() (pages int64) {
	if k.c == nil {
		c, err := k.dial()
		if err != nil {
			return 0
		}
		k.c = c
	}
	if row, err := k.c.one(context.Background(), "PRAGMA wal_checkpoint(PASSIVE)"); err == nil && len(row) > 1 {
		pages = integer(row[1])
	}
	return pages
}

func (k *checkpointer) ask() {
	select {
	case k.asks <- struct{}{}:
	default: // it has enough to do
	}
}

func (k *checkpointer) close() error {
	close(k.asks)
	if <-k.over; k.c == nil {
		return nil
	}
	return k.c.Close()
}

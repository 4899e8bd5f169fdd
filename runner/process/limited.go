package process

import (
	"bytes"
	"io"
	"sync"
)

// limited keeps what is written up to max bytes and calls full at the first
// byte too many. It is locked since a copy that outlives Run's patience may
// still be writing.
type limited struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	max  int64
	full func()
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	room := l.max - int64(l.buf.Len())
	if int64(len(p)) <= room {
		return l.buf.Write(p)
	}
	l.buf.Write(p[:room])
	l.full()
	return int(room), io.ErrShortWrite
}

func (l *limited) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.buf.Bytes())
}

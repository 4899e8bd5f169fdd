package process

import (
	"bytes"
	"io"
	"sync"
)

// limited keeps what is written up to max bytes and calls full at the first
// byte too many; with a tail, it keeps that many bytes of the end and is never
// full. It is locked since a copy that outlives Run's patience may
// still be writing.
type limited struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	max  int64
	full func()
	tail int
}

// Write implements [io.Writer].
func (l *limited) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tail > 0 {
		return l.last(p)
	}
	room := l.max - int64(l.buf.Len())
	if int64(len(p)) <= room {
		return l.buf.Write(p)
	}
	l.buf.Write(p[:room])
	l.full()
	return int(room), io.ErrShortWrite
}

// last keeps the end. The buffer may grow to twice of it, so that what is dropped
// is moved seldom.
func (l *limited) last(p []byte) (int, error) {
	l.buf.Write(p[max(0, len(p)-l.tail):])
	if l.buf.Len() > 2*l.tail {
		l.buf.Next(l.buf.Len() - l.tail)
	}
	return len(p), nil
}

func (l *limited) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if over := l.buf.Len() - l.tail; l.tail > 0 && over > 0 {
		l.buf.Next(over)
	}
	return bytes.Clone(l.buf.Bytes())
}

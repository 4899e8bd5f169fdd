package process

import (
	"bytes"
	"io"
	"sync"
)

// limited stores at most max bytes and calls full at the next byte. With a
// tail, it stores the last tail bytes instead and never calls full. It has a
// lock, because a copying goroutine may outlive Run.
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
		return l.writeTail(p)
	}
	room := l.max - int64(l.buf.Len())
	if int64(len(p)) <= room {
		return l.buf.Write(p)
	}
	l.buf.Write(p[:room])
	l.full()
	return int(room), io.ErrShortWrite
}

// writeTail stores the end of the output. The buffer may grow to twice the
// tail, so that bytes are moved rarely.
func (l *limited) writeTail(p []byte) (int, error) {
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

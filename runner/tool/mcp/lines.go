package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
)

// A lineReader reads the messages of a server, one in each line. It omits other output,
// such as a greeting or a log, and stores the first line of it.
type lineReader struct {
	io.Closer
	in    *bufio.Reader
	max   int    // the maximum size of a message in bytes
	fault *fault // set to errTooLarge by a longer message
	rest  []byte // the unread part of the message

	mu    sync.Mutex
	noise string
}

// Read implements [io.Reader]. It returns at most one message.
func (l *lineReader) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
		if m := message(line); m != nil {
			l.rest = append(m, '\n')
		} else {
			l.odd(line)
		}
		if err != nil && len(l.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := l.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > l.max+1 {
			return nil, l.fault.set(errTooLarge)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// message returns the JSON-RPC message in a line, or nil. Other text may
// precede it in the line.
func message(line []byte) []byte {
	if isMessage(line) {
		return line
	}
	if i := bytes.Index(line, []byte(`{"jsonrpc"`)); i > 0 && isMessage(line[i:]) {
		return line[i:]
	}
	return nil
}

// isMessage reports whether a text is a message or a batch. Logs can be JSON
// too.
func isMessage(text []byte) bool {
	type header struct{ JSONRPC string }
	var one header
	if !bytes.HasPrefix(text, []byte("[")) {
		return bytes.HasPrefix(text, []byte("{")) && json.Unmarshal(text, &one) == nil && one.JSONRPC != ""
	}
	var batch []header
	return json.Unmarshal(text, &batch) == nil && len(batch) > 0 && batch[0].JSONRPC != ""
}

// maxNoise is the maximum length of stored output in bytes.
const maxNoise = 200

func (l *lineReader) odd(line []byte) {
	text := strings.ToValidUTF8(string(line[:min(len(line), maxNoise)]), "\uFFFD")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noise = cmp.Or(l.noise, text)
}

// Noise returns the first line that is not a message, or "".
func (l *lineReader) Noise() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.noise
}

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

// lines are the messages that a server prints, a line each. What else it prints
// there, a greeting, a log, is left out: many servers do, and nothing is lost by
// it. The first of it is kept to be told.
type lines struct {
	io.Closer
	in    *bufio.Reader
	max   int    // bytes of one message
	fault *fault // set to errTooLarge by a longer one
	rest  []byte // of the message being read

	mu    sync.Mutex
	noise string
}

// Read implements [io.Reader]; it never gives more than one message at once.
func (l *lines) Read(p []byte) (int, error) {
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

func (l *lines) line() ([]byte, error) {
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

// message is what a line has of a message of JSON-RPC, or nil: all of it, or
// what follows a text that was printed without a line's end.
func message(line []byte) []byte {
	if isMessage(line) {
		return line
	}
	if i := bytes.Index(line, []byte(`{"jsonrpc"`)); i > 0 && isMessage(line[i:]) {
		return line[i:]
	}
	return nil
}

// isMessage tells a message, or a batch of them, from other JSON: logs are JSON
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

// maxNoise bounds what is told of noise, in bytes.
const maxNoise = 200

func (l *lines) odd(line []byte) {
	text := strings.ToValidUTF8(string(line[:min(len(line), maxNoise)]), "\uFFFD")
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noise = cmp.Or(l.noise, text)
}

// Noise is the first that was printed and is no message; "" for nothing.
func (l *lines) Noise() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.noise
}

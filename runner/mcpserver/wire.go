package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A wire is a connection over two streams, a message a line. Unlike the SDK's
// own it outlives what is no message: that is answered with an error. It knows
// which calls of tools are not answered yet, and at the end of the input waits
// for them a while before it tells.
type wire struct {
	out   io.Writer
	max   int
	grace time.Duration
	clean func(string) string
	log   *slog.Logger

	lines  chan line
	queue  []jsonrpc.Message // the rest of a batch; of Read alone
	broken error             // why reading has ended, but for the end of the input; set before lines is closed

	closed   chan struct{}
	close    sync.Once
	answered chan struct{} // told after each answer

	mu   sync.Mutex // of open, and of out
	open map[jsonrpc.ID]bool
}

// A line is a message as it came, or too long for one.
type line struct {
	text    []byte
	tooLong bool
}

// maxOpen bounds the calls that are not answered yet.
const maxOpen = 1000

func newWire(in io.Reader, out io.Writer, o Options) *wire {
	w := &wire{
		out: out, max: o.MaxMessage, grace: o.Grace, clean: o.Clean, log: o.Log, lines: make(chan line),
		closed: make(chan struct{}), answered: make(chan struct{}, 1), open: map[jsonrpc.ID]bool{},
	}
	go w.read(bufio.NewReaderSize(in, 64<<10))
	return w
}

// Connect implements [sdk.Transport]: a wire is its one connection.
func (w *wire) Connect(context.Context) (sdk.Connection, error) { return w, nil }

// SessionID implements [sdk.Connection]: there is one session.
func (w *wire) SessionID() string { return "" }

// Close implements [sdk.Connection]. A read from the input that is under way
// ends with the input.
func (w *wire) Close() error {
	w.close.Do(func() { close(w.closed) })
	return nil
}

// read takes the input apart. It has a goroutine of its own, for a read cannot
// be interrupted.
func (w *wire) read(in *bufio.Reader) {
	defer close(w.lines)
	for {
		l, err := w.line(in)
		if len(bytes.TrimSpace(l.text)) > 0 || l.tooLong {
			select {
			case w.lines <- l:
			case <-w.closed:
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				w.broken = fmt.Errorf("input: %w", err)
			}
			return
		}
	}
}

// line reads a line. Of one that is too long the rest is skipped.
func (w *wire) line(in *bufio.Reader) (line, error) {
	var l line
	for {
		part, err := in.ReadSlice('\n')
		if len(l.text)+len(part) > w.max+1 { // the line's end does not count
			l.text, l.tooLong = nil, true
		}
		if !l.tooLong {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, err
		}
	}
}

// Read implements [sdk.Connection].
func (w *wire) Read(context.Context) (jsonrpc.Message, error) {
	for {
		for len(w.queue) > 0 {
			m := w.queue[0]
			if w.queue = w.queue[1:]; w.takes(m) {
				return m, nil
			}
		}
		select {
		case l, ok := <-w.lines:
			if !ok {
				w.drain()
				return nil, io.EOF
			}
			w.queue = w.messages(l)
		case <-w.closed:
			return nil, io.EOF
		}
	}
}

// messages reads what a line says: a message, or a batch of them as early
// versions of the protocol have it, each of which is answered by itself.
func (w *wire) messages(l line) []jsonrpc.Message {
	switch text := bytes.TrimSpace(l.text); {
	case l.tooLong:
		w.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has at most %d bytes", w.max))
	case !utf8.Valid(text) || !json.Valid(text):
		w.refuse(jsonrpc.ID{}, jsonrpc.CodeParseError, "the line is not JSON")
	case text[0] != '[':
		return w.message(text)
	default:
		var batch []json.RawMessage
		if err := json.Unmarshal(text, &batch); err != nil || len(batch) == 0 {
			w.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the batch is empty")
		}
		var list []jsonrpc.Message
		for _, part := range batch {
			list = append(list, w.message(part)...)
		}
		return list
	}
	return nil
}

func (w *wire) message(text []byte) []jsonrpc.Message {
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		var sender struct{ ID any }
		_ = json.Unmarshal(text, &sender)
		id, _ := jsonrpc.MakeID(sender.ID)
		w.refuse(id, jsonrpc.CodeInvalidRequest, "the line is not a message of JSON-RPC 2.0: "+err.Error())
		return nil
	}
	return []jsonrpc.Message{m}
}

// takes tells whether a message goes on to the session, and remembers calls of
// tools until they are answered.
func (w *wire) takes(m jsonrpc.Message) bool {
	req, ok := m.(*jsonrpc.Request)
	if !ok || !req.IsCall() || req.Method != "tools/call" {
		return true
	}
	w.mu.Lock()
	full := len(w.open) >= maxOpen
	if !full {
		w.open[req.ID] = true
	}
	w.mu.Unlock()
	if full {
		w.refuse(req.ID, jsonrpc.CodeInternalError, fmt.Sprintf("more than %d calls are under way", maxOpen))
	}
	return !full
}

// drain waits for the calls that are under way.
func (w *wire) drain() {
	patience := time.NewTimer(w.grace)
	defer patience.Stop()
	for {
		w.mu.Lock()
		open := len(w.open)
		w.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-w.answered:
		case <-patience.C:
			w.log.Warn("the input has ended; calls under way are cancelled", "calls", open)
			return
		case <-w.closed:
			return
		}
	}
}

func (w *wire) refuse(id jsonrpc.ID, code int64, message string) {
	told, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id.Raw(), "error": map[string]any{"code": code, "message": message}})
	if err == nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.send(told) // a broken output shows at the next answer
	}
}

// Write implements [sdk.Connection].
func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	told, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok {
		delete(w.open, r.ID)
		defer func() {
			select {
			case w.answered <- struct{}{}:
			default:
			}
		}()
	}
	return w.send(told)
}

func (w *wire) send(told []byte) error {
	if w.clean != nil {
		told = cleaned(told, w.clean)
	}
	_, err := w.out.Write(append(told, '\n'))
	return err
}

// cleaned is a message without secrets. They are taken out of its texts, not of
// its JSON: a secret may look like a part of that.
func cleaned(told []byte, clean func(string) string) []byte {
	d := json.NewDecoder(bytes.NewReader(told))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil {
		return told
	}
	for _, part := range []string{"params", "result", "error"} {
		if value, ok := m[part]; ok {
			m[part] = scrubbed(value, clean)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return told
	}
	return out
}

func scrubbed(value any, clean func(string) string) any {
	switch value := value.(type) {
	case string:
		return clean(value)
	case json.Number:
		if text := clean(value.String()); text != value.String() {
			return text
		}
	case []any:
		for i := range value {
			value[i] = scrubbed(value[i], clean)
		}
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, v := range value {
			out[clean(key)] = scrubbed(v, clean)
		}
		return out
	}
	return value
}

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
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/requestids"
)

// A wire is a connection over two streams with one message per line. It answers invalid
// messages with errors and continues. It reports the end of the input after all calls are
// answered, because the client still waits for its answers.
type wire struct {
	out   io.Writer
	max   int
	clean func(string) string
	log   *slog.Logger

	lines  chan line
	queue  []jsonrpc.Message // the rest of a batch; used by Read only
	broken error             // why reading has ended, except for the end of the input; set before lines is closed

	closed chan struct{}
	close  sync.Once
	wrote  chan struct{} // receives a value after each message

	writing sync.Mutex // guards out: writing may wait for the client, reading must not

	mu    sync.Mutex         // guards the following fields
	open  map[jsonrpc.ID]int // the size of each open call, in bytes
	held  int                // the sum of the sizes
	asked []jsonrpc.ID       // requests to the client without an answer

	saying int // messages that are being written
}

// A line is a message. If the message is too long, tooLong is true and the text is empty.
type line struct {
	text    []byte
	tooLong bool
}

// Limits of the open calls.
const (
	maxOpen = 1000
	maxHeld = 4 // times the maximum size of a message, for all together
)

func newWire(in io.Reader, out io.Writer, o Options) *wire {
	w := &wire{
		out: out, max: o.MaxMessage, clean: o.Clean, log: o.Log, lines: make(chan line),
		closed: make(chan struct{}), wrote: make(chan struct{}, 1), open: map[jsonrpc.ID]int{},
	}
	go w.read(bufio.NewReaderSize(in, 64<<10))
	return w
}

// Connect implements [sdk.Transport]: a wire is its only connection.
func (w *wire) Connect(context.Context) (sdk.Connection, error) { return w, nil }

// SessionID implements [sdk.Connection].
func (w *wire) SessionID() string { return "" }

// Close implements [sdk.Connection]. A blocked read ends with the input.
func (w *wire) Close() error {
	w.close.Do(func() { close(w.closed) })
	return nil
}

// read reads lines in its own goroutine, because a read cannot be interrupted.
func (w *wire) read(in *bufio.Reader) {
	defer close(w.lines)
	for {
		var l line
		var err error
		l.text, l.tooLong, err = jsonvalue.ReadLine(in, w.max+1) // with the line's end
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
				return w.last()
			}
			w.queue = w.messages(l)
		case <-w.closed:
			return nil, io.EOF
		}
	}
}

// messages decodes a line: a message, or a batch of messages in early versions of the protocol.
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

// message decodes one message. It answers a message that the protocol does not allow with an
// error, and the error has the id null if the id itself is wrong.
func (w *wire) message(text []byte) []jsonrpc.Message {
	id, wrong := requestids.Of(text, "id")
	if wrong == nil && id.Kind() == 'n' {
		wrong = errors.New(`"id" is null: send a string or an integer with a request, and no id with a notification`)
	}
	if wrong != nil {
		w.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, wrong.Error())
		return nil
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		var sender struct{ ID any }
		_ = json.Unmarshal(text, &sender)
		id, _ := jsonrpc.MakeID(sender.ID)
		w.refuse(id, jsonrpc.CodeInvalidRequest, "the line is not a message of JSON-RPC 2.0: "+err.Error())
		return nil
	}
	if r, ok := m.(*jsonrpc.Request); ok && r.Method == "notifications/cancelled" {
		if _, err := requestids.Of(r.Params, "requestId"); err != nil { // the SDK would cancel another request
			w.log.Warn("a cancellation was ignored", "error", err)
			return nil
		}
	}
	return []jsonrpc.Message{m}
}

// takes reports whether the session receives a message, and records calls.
func (w *wire) takes(m jsonrpc.Message) bool {
	req, ok := m.(*jsonrpc.Request)
	switch {
	case !ok:
		w.answered(m)
	case req.IsCall():
		if reason := w.hold(req); reason != "" {
			w.refuse(req.ID, jsonrpc.CodeInvalidRequest, reason)
			return false
		}
	}
	return true
}

// hold records a call, or returns why it is refused.
func (w *wire) hold(req *jsonrpc.Request) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := len(req.Params)
	switch _, twice := w.open[req.ID]; {
	case twice: // an answer would be ambiguous
		return "a call of that id is under way"
	case len(w.open) >= maxOpen || w.held+size > maxHeld*w.max:
		return fmt.Sprintf("more than %d calls, or %d bytes of them, are under way", maxOpen, maxHeld*w.max)
	}
	w.open[req.ID] = size
	w.held += size
	return ""
}

// answered records an answer of the client.
func (w *wire) answered(m jsonrpc.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok {
		w.asked = slices.DeleteFunc(w.asked, func(id jsonrpc.ID) bool { return id == r.ID })
	}
}

// errEnded is the answer to requests to a client whose input has ended.
var errEnded = errors.New("the input has ended")

// last returns the messages after the end of the input: errors for requests to the client, and
// the end after all calls are answered or the client is gone.
func (w *wire) last() (jsonrpc.Message, error) {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		w.mu.Lock()
		open := len(w.open) + w.saying
		if len(w.asked) > 0 {
			id := w.asked[0]
			w.asked = w.asked[1:]
			w.mu.Unlock()
			return &jsonrpc.Response{ID: id, Error: errEnded}, nil
		}
		w.mu.Unlock()
		if open == 0 {
			return nil, io.EOF
		}
		select {
		case <-w.wrote:
		case <-look.C:
			if hungUp(w.out) {
				w.log.Warn("the client is gone; calls under way are cancelled", "calls", open)
				return nil, io.EOF
			}
		case <-w.closed:
			return nil, io.EOF
		}
	}
}

func (w *wire) refuse(id jsonrpc.ID, code int64, message string) {
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id.Raw(), "error": map[string]any{"code": code, "message": message}})
	if err == nil {
		_ = w.send(text) // a broken output shows at the next answer
	}
}

// Write implements [sdk.Connection].
func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	message, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	w.before(m)
	err = w.send(message)
	w.after()
	if err != nil { // the client receives nothing more
		w.Close()
	}
	return err
}

// before records a request to the client, or an answer, before it is written: the client may
// answer the request or repeat the ID at once.
func (w *wire) before(m jsonrpc.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.saying++
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			w.asked = append(w.asked, m.ID)
		}
	case *jsonrpc.Response:
		w.held -= w.open[m.ID]
		delete(w.open, m.ID)
	}
}

// after notifies [wire.last].
func (w *wire) after() {
	w.mu.Lock()
	w.saying--
	w.mu.Unlock()
	select {
	case w.wrote <- struct{}{}:
	default:
	}
}

func (w *wire) send(message []byte) error {
	if w.clean != nil {
		message = cleaned(message, w.clean)
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err := w.out.Write(append(message, '\n'))
	return err
}

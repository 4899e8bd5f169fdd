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

	"github.com/seed61713e19/capstan/runner/internal/requestids"
)

// A wire is a connection over two streams, a message a line. Unlike the SDK's
// own it outlives what is no message: that is answered with an error. It knows
// which calls are not answered yet, and tells of the end of the input when they
// all are: a client that has nothing more to say waits for its answers.
type wire struct {
	out   io.Writer
	max   int
	clean func(string) string
	log   *slog.Logger

	lines  chan line
	queue  []jsonrpc.Message // the rest of a batch; of Read alone
	broken error             // why reading has ended, but for the end of the input; set before lines is closed

	closed chan struct{}
	close  sync.Once
	wrote  chan struct{} // told after each message

	writing sync.Mutex // of out: who writes may wait for the client, who reads must not wait for that

	mu    sync.Mutex         // of what follows
	open  map[jsonrpc.ID]int // the size of each call, in bytes
	held  int                // all together
	asked []jsonrpc.ID       // what the client was asked and has not answered

	saying int // messages that are being written
}

// A line is a message as it came, or too long for one.
type line struct {
	text    []byte
	tooLong bool
}

// Bounds of the calls that are not answered yet.
const (
	maxOpen = 1000
	maxHeld = 4 // times the size that one message may have, of all together
)

func newWire(in io.Reader, out io.Writer, o Options) *wire {
	w := &wire{
		out: out, max: o.MaxMessage, clean: o.Clean, log: o.Log, lines: make(chan line),
		closed: make(chan struct{}), wrote: make(chan struct{}, 1), open: map[jsonrpc.ID]int{},
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
				return w.last()
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

// message decodes one message. It answers a message that the protocol does not allow
// with an error, and the error has the id null if the id itself is wrong.
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

// takes tells whether a message goes on to the session, and remembers calls
// until they are answered.
func (w *wire) takes(m jsonrpc.Message) bool {
	req, ok := m.(*jsonrpc.Request)
	switch {
	case !ok:
		w.answered(m)
	case req.IsCall():
		if why := w.hold(req); why != "" {
			w.refuse(req.ID, jsonrpc.CodeInvalidRequest, why)
			return false
		}
	}
	return true
}

// hold remembers a call, or says why it cannot be taken.
func (w *wire) hold(req *jsonrpc.Request) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	size := len(req.Params)
	switch _, twice := w.open[req.ID]; {
	case twice: // which of them an answer is for nobody could tell
		return "a call of that id is under way"
	case len(w.open) >= maxOpen || w.held+size > maxHeld*w.max:
		return fmt.Sprintf("more than %d calls, or %d bytes of them, are under way", maxOpen, maxHeld*w.max)
	}
	w.open[req.ID] = size
	w.held += size
	return ""
}

// answered notes what the client says to what it was asked.
func (w *wire) answered(m jsonrpc.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, ok := m.(*jsonrpc.Response); ok {
		w.asked = slices.DeleteFunc(w.asked, func(id jsonrpc.ID) bool { return id == r.ID })
	}
}

// errEnded is what a client that says nothing any more is taken to answer.
var errEnded = errors.New("the input has ended")

// last gives what there is to read behind the end of the input: that the client
// does not answer what it is asked, and, when its own calls are all answered or
// it does not listen any more, the end.
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
	told, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id.Raw(), "error": map[string]any{"code": code, "message": message}})
	if err == nil {
		_ = w.send(told) // a broken output shows at the next answer
	}
}

// Write implements [sdk.Connection].
func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	told, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("message: %w", err)
	}
	w.before(m)
	err = w.send(told)
	w.after()
	if err != nil { // nobody hears the others either
		w.Close()
	}
	return err
}

// before notes what is about to be said: what the client is asked, which it may
// answer, and which call is answered, whose id it may use again, as soon as it
// is written.
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

// after lets [wire.last] look at what has changed.
func (w *wire) after() {
	w.mu.Lock()
	w.saying--
	w.mu.Unlock()
	select {
	case w.wrote <- struct{}{}:
	default:
	}
}

func (w *wire) send(told []byte) error {
	if w.clean != nil {
		told = cleaned(told, w.clean)
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err := w.out.Write(append(told, '\n'))
	return err
}

// Package jsontree parses JSON text from untrusted senders: replies of model
// endpoints and messages of tool servers. [Parse] decodes a text once with
// jsontext and records where each value begins and ends. A [Value] then finds
// members and elements without decoding the text again, so that a reader's time
// is linear in the text however deep it looks.
//
// Duplicate names and invalid UTF-8 are errors. The number of values is limited.
package jsontree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxValues is the default limit of values in one text.
const MaxValues = 1_000_000

// ErrTooManyValues is the error of a text with more values than the limit.
var ErrTooManyValues = errors.New("too many JSON values")

// Options change what [Parse] accepts. The zero value is the default.
type Options struct {
	MaxValues   int  // Default: [MaxValues].
	InvalidUTF8 bool // accept strings with invalid UTF-8, see [Value.Text]
}

// A node is a value, or the name of a member, which comes directly before the
// member's value.
type node struct {
	start, end int32 // in the text
	next       int32 // index of the first node after the value and its elements
}

type tree struct {
	text  []byte
	nodes []node
}

// Parse parses text, which must be one JSON value and must not change while the
// result is in use. It returns the cause of ctx if ctx ends while Parse decodes,
// at most a MiB later.
func Parse(ctx context.Context, text []byte, o Options) (Value, error) {
	if len(text) > math.MaxInt32 {
		return Value{}, fmt.Errorf("a JSON text of %d bytes: the limit is %d", len(text), math.MaxInt32)
	}
	if o.MaxValues == 0 {
		o.MaxValues = MaxValues
	}
	var in io.Reader = bytes.NewBuffer(text) // decoded where it is, without a copy
	if len(text) > interval {
		in = &source{ctx: ctx, text: text}
	}
	p := parser{
		tree: &tree{text: text, nodes: make([]node, 0, min(maxNodes(text), 2*o.MaxValues))},
		from: decoders.Get().(*jsontext.Decoder),
		left: o.MaxValues,
	}
	p.from.Reset(in, jsontext.AllowInvalidUTF8(o.InvalidUTF8))
	err := p.parse()
	if len(text) <= interval { // another may hold too much
		p.from.Reset(eof{})
		decoders.Put(p.from)
	}
	if syntax := (*jsontext.SyntacticError)(nil); errors.As(err, &syntax) {
		err = &syntaxError{syntax}
	}
	if errors.Is(err, ErrTooManyValues) {
		err = fmt.Errorf("%w: the limit is %d", err, o.MaxValues)
	}
	if err != nil {
		return Value{}, err
	}
	return Value{tree: p.tree}, nil
}

var decoders = sync.Pool{New: func() any { return new(jsontext.Decoder) }}

// An eof is a reader of nothing.
type eof struct{}

// Read implements [io.Reader].
func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// maxNodes returns the largest possible number of nodes of a text. A value is
// the first one, or follows a comma or an opening bracket. A name precedes a
// colon.
func maxNodes(text []byte) int {
	n := 1
	for _, mark := range []string{",", ":", "{", "["} {
		n += bytes.Count(text, []byte(mark))
	}
	return n
}

// A syntaxError is the error of a text that is no JSON, has a duplicate name or
// invalid UTF-8.
type syntaxError struct{ *jsontext.SyntacticError }

// Error returns the problem and its place.
func (e *syntaxError) Error() string {
	return strings.TrimPrefix(e.SyntacticError.Error(), "jsontext: ")
}

// Unwrap returns jsontext's error.
func (e *syntaxError) Unwrap() error { return e.SyntacticError }

type parser struct {
	*tree
	from *jsontext.Decoder
	open []int32 // the objects and arrays around the next token
	left int     // values
}

func (p *parser) parse() error {
	for {
		if err := p.token(); err != nil {
			return err
		}
		if len(p.open) == 0 {
			break
		}
	}
	end := p.from.InputOffset()
	switch _, err := p.from.ReadToken(); {
	case err == io.EOF:
		return nil
	case errors.As(err, new(*jsontext.SyntacticError)), err == nil:
		return &jsontext.SyntacticError{ByteOffset: end, Err: errors.New("text after the JSON value")}
	default:
		return err
	}
}

// token reads the next token and records it.
func (p *parser) token() error {
	kind := p.from.PeekKind()
	in, n := p.from.StackIndex(p.from.StackDepth())
	name := in == jsontext.KindBeginObject && n%2 == 0
	var size int
	switch kind {
	case jsontext.KindBeginObject, jsontext.KindBeginArray, jsontext.KindEndObject, jsontext.KindEndArray:
		if _, err := p.from.ReadToken(); err != nil {
			return p.cut(err)
		}
		size = 1
	default:
		value, err := p.from.ReadValue()
		if err != nil {
			return p.cut(err)
		}
		size = len(value)
	}
	end := int32(p.from.InputOffset())
	if kind == jsontext.KindEndObject || kind == jsontext.KindEndArray {
		last := len(p.open) - 1
		began := &p.nodes[p.open[last]]
		began.end, began.next = end, int32(len(p.nodes))
		p.open = p.open[:last]
		return nil
	}
	if !name {
		if p.left--; p.left < 0 {
			return ErrTooManyValues
		}
	}
	at := int32(len(p.nodes))
	p.nodes = append(p.nodes, node{end - int32(size), end, at + 1})
	if kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray {
		p.open = append(p.open, at)
	}
	return nil
}

// cut returns err, or the error of a text that ends too early.
func (p *parser) cut(err error) error {
	if err == io.EOF {
		return &jsontext.SyntacticError{ByteOffset: p.from.InputOffset(), Err: io.ErrUnexpectedEOF}
	}
	if stopped := (*stoppedError)(nil); errors.As(err, &stopped) {
		return stopped.cause
	}
	return err
}

// interval is after how many bytes a source looks whether its context has ended.
const interval = 256 << 10

// A source is a long text on its way to the decoder. It ends with the context.
type source struct {
	ctx  context.Context
	text []byte
	read int // bytes since the last look
}

type stoppedError struct{ cause error }

func (e *stoppedError) Error() string { return e.cause.Error() }

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	if s.read -= len(p); s.read <= 0 {
		if s.ctx.Err() != nil {
			return 0, &stoppedError{context.Cause(s.ctx)}
		}
		s.read = interval
	}
	if len(s.text) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), interval)], s.text)
	s.text = s.text[n:]
	return n, nil
}

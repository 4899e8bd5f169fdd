// Package jsonvalue reads JSON text into plain values: nil, bool, string, int, float64,
// [json.Number], []any and map[string]any. It is the one reader of JSON text from
// models, users and tools.
package jsonvalue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/clips"
)

// MaxNesting is how deep JSON may nest. Code that walks a value recurses, and an
// event or a result that holds the value nests deeper. Some other readers stop
// at 10,000 levels.
const MaxNesting = 9_000

// MaxValues is the maximum number of values in one text. An object counts as two
// values. A member of an object counts as two more, its name and its value. Beyond the
// limit the error is [ErrTooManyValues].
const MaxValues = 1_000_000

// The errors of JSON beyond the limits.
var (
	ErrTooManyValues = fmt.Errorf("the JSON has more than %d values and names", MaxValues)
	ErrNested        = fmt.Errorf("the JSON nests deeper than %d levels", MaxNesting)
)

// A DuplicateKey is the error of an object that has a key twice. Readers differ in
// which of the two values they take, so Capstan takes none.
type DuplicateKey struct {
	Path   string // of the second value: $.items[0].name
	Key    string
	Offset int // of the second key
}

// Error returns the path and the key.
func (d *DuplicateKey) Error() string {
	return d.Path + ": the key " + strconv.Quote(clips.Bytes(d.Key, maxShown)) + " appears twice"
}

// maxShown is the longest key that an error quotes, in bytes.
const maxShown = 120

// A SyntaxError is the error of a text that is not JSON.
type SyntaxError struct {
	Offset, Line, Column int    // line and column count from 1, the column in characters
	Message              string // what is wrong there
}

// Error returns the place and the message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// A Decoder makes plain values from the JSON in a text. It counts what it makes,
// whether that is used or not.
type Decoder struct {
	text   []byte
	dec    *jsontext.Decoder
	stop   func() error
	values int
	limit  int

	stopped bool // stop ended it
}

// Fatal reports whether an error ends the reading of the whole text: the text has too
// many values, or stop returned an error.
func (d *Decoder) Fatal(err error) bool {
	return d.stopped || errors.Is(err, ErrTooManyValues)
}

// Restart forgets the values that the decoder has counted.
func (d *Decoder) Restart() { d.values = 0 }

// NewDecoder returns a decoder for the documents in a text, which together may have
// at most limit values. It calls stop now and then; an error of stop ends the reading.
// A nil stop never ends it.
func NewDecoder(stop func() error, text []byte, limit int) *Decoder {
	return &Decoder{text: text, dec: jsontext.NewDecoder(&bytes.Buffer{}), stop: stop, limit: limit}
}

// At returns the value that begins at an offset and the offset of its end. After an
// error, end is where the text stops being JSON, and [Decoder.Explain] describes the
// error.
func (d *Decoder) At(start int) (value any, end int, err error) {
	if start == 0 {
		d.dec.Reset(bytes.NewBuffer(d.text)) // without a copy
	} else {
		d.dec.Reset(&portions{d.text[start:], firstPortion})
	}
	value, err = d.value()
	end = start + int(d.dec.InputOffset())
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		end = start + int(syntax.ByteOffset)
	}
	return value, end, err
}

// Portions is a reader that doubles the size of its portions. After a syntax error,
// jsontext takes time in proportion to the bytes in its buffer, decoded or not. With
// the whole text in the buffer, a text of many brackets would take quadratic time.
type portions struct {
	rest []byte
	next int
}

const firstPortion = 64

// Read implements [io.Reader].
func (p *portions) Read(into []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(into[:min(len(into), p.next)], p.rest)
	p.rest, p.next = p.rest[n:], 2*n
	return n, nil
}

// Whole returns the value of a text that is one JSON document.
func (d *Decoder) Whole() (any, error) {
	value, end, err := d.At(0)
	if err != nil {
		return nil, d.Explain(err, end)
	}
	if rest := bytes.TrimLeft(d.text[end:], " \t\r\n"); len(rest) > 0 {
		return nil, d.misplaced(len(d.text)-len(rest), "there is text after the JSON document")
	}
	return value, nil
}

func (d *Decoder) misplaced(offset int, what string) error {
	line, column := Position(d.text, offset)
	return &SyntaxError{Offset: offset, Line: line, Column: column, Message: what}
}

// words are ours for jsontext's.
var words = strings.NewReplacer("object member name", "key", "object name", "key")

// Explain returns the error of [Decoder.At] with the place where it ended: a
// [*SyntaxError] or a [*DuplicateKey], or the error itself if it has no place.
func (d *Decoder) Explain(err error, offset int) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return d.misplaced(len(d.text), "the JSON ends too early")
	case !errors.As(err, &syntax):
		return err
	case syntax.Err == jsontext.ErrDuplicateName:
		return &DuplicateKey{Path: pathTo(syntax.JSONPointer), Key: syntax.JSONPointer.LastToken(), Offset: offset}
	}
	return d.misplaced(offset, words.Replace(syntax.Err.Error()))
}

// pathTo returns the JSON path of a JSON pointer.
func pathTo(pointer jsontext.Pointer) string {
	path := []byte("$")
	for token := range pointer.Tokens() {
		if i, err := strconv.Atoi(token); err == nil && i >= 0 {
			path = AppendIndex(path, i)
			continue
		}
		path = AppendName(path, token)
	}
	return string(path)
}

// askValues is how many values are read between two questions whether to stop.
const askValues = 1 << 12

func (d *Decoder) count() error {
	if d.values++; d.values > d.limit {
		return ErrTooManyValues
	}
	if d.stop != nil && d.values%askValues == 0 {
		err := d.stop()
		d.stopped = err != nil
		return err
	}
	return nil
}

func (d *Decoder) value() (any, error) {
	token, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if err := d.count(); err != nil {
		return nil, err
	}
	if d.dec.StackDepth() > MaxNesting {
		return nil, ErrNested
	}
	switch token.Kind() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return token.String(), nil
	case '0':
		return Number(token.String())
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return nil, nil
}

func (d *Decoder) object() (any, error) {
	if err := d.count(); err != nil {
		return nil, err
	}
	object := map[string]any{}
	for d.dec.PeekKind() != '}' {
		token, err := d.dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := token.String()
		if err := d.count(); err != nil {
			return nil, err
		}
		if object[key], err = d.value(); err != nil {
			return nil, err
		}
	}
	_, err := d.dec.ReadToken()
	return object, err
}

func (d *Decoder) array() (any, error) {
	list := []any{}
	for d.dec.PeekKind() != ']' {
		item, err := d.value()
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := d.dec.ReadToken()
	return list, err
}

// Position returns the line and the column of a byte offset, both from 1. The column
// counts characters.
func Position(text []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(text)))
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxNesting is how deep JSON may nest. Code that walks a value recurses, and an
// event or a result that holds the value nests deeper. Some other readers stop
// at 10,000 levels.
const maxNesting = 9_000

// maxValues is the maximum number of values in one text. An object counts as two
// values. A member of an object counts as two more, its name and its value. Beyond the
// limit the error is [errTooManyValues].
const maxValues = 1_000_000

// The limits of JSON that is read.
var (
	errTooManyValues = fmt.Errorf("the JSON has more than %d values and names", maxValues)
	errNested        = fmt.Errorf("the JSON nests deeper than %d levels", maxNesting)
)

// A DuplicateKey is the error of an object that has a key twice. Readers differ in
// which of the two values they take, so Capstan takes none.
type DuplicateKey struct {
	Path string // of the second value: $.items[0].name
	Key  string
}

// Error returns the path and the key.
func (d *DuplicateKey) Error() string {
	return d.Path + ": the key " + strconv.Quote(Clip(d.Key, maxShown)) + " appears twice"
}

// A decoder makes plain values from the JSON in a text. It counts what it makes,
// whether that is used or not.
type decoder struct {
	text   []byte
	dec    *jsontext.Decoder
	stop   Stop
	values int
	limit  int

	stopped bool // stop ended it
}

func newDecoder(stop Stop, text []byte, limit int) *decoder {
	return &decoder{text: text, dec: jsontext.NewDecoder(&bytes.Buffer{}), stop: stop, limit: limit}
}

// at returns the value that begins at an offset and the offset of its end. After an
// error, end is where the text stops being JSON, and [decoder.explain] puts the error
// into words.
func (d *decoder) at(start int) (value any, end int, err error) {
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

// whole returns the value of a text that is one JSON document.
func (d *decoder) whole() (any, error) {
	value, end, err := d.at(0)
	if err != nil {
		return nil, d.explain(err, end)
	}
	if rest := bytes.TrimLeft(d.text[end:], " \t\r\n"); len(rest) > 0 {
		return nil, d.misplaced(len(d.text)-len(rest), "there is text after the JSON document")
	}
	return value, nil
}

func (d *decoder) misplaced(offset int, what string) error {
	line, column := position(d.text, offset)
	return fmt.Errorf("line %d, column %d: %s", line, column, what)
}

// words are ours for jsontext's.
var words = strings.NewReplacer("object member name", "key", "object name", "key")

// explain gives the syntax error at an offset a line and a column.
func (d *decoder) explain(err error, offset int) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return d.misplaced(len(d.text), "the JSON ends too early")
	case !errors.As(err, &syntax):
		return err
	case syntax.Err == jsontext.ErrDuplicateName:
		return &DuplicateKey{Path: pathTo(syntax.JSONPointer), Key: syntax.JSONPointer.LastToken()}
	}
	return d.misplaced(offset, words.Replace(syntax.Err.Error()))
}

// pathTo writes a JSON pointer as violations write it.
func pathTo(pointer jsontext.Pointer) string {
	var steps []step
	for token := range pointer.Tokens() {
		if i, err := strconv.Atoi(token); err == nil {
			steps = append(steps, step{index: i})
			continue
		}
		steps = append(steps, step{name: token, index: -1})
	}
	return pathOf(steps)
}

// askValues is how many values are read between two questions whether to stop.
const askValues = 1 << 12

func (d *decoder) count() error {
	if d.values++; d.values > d.limit {
		return errTooManyValues
	}
	if d.stop != nil && d.values%askValues == 0 {
		err := d.stop()
		d.stopped = err != nil
		return err
	}
	return nil
}

func (d *decoder) value() (any, error) {
	token, err := d.dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if err := d.count(); err != nil {
		return nil, err
	}
	if d.dec.StackDepth() > maxNesting {
		return nil, errNested
	}
	switch token.Kind() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String())
	case 't':
		return true, nil
	case 'f':
		return false, nil
	}
	return nil, nil
}

func (d *decoder) object() (any, error) {
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

func (d *decoder) array() (any, error) {
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

// equal reports whether two plain values are the same JSON. Numbers are compared
// as the decimal numbers that they are written as.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; !ok || !equal(value, other) {
				return false
			}
		}
		return true
	case nil, bool, string:
		switch b.(type) {
		case []any, map[string]any:
			return false
		}
		return a == b
	}
	order, numbers := Compare(a, b)
	return numbers && order == 0
}

// position turns a byte offset into a line, from 1, and a column, from 1, counted
// in characters.
func position(text []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(text)))
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

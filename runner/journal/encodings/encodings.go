// Package encodings has JSON as a journal keeps it: made once, and from then on
// bytes that are changed, cut and put together without being parsed, for a tenth
// of the time.
//
// A value goes in by [Of]. What stands there has no blanks in it and its escapes
// are few, so [Rewrite] finds the strings, where secrets are hidden and long texts
// taken out, [With] adds a field, and a reader walks it by [TokenEnd] and
// [ValueEnd]. None of them tells whether JSON is right: what is damaged is refused
// or cut wrongly, and never read past its end.
package encodings

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/model"
)

// Of is the JSON of a value, with < > and & as they are, and bytes that are not
// UTF-8 as the replacement character that they read back as.
func Of(v any) ([]byte, error) {
	raw, _, err := Lossy(v)
	return raw, err
}

// Lossy is [Of], which also tells of bytes that do not read back as they are.
func Lossy(v any) (raw []byte, lossy bool, err error) {
	e := encoders.Get().(*encoder)
	defer e.done()
	if err := e.to.Encode(v); err != nil {
		return nil, false, err
	}
	raw = bytes.Clone(bytes.TrimSuffix(e.b.Bytes(), []byte("\n")))
	if lossy = bytes.Contains(raw, []byte(`\ufffd`)); lossy {
		raw = Rewrite(raw, func(token []byte) []byte { return model.AppendText(nil, string(Said(token))) })
	}
	return raw, lossy, nil
}

// With is the JSON of an object with another field at its end. It may write over
// object.
func With(object []byte, name string, value []byte) []byte {
	object = object[:len(object)-1]
	if len(object) > len("{") {
		object = append(object, ',')
	}
	object = slices.Grow(object, len(name)+len(value)+len(`"":}`))
	return append(append(append(model.AppendText(object, name), ':'), value...), '}')
}

// An encoder writes one value after the other.
type encoder struct {
	b  bytes.Buffer
	to *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.to = json.NewEncoder(&e.b)
	e.to.SetEscapeHTML(false)
	return e
}}

// manyBytes bounds what an encoder holds that is kept.
const manyBytes = 16 << 10

// done gives an encoder back, unless it holds much.
func (e *encoder) done() {
	if e.b.Cap() <= manyBytes {
		e.b.Reset()
		encoders.Put(e)
	}
}

// Rewrite gives JSON with the strings changed for which change, called with the
// token of each in order, gives another token; nil leaves it. Keys are strings too.
// Where none is changed that is raw itself.
func Rewrite(raw []byte, change func(token []byte) []byte) []byte {
	var out []byte
	kept := 0
	for i := 0; i < len(raw); {
		start := bytes.IndexByte(raw[i:], '"')
		if start < 0 {
			break
		}
		start += i
		end := closing(raw, start)
		if token := change(raw[start:end]); token != nil {
			out = append(append(out, raw[kept:start]...), token...)
			kept = end
		}
		i = end
	}
	if kept == 0 {
		return raw
	}
	return append(out, raw[kept:]...)
}

// closing is the end of the string that begins at start.
func closing(raw []byte, start int) int {
	for i := start + 1; i < len(raw); i++ {
		n := bytes.IndexByte(raw[i:], '"')
		if n < 0 {
			break
		}
		i += n
		slashes := 0
		for raw[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
	return len(raw)
}

// Said is the string that a token says, "" where it is none. The bytes may be the
// token's own.
func Said(token []byte) []byte {
	if said, ok := unescaped(token); ok {
		return said
	}
	var s string
	_ = json.Unmarshal(token, &s)
	return []byte(s)
}

// unescaped reads a token that has only the short escapes in it, as most have: in
// place, where it has none.
func unescaped(token []byte) ([]byte, bool) {
	if len(token) < 2 || !utf8.Valid(token) {
		return nil, false
	}
	rest := token[1 : len(token)-1 : len(token)-1]
	n := bytes.IndexByte(rest, '\\')
	if n < 0 {
		return rest, true
	}
	said := make([]byte, 0, len(rest))
	for ; n >= 0; n = bytes.IndexByte(rest, '\\') {
		if n+1 == len(rest) {
			return nil, false
		}
		i := strings.IndexByte(`"\/bfnrt`, rest[n+1])
		if i < 0 {
			return nil, false
		}
		said = append(append(said, rest[:n]...), "\"\\/\b\f\n\r\t"[i])
		rest = rest[n+2:]
	}
	return append(said, rest...), true
}

// TokenEnd is how many bytes the string, number, true, false or null has that raw
// begins with, 0 where it begins with none.
func TokenEnd(raw []byte) int {
	if len(raw) == 0 {
		return 0
	}
	if raw[0] == '"' {
		return closing(raw, 0)
	}
	if i := bytes.IndexAny(raw, ",]}[{\""); i >= 0 {
		return i
	}
	return len(raw)
}

// Elements puts the elements of an array, as they stand there, behind those of list.
// It gives false where raw is no array that it can cut.
func Elements(list [][]byte, raw []byte) (_ [][]byte, ok bool) {
	raw, opened := bytes.CutPrefix(raw, []byte("["))
	raw, closed := bytes.CutSuffix(raw, []byte("]"))
	if !opened || !closed {
		return nil, false
	}
	for len(raw) > 0 {
		n := ValueEnd(raw)
		if n == 0 {
			return nil, false
		}
		list = append(list, raw[:n])
		if raw = raw[n:]; len(raw) == 0 {
			break
		}
		if raw[0] != ',' || len(raw) == 1 {
			return nil, false
		}
		raw = raw[1:]
	}
	return list, true
}

// ValueEnd is how many bytes the value has that raw begins with, 0 for none: an
// array or object up to its end, or a token.
func ValueEnd(raw []byte) int {
	if len(raw) == 0 || raw[0] != '[' && raw[0] != '{' {
		return TokenEnd(raw)
	}
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = closing(raw, i) - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// Number is a whole number in JSON, 0 where it is none.
func Number(token []byte) int64 {
	n, _ := strconv.ParseInt(string(token), 10, 64)
	return n
}

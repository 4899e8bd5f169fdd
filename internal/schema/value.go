package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// Parse decodes one JSON document into a plain value, see [jsonvalue.Parse].
func Parse(text []byte) (any, error) { return jsonvalue.Parse(text) }

// Encode returns a value as JSON in one line. It does not escape letters or
// HTML.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// maxIndent is the maximum depth at which JSON is broken into lines. Nested
// brackets, each on its own line, need space by the square of their number: 18
// KB become 160 MB.
const maxIndent = 32

// Indent is [Encode] with indented lines, without a final newline. Values below
// 32 levels stay in one line.
func Indent(v any) ([]byte, error) {
	encoded, err := Encode(v)
	if err != nil {
		return nil, err
	}
	text := string(encoded)
	out, depth := make([]byte, 0, 2*len(text)), 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			start := i
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			out = append(out, text[start:i+1]...)
		case '{', '[':
			if out = append(out, c); text[i+1] == c+2 { // the closing bracket is two after it in ASCII
				i++
				out = append(out, c+2)
				continue
			}
			depth++
			out = newLine(out, depth, depth)
		case '}', ']':
			depth--
			out = append(newLine(out, depth, depth+1), c)
		case ',':
			out = newLine(append(out, c), depth, depth)
		case ':':
			if out = append(out, c); depth <= maxIndent {
				out = append(out, ' ')
			}
		default:
			out = append(out, c)
		}
	}
	return out, nil
}

// newLine starts a new line with an indentation of depth, unless the level is
// too deep for lines.
func newLine(out []byte, depth, level int) []byte {
	if level > maxIndent {
		return out
	}
	return append(append(out, '\n'), bytes.Repeat([]byte("  "), depth)...)
}

// ParseText is [Parse] for a text that may be prose. It recognizes most prose
// by its first character.
func ParseText(text string) (any, error) {
	if start := strings.TrimLeft(text, " \t\r\n"); start == "" || strings.IndexByte(`{["-0123456789tfn`, start[0]) < 0 {
		return nil, errNoJSON
	}
	return Parse([]byte(text))
}

var errNoJSON = errors.New("the text is not JSON")

// describe adds the position to an error of a decoder.
func describe(err error, text []byte) error {
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		is, _, _ := strings.Cut(mistyped.Value, " ") // for example "number 1e400"
		if is == "bool" {
			is = "boolean"
		}
		text := sentence("type", typesInWords([]string{jsonTypeOf(mistyped.Type)}), typesInWords([]string{is}))
		return &fieldError{strings.TrimSpace(mistyped.Field + " " + text), err}
	case errors.As(err, &syntax):
		line, column := jsonvalue.Position(text, int(syntax.Offset)-1)
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		line, column := jsonvalue.Position(text, len(text))
		return fmt.Errorf("line %d, column %d: the JSON ends too early", line, column)
	default:
		return err
	}
}

// A fieldError describes an error of encoding/json without the names of Go
// types.
type fieldError struct {
	text string
	err  error
}

// Error implements error.
func (f *fieldError) Error() string { return f.text }

// Unwrap returns the error of encoding/json.
func (f *fieldError) Unwrap() error { return f.err }

// jsonTypeOf returns the JSON type that decodes into a Go type.
func jsonTypeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map, reflect.Pointer, reflect.Interface:
		return "object"
	}
	return "integer"
}

// checkTrailing returns an error if text follows a document.
func checkTrailing(text []byte, end int) error {
	if rest := bytes.TrimLeft(text[end:], " \t\r\n"); len(rest) > 0 {
		line, column := jsonvalue.Position(text, len(text)-len(rest))
		return fmt.Errorf("line %d, column %d: there is text after the JSON document", line, column)
	}
	return nil
}

// Plain converts a value that encodes as JSON to a plain value of its own.
// Later changes to lists or maps of v do not affect the result. The float64 5
// encodes as 5 and becomes an integer. A panic during encoding becomes an
// error.
func Plain(v any) (plain any, err error) {
	switch v := v.(type) {
	case nil, bool, string, int:
		return v, nil
	}
	defer func() {
		if p := recover(); p != nil {
			plain, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jsonvalue.NewDecoder(nil, text, math.MaxInt).Whole()
}

// Clone returns a deep copy of a plain value.
func Clone(v any) any { return cloneWith(v, func(v any) any { return v }) }

// cloneWith returns a deep copy in which change has replaced every value that
// is not a list or a map.
func cloneWith(v any, change func(any) any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = cloneWith(v[i], change)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for k := range v {
			object[k] = cloneWith(v[k], change)
		}
		return object
	}
	return change(v)
}

func plain(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case json.Number:
		return jsonvalue.Number(string(v))
	case []any:
		for i := range v {
			if v[i], err = plain(v[i]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k := range v {
			if v[k], err = plain(v[k]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// Kind returns the kind of a plain value in the words of a cascade's author.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "a text"
	case bool:
		return "true or false"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		return "a number"
	}
}

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

// Encode writes a value as JSON in one line, its letters as they are.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// maxIndent is how deep JSON is written in lines. Brackets within brackets, each on a
// line of its own, are long by the square of their number: 18 KB of them are 160 MB.
const maxIndent = 32

// Indent is [Encode] in lines for people, without the last one's end. What nests
// deeper than 32 levels stands in one line.
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
			if out = append(out, c); text[i+1] == c+2 { // the closing one stands two behind in ASCII
				i++
				out = append(out, c+2)
				continue
			}
			depth++
			out = broken(out, depth, depth)
		case '}', ']':
			depth--
			out = append(broken(out, depth, depth+1), c)
		case ',':
			out = broken(append(out, c), depth, depth)
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

// broken begins a new line, indented to depth, where what is within brackets at a
// level stands in lines.
func broken(out []byte, depth, level int) []byte {
	if level > maxIndent {
		return out
	}
	return append(append(out, '\n'), bytes.Repeat([]byte("  "), depth)...)
}

// ParseText is [Parse] for a text that may be none: prose, which most texts are, is
// told by its first letter.
func ParseText(text string) (any, error) {
	if start := strings.TrimLeft(text, " \t\r\n"); start == "" || strings.IndexByte(`{["-0123456789tfn`, start[0]) < 0 {
		return nil, errNoJSON
	}
	return Parse([]byte(text))
}

var errNoJSON = errors.New("the text is not JSON")

// describe gives a decoder's error its place.
func describe(err error, text []byte) error {
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		is, _, _ := strings.Cut(mistyped.Value, " ") // "number 1e400"
		if is == "bool" {
			is = "boolean"
		}
		text := sentence("type", typesInWords([]string{wanted(mistyped.Type)}), typesInWords([]string{is}))
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

// A fieldError puts an error of encoding/json into words without the names of Go types.
type fieldError struct {
	text string
	err  error
}

// Error implements error.
func (f *fieldError) Error() string { return f.text }

// Unwrap returns the error of encoding/json.
func (f *fieldError) Unwrap() error { return f.err }

// wanted returns the JSON type that a Go type is read from.
func wanted(t reflect.Type) string {
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

// behind refuses what follows a document.
func behind(text []byte, end int) error {
	if rest := bytes.TrimLeft(text[end:], " \t\r\n"); len(rest) > 0 {
		line, column := jsonvalue.Position(text, len(text)-len(rest))
		return fmt.Errorf("line %d, column %d: there is text after the JSON document", line, column)
	}
	return nil
}

// Plain turns any value that encodes as JSON into the plain value that this JSON
// is, one of its own: what the caller does to a list or map afterwards changes
// nothing. The float64 5 encodes as 5, and is an integer from then on. What panics when
// it is encoded does not encode.
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

// Copied is a plain value of one's own: what is done to its lists and maps changes
// nothing else.
func Copied(v any) any { return copied(v, func(v any) any { return v }) }

// copied has what is neither list nor map as change gives it.
func copied(v any, change func(any) any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = copied(v[i], change)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for k := range v {
			object[k] = copied(v[k], change)
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

// Kind names the kind of a plain value as the author of a cascade knows it.
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

package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Parse decodes one JSON document into a plain value: whole numbers that fit
// become int, all others float64. Anything but white space behind the document
// is an error, and so is text that is not UTF-8.
func Parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, describe(err, text)
	}
	end := int(d.InputOffset())
	if rest := bytes.TrimLeft(text[end:], " \t\r\n"); len(rest) > 0 {
		line, column := Position(text, len(text)-len(rest))
		return nil, fmt.Errorf("line %d, column %d: text behind the JSON document", line, column)
	}
	return plain(v), nil
}

// describe gives a decoder's error its place.
func describe(err error, text []byte) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line, column := Position(text, int(syntax.Offset)-1)
		return fmt.Errorf("line %d, column %d: %w", line, column, err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		line, column := Position(text, len(text))
		return fmt.Errorf("line %d, column %d: the JSON ends too early", line, column)
	default:
		return err
	}
}

// Position turns a byte offset into a 1-based line and a 1-based column
// counted in characters.
func Position(text []byte, offset int) (line, column int) {
	offset = max(0, min(offset, len(text)))
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte{'\n'}) + 1, utf8.RuneCount(before[start:]) + 1
}

// Plain turns any value that encodes as JSON into a plain value. Values that
// are plain already come back as they are.
func Plain(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int, float64:
		return v, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

// number keeps whole numbers whole; 1.0 and 1e3 stay floats, as Python reads
// them, so that templates print them as Jinja does.
func number(n json.Number) any {
	if !strings.ContainsAny(string(n), ".eE") {
		if i, err := strconv.Atoi(string(n)); err == nil {
			return i
		}
	}
	f, err := n.Float64()
	if err != nil {
		return string(n)
	}
	return f
}

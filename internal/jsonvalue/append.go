package jsonvalue

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// AppendText appends a text as a JSON string, with the escapes of encoding/json except
// those of HTML.
func AppendText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, text)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

func appendEscaped(b []byte, text string) []byte {
	var escaped bytes.Buffer
	e := json.NewEncoder(&escaped)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string has a JSON form
	return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte("\n"))...)
}

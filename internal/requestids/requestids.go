// Package requestids reads the ids of JSON-RPC messages before the MCP SDK decodes
// them. The SDK converts every number with int64(float64): it would answer the request
// with the id 1.5 as request 1.
package requestids

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxInteger is the largest integer that every reader of JSON keeps exact (RFC 7493,
// section 2.2).
const maxInteger = 1<<53 - 1

// maxQuoted limits what an error quotes of an id, in bytes.
const maxQuoted = 40

// Of returns the member called name of a JSON object: a string, an integer, or null.
// It returns nil if the object has no such member or the text is no object. Another
// value, and a second member of the same name, are errors.
func Of(object []byte, name string) (id jsontext.Value, err error) {
	d := decoder(object)
	if open, err := d.ReadToken(); err != nil || open.Kind() != '{' {
		return nil, nil
	}
	for d.PeekKind() == '"' {
		key, err := d.ReadToken()
		if err != nil || key.String() != name {
			if err != nil || d.SkipValue() != nil {
				break
			}
			continue
		}
		if id != nil {
			return nil, fmt.Errorf("%q occurs twice in one message: send it once", name)
		}
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		if !exact(value) {
			return nil, fmt.Errorf("%q is %s: send a string or an integer from -%d to %d", name, value[:min(len(value), maxQuoted)], maxInteger, maxInteger)
		}
		id = value.Clone()
	}
	return id, nil
}

// exact reports whether the SDK reads a value as it is.
func exact(id jsontext.Value) bool {
	switch id.Kind() {
	case '"', 'n':
		return true
	case '0':
		number, err := strconv.ParseFloat(string(id), 64)
		return err == nil && number == math.Trunc(number) && math.Abs(number) <= maxInteger
	}
	return false
}

// Check returns an error if [Of] returns one for the member "id" of a message, or of a
// message of a batch.
func Check(message []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(message), []byte("[")) {
		_, err := Of(message, "id")
		return err
	}
	d := decoder(message)
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() != ']' {
		one, err := d.ReadValue()
		if err != nil {
			return nil // the SDK reports the syntax error
		}
		if _, err := Of(one, "id"); err != nil {
			return err
		}
	}
	return nil
}

// decoder reads JSON as leniently as the SDK, which sees the message next.
func decoder(text []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

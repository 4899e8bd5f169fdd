package modelmarkup

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// valuesIn lists the outermost JSON objects and arrays of a text. After an invalid value, the
// search continues at the error, so that it reads the text once.
func valuesIn(text string) []region {
	var found []region
	source := []byte(text)
	d := jsontext.NewDecoder(new(bytes.Buffer), lenient...)
	for at := 0; at < len(text); {
		n := strings.IndexAny(text[at:], "{[")
		if n < 0 {
			break
		}
		at += n
		d.Reset(bytes.NewBuffer(source[at:]), lenient...)
		var read int
		found, read = value(d, at, found)
		at += max(read, 1)
	}
	return found
}

// value appends the objects and arrays of one value to found, and returns the number of bytes it
// has read.
func value(d *jsontext.Decoder, base int, found []region) ([]region, int) {
	var open []int
	for {
		token, err := d.ReadToken()
		if err != nil {
			var broken *jsontext.SyntacticError
			if errors.As(err, &broken) {
				return found, int(broken.ByteOffset)
			}
			return found, int(d.InputOffset())
		}
		switch token.Kind() {
		case '{', '[':
			open = append(open, base+int(d.InputOffset())-1)
		case '}', ']':
			start := open[len(open)-1]
			open = open[:len(open)-1]
			for len(found) > 0 && found[len(found)-1].start > start {
				found = found[:len(found)-1]
			}
			found = append(found, region{start, base + int(d.InputOffset())})
		}
		if len(open) == 0 {
			return found, int(d.InputOffset())
		}
	}
}

// mayCall reports whether a text can contain a call that is a JSON object.
func mayCall(text string) bool {
	return slices.ContainsFunc(spellings().calls, func(keys []string) bool {
		return !slices.ContainsFunc(keys, func(key string) bool { return !strings.Contains(text, `"`+key+`"`) })
	})
}

// maxKeys is the maximum number of keys of a call: those of its row, id and type.
const maxKeys = 4

// isCall reports whether a JSON value is a call or a list of calls.
func isCall(value string) bool {
	d := jsontext.NewDecoder(bytes.NewBufferString(value), lenient...)
	first, err := d.ReadToken()
	if err != nil || first.Kind() == '{' {
		return err == nil && isCallObject(d)
	}
	for n := 0; d.PeekKind() == '{'; n++ {
		if _, err := d.ReadToken(); err != nil || !isCallObject(d) {
			return false
		}
		if d.PeekKind() == ']' {
			return true
		}
	}
	return false
}

// isCallObject reads an object to its end and reports whether it is a call. The name must be a
// string, and the arguments an object or a string. Of other keys, only id and type are allowed.
func isCallObject(d *jsontext.Decoder) bool {
	var names []string
	for d.PeekKind() == '"' && len(names) <= maxKeys {
		token, err := d.ReadToken()
		if err != nil {
			return false
		}
		name, kind := token.String(), d.PeekKind()
		if d.SkipValue() != nil || kind != '"' && (kind != '{' || name == "name") {
			return false
		}
		if name != "id" && name != "type" {
			names = append(names, name)
		}
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != '}' {
		return false
	}
	return slices.ContainsFunc(spellings().calls, func(keys []string) bool {
		return len(keys) == len(names) && !slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(names, key) })
	})
}

// fencedCall begins a block that is a call. The table has a row for it.
const fencedCall = "```tool_call"

// isFencedCall reports whether a fenced block is a call.
func isFencedCall(block string) bool {
	label, body, _ := strings.Cut(strings.TrimLeft(block, " \t"), "\n")
	return strings.TrimRight(label, blanks) == fencedCall && strings.HasPrefix(strings.TrimLeft(body, blanks), "{")
}

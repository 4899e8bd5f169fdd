package jsonvalue

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/clips"
)

// Parse decodes one JSON document into a plain value. It is the one way in which
// values of models, users and tools are read: a number that encodes again as it
// was written is an int or a float64, any other stays a [json.Number], so that
// nothing of it is lost.
//
// It is an error if anything but white space follows the document, if the text is
// not UTF-8, if an object has a key twice ([*DuplicateKey]), if a number has more
// than 10,000 digits or an exponent beyond 10,000 on either side, if the document
// nests deeper than 9,000 levels, and if it has more than
// 1,000,000 values. An object counts as two values, each of its members as two more.
func Parse(text []byte) (any, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	return NewDecoder(nil, text, MaxValues).Whole()
}

// maxNumber is the maximum length of a number in bytes, and the maximum of its
// exponent on either side. Arithmetic writes all digits of a number out.
const maxNumber = 10_000

// Number returns the plain value of a number in JSON: an int or a float64 if its text
// is the same after encoding, otherwise a [json.Number].
func Number(text string) (any, error) {
	if i, err := strconv.Atoi(text); err == nil && text != "-0" {
		return i, nil
	}
	// Only where Python, JSON and Go agree on how a float is written.
	if f, err := strconv.ParseFloat(text, 64); err == nil && 1e-4 <= math.Abs(f) && math.Abs(f) < 1e16 &&
		strconv.FormatFloat(f, 'f', -1, 64) == text {
		return f, nil
	}
	if len(text) > maxNumber {
		return nil, fmt.Errorf("the number %s… has %d digits, more than %d", text[:20], len(text), maxNumber)
	}
	if _, written, ok := CutExponent(text); ok {
		if e, err := strconv.Atoi(written); err != nil || e > maxNumber || e < -maxNumber {
			return nil, fmt.Errorf("the exponent of the number %s is larger than %d", clips.Bytes(text, 40), maxNumber)
		}
	}
	return json.Number(text), nil
}

// CutExponent returns the two sides of the E in a number, and whether it has one.
func CutExponent(text string) (mantissa, exponent string, ok bool) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

// AppendName appends to a JSON path the step to the value of a key.
func AppendName(path []byte, name string) []byte {
	if isName(name) {
		return append(append(path, '.'), name...)
	}
	quoted, _ := json.Marshal(name)
	return append(append(append(path, '['), quoted...), ']')
}

// AppendIndex appends to a JSON path the step to an item of an array.
func AppendIndex(path []byte, index int) []byte {
	return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

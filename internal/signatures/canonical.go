package signatures

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/seed61713e19/capstan/internal/clips"
)

// maxInteger is 2^53. Integers up to this value are exact for every JSON reader; readers may
// round a larger integer.
const maxInteger = 1 << 53

// Canonical returns the RFC 8785 form of a plain value, which is the same for
// all spellings. It returns an error for numbers that JSON readers disagree on
// (integers beyond 2^53, and values that are not finite), and for text that is
// not UTF-8.
func Canonical(v any) ([]byte, error) {
	if err := Unambiguous(v); err != nil {
		return nil, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(text)
	return canonical, canonical.Canonicalize()
}

// CanonicalText is [Canonical] for JSON text. Ambiguous text is an error, see
// [unambiguousText].
func CanonicalText(text []byte) ([]byte, error) {
	if err := unambiguousText(text); err != nil {
		return nil, err
	}
	v := jsontext.Value(bytes.Clone(text))
	return v, v.Canonicalize()
}

// unambiguousText returns an error for a JSON document that two readers may read
// differently. It rejects repeated keys in any escaping, half a surrogate pair,
// integers beyond 2^53, and numbers that no float represents.
func unambiguousText(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("there is no JSON in it")
		case errors.Is(err, jsontext.ErrDuplicateName):
			return fmt.Errorf("a key stands twice: %s", clips.Bytes(string(d.StackPointer()), 80))
		case err != nil:
			return fmt.Errorf("the JSON cannot be read in one way only: %s", clips.Bytes(err.Error(), 80))
		case token.Kind() == '0':
			if err := UnambiguousNumber(token.String()); err != nil {
				return fmt.Errorf("%s: %w", clips.Bytes(string(d.StackPointer()), 80), err)
			}
		}
		if d.StackDepth() > 0 {
			continue
		}
		if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
			return fmt.Errorf("text follows the JSON: %s", clips.Bytes(string(rest), 80))
		}
		return nil
	}
}

// Digest returns "sha256:" and the hash of the bytes in hexadecimal.
func Digest(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Unambiguous returns an error for a plain value that JSON readers may read
// differently, see [Canonical].
func Unambiguous(v any) error {
	switch v := v.(type) {
	case nil, bool:
		return nil
	case string:
		if !utf8.ValidString(v) {
			return fmt.Errorf("%q is not UTF-8", clips.Bytes(v, 80))
		}
		return nil
	case []any:
		for _, e := range v {
			if err := Unambiguous(e); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		for name, e := range v {
			if err := Unambiguous(name); err != nil {
				return err
			}
			if err := Unambiguous(e); err != nil {
				return err
			}
		}
		return nil
	}
	return unambiguousNumber(v)
}

func unambiguousNumber(v any) error {
	switch v := v.(type) {
	case int:
		return within(int64(v))
	case int64:
		return within(v)
	case float64:
		// The original of the float 2^53 may be 2^53 + 1.
		if !(math.Abs(v) < maxInteger) {
			return fmt.Errorf("%v is beyond the numbers that JSON readers agree on", v)
		}
		return nil
	case json.Number:
		return UnambiguousNumber(string(v))
	}
	return fmt.Errorf("%T is not a plain value", v)
}

func within(n int64) error {
	if n > maxInteger || n < -maxInteger {
		return fmt.Errorf("%d is beyond 2^53, up to which JSON readers agree on whole numbers", n)
	}
	return nil
}

// UnambiguousNumber is [Unambiguous] for a number in JSON.
func UnambiguousNumber(text string) error {
	n := json.Number(text)
	if !strings.ContainsAny(text, ".eE") {
		i, err := n.Int64()
		if err != nil {
			return fmt.Errorf("%s is beyond 2^53, up to which JSON readers agree on whole numbers", clips.Bytes(text, 80))
		}
		return within(i)
	}
	f, err := n.Float64()
	if err != nil {
		return fmt.Errorf("%s is beyond the numbers that JSON readers agree on", clips.Bytes(text, 80))
	}
	return unambiguousNumber(f)
}

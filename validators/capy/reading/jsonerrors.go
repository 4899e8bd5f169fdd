package reading

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strconv"
	"unicode/utf8"
)

// fail notes an error at the present byte.
func (s *jsonScanner) fail(kind, format string, args ...any) {
	if s.keeps(kind) {
		s.failAt(s.at, s.i+1, kind, fmt.Sprintf(format, args...))
	}
}

// keeps says whether one more error of the kind is kept. A block with very
// many is not read to its end.
func (s *jsonScanner) keeps(kind string) bool {
	s.broken++
	n := len(s.block.Errors)
	return n == 0 || n < maxErrors && s.block.Errors[0].Kind == kind && repeats[kind]
}

// failAt notes an error before offset behind. Behind the first, only more of
// its kind are noted: others may follow from it.
func (s *jsonScanner) failAt(at Place, behind int, kind, message string) {
	n := len(s.block.Errors)
	e := JSONError{Line: at.Line, Kind: kind, Message: message}
	if n == 0 {
		start := bytes.LastIndexByte(s.t[:max(behind-1, 0)], '\n') + 1
		e.Column = utf8.RuneCount(s.t[start:max(behind-1, start)]) + 1
	}
	s.block.Errors = append(s.block.Errors, e)
}

// maxErrors bounds the errors kept of a block, maxBroken those after which it
// is not read on.
const (
	maxErrors = 30
	maxBroken = 2000
)

// repeats are the kinds of error that stand alone.
var repeats = map[string]bool{
	"plus sign": true, "trailing comma": true, "single quotes": true, "comment": true, "word": true, "number": true, "escape": true, "unquoted key": true,
}

// remember notes the key of an object and whether it has been there.
func (s *jsonScanner) remember() {
	if len(s.path) == 0 || len(s.stack) > maxPath || len(s.key) == 0 {
		return
	}
	f := &s.path[len(s.path)-1]
	key := s.key
	if bytes.IndexByte(key, '\\') >= 0 {
		key = unescaped(key)
	}
	if !s.known(f, key) || len(s.block.Twice) >= maxErrors {
		return
	}
	s.block.Twice = append(s.block.Twice, Twice{At: s.at, Key: Clip(string(key), 60)})
}

// unescaped is a key as it is meant: \u0061 is a. Of what is escaped otherwise (\n)
// there is one way alone, or nearly.
func unescaped(key []byte) []byte {
	var plain []byte
	for len(key) > 0 {
		if n, err := strconv.ParseUint(string(key[min(2, len(key)):min(6, len(key))]), 16, 16); len(key) >= 6 && key[0] == '\\' && key[1] == 'u' && err == nil {
			plain, key = utf8.AppendRune(plain, rune(n)), key[6:]
			continue
		}
		size := 1
		if key[0] == '\\' {
			size = min(2, len(key)) // what is behind it begins nothing
		}
		plain, key = append(plain, key[:size]...), key[size:]
	}
	return plain
}

// known adds a key to the frame's and says whether it was one of them.
func (s *jsonScanner) known(f *frame, key []byte) bool {
	if f.seen == nil {
		for _, k := range s.keys[f.keys:] {
			if n := len(k); n == len(key) && k[n-1] == key[n-1] && bytes.Equal(k, key) {
				return true
			}
		}
		s.keys = append(s.keys, key)
		if len(s.keys)-int(f.keys) < 32 {
			return false
		}
		f.seen = make(map[uint64]struct{}, 64)
		for _, k := range s.keys[f.keys:] {
			f.seen[maphash.Bytes(s.seed, k)] = struct{}{}
		}
		return false
	}
	h := maphash.Bytes(s.seed, key)
	_, there := f.seen[h]
	f.seen[h] = struct{}{}
	return there
}

// A JSONError is where a JSON block breaks the grammar.
type JSONError struct {
	Line    int32
	Column  int // in characters, from 1
	Kind    string
	Message string
}

// Twice is a key that an object has already.
type Twice struct {
	At  Place
	Key string
}

package protocol

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
)

// A Text is a text that arrives in pieces. A single piece is not copied. A
// piece may end within a character, between its bytes or in a pair like
// \ud83e\udd89. Text holds such an end back until the next piece.
type Text struct {
	first   string
	all     strings.Builder // if there is more than the first piece
	waiting []byte          // as it is written in JSON
	Invalid bool            // a piece has invalid UTF-8 that no other piece completes
}

// Read adds a JSON string and returns the text that it adds. ok is false for a
// value of another kind.
func (t *Text) Read(v jsontree.Value) (added string, ok bool) {
	if v.Kind() != '"' {
		return "", false
	}
	raw := []byte(v.Raw())
	if len(t.waiting) > 0 {
		raw, t.waiting = slices.Concat([]byte{'"'}, t.waiting, raw[1:]), nil
	}
	inner := raw[1 : len(raw)-1]
	if end := wholeCharacters(inner); end < len(inner) {
		raw, t.waiting = slices.Concat([]byte{'"'}, inner[:end], []byte{'"'}), inner[end:]
	}
	return t.unquote(raw), true
}

// Finish adds the incomplete end of the last piece, and returns the added text.
func (t *Text) Finish() string {
	if len(t.waiting) == 0 {
		return ""
	}
	raw := slices.Concat([]byte{'"'}, t.waiting, []byte{'"'})
	t.waiting = nil
	return t.unquote(raw)
}

func (t *Text) unquote(raw []byte) string {
	added, err := jsontree.Unquote(raw)
	t.Invalid = t.Invalid || err != nil
	t.Add(added)
	return added
}

// Add adds a piece as it is.
func (t *Text) Add(piece string) {
	switch {
	case t.Len() == 0:
		t.first = piece
		return
	case t.all.Len() == 0:
		t.all.WriteString(t.first)
	}
	t.all.WriteString(piece)
}

// Len returns the number of bytes.
func (t *Text) Len() int { return max(len(t.first), t.all.Len()) }

// String returns the text.
func (t *Text) String() string {
	if t.all.Len() > 0 {
		return t.all.String()
	}
	return t.first
}

// Piece returns the text if it has one piece.
func (t *Text) Piece() (text string, one bool) { return t.first, t.all.Len() == 0 }

// MarshalJSON returns the text as a JSON string.
func (t *Text) MarshalJSON() ([]byte, error) { return jsonvalue.AppendText(nil, t.String()), nil }

// wholeCharacters returns the length of inner, the inside of a JSON string, up to
// the half of a character at its end.
func wholeCharacters(inner []byte) int {
	n := len(inner)
	if n < len(`\ud83e`) || inner[n-5] != 'u' {
		return clips.Whole(inner)
	}
	slashes := n - 5 - len(bytes.TrimRight(inner[:n-5], `\`))
	first := strings.ToLower(string(inner[n-4 : n-2]))
	if slashes%2 == 1 && first >= "d8" && first <= "db" {
		return n - 6
	}
	return clips.Whole(inner)
}

package openai

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/model"
)

// A told is a text that comes in pieces. One that comes in one is not copied. Pieces
// may end within a character, between bytes or between the two halves of \ud83e\udd89:
// that end is held back until the rest of it comes.
type told struct {
	first string
	all   strings.Builder // where there is more than the first
	held  []byte          // as it stands in JSON
}

// read adds a string of JSON and gives what is new of the text; ok is false of what is
// none.
func (t *told) read(raw []byte) (said string, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if len(t.held) > 0 {
		raw, t.held = slices.Concat([]byte{'"'}, t.held, raw[1:]), nil
	}
	within := raw[1 : len(raw)-1]
	if end := unhalved(within); end < len(within) {
		raw, t.held = slices.Concat([]byte{'"'}, within[:end], []byte{'"'}), within[end:]
	}
	said, ok = text(raw)
	t.add(said)
	return said, ok
}

// rest adds what is held back, of which no more comes, and gives it.
func (t *told) rest() string {
	if len(t.held) == 0 {
		return ""
	}
	said, _ := text(slices.Concat([]byte{'"'}, t.held, []byte{'"'}))
	t.held = nil
	t.add(said)
	return said
}

func (t *told) add(piece string) {
	switch {
	case t.Len() == 0:
		t.first = piece
		return
	case t.all.Len() == 0:
		t.all.WriteString(t.first)
	}
	t.all.WriteString(piece)
}

func (t *told) Len() int { return max(len(t.first), t.all.Len()) }

func (t *told) String() string {
	if t.all.Len() > 0 {
		return t.all.String()
	}
	return t.first
}

// unhalved is where the half of a character begins with which what is within a string
// of JSON ends; all of its length where it ends with none.
func unhalved(within []byte) int {
	n := len(within)
	if n < len(`\ud83e`) || within[n-5] != 'u' {
		return model.Whole(within)
	}
	slashes := n - 5 - len(bytes.TrimRight(within[:n-5], `\`))
	first := strings.ToLower(string(within[n-4 : n-2]))
	if slashes%2 == 1 && first >= "d8" && first <= "db" {
		return n - 6
	}
	return model.Whole(within)
}

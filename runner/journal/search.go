package journal

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/runner/event"
)

// A search is for words in what runs were given and said. What the file can tell
// of them is less than what is asked, since strings stand there with escapes and
// long ones in a table of their own: it tells who may have them, and the events of
// those who has.
type search struct {
	words string // as they are looked for: without a difference of case
	plain string // the longest piece of them that stands in JSON as it is
	texts map[digest]bool
	runs  map[int64]bool // that may have them
}

// search looks for runs that may have the words.
func (j *Journal) search(ctx context.Context, c *conn, words string) (*search, error) {
	s := &search{words: strings.ToLower(words), texts: map[digest]bool{}, runs: map[int64]bool{}}
	for _, piece := range strings.FieldsFunc(s.words, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != ' '
	}) {
		if len(piece) > len(s.plain) {
			s.plain = piece
		}
	}
	within := j.says.within
	// A text in parts may have the words over the end of one.
	err := c.each(ctx, func(v []driver.Value) error {
		var d digest
		copy(d[:], word(v[0]))
		s.texts[d] = true
		return nil
	}, "SELECT digest FROM text WHERE "+within+"(lower(text), ?) > 0 OR substr(text, 1, 7) = '"+partly+"'", s.plain)
	tables := []string{"run, data FROM pack", "run, data FROM start"}
	if j.says.lines {
		tables = append(tables, "id >> 32, data FROM line")
	}
	for _, table := range tables {
		if err == nil {
			err = c.each(ctx, s.row, "SELECT "+table+" WHERE "+within+"(lower(data), ?) > 0 OR "+within+"(data, ?) > 0", s.plain, reference)
		}
	}
	return s, err
}

// row takes in a row of a run, by its number and its JSON.
func (s *search) row(v []driver.Value) error {
	run, data := integer(v[0]), word(v[1])
	if !s.runs[run] && (strings.Contains(strings.ToLower(data), s.plain) || s.refers(data)) {
		s.runs[run] = true
	}
	return nil
}

// refers tells whether JSON has one of the long texts in it.
func (s *search) refers(data string) bool {
	for rest, found := data, len(s.texts) > 0; found; {
		if _, rest, found = strings.Cut(rest, reference); !found || len(rest) < 2*len(digest{}) {
			break
		}
		var d digest
		if _, err := hex.Decode(d[:], []byte(rest[:2*len(d)])); err == nil && s.texts[d] {
			return true
		}
	}
	return false
}

// found tells whether a run has the words in what it was given, was asked or said.
func (j *Journal) found(ctx context.Context, run string, s *search) (bool, error) {
	for e, err := range j.Events(ctx, run, 0, News) {
		if err != nil {
			return false, err
		}
		if s.event(&e) {
			return true, nil
		}
	}
	return false, nil
}

// event tells whether an event has the words, but for what only names things.
func (s *search) event(e *event.Event) bool {
	has := func(text string) bool { return strings.Contains(strings.ToLower(text), s.words) }
	if has(e.Text) || has(e.Message) || s.value(e.Output) || s.value(e.Input) {
		return true
	}
	if v := e.Verdict; v != nil && (has(v.Reason) || v.Error != nil && has(*v.Error)) {
		return true
	}
	if e.Error != nil && has(e.Error.Message) || e.Response != nil && has(e.Response.Text) {
		return true
	}
	if e.Call != nil && s.value(e.Call.Arguments) || e.Result != nil && s.value(e.Result.Value) {
		return true
	}
	if e.Request != nil {
		for _, m := range e.Request.Messages {
			if has(m.Content) {
				return true
			}
		}
	}
	return false
}

// value looks into a plain value.
func (s *search) value(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(strings.ToLower(v), s.words)
	case []any:
		for _, e := range v {
			if s.value(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if s.value(e) {
				return true
			}
		}
	}
	return false
}

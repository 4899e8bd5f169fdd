package journal

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/runner/event"
)

// A search is for words in what runs were given and said. What the file can tell
// of them is less than what is asked, since strings stand there with escapes and
// long ones in a table of their own: it tells who may have them, and the events of
// those who has.
type search struct {
	words string // as they are looked for: without a difference of case or of white space
	plain string // the longest piece of them that stands in JSON as it is
	texts map[digest]bool
	runs  map[int64]bool // that may have them
}

// search looks for runs that may have the words.
func (j *Journal) search(ctx context.Context, c *conn, words string) (*search, error) {
	s := &search{words: fold(onOneLine(words)), texts: map[digest]bool{}, runs: map[int64]bool{}}
	// Lowered only then: a small İ is an i, which the file's own lower does not make of it.
	for _, piece := range strings.FieldsFunc(words, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(piece) > len(s.plain) {
			s.plain = strings.ToLower(piece)
		}
	}
	older, err := j.older(c)
	if err != nil {
		return nil, err
	}
	within := j.says.within
	// A text in parts may have the words over the end of one.
	err = c.each(ctx, func(v []driver.Value) error {
		var d digest
		copy(d[:], word(v[0]))
		s.texts[d] = true
		return nil
	}, "SELECT digest FROM text WHERE "+within+"(lower(text), ?) > 0 OR substr(text, 1, 7) = '"+partly+"'", s.plain)
	tables := []string{"run, data FROM start"}
	if !older {
		tables = append(tables, "run, data FROM pack")
	}
	if j.says.lines {
		tables = append(tables, "id >> 32, data FROM "+lineTable(older))
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

// found tells where a run has the words in what it was given, was asked or said, nil
// where it has them nowhere.
func (j *Journal) found(ctx context.Context, run string, s *search) (*Hit, error) {
	for e, err := range j.Events(ctx, run, 0, News) {
		if err != nil {
			return nil, err
		}
		for text := range textsOf(&e) {
			text = onOneLine(text)
			if at, n := locate(text, s.words); at >= 0 {
				h := &Hit{Seq: e.Seq, Kind: e.Kind, Path: e.Path, Phase: e.Phase}
				h.Before, h.Words, h.After = around(text, at, n)
				return h, nil
			}
		}
	}
	return nil, nil
}

// textsOf are the texts of an event, but for those that only name things.
func textsOf(e *event.Event) iter.Seq[string] {
	return func(yield func(string) bool) {
		list := []any{e.Text, e.Message, e.Output, e.Input}
		if v := e.Verdict; v != nil {
			list = append(list, v.Reason)
			if v.Error != nil {
				list = append(list, *v.Error)
			}
		}
		if e.Error != nil {
			list = append(list, e.Error.Message)
		}
		if e.Response != nil {
			list = append(list, e.Response.Text)
		}
		if e.Call != nil {
			list = append(list, e.Call.Arguments)
		}
		if e.Result != nil {
			list = append(list, e.Result.Value)
		}
		if e.Request != nil {
			for _, m := range e.Request.Messages {
				list = append(list, m.Content)
			}
		}
		texts(list, yield)
	}
}

// texts gives every text of a plain value, of a mapping in the order of its keys,
// and tells whether more is wanted.
func texts(v any, yield func(string) bool) bool {
	switch v := v.(type) {
	case string:
		return v == "" || yield(v)
	case []any:
		for _, e := range v {
			if !texts(e, yield) {
				return false
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !texts(v[key], yield) {
				return false
			}
		}
	}
	return true
}

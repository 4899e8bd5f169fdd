package journal

import (
	"cmp"
	"context"
	"database/sql/driver"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A search looks for words in the inputs, requests and replies of runs. SQL finds only
// candidates, because stored strings have escapes and a separate table has the long
// texts. The events of the candidates decide.
type search struct {
	words string // in lower case and with single spaces
	plain string // the longest part that JSON contains unescaped
	texts map[codec.Digest]bool
	runs  map[int64]bool // that may contain them
}

// search finds the runs that may contain the words.
func (j *Journal) search(ctx context.Context, c *stores.Conn, words string) (*search, error) {
	s := &search{words: foldCase(onOneLine(words)), texts: map[codec.Digest]bool{}, runs: map[int64]bool{}}
	// Lowered afterwards: the small letter of İ is i, which the lower function
	// of SQL does not return.
	for _, piece := range strings.FieldsFunc(words, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(piece) > len(s.plain) {
			s.plain = strings.ToLower(piece)
		}
	}
	within := j.db.Dialect.Within
	err := c.Each(ctx, func(v []driver.Value) error {
		var d codec.Digest
		copy(d[:], stores.Text(v[0]))
		s.texts[d] = true
		return nil
	}, "SELECT digest FROM text WHERE "+within+"(lower(text), ?) > 0", s.plain)
	for _, table := range []string{"run, data FROM start", "id >> 32, data FROM pack"} {
		if err == nil {
			err = c.Each(ctx, s.row, "SELECT "+table+" WHERE "+within+"(lower(data), ?) > 0 OR "+within+"(data, ?) > 0", s.plain, codec.Reference)
		}
	}
	return s, err
}

// row adds a run if its row may contain the words.
func (s *search) row(v []driver.Value) error {
	run, data := stores.Integer(v[0]), stores.Text(v[1])
	if !s.runs[run] && (strings.Contains(strings.ToLower(data), s.plain) || s.refers(data)) {
		s.runs[run] = true
	}
	return nil
}

// refers reports whether JSON names one of the matching texts.
func (s *search) refers(data string) bool {
	if len(s.texts) > 0 {
		for d := range codec.References(data) {
			if s.texts[d] {
				return true
			}
		}
	}
	return false
}

// firstHit returns the first place where a run contains the words, or nil.
func (j *Journal) firstHit(ctx context.Context, run string, s *search) (*Hit, error) {
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

// textsOf yields the texts of an event, except names.
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

// texts yields every text of a plain value, mappings in the order of their
// keys. It reports whether the caller wants more.
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

// A Hit is the first place of a run that contains the words of a [Filter]. It
// may be in the input (run_started), in a request (model_called), in a reply
// (model_replied), in a verdict or in an output.
type Hit struct {
	Seq    int64      `json:"seq"`
	Kind   event.Kind `json:"kind"`
	Path   event.Path `json:"path,omitempty"`
	Phase  string     `json:"phase,omitempty"`
	Before string     `json:"before"` // on one line; begins with … if text was cut
	Words  string     `json:"words"`  // as written there
	After  string     `json:"after"`
}

// Place returns the phase, if any, and the kind of text that contains the
// words.
func (h Hit) Place() string {
	what, ok := map[event.Kind]string{
		event.RunStarted: "input", event.ModelCalled: "asked", event.ModelReplied: "reply", event.ToolCalled: "call of a tool",
		event.ToolReplied: "result of a tool", event.AttemptFinished: "text", event.PhaseFinished: "output", event.RunFinished: "output",
		event.Waiting: "question", event.Answered: "answer",
	}[h.Kind]
	if !ok {
		what = strings.ReplaceAll(string(h.Kind), "_", " ")
	}
	if phase := cmp.Or(h.Phase, h.Path.First()); phase != "" {
		return phase + ", " + what
	}
	return what
}

// foldCase returns a text of equal length in characters that is the same for
// texts that differ only in case.
func foldCase(text string) string {
	return strings.Map(func(r rune) rune {
		if r <= unicode.MaxASCII {
			if 'a' <= r && r <= 'z' {
				r -= 'a' - 'A'
			}
			return r
		}
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, text)
}

// locate returns the byte offset and the length of folded words in a text. The
// offset is -1 if they are missing.
func locate(text, words string) (at, n int) {
	folded := foldCase(text)
	i := strings.Index(folded, words)
	if i < 0 {
		return -1, 0
	}
	at = skip(text, utf8.RuneCountInString(folded[:i]))
	return at, skip(text[at:], utf8.RuneCountInString(words))
}

// skip returns the byte offset after a number of characters.
func skip(text string, characters int) int {
	for i := range text {
		if characters--; characters < 0 {
			return i
		}
	}
	return len(text)
}

// shownAround is the maximum length of the text on either side of a hit, in
// bytes.
const shownAround = 60

// around splits a text at a hit and shortens both sides.
func around(text string, at, n int) (before, words, after string) {
	from, to := max(0, at-shownAround), min(len(text), at+n+shownAround)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	before, words, after = text[from:at], text[at:at+n], text[at+n:to]
	if from > 0 {
		before = "…" + before
	}
	if to < len(text) {
		after += "…"
	}
	return before, words, after
}

// onOneLine replaces each run of white space by a space.
func onOneLine(text string) string {
	var b strings.Builder
	blank := false
	for _, r := range text {
		if space := unicode.IsSpace(r); !space {
			b.WriteRune(r)
			blank = false
		} else if !blank {
			b.WriteByte(' ')
			blank = true
		}
	}
	return b.String()
}

package journal

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// What the journal must not hold is kept out of it by its name: where the value
// of the secret API_KEY stood, the file has [redacted API_KEY]. That changes
// nothing for the run. A start that goes on with it gets the value back where
// it has a secret of that name, and what a request is told from another by
// (see print.go) does not hang on what was redacted, then or now.
//
// A model may say "[redacted API_KEY]" too, and must not be given the value for
// that when the run is gone on with. So a mark of ours is sealed, with
// characters that are not seen; where a text has such a seal of its own it is
// taken off before the text is kept.

// seal ends a mark, once for each form that the value may have had: see
// disguises. It is a word joiner. A text may go on with one of its own, so the
// last is followed by sealEnd, another character that nobody sees, but in files
// of earlier versions.
const (
	seal    = "\u2060"
	sealEnd = "\u2061"
)

// sealed finds marks, and all behind them that could be taken for seals. Names
// have no brackets, quotes or escapes in them.
var sealed = patterns.Lazy(`(\[redacted [^\[\]"\\]+\])\x{2060}[\x{2060}\x{2061}]*`)

// minSecret is how many characters a value must have to be redacted: a shorter
// one would take ordinary words with it, and be no secret.
const minSecret = 8

// secrets are the values that are not to be in the file; nil is none.
type secrets struct {
	values []string          // in all forms
	hide   *strings.Replacer // values by sealed marks
	show   *strings.Replacer // sealed marks by values
}

// newSecrets makes them of values by name. Of two values, the longer goes
// first.
func newSecrets(named map[string]string) *secrets {
	var names []string
	for name, value := range named {
		if utf8.RuneCountInString(value) >= minSecret {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int {
		if n := len(named[b]) - len(named[a]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	s := &secrets{}
	var hide, show []string
	for _, name := range names {
		mark := "[redacted " + name + "]"
		for i, form := range disguises(named[name]) {
			shown := mark + strings.Repeat(seal, i+1)
			if !slices.Contains(s.values, form) {
				s.values, hide = append(s.values, form), append(hide, form, shown+sealEnd)
			}
			show = append([]string{shown + sealEnd, form, shown, form}, show...) // the one with more seals first
		}
	}
	s.hide, s.show = strings.NewReplacer(hide...), strings.NewReplacer(show...)
	return s
}

// disguises are the forms that a text has by itself and within JSON.
func disguises(s string) []string {
	plain := model.AppendText(nil, s)
	html := model.AppendEscaped(nil, s)
	return []string{s, string(plain[1 : len(plain)-1]), string(html[1 : len(html)-1])}
}

// hidden is a text with marks for the secrets, and no seals of its own.
func (s *secrets) hidden(said string) string {
	if strings.Contains(said, seal) {
		said = sealed().ReplaceAllString(said, "$1")
	}
	if s != nil && slices.ContainsFunc(s.values, func(v string) bool { return strings.Contains(said, v) }) {
		said = s.hide.Replace(said)
	}
	return said
}

// shown is a text as it was, as far as the secrets that it held are among s.
func (s *secrets) shown(said string) string {
	if s != nil && strings.Contains(said, seal) {
		said = s.show.Replace(said)
	}
	return bare(said)
}

// bare is a text with marks as people see them.
func bare(said string) string {
	if !strings.Contains(said, seal) {
		return said
	}
	return sealed().ReplaceAllString(said, "$1")
}

// Redacted tells whether a secret stood in a text of [Marked] events.
func Redacted(said string) bool { return strings.Contains(said, seal) && sealed().MatchString(said) }

// A view is how a text of the file is to be read: [bare] for people, and for a
// run that goes on as it was.
type view func(said string) string

// read gives JSON as the view has it.
func (v view) read(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(seal)) {
		return raw
	}
	return encodings.Rewrite(raw, func(token []byte) []byte {
		said := string(encodings.Said(token))
		if read := v(said); read != said {
			return model.AppendText(nil, read)
		}
		return nil
	})
}

// redact gives JSON without secrets.
func (s *secrets) redact(raw []byte) []byte {
	if s == nil && !bytes.Contains(raw, []byte(seal)) && !bytes.Contains(raw, []byte(`\u2060`)) {
		return raw
	}
	return encodings.Rewrite(raw, func(token []byte) []byte {
		said := string(encodings.Said(token))
		if clean := s.hidden(said); clean != said {
			return model.AppendText(nil, clean)
		}
		return nil
	})
}

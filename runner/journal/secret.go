package journal

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
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

// A secret may also be a number of JSON. Then a string stands in its place, whose mark
// has more seals than those of texts, and a reader that continues the run makes it a
// number again.

// numeralSeals is how many seals end the mark of a number's first spelling.
const numeralSeals = 4

// numeral finds the strings that stand for numbers: as they are, and as the JSON that
// a text holds.
var (
	numeral       = patterns.Lazy(`^[-+.0-9eE]*\[redacted ([^\[\]"\\]+)\]\x{2060}{4,5}\x{2061}[-+.0-9eE]*$`)
	quotedNumeral = patterns.Lazy(`"([-+.0-9eE]*\[redacted [^\[\]"\\]+\]\x{2060}{4,5}\x{2061}[-+.0-9eE]*)"`)
)

// secrets are the values that are not to be in the file; nil is none.
type secrets struct {
	values   []string            // in all forms
	numerals []encodings.Numeral // those that are numbers
	hide     *strings.Replacer   // values by sealed marks
	show     *strings.Replacer   // sealed marks by values
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
		for _, n := range encodings.Numerals(named[name], minSecret, func(i int) string { return mark + strings.Repeat(seal, numeralSeals+i) + sealEnd }) {
			s.numerals = append(s.numerals, n)
			show = append([]string{n.Mark, n.Text}, show...)
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

// hidden returns a text with marks for the secrets, and without seals of its own.
func (s *secrets) hidden(said string) string {
	if strings.Contains(said, seal) {
		said = sealed().ReplaceAllString(said, "$1")
	}
	if s == nil {
		return said
	}
	said = encodings.HideNumbersWithin(said, s.numerals)
	if slices.ContainsFunc(s.values, func(v string) bool { return strings.Contains(said, v) }) {
		said = s.hide.Replace(said)
	}
	return said
}

// shown returns a text as it was, as far as the secrets that it held are among s.
func (s *secrets) shown(said string) string {
	if s != nil && strings.Contains(said, seal) {
		if len(s.numerals) > 0 {
			said = quotedNumeral().ReplaceAllStringFunc(said, func(found string) string {
				if number := s.show.Replace(found[1 : len(found)-1]); !strings.Contains(number, seal) {
					return number
				}
				return found
			})
		}
		said = s.show.Replace(said)
	}
	return bare(said)
}

// number returns the number that a string stands for. It returns false for any other
// string, and an error if the number's secret is not among s.
func (s *secrets) number(said string) (string, bool, error) {
	if !strings.Contains(said, seal) {
		return "", false, nil
	}
	found := numeral().FindStringSubmatch(said)
	if found == nil {
		return "", false, nil
	}
	if s != nil {
		if said = s.show.Replace(said); !strings.Contains(said, seal) {
			return said, true, nil
		}
	}
	return "", false, fmt.Errorf("the run holds the value of %s as a number, and the variable has no value now: set it and resume again", found[1])
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

// A view says how the texts and numbers of the file are read.
type view struct {
	text   func(said string) string
	number func(said string) (json string, ok bool, err error) // nil: a string stays in their place
}

// people read marks.
var people = view{text: bare}

// asItWas is the view of a run that continues.
func (s *secrets) asItWas() view { return view{s.shown, s.number} }

// read returns JSON in a view.
func (v view) read(raw []byte) ([]byte, error) {
	if !bytes.Contains(raw, []byte(seal)) {
		return raw, nil
	}
	var failed error
	return encodings.Rewrite(raw, func(token []byte) []byte {
		said := string(encodings.Said(token))
		if v.number != nil {
			number, ok, err := v.number(said)
			if failed == nil {
				failed = err
			}
			if ok {
				return []byte(number)
			}
		}
		if read := v.text(said); read != said {
			return model.AppendText(nil, read)
		}
		return nil
	}), failed
}

// bareJSON returns JSON with marks as people see them.
func bareJSON(raw []byte) []byte {
	read, _ := people.read(raw) // fails for numbers alone
	return read
}

// redact returns JSON without secrets.
func (s *secrets) redact(raw []byte) []byte {
	raw = s.redactTexts(raw)
	if s == nil {
		return raw
	}
	return encodings.HideNumbers(raw, s.numerals)
}

// redactAs is [secrets.redact] for JSON that is read as a value of the type of like.
// A number of the type itself, such as a count of tokens, stays if it happens to
// contain a secret.
func (s *secrets) redactAs(raw []byte, like any) []byte {
	texts := s.redactTexts(raw)
	if s == nil || len(s.numerals) == 0 || like == nil {
		return texts
	}
	return encodings.HideNumbersAs(texts, s.numerals, func(raw []byte) bool {
		return schema.Unmarshal(raw, reflect.New(reflect.TypeOf(like)).Interface()) == nil
	})
}

func (s *secrets) redactTexts(raw []byte) []byte {
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

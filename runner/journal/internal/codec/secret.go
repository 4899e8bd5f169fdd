package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/encodings"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/schema"
)

// The journal replaces secrets by their names: instead of the value of API_KEY,
// the store has [redacted API_KEY]. Runs are not affected. A resumed run gets
// the value back if it has a secret of that name, and the comparison of
// requests (see [Fingerprint]) does not depend on redaction.
//
// A model may also write "[redacted API_KEY]". Such a text must not turn into the value
// when the run is resumed. For this reason our own marks are sealed with invisible
// characters. Seals in other texts are removed before they are stored.

// seal ends a mark, once for each encoded form of the value, see encodedForms.
// It is a word joiner. The text may continue with a word joiner of its own, so
// sealEnd, another invisible character, follows the last seal.
const (
	Seal    = "\u2060"
	sealEnd = "\u2061"
)

// sealed matches marks with all following characters of seals. Names contain no
// brackets, quotes or escapes.
var sealed = patterns.Lazy(`(\[redacted [^\[\]"\\]+\])\x{2060}[\x{2060}\x{2061}]*`)

// minSecret is the minimum length of a secret, in characters. A shorter value
// could also be an ordinary word.
const minSecret = 8

// A secret may also be a number in JSON. It is replaced by a string whose mark
// has more seals than those of texts. A reader that continues the run turns the
// string into the number again.

// numeralSeals is the number of seals after the mark of a number's first
// spelling.
const numeralSeals = 4

// numeral matches strings that stand for numbers; quotedNumeral matches them in
// JSON within a text.
var (
	numeral       = patterns.Lazy(`^[-+.0-9eE]*\[redacted ([^\[\]"\\]+)\]\x{2060}{4,5}\x{2061}[-+.0-9eE]*$`)
	quotedNumeral = patterns.Lazy(`"([-+.0-9eE]*\[redacted [^\[\]"\\]+\]\x{2060}{4,5}\x{2061}[-+.0-9eE]*)"`)
)

// Secrets are the values that must not be stored; nil is none.
type Secrets struct {
	values   []string            // in all encoded forms
	numerals []encodings.Numeral // the values that are numbers
	hide     *strings.Replacer   // replaces values by sealed marks
	show     *strings.Replacer   // replaces sealed marks by values
}

// NewSecrets returns the secrets with these values by name. Longer values are
// replaced first.
func NewSecrets(named map[string]string) *Secrets {
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
	s := &Secrets{}
	var hide, show []string
	for _, name := range names {
		mark := "[redacted " + name + "]"
		for i, form := range encodedForms(named[name]) {
			shown := mark + strings.Repeat(Seal, i+1)
			if !slices.Contains(s.values, form) {
				s.values, hide = append(s.values, form), append(hide, form, shown+sealEnd)
			}
			show = append([]string{shown + sealEnd, form}, show...) // the mark with more seals comes first
		}
		for _, n := range encodings.Numerals(named[name], minSecret, func(i int) string { return mark + strings.Repeat(Seal, numeralSeals+i) + sealEnd }) {
			s.numerals = append(s.numerals, n)
			show = append([]string{n.Mark, n.Text}, show...)
		}
	}
	s.hide, s.show = strings.NewReplacer(hide...), strings.NewReplacer(show...)
	return s
}

// encodedForms returns a text and its forms within JSON.
func encodedForms(s string) []string {
	plain := jsonvalue.AppendText(nil, s)
	html, _ := json.Marshal(s) // a string has a JSON form
	return []string{s, string(plain[1 : len(plain)-1]), string(html[1 : len(html)-1])}
}

// redactText returns a text with marks in place of secrets. It removes all other seals.
func (s *Secrets) redactText(text string) string {
	if strings.Contains(text, Seal) {
		text = sealed().ReplaceAllString(text, "$1")
	}
	if s == nil {
		return text
	}
	text = encodings.HideNumbersWithin(text, s.numerals)
	if slices.ContainsFunc(s.values, func(v string) bool { return strings.Contains(text, v) }) {
		text = s.hide.Replace(text)
	}
	return text
}

// restore returns a text with the values of the secrets in s in place of their
// marks.
func (s *Secrets) restore(text string) string {
	if s != nil && strings.Contains(text, Seal) {
		if len(s.numerals) > 0 {
			text = quotedNumeral().ReplaceAllStringFunc(text, func(found string) string {
				if number := s.show.Replace(found[1 : len(found)-1]); !strings.Contains(number, Seal) {
					return number
				}
				return found
			})
		}
		text = s.show.Replace(text)
	}
	return Unseal(text)
}

// number returns the number that a string stands for. ok is false for other
// strings. It returns an error if the number's secret is not in s.
func (s *Secrets) number(text string) (string, bool, error) {
	if !strings.Contains(text, Seal) {
		return "", false, nil
	}
	found := numeral().FindStringSubmatch(text)
	if found == nil {
		return "", false, nil
	}
	if s != nil {
		if text = s.show.Replace(text); !strings.Contains(text, Seal) {
			return text, true, nil
		}
	}
	return "", false, fmt.Errorf("the run holds the value of %s as a number, and the variable has no value now: set it and resume again", found[1])
}

// Unseal returns a text with marks as people see them.
func Unseal(text string) string {
	if !strings.Contains(text, Seal) {
		return text
	}
	return sealed().ReplaceAllString(text, "$1")
}

// Redacted reports whether a text of [Marked] events contained a secret.
func Redacted(text string) bool { return strings.Contains(text, Seal) && sealed().MatchString(text) }

// A View defines how the texts and numbers of the store are read.
type View struct {
	Text   func(text string) string
	number func(text string) (json string, ok bool, err error) // nil: strings for numbers stay strings
}

// RedactedView shows marks.
var RedactedView = View{Text: Unseal}

// RestoredView returns the view of a resumed run.
func (s *Secrets) RestoredView() View { return View{s.restore, s.number} }

// Read returns JSON in a view.
func (v View) Read(raw []byte) ([]byte, error) {
	if !bytes.Contains(raw, []byte(Seal)) {
		return raw, nil
	}
	var failed error
	return encodings.Rewrite(raw, func(token []byte) []byte {
		text := string(encodings.Said(token))
		if v.number != nil {
			number, ok, err := v.number(text)
			if failed == nil {
				failed = err
			}
			if ok {
				return []byte(number)
			}
		}
		if read := v.Text(text); read != text {
			return jsonvalue.AppendText(nil, read)
		}
		return nil
	}), failed
}

// UnsealJSON returns JSON with marks as people see them.
func UnsealJSON(raw []byte) []byte {
	read, _ := RedactedView.Read(raw) // only numbers can fail
	return read
}

// Redact returns JSON without secrets.
func (s *Secrets) Redact(raw []byte) []byte {
	raw = s.redactTexts(raw)
	if s == nil {
		return raw
	}
	return encodings.HideNumbers(raw, s.numerals)
}

// RedactAs is [Secrets.Redact] for JSON of the type of like. A number of the
// type itself, such as a count of tokens, stays even if it contains a secret.
func (s *Secrets) RedactAs(raw []byte, like any) []byte {
	texts := s.redactTexts(raw)
	if s == nil || len(s.numerals) == 0 || like == nil {
		return texts
	}
	return encodings.HideNumbersAs(texts, s.numerals, func(raw []byte) bool {
		return schema.Unmarshal(raw, reflect.New(reflect.TypeOf(like)).Interface()) == nil
	})
}

func (s *Secrets) redactTexts(raw []byte) []byte {
	if s == nil && !bytes.Contains(raw, []byte(Seal)) && !bytes.Contains(raw, []byte(`\u2060`)) {
		return raw
	}
	return encodings.Rewrite(raw, func(token []byte) []byte {
		text := string(encodings.Said(token))
		if clean := s.redactText(text); clean != text {
			return jsonvalue.AppendText(nil, clean)
		}
		return nil
	})
}

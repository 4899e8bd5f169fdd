package builtins

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/tables"
	"github.com/seed61713e19/capstan/validators"
)

// defaultSubstance is the default of min_length for [simpleValidator].
const defaultSubstance = 10

type substance struct {
	MinLength int `json:"min_length,omitempty" jsonschema:"minimum number of characters, without surrounding white space. Default: 10"`
}

// Prepare implements [validators.Prepared].
func (p *substance) Prepare() error {
	if p.MinLength < 0 {
		return errors.New("min_length must not be negative")
	}
	p.MinLength = cmp.Or(p.MinLength, defaultSubstance)
	return nil
}

// placeholders returns the texts that stand for a missing text, in lower case
// and without punctuation.
var placeholders = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, r := range tables.Rows(emptyTable) {
		words[r["words"]] = true
	}
	return words
})

// simpleValidator accepts text with some substance: it has words, is not only a
// placeholder such as TODO or N/A, and has at least min_length characters. It
// does not judge the content.
var simpleValidator = validators.New("simple_validator", "Validates that the text is not empty, not a placeholder and has some substance",
	func(_ context.Context, p substance, s validators.Subject) (validators.Verdict, error) {
		text := strings.TrimSpace(s.Content)
		n := utf8.RuneCountInString(text)
		switch {
		case strings.IndexFunc(text, visible) < 0:
			return validators.Fail("the text is empty"), nil
		case strings.IndexFunc(text, beginsWord) < 0:
			return validators.Fail("the text has no words"), nil
		case len(text) < 100 && placeholders()[bareWords(text)]:
			return validators.Fail("the text is only a placeholder: %s", quote(text)), nil
		case n < p.MinLength:
			return validators.Fail("the text has %s, fewer than %d", reports.Count(n, "character"), p.MinLength), nil
		}
		return validators.Pass("the text has %s", reports.Count(n, "character")), nil
	})

// bareWords returns a text in lower case without punctuation.
func bareWords(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case isWordRune(r):
			return r
		}
		return -1
	}, strings.ToLower(text))
	return strings.Join(strings.Fields(text), " ")
}

package builtins

import (
	"context"
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
)

type wordLimits struct {
	Min int `json:"min,omitempty" jsonschema:"minimum number of words. 0: no limit"`
	Max int `json:"max,omitempty" jsonschema:"maximum number of words. 0: no limit"`
}

// Prepare implements [validators.Prepared].
func (p *wordLimits) Prepare() error { return checkLimits(p.Min, p.Max) }

// unsegmented are scripts without spaces in which a word has several
// characters.
var unsegmented = []*unicode.RangeTable{unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// wordCountValidator accepts text of min to max words. In scripts without spaces, every
// character is a word. That would be wrong for Thai, Lao, Khmer and Burmese:
// their texts are an error, unless any number of words would pass.
var wordCountValidator = validators.New("word_count", "Validates that the text has between min and max words",
	func(_ context.Context, p wordLimits, s validators.Subject) (validators.Verdict, error) {
		least, most, end := 0, 0, -1 // a run of letters without spaces has at least one word
		for at, word := range words(s.Content) {
			r, _ := utf8.DecodeRuneInString(word)
			if most++; !unicode.In(r, unsegmented...) {
				least++
				continue
			}
			if at != end {
				least++
			}
			end = at + len(word)
		}
		v := judgeCount(least, p.Min, p.Max, "word")
		if least != most && !(v.Valid && judgeCount(most, p.Min, p.Max, "word").Valid) {
			return validators.Verdict{}, errors.New("words cannot be counted in this script (Thai, Lao, Khmer or Burmese), which has no spaces between them: use length_check")
		}
		return v, nil
	})

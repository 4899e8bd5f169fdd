package builtins

import (
	"context"

	"github.com/seed61713e19/capstan/validators"
)

type wordLimits struct {
	Min int `json:"min,omitempty" jsonschema:"fewest words; 0 for no limit"`
	Max int `json:"max,omitempty" jsonschema:"most words; 0 for no limit"`
}

// Prepare implements [validators.Prepared].
func (p *wordLimits) Prepare() error { return checkLimits(p.Min, p.Max) }

// WordCount accepts text of min to max words. In scripts written without
// spaces every character is a word.
var WordCount = validators.New("word_count", "Validates that the text has between min and max words",
	func(_ context.Context, p wordLimits, s validators.Subject) (validators.Verdict, error) {
		n := 0
		for range words(s.Content) {
			n++
		}
		return judgeCount(n, p.Min, p.Max, "word"), nil
	})

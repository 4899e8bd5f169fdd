package expressions

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/validators"
)

// TestMatchesIsInterrupted stops a match within a long text, within the pieces
// of a split, and with a computed pattern.
func TestMatchesIsInterrupted(t *testing.T) {
	s := validators.Subject{Content: strings.Repeat("a", 2<<20) + "!", Input: map[string]any{"pattern": `((a{1,30}){1,30})$`}}
	for _, source := range []string{
		`content matches "((a{1,30}){1,30})$"`, `not (content matches "((a{1,30}){1,30})$")`, `content matches input.pattern`,
		`any(split(content, "\n"), # matches "((a{1,30}){1,30})$")`, `none(split(content, "\n"), # matches input.pattern)`,
	} {
		asked, errStop := 0, errors.New("stopped")
		answer, err := mustParse(t, source).EvalUntil(func() error {
			if asked++; asked == 5 {
				return errStop
			}
			return nil
		}, s)
		if err == nil || !strings.Contains(err.Error(), errStop.Error()) || answer || asked != 5 {
			t.Errorf("%s: got %t, %v after %d questions", source, answer, err, asked)
		}
	}
}

// TestMatchesLargePattern checks that a large pattern is rejected. Parse rejects a literal
// pattern, and the evaluation rejects a computed pattern.
func TestMatchesLargePattern(t *testing.T) {
	large := strings.Repeat(`((a{1,30}){1,30})`, 9)
	for _, source := range []string{`content matches "` + large + `"`, `false and content matches "` + large + `"`} {
		if _, err := Parse(source); err == nil || !strings.Contains(err.Error(), patterns.ErrLarge.Error()) {
			t.Errorf("got %v", err)
		}
	}
	if answer, err := mustParse(t, `content matches input.pattern`).Eval(validators.Subject{Content: "a", Input: map[string]any{"pattern": large}}); err == nil || answer {
		t.Errorf("got %t, %v", answer, err)
	}
	many := make([]string, 80)
	for i := range many {
		many[i] = `content matches "` + strings.Repeat("b", i) + `((x{1,30}){1,30})((y{1,30}){1,30})"`
	}
	if _, err := Parse(strings.Join(many, " or ")); err == nil || !strings.Contains(err.Error(), "together") {
		t.Errorf("got %v", err)
	}
}

package builtins

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/validators"
)

// TestRegexpTooMuchWork checks that a pattern that would match for minutes is
// an error without a verdict.
func TestRegexpTooMuchWork(t *testing.T) {
	for _, mustNot := range []bool{false, true} {
		check, err := regexpValidator.Bind(map[string]any{"pattern": `(?:a?){1000}(?:b?a?){1000}[cd]`, "must_not": mustNot})
		if err != nil {
			t.Fatal(err)
		}
		v, err := check(&interrupted{Context: t.Context(), left: 5}, validators.Subject{Content: strings.Repeat("a", 5<<20)})
		if !errors.Is(err, errInterrupted) || v.Valid {
			t.Errorf("got %+v, %v", v, err)
		}
		if v, err := check(t.Context(), validators.Subject{Content: "b\n" + strings.Repeat("x", 1<<10) + "c"}); err != nil || v.Valid == mustNot {
			t.Errorf("got %+v, %v", v, err)
		}
	}
	check, err := regexpValidator.Bind(map[string]any{"pattern": `(?:[a-z]{100}[0-9]){9}[xy]`})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := check(t.Context(), validators.Subject{Content: strings.Repeat("A", 5<<20)}); !errors.Is(err, patterns.ErrWork) {
		t.Errorf("got %+v, %v", v, err)
	}
}

// TestRegexpTooLarge checks that binding rejects a pattern above a limit.
func TestRegexpTooLarge(t *testing.T) {
	if _, err := regexpValidator.Bind(map[string]any{"pattern": strings.Repeat(`((a{1,30}){1,30})`, 9)}); !errors.Is(err, patterns.ErrLarge) {
		t.Errorf("got %v", err)
	}
}

var errInterrupted = errors.New("interrupted")

// An interrupted context ends after a number of calls to Err.
type interrupted struct {
	context.Context
	left int
}

// Err implements [context.Context].
func (c *interrupted) Err() error {
	if c.left--; c.left < 0 {
		return errInterrupted
	}
	return nil
}

package builtins

import (
	"testing"

	"github.com/seed61713e19/capstan/validators"
)

// A pattern that would match for minutes is an error, and no verdict.
func TestRegexpTooLarge(t *testing.T) {
	check, err := Regexp.Bind(map[string]any{"pattern": `(?:[a-z]{100}[0-9]){9}x`})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := check(t.Context(), validators.Subject{Content: string(make([]byte, 5<<20))}); err == nil {
		t.Errorf("got %+v", v)
	}
}

package cascades

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// TestExtractionIsBounded checks that the host can stop an extraction from a long text, and
// that an expensive extraction ends. The result must differ from the result for a text without
// a match.
func TestExtractionIsBounded(t *testing.T) {
	extraction := func(pattern string) *Extraction {
		return parsed(t, "cascade_id: x\nphases:\n- {name: a, instructions: x, output_extraction: {pattern: '"+pattern+"', store_as: x}}\n", nil).Phases[0].Extraction
	}
	asked, errStop := 0, errors.New("stopped")
	stop := func() error {
		if asked++; asked == 5 {
			return errStop
		}
		return nil
	}
	if found, ok, err := extraction(`((a{1,30}){1,30})$`).In(stop, strings.Repeat("a", 2<<20)+"!"); err != errStop || ok || found != "" || asked != 5 {
		t.Errorf("got %q, %t, %v after %d questions", found, ok, err, asked)
	}
	if _, ok, err := extraction(`(?:[a-z]{100}[0-9]){9}[xy]`).In(nil, strings.Repeat("A", 5<<20)); err != patterns.ErrWork || ok {
		t.Errorf("got %t, %v", ok, err)
	}
	if found, ok, err := extraction(`<a>(.*?)</a>`).In(nil, strings.Repeat("x", 1<<20)+"<a>b\nc</a>"); found != "b\nc" || !ok || err != nil {
		t.Errorf("got %q, %t, %v", found, ok, err)
	}
}

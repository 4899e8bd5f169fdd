package schema

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// slow needs minutes to match a long text of a.
const slow = `((a{1,30}){1,30})$`

// TestPatternsAreInterrupted stops the check of a long text. The number of
// calls to Stop grows with the text, so each call comes soon.
func TestPatternsAreInterrupted(t *testing.T) {
	long := strings.Repeat("a", 2<<20) + "!"
	for name, of := range map[string]struct{ schema, value any }{
		"pattern":           {map[string]any{"pattern": slow}, long},
		"not pattern":       {map[string]any{"not": map[string]any{"pattern": slow}}, long},
		"anyOf pattern":     {map[string]any{"anyOf": []any{map[string]any{"pattern": slow}, true}}, long},
		"patternProperties": {map[string]any{"patternProperties": map[string]any{slow: false}}, map[string]any{long: 1}},
		"propertyNames":     {map[string]any{"propertyNames": map[string]any{"pattern": slow}}, map[string]any{long: 1}},
	} {
		s, err := Compile(of.schema)
		if err != nil {
			t.Fatal(err)
		}
		asked, errStop := 0, errors.New("stopped")
		broken, err := s.Check(func() error {
			if asked++; asked == 5 {
				return errStop
			}
			return nil
		}, of.value)
		if !errors.Is(err, ErrUnchecked) || !errors.Is(err, errStop) || broken != nil || asked != 5 {
			t.Errorf("%s: got %v, %v after %d questions", name, broken, err, asked)
		}
	}
}

// TestPatternsTooMuchWork checks that a text has no verdict if its pattern
// takes too long.
func TestPatternsTooMuchWork(t *testing.T) {
	s, err := Compile(map[string]any{"items": map[string]any{"pattern": `(?:[a-z]{100}[0-9]){9}[xy]`}})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	broken, err := s.Check(func() error { asked++; return nil }, []any{strings.Repeat("A", 1<<20)})
	if !errors.Is(err, ErrWork) || broken != nil || asked < maxWork/stopInterval/2 {
		t.Errorf("got %v, %v after %d questions", broken, err, asked)
	}
	if broken, err := s.Check(nil, []any{strings.Repeat("A", 1<<10)}); len(broken) != 1 || err != nil {
		t.Errorf("got %v, %v", broken, err)
	}
}

// TestCompileLargePatterns checks that the error names the place of a pattern
// that is too large, even if no reference leads there.
func TestCompileLargePatterns(t *testing.T) {
	large := strings.Repeat(`((a{1,30}){1,30})`, 9)
	many := map[string]any{}
	for i := range 300 {
		many["p"+strings.Repeat("x", i)] = map[string]any{"pattern": strings.Repeat("y", i) + "a{900}"}
	}
	for want, source := range map[string]any{
		"schema $.properties.a.pattern: the pattern is too large: its repeats expand to": map[string]any{"properties": map[string]any{"a": map[string]any{"pattern": large}}},
		`schema $["$defs"].b.items.pattern: the pattern is too large`:                    map[string]any{"$defs": map[string]any{"b": map[string]any{"items": map[string]any{"pattern": large}}}},
		"schema $.patternProperties":                                                     map[string]any{"patternProperties": map[string]any{large: true}},
		"together with those before":                                                     map[string]any{"properties": many},
		"is not valid regex":                                                             map[string]any{"pattern": "("},
	} {
		if _, err := Compile(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	s, err := Compile(map[string]any{"format": "regex"})
	if err != nil {
		t.Fatal(err)
	}
	if broken, err := s.Check(nil, large); !errors.Is(err, ErrUnchecked) || !errors.Is(err, patterns.ErrLarge) {
		t.Errorf("got %v, %v", broken, err)
	}
	if broken, err := s.Check(nil, "("); len(broken) != 1 || err != nil {
		t.Errorf("got %v, %v", broken, err)
	}
	if _, ok := Matching(large, ""); ok {
		t.Error("a large pattern was matched")
	}
}

// TestFormatOfLongText checks that a text has no verdict if it is too long for
// its format.
func TestFormatOfLongText(t *testing.T) {
	s, err := Compile(map[string]any{"items": map[string]any{"format": "json-pointer"}})
	if err != nil {
		t.Fatal(err)
	}
	if broken, err := s.Check(nil, []any{"/" + strings.Repeat("a", 1<<20)}); !errors.Is(err, ErrUnchecked) || !strings.Contains(err.Error(), "$[0]: a text of 1048577 bytes") {
		t.Errorf("got %v, %v", broken, err)
	}
}

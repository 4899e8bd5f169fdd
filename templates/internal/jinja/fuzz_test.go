package jinja

import (
	"errors"
	"strings"
	"testing"
)

// FuzzTemplate checks that Parse and Render never panic, and that their results
// are reproducible.
func FuzzTemplate(f *testing.F) {
	for _, c := range jinjaCases(f) {
		f.Add(c.Template, "value {{ x }}")
	}
	for _, c := range rejected {
		f.Add(c.template, "\xff\x00")
	}
	f.Fuzz(func(t *testing.T, source, value string) {
		parsed, err := Parse(source)
		if err != nil {
			checkError(t, source, err)
			return
		}
		for _, n := range parsed.Names() {
			checkPosition(t, source, n.Line, n.Column)
		}
		vars := map[string]any{"s": value, "x": value, "l": []string{value, "b"}, "n": len(value), "f": 1.5, "a": true,
			"d": map[string]any{"a": value, "b": []any{1, nil, map[string]any{value: value}}}}
		whole := &nest{}
		parsed.Outline(&nesting{whole})
		text, err := parsed.Render(vars, whole.Carry)
		if err != nil {
			checkError(t, source, err)
		}
		again, errAgain := parsed.Render(vars, whole.Carry)
		if text != again || (err == nil) != (errAgain == nil) || len(text) > maxOutput {
			t.Errorf("%q renders as %q, %v and as %q, %v", source, text, err, again, errAgain)
		}
	})
}

func checkError(t *testing.T, source string, err error) {
	t.Helper()
	var positioned *Error
	if !errors.As(err, &positioned) || strings.Contains(positioned.Message, "internal fault") {
		t.Fatalf("%q: %v", source, err)
	}
	checkPosition(t, source, positioned.Line, positioned.Column)
}

func checkPosition(t *testing.T, source string, line, column int) {
	t.Helper()
	lines := strings.Split(normalized(source)+" ", "\n")
	if line < 1 || line > len(lines) || column < 1 || column > len([]rune(lines[line-1])) {
		t.Errorf("%q: no place %d:%d", source, line, column)
	}
}

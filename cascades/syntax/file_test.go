package syntax_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
)

// between returns the text of a range.
func between(source string, r syntax.Range) string {
	var b strings.Builder
	at := syntax.Point{Line: 1, Column: 1}
	for _, c := range source {
		after := at.Line > r.Start.Line || at.Line == r.Start.Line && at.Column >= r.Start.Column
		if after && (at.Line < r.End.Line || at.Line == r.End.Line && at.Column < r.End.Column) {
			b.WriteRune(c)
		}
		at.Column++
		if c == '\n' {
			at = syntax.Point{Line: at.Line + 1, Column: 1}
		}
	}
	return b.String()
}

// TestRange checks the range of the last key's value in each text. The value is
// the text after "v: ".
func TestRange(t *testing.T) {
	for source, want := range map[string]string{
		"v: plain text # comment\n":           "plain text",
		"v: 'it''s'  \n":                      "'it''s'",
		"v: \"\\u00e9 \\\"x\\\"\" # y\n":      "\"\\u00e9 \\\"x\\\"\"",
		"v: ''\n":                             "''",
		"v:\n":                                "",
		"é: 1\nv: é𝒹\n":                       "é𝒹",
		"v: |\n  one\n    two\n\n":            "|\n  one\n    two",
		"v: >-\n  one\n  two\n":               ">-\n  one\n  two",
		"v: one\n  two\n":                     "one\n  two",
		"v: [a, {b: c}, 'd' ] # e\n":          "[a, {b: c}, 'd' ]",
		"v: [a, # b ]\n  c,\n]\n":             "[a, # b ]\n  c,\n]",
		"v: {a: 1,}\n":                        "{a: 1,}",
		"v: {a: }\n":                          "{a: }",
		"v: []\n":                             "[]",
		"v: &x {}\n":                          "&x {}",
		"v: &x !!str \"y\"\n":                 "&x !!str \"y\"",
		"a: &long 1\nv: *long\n":              "*long",
		"v:\n- a: 1\n  b: [2]\n- c\n# d\n":    "- a: 1\n  b: [2]\n- c",
		"v:\n  a: 1\n  b:\n":                  "a: 1\n  b",
		"{\"a\": 1, \"v\": [\"\\/\", null] }": "[\"\\/\", null]",
	} {
		f := syntax.New("x.yaml", []byte("\ufeff"+source))
		root, wrong := f.Tree()
		if wrong != nil {
			t.Errorf("%q: %+v", source, wrong)
			continue
		}
		values := root.Content[0].Content
		if got := between(source, f.Range(values[len(values)-1])); got != want {
			t.Errorf("%q: got %q, want %q", source, got, want)
		}
	}
}

// TestRangeElsewhere checks that a value outside the file has an empty range at
// its position.
func TestRangeElsewhere(t *testing.T) {
	for _, kind := range []yaml.Kind{yaml.ScalarNode, yaml.SequenceNode, yaml.MappingNode} {
		n := &yaml.Node{Kind: kind, Style: yaml.FlowStyle, Value: "x", Line: 9, Column: 3}
		at := syntax.Point{Line: 9, Column: 3}
		if got := syntax.New("x", []byte("a")).Range(n); got != (syntax.Range{Start: at, End: at}) {
			t.Errorf("%v: got %+v", kind, got)
		}
	}
}

func TestWord(t *testing.T) {
	const source = "a: wört_1.b 'x y', \"z"
	for column, want := range map[int]string{1: "a", 2: ":", 4: "wört_1", 6: "rt_1", 10: ".", 13: "'x y'", 20: "\"", 21: "z", 22: "", 99: ""} {
		r := syntax.New("x", []byte(source)).Word(syntax.Point{Line: 1, Column: column})
		if got := between(source, r); got != want || r.Start.Column != column || r.End.Column <= column {
			t.Errorf("column %d: got %q, want %q", column, got, want)
		}
	}
}

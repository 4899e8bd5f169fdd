package engine_test

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
)

// Problem returns "" only for values that the question accepts.
func TestQuestionProblem(t *testing.T) {
	const most = 8 << 20
	for name, c := range map[string]struct {
		kind  string
		value any
		want  string
	}{
		"a yes":                    {cascades.Confirmation, true, ""},
		"a yes in words":           {cascades.Confirmation, "yes", "want true or false"},
		"a choice":                 {cascades.Choice, "red", ""},
		"another":                  {cascades.Choice, "green", "want one of red, blue"},
		"a choice that is no text": {cascades.Choice, true, "want one of red, blue"},
		"a result nobody wants":    {cascades.Choice, "red: 3", "want one of red, blue"},
		"a text":                   {"text", "Owls.", ""},
		"no text":                  {"text", " \n", "want a text that is not empty"},
		"as long as may be":        {"edit", strings.Repeat("x", most), ""},
		"too long":                 {"edit", strings.Repeat("x", most+1), "want a text of at most 8388608 bytes"},
		"not UTF-8":                {"edit", "a\xff", "want a text in UTF-8"},
		"a number":                 {"edit", 7, "want a text that is not empty"},
	} {
		q := engine.Question{Type: c.kind, Options: []string{"red", "blue"}}
		if got := q.Problem(c.value); got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// ParseAnswer converts the spellings that people use.
func TestParseAnswer(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		want       any
	}{
		{cascades.Confirmation, " Yes", true}, {cascades.Confirmation, "y", true}, {cascades.Confirmation, "true", true}, {cascades.Confirmation, "NO\n", false}, {cascades.Confirmation, "perhaps", "perhaps"},
		{cascades.Choice, "red", "red"}, {cascades.Choice, " 1 ", "red"}, {cascades.Choice, "4", "3"}, {cascades.Choice, "5", "5"}, {cascades.Choice, "0", "0"}, {cascades.Choice, "-1", "-1"},
		{cascades.Choice, "2", "2"}, {cascades.Choice, "3", "3"}, // an option that is called so comes before the one that is counted so
		{"text", " 2 ", "2"}, {cascades.Edit, " a\n", " a\n"},
	} {
		q := engine.Question{Type: c.kind, Options: []string{"red", "blue", "2", "3"}}
		if got := q.ParseAnswer(c.text); got != c.want {
			t.Errorf("%s %q: %v, want %v", c.kind, c.text, got, c.want)
		}
	}
}

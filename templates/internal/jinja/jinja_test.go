package jinja

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// jinjaCase is a template with Jinja2's output; testdata/jinja.py writes the
// expectations.
type jinjaCase struct {
	Name, Template string
	Vars           map[string]any
	Want           *string
	Error          bool
}

func jinjaCases(t testing.TB) []jinjaCase {
	t.Helper()
	text, err := os.ReadFile("testdata/jinja.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var cases []jinjaCase
	if err := decoder.Decode(&cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestJinja(t *testing.T) {
	cases := jinjaCases(t)
	if len(cases) < 220 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got, err := rendered(c.Template, c.Vars)
			switch {
			case c.Error && err == nil:
				t.Errorf("%q\n got %q\nJinja2 fails", c.Template, got)
			case c.Error:
			case err != nil:
				t.Errorf("%q\n got %v\nwant %q", c.Template, err, *c.Want)
			case got != *c.Want:
				t.Errorf("%q\n got %q\nwant %q", c.Template, got, *c.Want)
			}
		})
	}
}

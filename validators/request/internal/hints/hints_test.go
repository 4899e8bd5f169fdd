package hints

import (
	"fmt"
	"slices"
	"testing"
)

func TestScan(t *testing.T) {
	for hint, want := range map[string][]string{
		"":                                nil,
		" ;\n; ":                          nil,
		"a; b\nc\r\nd":                    {"a", "b", "c", "d"},
		`file: a contains "x; y"; b`:      {`file: a contains "x; y"`, "b"},
		"run: sh -c 'a; b'; c":            {"run: sh -c 'a; b'", "c"},
		"it doesn't; it's not":            {"it doesn't", "it's not"},
		`an open " quote; b`:              {`an open " quote`, "b"},
		"file: a matches /x;y\\/;z/i; b":  {"file: a matches /x;y\\/;z/i", "b"},
		"file: a/b; c/d":                  {"file: a/b", "c/d"},
		"`a;b` c":                         {"`a;b` c"},
		`a\;b`:                            {`a\;b`},
		"file: a contains \"two\nlines\"": {"file: a contains \"two\nlines\""},
	} {
		var got []string
		for _, p := range scan(hint) {
			got = append(got, p.text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", hint, got, want)
		}
	}
}

// described writes a check as its arguments and clauses.
func described(c Check) string {
	text := fmt.Sprintf("%s %q", forms[c.Keyword].subject, c.Args)
	for _, one := range c.Clauses {
		text += fmt.Sprintf(" %s %q %q %s%d", one.Word, one.Selector, one.Text, one.Operator, one.Number)
	}
	return text
}

func TestParse(t *testing.T) {
	for hint, want := range map[string]string{
		"FILE: a":                                `path ["a"]`,
		"file:docs/":                             `path ["docs/"]`,
		`file: "a b" exists`:                     `path ["a b"] exists "" "" 0`,
		`file: a\ b absent`:                      `path ["a b"] absent "" "" 0`,
		"file: a size >= 10 size <20":            `path ["a"] size "" "" >=10 size "" "" <20`,
		"file: a size 3":                         `path ["a"] size "" "" 3`,
		`file: a contains "x \"y\" \\"`:          `path ["a"] contains "" "x \"y\" \\" 0`,
		`file: a lacks 'x "y"'`:                  `path ["a"] lacks "" "x \"y\"" 0`,
		`file: "contains"`:                       `path ["contains"]`,
		"file: a matches /x\\/y;/i":              `path ["a"] matches "" "(?i)x/y;" 0`,
		`run: go test -run "^Test A$"`:           `program ["go" "test" "-run" "^Test A$"]`,
		"run: a ''":                              `program ["a" ""]`,
		"run: grep matches /a;b/i":               `program ["grep" "matches" "/a;b/i"]`,
		"port: 80":                               `port ["80"]`,
		"url: GET /a status 201":                 `URL ["/a"] GET "" "" 0 status "" "" 201`,
		"url: /a POST":                           `URL ["/a"] POST "" "" 0`,
		"url: '/a' contains GET":                 `URL ["/a"] contains "" "GET" 0`,
		"page: /":                                `URL ["/"]`,
		`page: / element h1 text Hi text Ho`:     `URL ["/"] element "h1" "" 0 text "h1" "Hi" 0 text "h1" "Ho" 0`,
		`page: / title T click "#b" text X`:      `URL ["/"] title "" "T" 0 click "#b" "" 0 text "" "X" 0`,
		`page: / fill "#c" "" no console errors`: `URL ["/"] fill "#c" "" 0 no "" "" 0`,
		"page: / absent .d screenshot":           `URL ["/"] absent ".d" "" 0 screenshot "" "" 0`,
		"":                                       ` []`,
		"Look: at this":                          ` []`,
		"profile: x":                             ` []`,
		"http://x/file: no":                      ` []`,
		`"file: x"`:                              ` []`,
	} {
		checks := Parse(hint)
		if len(checks) != 1 || described(checks[0]) != want {
			t.Errorf("%s: got %s", hint, described(checks[0]))
		}
	}
}

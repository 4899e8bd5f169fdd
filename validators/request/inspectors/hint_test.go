package inspectors

import (
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

func TestSplitHint(t *testing.T) {
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
		if got := splitHint(hint); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %q, want %q", hint, got, want)
		}
	}
}

func TestParseHint(t *testing.T) {
	for hint, want := range map[string]check{
		"FILE: a":                       fileCheck{path: "a"},
		"file:docs/":                    fileCheck{path: "docs/", dir: true},
		`file: "a b" exists`:            fileCheck{path: "a b"},
		`file: a\ b absent`:             fileCheck{path: "a b", absent: true},
		"file: a size >= 10 size <20":   fileCheck{path: "a", sizes: []size{{">=", 10}, {"<", 20}}},
		"file: a size 3":                fileCheck{path: "a", sizes: []size{{"=", 3}}},
		`file: a contains "x \"y\" \\"`: fileCheck{path: "a", expect: []expectation{{word: "contains", text: `x "y" \`}}},
		`file: a lacks 'x "y"'`:         fileCheck{path: "a", expect: []expectation{{word: "lacks", text: `x "y"`}}},
		"file: contains":                fileCheck{path: "contains"},
		`run: go test -run "^Test A$"`:  commandCheck{argv: []string{"go", "test", "-run", "^Test A$"}, text: `go test -run "^Test A$"`},
		"run: a ''":                     commandCheck{argv: []string{"a", ""}, text: "a ''"},
		"port: 80":                      portCheck(80),
		"url: GET /a status 201":        urlCheck{ref: "/a", method: "GET", status: 201},
		"url: /a POST":                  urlCheck{ref: "/a", method: "POST"},
		"url: '/a' contains GET":        urlCheck{ref: "/a", method: "GET", expect: []expectation{{word: "contains", text: "GET"}}},
		"page: /":                       pageCheck{ref: "/"},
		`page: / status 404 element "h1" text "Hi" text "Ho" text2`: badHint{},
		`page: /a element h1 text Hi text Ho title T click "#b" text X fill "#c" "" absent .d no console errors screenshot`: pageCheck{ref: "/a", clauses: []clause{
			{word: "element", selector: "h1"}, {word: "text", selector: "h1", text: "Hi"}, {word: "text", selector: "h1", text: "Ho"},
			{word: "title", text: "T"}, {word: "click", selector: "#b"}, {word: "text", text: "X"},
			{word: "fill", selector: "#c"}, {word: "absent", selector: ".d"}, {word: "console"}, {word: "screenshot"},
		}},
		"":                  mention(""),
		"Look: at this":     mention("Look: at this"),
		"profile: x":        mention("profile: x"),
		"http://x/file: no": mention("http://x/file: no"),
	} {
		got := parseHint(hint)
		if len(got) != 1 {
			t.Errorf("%s: got %d checks", hint, len(got))
			continue
		}
		if b, bad := want.(badHint); bad && b.problem == "" {
			if _, is := got[0].(badHint); !is {
				t.Errorf("%s: got %#v", hint, got[0])
			}
			continue
		}
		if !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s:\ngot  %#v\nwant %#v", hint, got[0], want)
		}
	}
}

// What cannot be read is told, and is never taken for something else.
func TestBadHints(t *testing.T) {
	for hint, want := range map[string]string{
		"file:":                             "nothing stands behind file:",
		`file: ""`:                          "nothing stands behind file:",
		"file: a containz b":                `"containz" is none of exists, absent, size`,
		`file: a "contains" b`:              `"contains" is none of`,
		`file: a contains "b`:               `a " is not closed`,
		"file: a contains":                  "nothing stands behind contains",
		"file: a size":                      "nothing stands behind size",
		"file: a size >=":                   "nothing stands behind >=",
		"file: a size >= 1k":                `"1k" is no number`,
		"file: a size >< 1":                 `"><" is none of >=`,
		"file: a size 99999999999999999999": "is no number",
		"file: a matches /(/":               "missing closing )",
		"file: a matches /a":                "not closed with a /",
		"file: a matches /a/x":              `"x" is no set of the flags`,
		"file: a matches /" + strings.Repeat("x", 600) + "/": "more than 500 bytes",
		"file: a matches /(x{1,900}){2}/":                    "invalid repeat",
		"file: a matches /x{1000}y{900}/":                    "too large",
		"file: a absent contains b":                          "nothing more can be asked",
		`file: a\`:                                           `a \ at the end`,
		"file: a\x00b":                                       "NUL",
		"run:":                                               "no program is named",
		`run: ""`:                                            "no program is named",
		"run: a | b":                                         "an unquoted | is for a shell",
		"run: a && b":                                        "an unquoted & is for a shell",
		"run: a > b":                                         "an unquoted > is for a shell",
		"run: a $HOME":                                       "an unquoted $ is for a shell",
		"run: ls *.go":                                       "an unquoted * is for a shell",
		"run: a `b`":                                         "an unquoted ` is for a shell",
		"run: a 'b":                                          "a ' is not closed",
		"port: x":                                            `"x" is no port`,
		"port: 0":                                            `"0" is no port`,
		"port: 65536":                                        `"65536" is no port`,
		"port: 80 81":                                        "nothing can stand behind a port",
		"url:":                                               "no URL is named",
		"url: GET":                                           "no URL is named",
		"url: /a status 99":                                  `"99" is no HTTP status`,
		"url: /a /b":                                         `"/b" is none of status`,
		"page:":                                              "nothing stands behind page:",
		"page: / element":                                    "nothing stands behind element",
		"page: / fill a":                                     "nothing stands behind a",
		"page: / no errors":                                  `"errors" stands where "console" should`,
		"page: / h1":                                         `"h1" is none of element`,
		strings.Repeat("x", 17<<10):                          "more than 16384 bytes",
		strings.Repeat("a;", 51):                             "more than 50 checks",
	} {
		got := one(t, &Inspector{AllowExec: true}, request.Request{WorktreePath: t.TempDir()}, hint, request.Unreachable, "").Results[0]
		if !strings.Contains(got.Evidence, want) {
			t.Errorf("%s: got %q, want %q", clip(hint, 80), got.Evidence, want)
		}
	}
}

func FuzzParseHint(f *testing.F) {
	for _, hint := range []string{
		"", "file: a contains \"b\"; run: go test ./...", "page: / element h1 text \"x\" fill '#a' \"\" no console errors",
		"url: GET /a status 200 matches /x\\/y/i", "port: 80", "file: a matches /(/", "run: \"", "file: \\", "Check `a/b.md` for \"x\"",
		"\xff\xfe: ;\x00", "file: a size >=", "/a matches /b/", "it's; 'a;b'", "url: http://[::1", "run: $", "page: \"\" status 9",
	} {
		f.Add(hint)
	}
	f.Fuzz(func(t *testing.T, hint string) {
		checks := parseHint(hint)
		if len(checks) == 0 || len(checks) > maxChecks {
			t.Fatalf("%d checks", len(checks))
		}
		if again := parseHint(hint); !reflect.DeepEqual(again, checks) {
			t.Fatalf("got %v, then %v", checks, again)
		}
		n := (&Inspector{}).begin(&request.Request{ValidationType: request.Both, Services: &request.Services{AppURL: "http://127.0.0.1"}})
		n.at.Description = hint
		for _, c := range checks {
			switch c := c.(type) {
			case mention:
				if f := c.inspect(t.Context(), n); f.status != "" {
					t.Fatalf("%q decides %s", hint, f.status)
				}
			case commandCheck:
				if len(c.argv) == 0 || c.argv[0] == "" {
					t.Fatalf("an empty command from %q", hint)
				}
			case fileCheck:
				if at, err := (&worktree.Tree{}).Local(c.path); err == nil && (at == ".." || strings.HasPrefix(at, "../") || strings.HasPrefix(at, "/")) {
					t.Fatalf("%q leads to %q", c.path, at)
				}
			case urlCheck:
				if u, err := n.services.resolve(n.services.app, c.ref); err == nil && u.Hostname() != "127.0.0.1" {
					t.Fatalf("%q leads to %s", c.ref, u)
				}
			}
		}
	})
}

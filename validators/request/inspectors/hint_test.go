package inspectors

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/hints"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

// TestBadHints checks that an invalid check is BLOCKED.
func TestBadHints(t *testing.T) {
	for hint, want := range map[string]string{
		"file:":                             "no path is named",
		`file: ""`:                          "no path is named",
		"file: a containz b":                `"containz" is none of absent, contains, exists`,
		`file: a "contains" b`:              `"contains" is none of`,
		`file: a contains "b`:               `a " is not closed`,
		"file: a contains":                  "nothing follows contains",
		"file: a size":                      "nothing follows size",
		"file: a size >=":                   "is no number",
		"file: a size >= 1k":                `"1k" is no number`,
		"file: a size >< 1":                 `unknown operator "><": want >=`,
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
		"port: x":                                            "is no port",
		"port: 0":                                            "is no port",
		"port: 65536":                                        "is no port",
		"port: 80 81":                                        "nothing can follow a port",
		"url:":                                               "no URL is named",
		"url: GET":                                           "no URL is named",
		"url: /a status 99":                                  `"99" is no HTTP status`,
		"url: /a /b":                                         `"/b" is none of DELETE`,
		"page:":                                              "no URL is named",
		"page: / element":                                    "nothing follows element",
		"page: / fill #a":                                    "nothing follows #a",
		"page: / no errors":                                  `"errors" follows no, not console`,
		"page: / h1":                                         `"h1" is none of absent`,
		strings.Repeat("x", 17<<10):                          "more than 16384 bytes",
		strings.Repeat("a;", 51):                             "more than 50 checks",
	} {
		got := one(t, &Inspector{AllowExec: true}, request.Request{WorktreePath: t.TempDir()}, hint, request.Blocked, "").Results[0]
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
		checks := hints.Parse(hint)
		if len(checks) == 0 || len(checks) > 50 {
			t.Fatalf("%d checks", len(checks))
		}
		n := (&Inspector{}).begin(&request.Request{ValidationType: request.Both, Services: &request.Services{AppURL: "http://127.0.0.1"}})
		n.at.Description = hint
		for _, c := range checks {
			switch {
			case c.Keyword == "" || c.Err != nil:
				if f := n.inspect(t.Context(), check{c}); f.status != "" && f.status != request.Blocked {
					t.Fatalf("%q decides %s", hint, f.status)
				}
			case len(c.Args) == 0 || c.Args[0] == "":
				t.Fatalf("no argument of %s in %q", c.Keyword, hint)
			case c.Keyword == "file":
				if at, err := (&worktree.Tree{}).Local(c.Args[0]); err == nil && (at == ".." || strings.HasPrefix(at, "../") || strings.HasPrefix(at, "/")) {
					t.Fatalf("%q leads to %q", c.Args[0], at)
				}
			case c.Keyword == "url" || c.Keyword == "page":
				if u, err := n.services.resolve(n.services.app, c.Args[0]); err == nil && u.Hostname() != "127.0.0.1" {
					t.Fatalf("%q leads to %s", c.Args[0], u)
				}
			}
		}
	})
}

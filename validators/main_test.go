package validators

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// atMost and holding are validators that the tests turn into programs.
var (
	atMost = New("at_most", "Validates that the text is not longer than max characters",
		func(_ context.Context, p struct {
			Max int `json:"max" jsonschema:"maximum number of characters"`
		}, s Subject) (Verdict, error) {
			n := utf8.RuneCountInString(s.Content)
			if n > p.Max {
				return Fail("the text has %d characters, more than %d", n, p.Max), nil
			}
			return Pass("the text has %d characters", n), nil
		})
	holding = New("holding", "Validates that the text contains another",
		func(_ context.Context, p struct {
			Text string `json:"text,omitempty"`
		}, s Subject) (Verdict, error) {
			if !strings.Contains(s.Content, p.Text) {
				return Fail("the text does not contain %q", p.Text), nil
			}
			return Pass("the text contains %q", p.Text), nil
		})
)

var surrounded = New("surrounded", "Prints what it reads besides the text", func(_ context.Context, _ struct{}, s Subject) (Verdict, error) {
	return Pass("%v %v %v", s.Input, s.Outputs, s.State), nil
})

func TestMainProgram(t *testing.T) {
	dir := t.TempDir()
	text, word, number := filepath.Join(dir, "text.md"), filepath.Join(dir, "word"), filepath.Join(dir, "number.json")
	for file, content := range map[string]string{text: "hello there", word: "there", number: "[7]"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	broken := New("broken", "Validates nothing", func(context.Context, struct{}, Subject) (Verdict, error) {
		return Verdict{}, errors.New("no connection")
	})
	for _, c := range []struct {
		name      string
		validator Validator
		args      []string
		stdin     string
		status    int
		stdout    string
		stderr    string
	}{
		{"a subject that passes", atMost, nil, `{"content": "abc", "with": {"max": 3}}`, 0, `{"valid":true,"reason":"the text has 3 characters"}`, ""},
		{"a subject that does not", atMost, nil, `{"content": "abcd", "with": {"max": 3}, "input": null}`, 1, `{"valid":false,"reason":"the text has 4 characters, more than 3"`, ""},
		{"a file", holding, []string{"--with", "text=there", text}, "", 0, `"valid":true`, ""},
		{"standard input as text", holding, []string{"--with=text=x", "-"}, "abc", 1, `"valid":false`, ""},
		{"JSON parameter", atMost, []string{"--with", "max:=2", "-"}, "abc", 1, `more than 2`, ""},
		{"file parameter", holding, []string{text, "--with", "text=@" + word}, "", 0, `"valid":true`, ""},
		{"flags win", atMost, []string{"--with", "max:=9"}, `{"content": "abcd", "with": {"max": 3}}`, 0, `"valid":true`, ""},
		{"input, output and state", surrounded, []string{text, "--input", "log=@" + word, "--output", "outline:=@" + number, "--state=done:=true"}, "", 0, "map[log:there] map[outline:[7]] map[done:true]", ""},
		{"input over a subject", surrounded, []string{"--input", "b=2"}, `{"content": "x", "input": {"a": "1", "b": "1"}, "state": {"c": 3}}`, 0, "map[a:1 b:2] map[] map[c:3]", ""},
		{"wrong output", surrounded, []string{"-", "--output", "outline"}, "x", 2, "", `--output "outline": want name=text, name:=JSON or name=@file`},
		{"missing file of an input", surrounded, []string{"-", "--input", "log=@" + filepath.Join(dir, "none")}, "x", 2, "", "--input log: no such file"},
		{"help", atMost, []string{"--help"}, "", 0, `"maximum number of characters"`, ""},
		{"wrong parameter", atMost, []string{"--with", "max=9", "-"}, "x", 2, "", "validator at_most: $.max: must be an integer, is a string"},
		{"wrong flag", atMost, []string{"--nope"}, "", 2, "", "usage: at_most"},
		{"two files", atMost, []string{"a", "b"}, "", 2, "", "more than one file"},
		{"no such file", atMost, []string{filepath.Join(dir, "none")}, "", 2, "", "no such file"},
		{"not JSON", holding, nil, "hello", 2, "", "subject: line 1, column 1"},
		{"no content", holding, nil, `{"text": "x"}`, 2, "", `want an object with "content"`},
		{"content of the wrong type", holding, nil, `{"content": 7}`, 2, "", `"content" must be a text, not a number`},
		{"no verdict", broken, []string{"-"}, "x", 3, "", "no connection"},
		{"a judge", NewJudge("j", "d", "c"), []string{"-"}, "x", 3, "", "a judge needs a model"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			status := program{c.validator, strings.NewReader(c.stdin), &stdout, &stderr}.run(c.args)
			if status != c.status || !strings.Contains(stdout.String(), c.stdout) || !strings.Contains(stderr.String(), c.stderr) || (c.stderr == "") != (stderr.Len() == 0) {
				t.Errorf("got %d, stdout %q, stderr %q", status, &stdout, &stderr)
			}
			if status <= exitInvalid && c.name != "help" {
				if _, err := ParseVerdict(stdout.Bytes()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

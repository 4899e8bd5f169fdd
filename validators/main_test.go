package validators

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMainProgram(t *testing.T) {
	dir := t.TempDir()
	text, word := filepath.Join(dir, "text.md"), filepath.Join(dir, "word")
	for file, content := range map[string]string{text: "hello there", word: "there"} {
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
		{"a subject that passes", MaxLength, nil, `{"content": "abc", "with": {"max": 3}}`, 0, `{"valid":true,"reason":"the text has 3 characters"}`, ""},
		{"a subject that does not", MaxLength, nil, `{"content": "abcd", "with": {"max": 3}, "input": null}`, 1, `{"valid":false,"reason":"the text has 4 characters, more than 3"`, ""},
		{"a file", Contains, []string{"--with", "text=there", text}, "", 0, `"valid":true`, ""},
		{"standard input as text", Contains, []string{"--with=text=x", "-"}, "abc", 1, `"valid":false`, ""},
		{"JSON parameter", MinLength, []string{"--with", "min:=4", "-"}, "abc", 1, `fewer than 4`, ""},
		{"file parameter", Contains, []string{text, "--with", "text=@" + word}, "", 0, `"valid":true`, ""},
		{"flags win", MaxLength, []string{"--with", "max:=9"}, `{"content": "abcd", "with": {"max": 3}}`, 0, `"valid":true`, ""},
		{"help", MaxLength, []string{"--help"}, "", 0, `"most characters"`, ""},
		{"wrong parameter", MaxLength, []string{"--with", "max=9", "-"}, "x", 2, "", "validator max_length: $.max: got string, want integer"},
		{"wrong flag", MaxLength, []string{"--nope"}, "", 2, "", "usage: max_length"},
		{"two files", MaxLength, []string{"a", "b"}, "", 2, "", "more than one file"},
		{"no such file", MaxLength, []string{filepath.Join(dir, "none")}, "", 2, "", "no such file"},
		{"not JSON", NonEmpty, nil, "hello", 2, "", "subject: line 1, column 1"},
		{"no content", NonEmpty, nil, `{"text": "x"}`, 2, "", `want an object with "content"`},
		{"content of the wrong type", NonEmpty, nil, `{"content": 7}`, 2, "", `"content" must be a string, not a whole number`},
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

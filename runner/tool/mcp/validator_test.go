package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool/mcp"
	"github.com/seed61713e19/capstan/validators"
)

var subject = validators.Subject{Content: "four", State: map[string]any{"who": "me"}, Attempt: 2, Key: "run/draft"}

func judge(t *testing.T, v validators.Validator, with map[string]any, s validators.Subject) (validators.Verdict, error) {
	t.Helper()
	check, err := v.Bind(with)
	if err != nil {
		t.Fatal(err)
	}
	return check(t.Context(), s)
}

func TestValidator(t *testing.T) {
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		v := c.Validator("remote", s, "check")
		if v.Pure || !strings.Contains(v.Description, "check of the MCP server") {
			t.Errorf("got %+v", v)
		}
		verdict, err := judge(t, v, map[string]any{"max": 9}, subject)
		if err != nil || !verdict.Valid || verdict.Reason != "4 of 9, by me" {
			t.Errorf("got %+v, %v", verdict, err)
		}
		verdict, err = judge(t, v, map[string]any{"max": 3}, subject)
		if err != nil || verdict.Valid || verdict.Reason != "4 of 3, by me" {
			t.Errorf("got %+v, %v", verdict, err)
		}
		for _, name := range []string{"say", "structured"} {
			v := c.Validator("remote", s, name)
			for content, want := range map[string]bool{
				"true": true, `{"valid": true, "reason": "fine"}`: true, `{"valid": false, "reason": "no", "score": 0.5}`: false,
			} {
				verdict, err := judge(t, v, nil, validators.Subject{Content: content})
				if err != nil || verdict.Valid != want {
					t.Errorf("%s: %s: got %+v, %v", name, content, verdict, err)
				}
			}
		}
		if verdict, err := judge(t, c.Validator("remote", s, "wrapped"), nil, subject); err != nil || !verdict.Valid {
			t.Errorf("got %+v, %v", verdict, err)
		}
		prose := "I looked.\n```json\n{\"valid\": false, \"reason\": \"dull\"}\n```"
		if verdict, err := judge(t, c.Validator("remote", s, "say"), nil, validators.Subject{Content: prose}); err != nil || verdict.Reason != "dull" {
			t.Errorf("got %+v, %v", verdict, err)
		}
	})
}

func TestValidatorErrors(t *testing.T) {
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		for _, bad := range []struct{ tool, content, want string }{
			{"say", "looks good to me", "there is no JSON in the text"},
			{"say", "", "verdict"},
			{"say", "false", "verdict"},
			{"say", `{"valid": "perhaps"}`, "verdict"},
			{"say", `{"reason": "x"}`, "verdict"},
			{"structured", `{"valid": "true"}`, `"valid" must be true or false`},
			{"structured", `{"ok": true}`, `"valid" must be true or false`},
			{"structured", `false`, "want an object"},
			{"fail", "x", "it takes no argument"},
			{"none", "x", `no tool is called "none"`},
		} {
			with := map[string]any{}
			if bad.tool == "fail" {
				with["volume"] = 11
			}
			verdict, err := judge(t, c.Validator("remote", s, bad.tool), with, validators.Subject{Content: bad.content})
			if err == nil || !strings.Contains(err.Error(), "validator remote: ") || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%s %q: got %+v, %v", bad.tool, bad.content, verdict, err)
			}
		}
		_, err := judge(t, c.Validator("remote", s, "fail"), map[string]any{"say": "judge"}, subject)
		if err == nil || !strings.Contains(err.Error(), "it reports an error: cannot judge") {
			t.Errorf("got %v", err)
		}
	})
}

func TestValidatorArguments(t *testing.T) {
	s, _ := started(t, "server")
	c := client(t)
	for _, x := range []struct {
		tool string
		with map[string]any
		want string
	}{
		{"open", map[string]any{"a": 1}, `{"attempt":2,"content":"four","input":{},"key":"run/draft","outputs":{},"state":{"who":"me"},"tool":"","turn":0,"with":{"a":1}}`},
		{"closed", nil, `{}`},
		{"named", map[string]any{"a": 1}, `{"with":{"a":1}}`},
		{"renamed", map[string]any{"text": "my words"}, `{"text":"my words"}`},
	} {
		verdict, err := judge(t, c.Validator("remote", s, x.tool), x.with, subject)
		if err != nil || verdict.Reason != x.want {
			t.Errorf("%s: got %s, %v, want %s", x.tool, verdict.Reason, err, x.want)
		}
	}
	with := subject
	with.Output = []any{1}
	if verdict, _ := judge(t, c.Validator("remote", s, "renamed"), nil, with); verdict.Reason != `{"output":[1]}` {
		t.Errorf("got %s", verdict.Reason)
	}
}

func TestValidatorThatBreaksHasNotSaidNo(t *testing.T) {
	t.Parallel()
	s, starts := started(t, "server")
	c := client(t)
	say := map[string]any{"say": "x"}
	_, err := judge(t, c.Validator("remote", s, "crash"), say, subject)
	if err == nil || !strings.Contains(err.Error(), "exit status 9: out of cheese") {
		t.Errorf("got %v", err)
	}
	impatient(t, c, s)
	_, err = judge(t, c.Validator("remote", s, "hang"), say, subject)
	if err == nil || !strings.Contains(err.Error(), "no answer within 1s") {
		t.Errorf("got %v", err)
	}
	if n := len(starts()); n != 2 {
		t.Errorf("%d starts", n)
	}
	check, err := c.Validator("remote", s, "hang").Bind(say)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := check(ctx, subject); !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}

package scripted_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

// texts that are hard on a writer of YAML.
var texts = []string{
	"", " ", "plain", "yes", "null", "~", "1.0", "- a", "a: b", "# no comment", "a # b", "'", `"`, "\\", "é ✓ 日本",
	"two\nlines", "\nfirst empty", "last\n", "last\n\n\n", "  begins with blanks\nand goes on", "a\n  b\n c", "trailing \nblank", "cr\r\nlf", "\ttab\nsecond",
	"{\"valid\": true}", "{{ input.x }}", "%x", "@x", "`x`", "---", "a\n---\nb", "...\n", "a\n# b", "\u0085\nnel", "\u2028\nls", "\x01 control\nline", "\ufeffbom",
	strings.Repeat("long ", 100) + "\n" + strings.Repeat("longer ", 100),
}

// Formatted replies parse to the same replies, and the script answers with
// them.
func TestFormat(t *testing.T) {
	zero := 0
	for _, text := range texts {
		list := []scripted.Reply{
			{Phase: "call", Text: text, ToolCalls: []model.ToolCall{{Name: "read_file", Arguments: text}}},
			{Phase: "fail", Failure: &model.Failure{Status: 400, Message: text}},
			{Note: "a note\nof two lines", Phase: "draft", Attempt: 2, Turn: &zero, Text: text, Times: scripted.Always},
			{Validator: "tone", Contains: text, Text: text},
		}
		written, err := scripted.Format("A script.", list)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scripted.Parse("s.yaml", written, nil)
		if err != nil {
			t.Fatalf("%q: %v\n%s", text, err, written)
		}
		ask := func(r model.Request) model.Response {
			t.Helper()
			resp, err := s.Call(context.Background(), r)
			var failure *model.Failure
			if errors.As(err, &failure) {
				resp.Failure = failure
			}
			return resp
		}
		if resp := ask(model.Request{Phase: "draft", Attempt: 2}); resp.Text != text {
			t.Errorf("%q comes back as %q:\n%s", text, resp.Text, written)
		}
		judge := model.Request{Phase: "draft", Validator: "tone", Messages: []model.Message{{Role: model.User, Content: "of " + text + "."}}}
		if resp := ask(judge); resp.Text != text {
			t.Errorf("%q of a judge comes back as %q:\n%s", text, resp.Text, written)
		}
		if resp := ask(model.Request{Phase: "call"}); resp.Text != text || len(resp.ToolCalls) != 1 || resp.ToolCalls[0].Arguments != text {
			t.Errorf("%q beside a call comes back as %+v:\n%s", text, resp, written)
		}
		if resp := ask(model.Request{Phase: "fail"}); resp.Failure == nil || text != "" && resp.Failure.Message != text {
			t.Errorf("the failure %q comes back as %+v", text, resp.Failure)
		}
	}
}

func TestFormatOfNothing(t *testing.T) {
	written, err := scripted.Format("A script.", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := scripted.Parse("s.yaml", written, nil); err != nil {
		t.Errorf("%v\n%s", err, written)
	}
}

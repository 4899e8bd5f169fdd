package scripted_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/model/scripted"
)

func TestMistakes(t *testing.T) {
	for script, want := range map[string]string{
		"- {phase: draft, replay: x}":                        "s.yaml:1:18: unknown key \"replay\" of an entry; the keys are phase, attempt,|s.yaml:1:3: an entry has one of reply",
		"\n- phase: draft\n  reply: x\n  trun: 1":            "s.yaml:4:3: unknown key \"trun\"",
		"- {phase: draft}":                                   "s.yaml:1:3: an entry has one of reply, reply_file, tool_calls and error",
		"- {reply: x, reply: y}":                             "s.yaml:1:14: key \"reply\" of an entry stands twice",
		"- {reply: x, reply_file: good.md}":                  "s.yaml:1:3: an entry cannot have both reply and reply_file",
		"- {reply: x, error: {status: 500}}":                 "s.yaml:1:3: an entry cannot have both error and reply",
		"- {reply: {valid: true}}":                           "s.yaml:1:11: reply is text, not a mapping; put it in quotes",
		"- {reply: [x]}":                                     "s.yaml:1:11: reply is text, not a list",
		"- {reply: }":                                        "s.yaml:1:11: reply is text, not nothing",
		"- {phase: '', reply: x}":                            "s.yaml:1:11: phase is empty",
		"- {attempt: 0, reply: x}":                           "s.yaml:1:13: attempt is a whole number from 1, not \"0\"",
		"- {attempt: one, reply: x}":                         "s.yaml:1:13: attempt is a whole number from 1, not \"one\"",
		"- {attempt: 1.5, reply: x}":                         "attempt is a whole number",
		"- {attempt: '1', reply: x}":                         "attempt is a whole number",
		"- {turn: -1, reply: x}":                             "s.yaml:1:10: turn is a whole number from 0",
		"- {times: 0, reply: x}":                             "s.yaml:1:11: times is a whole number from 1, or always, not \"0\"",
		"- {times: never, reply: x}":                         "times is a whole number from 1, or always, not \"never\"",
		"- {times: [1], reply: x}":                           "times is a whole number from 1, or always, not a list",
		"- {reply_file: bad.md}":                             "s.yaml:1:16: reply_file bad.md: open bad.md: file does not exist",
		"- {tool_calls: []}":                                 "s.yaml:1:16: tool_calls is a list of calls",
		"- {tool_calls: {name: x}}":                          "tool_calls is a list of calls, not a mapping",
		"- {tool_calls: [x]}":                                "s.yaml:1:17: a tool call is a mapping, not \"x\"",
		"- {tool_calls: [{arguments: {}}]}":                  "s.yaml:1:17: a tool call has a name",
		"- {tool_calls: [{name: x, args: {}}]}":              "s.yaml:1:27: unknown key \"args\" of a tool call; the keys are name, arguments, id",
		"- {tool_calls: [{name: x, arguments: [1]}]}":        "s.yaml:1:38: arguments is a mapping, or JSON as text, not a list",
		"- {tool_calls: [{name: x, arguments: {a: .inf}}]}":  "s.yaml:1:42: arguments: json: unsupported value",
		"- {tool_calls: [{name: x, arguments: {[a]: 1}}]}":   "arguments: a key is text",
		"- {tool_calls: [{name: x, arguments: &a {a: *a}}]}": "arguments: too many values, or too deep",
		"- {error: 500}":                                     "s.yaml:1:11: error is a mapping, not \"500\"",
		"- {error: {status: 200}}":                           "s.yaml:1:20: status is a whole number from 400",
		"- {error: {status: 600}}":                           "status is from 400 to 599",
		"- {error: {code: 500}}":                             "s.yaml:1:12: unknown key \"code\" of error; the keys are status, retry_after, message",
		"- {error: {status: 429, retry_after: soon}}":        "s.yaml:1:38: retry_after is a duration up to an hour",
		"- {error: {status: 429, retry_after: -1}}":          "retry_after is a duration",
		"- {error: {status: 429, retry_after: 1e300}}":       "retry_after is a duration",
		"- {reply: x, delay: [1s]}":                          "delay is a duration",
		"- {reply: x, usage: {tokens: 1}}":                   "unknown key \"tokens\" of usage",
		"- {reply: x, usage: {input_tokens: -1}}":            "input_tokens is a whole number from 0",
		"- {reply: x, usage: {cost_usd: .nan}}":              "cost_usd is a number from 0",
		"- x":                                                "s.yaml:1:3: an entry is a mapping, not \"x\"",
		"phase: draft":                                       "s.yaml:1:1: a script is a list of entries, not a mapping",
		"- {reply: x}\n---\n- {reply: y}":                    "s.yaml:2:1: a file holds one document; a second",
		"- {reply: x\n- y":                                   "s.yaml:2:1: did not find expected",
		"\xff":                                               "not UTF-8 text",
		"- {reply: *x}":                                      "unknown anchor",
		"- &a [*a]":                                          "an entry is a mapping, not a list",
		"- {attempt: 0, turn: x, reply: y}\n- {}\n":          "s.yaml:1:13: attempt|s.yaml:1:22: turn|s.yaml:2:3: an entry has",
	} {
		_, err := scripted.Parse("s.yaml", []byte(script), files.ReadFile)
		if err == nil {
			t.Errorf("%s: no mistake", script)
			continue
		}
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s:\ngot  %v\nwant %s", script, err, part)
			}
		}
		var e *scripted.Error
		if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.File != "s.yaml" {
			t.Errorf("%s: got %+v", script, e)
		}
	}
}

func TestNoScript(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "[]", "---\n", "null"} {
		if s, err := scripted.Parse("s.yaml", []byte(text), nil); err != nil || len(s.Left()) != 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := scripted.Parse("s.yaml", []byte("- {reply_file: good.md}"), nil); err == nil {
		t.Error("a file was read without a way to")
	}
}

func TestAliases(t *testing.T) {
	s := parse(t, "- &one {phase: draft, reply: &text Hello}\n- {phase: polish, reply: *text}\n- *one\n")
	for _, phase := range []string{"polish", "draft", "draft"} {
		if resp, err := s.Call(t.Context(), from(phase, 1, 0)); err != nil || resp.Text != "Hello" {
			t.Errorf("%s: got %+v, %v", phase, resp, err)
		}
	}
}

// Parse accepts JSON as programs write it: surrogate pairs as escapes, and tabs
// as indentation.
func TestJSON(t *testing.T) {
	s := parse(t, "\xef\xbb\xbf[\n\t{\"reply\": \"done \\ud83d\\ude00 \\/\"}\n]\n")
	if resp, err := s.Call(t.Context(), from("draft", 1, 0)); err != nil || resp.Text != "done 😀 /" {
		t.Errorf("got %+v, %v", resp, err)
	}
}

// Texts that are made to take all there is.
func TestHostile(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("- {reply: x}\n- tool_calls:\n  - name: x\n    arguments:\n      a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for _, pair := range strings.Fields("1,0 2,1 3,2 4,3 5,4 6,5 7,6 8,7 9,8") {
		n, m, _ := strings.Cut(pair, ",")
		bomb.WriteString("      a" + n + ": &a" + n + " [" + strings.TrimSuffix(strings.Repeat("*a"+m+",", 10), ",") + "]\n")
	}
	deep := strings.Repeat("[", 1_000_000)
	start := time.Now()
	for name, text := range map[string]string{
		"bomb":     bomb.String(),
		"deep":     deep,
		"argument": "- {tool_calls: [{name: x, arguments: {a: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}}]}",
		"big":      "- {reply: \"" + strings.Repeat("x", 17<<20) + "\"}",
	} {
		_, err := scripted.Parse("s.yaml", []byte(text), nil)
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("took %s", d)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"- {phase: draft, attempt: 1, reply: x}", "- {reply_file: good.md, times: always}",
		"- {tool_calls: [{name: x, arguments: {a: [1, 2.5, ~, 0x1, 2024-01-01, *b]}}]}", "- {error: {status: 429, retry_after: 1}, delay: 1s}",
		"- &a {reply: x, usage: {cost_usd: 1}}\n- *a", "? [a]\n: b", "- {<<: {reply: x}}", "\xef\xbb\xbf- {reply: !!binary aGk=}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := scripted.Parse("s.yaml", text, files.ReadFile)
		if err != nil {
			var e *scripted.Error
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		before := len(s.Left())
		s.Sleep = func(context.Context, time.Duration) error { return nil }
		if _, err := s.Call(t.Context(), from("draft", 1, 0)); err == nil && len(s.Left()) > before {
			t.Errorf("%q: more is left", text)
		}
	})
}

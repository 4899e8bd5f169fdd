package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

var files = fstest.MapFS{"good.md": {Data: []byte("# Good\n")}}

func parse(t testing.TB, text string) *scripted.Script {
	t.Helper()
	s, err := scripted.Parse("s.yaml", []byte(text), files.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// from is a phase's request.
func from(phase string, attempt, turn int, texts ...string) model.Request {
	r := model.Request{Model: "m", Phase: phase, Attempt: attempt, Turn: turn}
	for _, text := range texts {
		r.Messages = append(r.Messages, model.Message{Role: model.User, Content: text})
	}
	return r
}

func judge(validator string) model.Request {
	r := from("draft", 1, 0, "Is it warm?")
	r.Validator = validator
	return r
}

// TestLaw runs the script of the documentation of the command line.
func TestLaw(t *testing.T) {
	s := parse(t, `
# replies in the order they are consumed; a request takes the first unconsumed entry whose filters all match
- {phase: draft, attempt: 1, reply: "too short"}        # filters: phase, attempt, turn, contains (text anywhere in the request)
- {validator: tone, reply: '{"valid": true, "reason": "warm"}'}   # a judge's call; {role: evaluator, …} a sounding evaluator's
- {phase: draft, reply_file: good.md}
- {phase: research, tool_calls: [{name: read_file, arguments: {path: a.txt}}]}
- {phase: polish, error: {status: 429, retry_after: 1}}
- {phase: extra, reply: "again", times: 3}              # or times: always
- {role: evaluator, reply: '{"winner": 1}'}
- {phase: polish, reply: "shiny"}
- {phase: extra, reply: "and again", times: always}
`)
	evaluator := from("draft", 1, 0)
	evaluator.Role = "evaluator"
	for i, test := range []struct {
		r     model.Request
		text  string
		calls int
	}{
		{from("draft", 1, 0), "too short", 1},
		{from("draft", 2, 0), "# Good\n", 1},
		{judge("tone"), `{"valid": true, "reason": "warm"}`, 1},
		{evaluator, `{"winner": 1}`, 1},
		{from("extra", 1, 0), "again", 1},
		{from("extra", 1, 1), "again", 1},
		{from("polish", 1, 0), "shiny", 2},
	} {
		resp, err := s.Call(t.Context(), test.r)
		if err != nil || resp.Text != test.text || resp.Usage.Calls != test.calls || resp.Usage.CostUSD != 0 {
			t.Errorf("%d: got %+v, %v", i, resp, err)
		}
	}
	if left := s.Left(); !slices.Equal(left, []string{"s.yaml:6: phase research", "s.yaml:8: phase extra (1 of 3 left)"}) {
		t.Errorf("left %q", left)
	}
	resp, err := s.Call(t.Context(), from("research", 1, 0, "Go."))
	want := []model.ToolCall{{ID: "call_1_1", Name: "read_file", Arguments: `{"path":"a.txt"}`}}
	if err != nil || !reflect.DeepEqual(resp.ToolCalls, want) {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestFilters(t *testing.T) {
	tooled := from("draft", 1, 0, "Read.")
	tooled.Messages = append(tooled.Messages,
		model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{ID: "a", Name: "read_file", Arguments: `{"path":"a.txt"}`}}},
		model.Message{Role: model.ToolReply, Content: "the file's text", ToolCallID: "a"})
	evaluator := from("draft", 1, 0)
	evaluator.Role = "evaluator"
	judging := judge("tone")
	judging.Role = "evaluator"
	for entry, test := range map[string]struct {
		takes, leaves []model.Request
	}{
		`{reply: x}`:                                   {[]model.Request{from("draft", 1, 0), from("", 0, 0), tooled}, []model.Request{judge("tone"), evaluator}},
		`{phase: draft, reply: x}`:                     {[]model.Request{from("draft", 3, 3)}, []model.Request{from("Draft", 1, 0), from("", 1, 0), judge("tone"), evaluator}},
		`{attempt: 2, reply: x}`:                       {[]model.Request{from("draft", 2, 0)}, []model.Request{from("draft", 1, 0)}},
		`{turn: 0, reply: x}`:                          {[]model.Request{from("draft", 2, 0)}, []model.Request{from("draft", 1, 1)}},
		`{contains: "file's", reply: x}`:               {[]model.Request{tooled, from("draft", 1, 0, "no", "the file's")}, []model.Request{from("draft", 1, 0, "files")}},
		`{contains: a.txt, reply: x}`:                  {[]model.Request{tooled}, []model.Request{from("draft", 1, 0, "a.tx", "t")}},
		`{contains: read_file, reply: x}`:              {[]model.Request{tooled}, []model.Request{from("draft", 1, 0)}},
		`{validator: tone, reply: x}`:                  {[]model.Request{judge("tone")}, []model.Request{judge("style"), from("draft", 1, 0), evaluator, judging}},
		`{validator: tone, phase: poem, reply: x}`:     {nil, []model.Request{judge("tone")}},
		`{role: evaluator, reply: x}`:                  {[]model.Request{evaluator}, []model.Request{judge("tone"), from("draft", 1, 0), judging}},
		`{role: evaluator, validator: tone, reply: x}`: {[]model.Request{judging}, []model.Request{judge("tone"), evaluator}},
	} {
		for _, r := range test.takes {
			if resp, err := parse(t, "- "+entry).Call(t.Context(), r); err != nil || resp.Text != "x" {
				t.Errorf("%s leaves %+v: %v", entry, r, err)
			}
		}
		for _, r := range test.leaves {
			var f *model.Failure
			if resp, err := parse(t, "- "+entry).Call(t.Context(), r); !errors.As(err, &f) || f.Class != model.Unscripted {
				t.Errorf("%s takes %+v: %+v", entry, r, resp)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	tests := map[string]struct {
		script        string
		text          string
		class         model.Class
		status, calls int
	}{
		"passes":        {"- {error: {status: 500}}\n- {error: {status: 429}}\n- {error: {message: reset}}\n- {reply: ok}", "ok", "", 0, 4},
		"does not pass": {"- {error: {status: 503}, times: 4}\n- {reply: ok}", "", model.Unavailable, 503, 4},
		"always":        {"- {error: {status: 429, retry_after: 7}, times: always}", "", model.RateLimited, 429, 4},
		"rejected":      {"- {error: {status: 401, message: no key}}\n- {reply: ok}", "", model.Rejected, 401, 1},
		"then nothing":  {"- {error: {status: 500}}", "", model.Unscripted, 0, 1},
		"no status":     {"- {error: {}, times: always}", "", model.Unavailable, 0, 4},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			resp, err := parse(t, test.script).Call(t.Context(), from("draft", 1, 0))
			if resp.Text != test.text || resp.Usage.Calls != test.calls {
				t.Errorf("got %+v, %v", resp, err)
			}
			var f *model.Failure
			if errors.As(err, &f) != (test.class != "") || f != nil && (f.Class != test.class || f.Status != test.status || f.Message == "") {
				t.Errorf("got %v", err)
			}
			if f != nil && f.Class == model.RateLimited && f.RetryAfter != 7*time.Second {
				t.Errorf("retry after %s", f.RetryAfter)
			}
		})
	}
}

// A request that was answered from a journal takes its entry with it.
func TestRecall(t *testing.T) {
	s := parse(t, `
- {phase: draft, error: {status: 503}}
- {phase: draft, reply: one}
- {phase: draft, reply: two}
- {phase: draft, error: {status: 400}}
- {phase: draft, reply: three}
`)
	s.Recall(from("draft", 1, 0))
	if resp, err := s.Call(t.Context(), from("draft", 2, 0)); err != nil || resp.Text != "two" {
		t.Fatalf("got %q, %v", resp.Text, err)
	}
	s.Recall(from("draft", 3, 0)) // a failure that is final
	s.Recall(from("polish", 1, 0))
	if resp, err := s.Call(t.Context(), from("draft", 4, 0)); err != nil || resp.Text != "three" {
		t.Fatalf("got %q, %v", resp.Text, err)
	}
}

func TestToolCalls(t *testing.T) {
	s := parse(t, `
- reply: thinking
  tool_calls:
    - {name: a, arguments: {z: 1, a: [true, null, 1.50, 12345678901234567890, 0x10, 2024-01-01, "1", ~], "1": {}}}
    - {name: b}
    - {name: c, arguments: '{"broken": ', id: mine}
  times: 2
`)
	for _, n := range []int{1, 3} {
		resp, err := s.Call(t.Context(), from("draft", 1, 0, make([]string, n)...))
		want := []model.ToolCall{
			{ID: fmt.Sprintf("call_%d_1", n), Name: "a", Arguments: `{"z":1,"a":[true,null,1.50,12345678901234567890,16,"2024-01-01","1",null],"1":{}}`},
			{ID: fmt.Sprintf("call_%d_2", n), Name: "b", Arguments: `{}`},
			{ID: "mine", Name: "c", Arguments: `{"broken": `},
		}
		if err != nil || !reflect.DeepEqual(resp.ToolCalls, want) || resp.Text != "thinking" {
			t.Errorf("got  %+v, %v\nwant %+v", resp.ToolCalls, err, want)
		}
	}
}

func TestEmptyReply(t *testing.T) {
	resp, err := parse(t, `- {reply: ""}`).Call(t.Context(), from("draft", 1, 0))
	if err != nil || resp.Text != "" || resp.Usage.Calls != 1 {
		t.Errorf("got %+v, %v", resp, err)
	}
}

func TestUsage(t *testing.T) {
	s := parse(t, `
- {reply: "12345"}
- {reply: x, usage: {input_tokens: 7, output_tokens: 0, cost_usd: 0.25}}
- {reply: x, usage: {cost_usd: 1}}
`)
	r := from("draft", 1, 0, strings.Repeat("x", 400))
	first, _ := s.Call(t.Context(), r)
	if u := first.Usage; u.Calls != 1 || u.InputTokens < 100 || u.InputTokens > 120 || u.OutputTokens != 2 || u.CostUSD != 0 {
		t.Errorf("estimated %+v", u)
	}
	for _, want := range []model.Usage{{Calls: 1, InputTokens: 7, CostUSD: 0.25}, {Calls: 1, CostUSD: 1}} {
		if resp, err := s.Call(t.Context(), r); err != nil || resp.Usage != want {
			t.Errorf("got %+v, %v", resp.Usage, err)
		}
	}
}

func TestOnText(t *testing.T) {
	for _, text := range []string{"", "a", "ab", "“Hello,” said the capstan — ✓✓✓✓✓✓✓", strings.Repeat("é", 1000)} {
		s := parse(t, "- {reply: "+fmt.Sprintf("%q", text)+"}")
		var pieces []string
		r := from("draft", 1, 0)
		r.OnText = func(piece string) { pieces = append(pieces, piece) }
		if _, err := s.Call(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if strings.Join(pieces, "") != text || len(pieces) > 5 || slices.Contains(pieces, "") {
			t.Errorf("heard %q", pieces)
		}
		for _, p := range pieces {
			if strings.ToValidUTF8(p, "") != p {
				t.Errorf("half a character in %q", p)
			}
		}
	}
}

func TestDelay(t *testing.T) {
	s := parse(t, "- {reply: a, delay: 200ms}\n- {reply: b, delay: 1.5}\n- {reply: c, delay: 1h}")
	var slept []time.Duration
	s.Sleep = func(_ context.Context, d time.Duration) error { slept = append(slept, d); return nil }
	for range 2 {
		if _, err := s.Call(t.Context(), from("draft", 1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(slept, []time.Duration{200 * time.Millisecond, 1500 * time.Millisecond}) {
		t.Errorf("slept %v", slept)
	}
	s.Sleep = nil
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := s.Call(ctx, from("draft", 1, 0)); err != cause || len(s.Left()) != 1 {
		t.Errorf("got %v, left %q", err, s.Left())
	}
}

func TestUnscripted(t *testing.T) {
	s := parse(t, `
- {phase: other, reply: x}
- {phase: draft, attempt: 2, reply: x, times: 2}
- {phase: draft, contains: "needle", reply: x, times: always}
- {phase: draft, turn: 4, reply: x}
- {validator: tone, reply: x}
- {role: evaluator, reply: x}
- {reply: gone}
`)
	r := from("draft", 1, 0, "first", strings.Repeat("long ", 1000))
	if _, err := s.Call(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for n := range 10 {
		r.Messages = append(r.Messages, model.Message{Role: model.User, Content: fmt.Sprintf("message\n%d", n)})
	}
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, ToolCalls: []model.ToolCall{{Name: "read_file", Arguments: `{"path": "a"}`}}})
	_, err := s.Call(t.Context(), r)
	want := `no entry of s.yaml answers this request:
  phase draft, attempt 1, turn 0
  user: first
  … 6 messages …
  user: message
    5
  user: message
    6
  user: message
    7
  user: message
    8
  user: message
    9
  assistant: 
    calls read_file {"path": "a"}
entries that are left:
  s.yaml:2: phase other: phase is other
  s.yaml:3: phase draft, attempt 2 (2 of 2 left): attempt is 2
  s.yaml:4: phase draft, contains "needle" (always): the request does not contain "needle"
  s.yaml:5: phase draft, turn 4: turn is 4
  s.yaml:6: validator tone: validator is tone
  s.yaml:7: role evaluator: role is evaluator`
	var f *model.Failure
	if !errors.As(err, &f) || f.Class != model.Unscripted || f.Message != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestUnscriptedIsNotEndless(t *testing.T) {
	s := parse(t, strings.Repeat("- {phase: other, contains: "+strings.Repeat("é", 1000)+", reply: x}\n", 1000))
	r := judge("tone")
	for range 100 {
		r.Messages = append(r.Messages, model.Message{Role: model.User, Content: strings.Repeat("é", 100_000)})
	}
	_, err := s.Call(t.Context(), r)
	if text := err.Error(); len(text) > 20_000 || strings.ToValidUTF8(text, "") != text || !strings.Contains(text, "validator tone") || !strings.Contains(text, "and 980 more") {
		t.Errorf("got %d bytes: %.3000s", len(text), text)
	}
	r.Validator, r.Role = "", "evaluator"
	_, err = parse(t, "- {reply: x}").Call(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "any phase: has no role, and the evaluator calls") {
		t.Errorf("got %v", err)
	}
	_, err = parse(t, "").Call(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "no entry is left") {
		t.Errorf("got %v", err)
	}
}

func TestAtOnce(t *testing.T) {
	s := parse(t, "- {phase: a, reply: x, times: 100}\n- {phase: b, error: {status: 500}, times: 50}\n- {phase: b, reply: y, times: 50}\n")
	var calls sync.WaitGroup
	var mu sync.Mutex
	spent := model.Usage{}
	for range 100 {
		calls.Go(func() {
			resp, err := s.Call(t.Context(), from("a", 1, 0))
			if err != nil || resp.Text != "x" {
				t.Errorf("got %+v, %v", resp, err)
			}
		})
		calls.Go(func() {
			resp, _ := s.Call(t.Context(), from("b", 1, 0))
			s.Left()
			mu.Lock()
			defer mu.Unlock()
			spent = spent.Add(resp.Usage)
		})
	}
	calls.Wait()
	if len(s.Left()) != 0 || spent.Calls != 100 {
		t.Errorf("left %q, %d calls", s.Left(), spent.Calls)
	}
}

// The example in the package's comment is a script.
func TestPackageComment(t *testing.T) {
	text, err := os.ReadFile("script.go")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for line := range strings.Lines(string(text)) {
		if example, ok := strings.CutPrefix(line, "//\t"); ok {
			script.WriteString(example)
		}
	}
	if s := parse(t, script.String()); len(s.Left()) != 7 {
		t.Errorf("it has the entries %q", s.Left())
	}
}

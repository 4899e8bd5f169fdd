package runner_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// TestMaxCallsCountsRetries checks that a repeated request counts against
// max_calls before it is sent.
func TestMaxCallsCountsRetries(t *testing.T) {
	var calls atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Retry-After", "0")
		http.Error(w, `{"error": {"message": "later"}}`, http.StatusServiceUnavailable)
	}))
	defer s.Close()
	client, err := openai.New(openai.Options{BaseURL: s.URL, HTTP: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.WithModel(client), runner.WithModelName("m"))
	if err != nil {
		t.Fatal(err)
	}
	c := parsed(t, r, "cascade_id: a\nbudget: {max_calls: 2}\nphases: [{name: draft, instructions: Write.}]\n")
	result, err := r.Run(t.Context(), c, nil)
	var failure *engine.Error
	if !errors.As(err, &failure) || result.Status != engine.OverBudget || !strings.HasPrefix(failure.Message, "max_calls is spent") || !strings.Contains(failure.Message, "later") {
		t.Errorf("got %v, %v", result.Status, err)
	}
	if calls.Load() != 2 || result.Usage.Calls != 2 {
		t.Errorf("%d calls were made, and %d counted", calls.Load(), result.Usage.Calls)
	}
}

// TestMaxCallsCountsRetriesOfBranches checks that parallel branches share
// max_calls, including their repeated requests.
func TestMaxCallsCountsRetriesOfBranches(t *testing.T) {
	var calls atomic.Int32
	m := model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		for made := 1; ; made++ {
			calls.Add(1)
			if over := model.Again(r, &model.Failure{Class: model.Unavailable, Message: "later"}); over != nil || made == 4 {
				return model.Response{Usage: model.Usage{Calls: made}}, over
			}
		}
	})
	r, err := runner.New(runner.WithModel(m), runner.WithModelName("m"))
	if err != nil {
		t.Fatal(err)
	}
	c := parsed(t, r, "cascade_id: a\nbudget: {max_calls: 6}\nphases: [{name: both, together: [{name: a, instructions: A.}, {name: b, instructions: B.}]}]\n")
	if result, err := r.Run(t.Context(), c, nil); err == nil || calls.Load() > 6 || result.Usage.Calls > 6 {
		t.Errorf("%d calls were made, and %d counted: %v", calls.Load(), result.Usage.Calls, err)
	}
}

// TestBudgetOfModelWithoutUsage checks a model that reports no usage. An answer
// counts as one call, and its tokens are estimated.
func TestBudgetOfModelWithoutUsage(t *testing.T) {
	calls := 0
	m := model.Func(func(context.Context, model.Request) (model.Response, error) {
		calls++
		return model.Response{Text: "Owls hoot at night."}, nil
	})
	r, err := runner.New(runner.WithModel(m), runner.WithModelName("m"))
	if err != nil {
		t.Fatal(err)
	}
	for budget, want := range map[string]int{"max_calls: 3": 3, "max_tokens: 25": 2} {
		calls = 0
		c := parsed(t, r, "cascade_id: a\nbudget: {"+budget+"}\nphases: [{name: all, each: {in: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], max_parallel: 1}, instructions: Write.}]\n")
		result, err := r.Run(t.Context(), c, nil)
		if err == nil || result.Status != engine.OverBudget || calls != want || result.Usage.Calls != want || result.Usage.Tokens() == 0 || !result.Usage.Estimated {
			t.Errorf("%s: %d calls, %+v, %v", budget, calls, result.Usage, err)
		}
	}
}

// TestMissingProgram checks that a run looks for its programs before the first
// model call. An earlier phase may build a program.
func TestMissingProgram(t *testing.T) {
	dir := t.TempDir()
	const check = "    wards: {post: [{exec: [PROGRAM]}]}\n"
	for name, test := range map[string]struct{ source, want string }{
		"validator in PATH":                 {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "no-such-program", 1), "the program no-such-program is not in PATH"},
		"validator in a folder":             {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "./checks/no", 1), "there is no program ./checks/no"},
		"tool":                              {"tools: {count: {exec: [./count]}}\nphases:\n  - {name: draft, instructions: Write.}\n  - {name: tell, tool: count}\n", "there is no program ./count"},
		"script":                            {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "sh, ./no.sh", 1), "there is no file ./no.sh"},
		"script of a tool":                  {"tools: {count: {exec: [sh, no.sh]}}\nphases:\n  - {name: draft, instructions: Write.}\n  - {name: tell, tool: count}\n", "there is no file no.sh"},
		"script there":                      {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "sh, there.sh", 1), ""},
		"script of subject":                 {"phases:\n  - name: draft\n    instructions: Write.\n    wards: {post: [{exec: [cat, no.sh], subject: ['*.sh'], verdict: exit_status, mode: shadow}]}\n", ""},
		"script of a program of the folder": {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "./there.sh, /elsewhere/no.sh", 1), ""},
		"no script":                         {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "echo, no.txt", 1), ""},
		"script built before": {"tools: {build: {exec: [sh, -c, \"echo 'echo {}' >made.sh\"]}}\nphases:\n  - {name: make, tool: build}\n" +
			"  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "sh, made.sh", 1), ""},
		"built before": {"tools: {build: {exec: [sh, -c, \"printf '#!/bin/sh\\\\necho {}' >check; chmod +x check\"]}}\nphases:\n  - {name: make, tool: build}\n" +
			"  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "./check", 1), ""},
		"advisory": {"phases:\n  - name: draft\n    instructions: Write.\n    wards: {post: [{exec: [no-such-program], mode: advisory}]}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			asked := false
			r, err := runner.New(runner.WithModel(model.Func(func(context.Context, model.Request) (model.Response, error) {
				asked = true
				return model.Response{Text: "a text"}, nil
			})), runner.WithModelName("m"))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "there.sh"), []byte("#!/bin/sh\necho {}\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(dir, "c.yaml")
			if err := os.WriteFile(file, []byte("cascade_id: a\n"+test.source), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := r.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Run(t.Context(), c, nil)
			var failure *engine.Error
			refused := errors.As(err, &failure) && failure.Code == engine.Invalid
			if refused != (test.want != "") || asked == refused || refused && !strings.Contains(failure.Message, test.want) {
				t.Errorf("asked %v: %v", asked, err)
			}
			if found := c.Absent(); (len(found) > 0) != (test.want != "" || name == "advisory") {
				t.Errorf("lint warns of %v", found)
			}
		})
	}
}

// TestToolPhaseHearsReasons checks that the inputs of a tool phase are rendered for
// each attempt, with the reason of the previous rejection.
func TestToolPhaseHearsReasons(t *testing.T) {
	r, err := runner.New()
	if err != nil {
		t.Fatal(err)
	}
	c := parsed(t, r, `cascade_id: a
tools: {say: {exec: [sh, -c, cat], effect: reads, parameters: {type: object}}}
phases:
  - name: tell
    tool: say
    inputs: {why: "{{ validation_error }}"}
    wards: {post: [{validator: contains, with: {text: owl}, mode: retry, max_attempts: 2}]}
`)
	result, err := r.Run(t.Context(), c, nil)
	if err != nil || result.Phases[0].Attempts != 2 {
		t.Fatalf("got %+v, %v", result.Phases, err)
	}
	if text := fmt.Sprint(result.Output); !strings.Contains(text, "owl") {
		t.Errorf("the second attempt heard %s", text)
	}
}

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
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
)

// A request that is sent again counts against max_calls before it is sent.
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
	var why *runner.Error
	if !errors.As(err, &why) || result.Status != runner.OverBudget || !strings.HasPrefix(why.Message, "max_calls is spent") || !strings.Contains(why.Message, "later") {
		t.Errorf("got %v, %v", result.Status, err)
	}
	if calls.Load() != 2 || result.Usage.Calls != 2 {
		t.Errorf("%d calls were made, and %d counted", calls.Load(), result.Usage.Calls)
	}
}

// Parallel branches share max_calls, whatever each sends again.
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

// An answer is one call, and its tokens are estimated, if the model counts neither.
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
		if err == nil || result.Status != runner.OverBudget || calls != want || result.Usage.Calls != want || result.Usage.Tokens() == 0 || !result.Usage.Estimated {
			t.Errorf("%s: %d calls, %+v, %v", budget, calls, result.Usage, err)
		}
	}
}

// A run looks for its programs before a model is paid, except for one that a phase
// before may build.
func TestMissingProgram(t *testing.T) {
	dir := t.TempDir()
	const check = "    wards: {post: [{exec: [PROGRAM]}]}\n"
	for name, test := range map[string]struct{ source, want string }{
		"validator in PATH":     {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "no-such-program", 1), "the program no-such-program is not in PATH"},
		"validator in a folder": {"phases:\n  - name: draft\n    instructions: Write.\n" + strings.Replace(check, "PROGRAM", "./checks/no", 1), "there is no program ./checks/no"},
		"tool":                  {"tools: {count: {exec: [./count]}}\nphases:\n  - {name: draft, instructions: Write.}\n  - {name: tell, tool: count}\n", "there is no program ./count"},
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
			file := filepath.Join(dir, "c.yaml")
			if err := os.WriteFile(file, []byte("cascade_id: a\n"+test.source), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := r.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Run(t.Context(), c, nil)
			var why *runner.Error
			refused := errors.As(err, &why) && why.Code == runner.Invalid
			if refused != (test.want != "") || asked == refused || refused && !strings.Contains(why.Message, test.want) {
				t.Errorf("asked %v: %v", asked, err)
			}
			if found := c.Absent(); (len(found) > 0) != (test.want != "" || name == "advisory") {
				t.Errorf("lint warns of %v", found)
			}
		})
	}
}

// The inputs of a phase that is a tool are rendered anew for each attempt, with why the
// one before was refused.
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

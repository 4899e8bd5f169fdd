package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestLint checks that mistakes of a cascade are results, and a missing cascade is an error.
func TestLint(t *testing.T) {
	o := options()
	dir := t.TempDir()
	o.Root = dir + "/root"
	write(t, dir, map[string]string{"out.md": "secret {{", "root/in.md": "Write {{ input.a }}.", "root/good.yaml": "{cascade_id: a, phases: [{name: a, instructions: '@in.md'}]}", "root/bad.yaml": "{cascade_id: a}"})
	s := connect(t, o)
	for _, c := range []struct {
		arguments, want string
		found           int // -1 is an error
	}{
		{`{"file": "good.yaml"}`, "Nothing is wrong with it.", 0},
		{`{"file": "bad.yaml"}`, "bad.yaml:1:1: ", 1},
		{`{"source": "{cascade_id: a, phases: [{name: a, instructions: '@in.md'}]}"}`, "Nothing", 0},
		{`{"source": "{cascade_id: a, phases: [{name: a, instructions: '@../out.md'}]}"}`, "is outside", 1},
		{`{"source": "{cascade_id: a, phasse: 1}"}`, "phasse", 2},
		{`{"source": ""}`, "cascade.yaml:1:1", 1},
		{`{"file": "../out.md"}`, "is outside", 1},
		{`{"file": "none.yaml"}`, "no such file", 1},
		{`{"file": "good.yaml", "source": "x"}`, "one of them", -1},
		{`{}`, "one of them", -1},
	} {
		text, object, isError := use(t, s, "lint", json.RawMessage(c.arguments))
		list, _ := object["diagnostics"].([]any)
		if !strings.Contains(text, c.want) || isError != (c.found < 0) || !isError && (list == nil || len(list) != c.found) {
			t.Errorf("%s: %v %s %v", c.arguments, isError, text, object)
		}
	}
}

// TestValidateRequest checks a request and its response.
func TestValidateRequest(t *testing.T) {
	o := options()
	o.Validate = func(_ context.Context, request []byte) (any, error) {
		var r struct {
			TaskID string `json:"task_id"`
		}
		if json.Unmarshal(request, &r) != nil || r.TaskID == "odd" {
			return nil, errors.New("task_id: odd")
		}
		return map[string]any{"task_id": r.TaskID, "verdict": "FAIL"}, nil
	}
	s := connect(t, o)
	ask := func(request string) string {
		text, object, isError := use(t, s, "validate_request", json.RawMessage(`{"request": `+request+`}`))
		return fmt.Sprint(isError, text, object)
	}
	const rest = `", "validation_type": "code", "acceptance_criteria": [], "more": 1}`
	for request, want := range map[string]string{
		`{"task_id": "one` + rest: `false{"task_id":"one","verdict":"FAIL"}map[task_id:one verdict:FAIL]`,
		`{"task_id": "odd` + rest: "truetask_id: odd",
		`"one"`:                   "must be an object, is a string",
		`{"task_id": "one"}`:      "missing properties 'validation_type', 'acceptance_criteria'",
	} {
		if got := ask(request); !strings.Contains(got, want) {
			t.Errorf("%s: %s", request, got)
		}
	}
}

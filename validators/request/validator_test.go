package request_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/request"
	. "github.com/seed61713e19/capstan/validators/validatorstest"
)

func TestValidator(t *testing.T) {
	whole, partial := object{"request": ask("a", "b")}, object{"request": string(text(t, ask("a", "b"))), "accept_partial": true}
	say := func(o object) string { return string(text(t, o)) }
	dotted := object{"request": with(ask("a", "b"), object{"prd_id": "PRD-1.2"})}
	Run(t, request.Validator,
		Case{Name: "PASS", With: whole, Content: say(answer("PASS", "a", "PASS", "b", "PASS")), Valid: true, Reason: "PASS: 2 of 2 criteria PASS"},
		Case{Name: "PASS in prose", With: partial, Content: "It is done.\n```json\n" + say(answer("PASS", "a", "PASS", "b", "PASS")) + "\n```", Valid: true},
		Case{Name: "a dot in prd_id", With: dotted, Content: say(answer("PASS", "a", "PASS", "b", "PASS")), Valid: true},
		Case{Name: "FAIL", With: whole, Content: say(answer("FAIL", "a", "FAIL", "b", "FAIL")), Reason: "a: FAIL: seen a"},
		Case{Name: "PARTIAL", With: whole, Content: say(answer("PARTIAL", "a", "PASS", "b", "FAIL")), Reason: "b: FAIL: seen b"},
		Case{Name: "PARTIAL accepted", With: partial, Content: say(answer("PARTIAL", "a", "PASS", "b", "FAIL")), Valid: true, Reason: "b: FAIL: seen b"},
		Case{Name: "PASS that is none", With: whole, Content: say(answer("PASS", "a", "PASS", "b", "FAIL")), Reason: "is PASS, and the criteria come to PARTIAL"},
		Case{Name: "a dialect", With: whole, Content: strings.ReplaceAll(say(answer("PASS", "a", "PASS")), "criterion_id", "criterion"), Reason: "criteria_results[0].criterion_id: is missing"},
		Case{Name: "another task", With: whole, Content: say(with(answer("PASS", "a", "PASS"), object{"task_id": "x"})), Reason: `its task_id is "x"`},
		Case{Name: "protocol, FAIL", With: with(whole, object{"check": "protocol"}), Content: say(answer("FAIL", "a", "FAIL")), Valid: true, Reason: "a response to task task-1 that says FAIL"},
		Case{Name: "protocol, BLOCKED", With: with(whole, object{"check": "protocol"}), Content: say(answer("PASS")), Valid: true},
		Case{Name: "protocol, a dialect", With: with(whole, object{"check": "protocol"}), Content: strings.ReplaceAll(say(answer("PASS", "a", "PASS")), "criterion_id", "criterion"), Reason: "criteria_results[0].criterion_id: is missing"},
		Case{Name: "protocol, another task", With: with(whole, object{"check": "protocol"}), Content: say(with(answer("PASS"), object{"task_id": "x"})), Reason: "task_id"},
		Case{Name: "no JSON", With: whole, Content: "All good!", Reason: "there is no JSON"},
	)
}

func TestValidatorVerdict(t *testing.T) {
	check, err := request.Validator.Bind(object{"request": ask("a")})
	if err != nil {
		t.Fatal(err)
	}
	judge := func(o object) (validators.Verdict, error) {
		return check(t.Context(), validators.Subject{Content: string(text(t, o))})
	}
	if v, err := judge(answer("BLOCKED", "a", "BLOCKED")); err == nil || v.Valid || !strings.Contains(err.Error(), "a: BLOCKED: seen a") {
		t.Errorf("BLOCKED is a verdict: %+v %v", v, err)
	}
	if _, err := judge(answer("PASS", "a", "SKIP")); err == nil {
		t.Error("a PASS that is BLOCKED is a verdict")
	}
	v, err := judge(answer("FAIL", "a", "FAIL"))
	if err != nil || v.Status != "FAIL" || len(v.Issues) != 1 || v.Issues[0].Location != "a" {
		t.Errorf("got %+v %v", v, err)
	}
	got := string(text(t, v.Details))
	if want := `{"claimed_verdict":"FAIL","criteria":[{"id":"a","status":"FAIL"}],"effective_verdict":"FAIL","flags":[],"reason":`; !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
	v, err = judge(with(answer("PASS", "a", "PASS", "z", "PASS"), object{"evidence_collected": object{"file_checks": []any{object{"path": "x", "exists": true}}}}))
	if err != nil || !v.Valid || len(v.Issues) != 0 || len(v.Warnings) != 3 || v.Warnings[1].Check != "unchecked_evidence" || v.Warnings[2].Check != "unverified_evidence" {
		t.Errorf("got %+v %v", v, err)
	}
	v, _ = judge(object{})
	if len(v.Issues) != 4 || v.Issues[0].Location != "task_id" || v.Issues[0].Check != "protocol_error" {
		t.Errorf("got %+v", v.Issues)
	}
}

func TestParameters(t *testing.T) {
	for name, c := range map[string]struct {
		with object
		want string
	}{
		"none":             {object{}, "request"},
		"malformed":        {object{"request": ask()}, "validation request: acceptance_criteria"},
		"no JSON":          {object{"request": "task-1"}, "validation request: there is no JSON"},
		"a number":         {object{"request": 7}, "request: want an object, or its JSON as a text"},
		"ids twice":        {object{"request": ask("a", "a")}, "acceptance_criteria[1].id"},
		"no such root":     {object{"request": ask("a"), "root": "no/such"}, "root: no/such is no directory"},
		"no such evidence": {object{"request": ask("a"), "evidence": "no/such"}, "evidence: no/such is no directory"},
		"check":            {object{"request": ask("a"), "check": "some"}, "check must be request or protocol"},
		"partial in words": {object{"request": ask("a"), "accept_partial": "yes"}, "accept_partial"},
	} {
		for face, try := range map[string]func(object) error{
			"Bind":    func(w object) error { _, err := request.Validator.Bind(w); return err },
			"NewGate": func(w object) error { _, err := request.NewGate(w); return err },
		} {
			if err := try(c.with); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %s: got %v", name, face, err)
			}
		}
	}
	_, err := request.NewGate(object{"request": ask()})
	if broken := (*request.ProtocolError)(nil); !errors.As(err, &broken) {
		t.Errorf("got %T", err)
	}
}

// TestGateRoot checks that files are read in the worktree of the request if it
// exists.
func TestGateRoot(t *testing.T) {
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "a.go"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	given := func(path string) []byte {
		return text(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"file_checks": []any{object{"path": path, "exists": true}}}}))
	}
	for name, c := range map[string]struct {
		with object
		path string
		want request.Verdict
	}{
		"in the worktree":         {object{"request": with(ask("a"), object{"worktree_path": tree})}, "a.go", "PASS"},
		"not in the worktree":     {object{"request": with(ask("a"), object{"worktree_path": tree})}, "b.go", "BLOCKED"},
		"a worktree elsewhere":    {object{"request": with(ask("a"), object{"worktree_path": tree + "/gone"})}, "b.go", "PASS"},
		"a relative worktree":     {object{"request": with(ask("a"), object{"worktree_path": "."})}, "b.go", "PASS"},
		"root before worktree":    {object{"request": with(ask("a"), object{"worktree_path": tree}), "root": t.TempDir()}, "a.go", "BLOCKED"},
		"root, path by worktree":  {object{"request": with(ask("a"), object{"worktree_path": "/far"}), "root": tree}, "/far/a.go", "PASS"},
		"root, path up and out":   {object{"request": ask("a"), "root": tree}, "../a.go", "BLOCKED"},
		"worktree, absolute path": {object{"request": with(ask("a"), object{"worktree_path": tree})}, filepath.Join(tree, "a.go"), "PASS"},
	} {
		g, err := request.NewGate(c.with)
		if err != nil {
			t.Fatal(err)
		}
		if j := g.Judge(given(c.path)); j.Effective != c.want {
			t.Errorf("%s: got %s (%s)", name, j.Effective, j.Reason)
		}
	}
}

func TestGateJSON(t *testing.T) {
	g, err := request.NewGate(object{"request": ask("a", "b")})
	if err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{
		string(text(t, answer("PASS", "a", "PASS", "b", "PASS"))): `{"task_id":"task-1","claimed_verdict":"PASS","effective_verdict":"PASS","valid":true,"reason":"PASS: 2 of 2 criteria PASS, 0 FAIL, 0 BLOCKED; evidence_refs: 2 criteria are PASS without checked evidence: a, b","flags":["unverified_evidence"],"criteria":[{"id":"a","status":"PASS"},{"id":"b","status":"PASS"}]}`,
		"{}}": `{"task_id":"task-1","claimed_verdict":"","effective_verdict":"","valid":false,"reason":"validation response: line 1, column 3: there is text after the JSON document","flags":["protocol_error"],"criteria":[]}`,
	} {
		if got := string(text(t, g.Judge([]byte(given)))); got != want {
			t.Errorf("got %s", got)
		}
	}
}

func TestPromise(t *testing.T) {
	promise := func(list ...object) string {
		return string(text(t, object{"promise_id": "p-1", "summary": "login", "acceptance_criteria": list}))
	}
	met := object{"id": "a", "description": "it logs in", "met": true, "evidence": "TestLogin"}
	nothing := func(e any) string { return promise(met, with(met, object{"id": "b", "evidence": e})) }
	Run(t, request.PromiseValidator,
		Case{Name: "kept", Content: promise(met, with(met, object{"id": "b", "evidence": []any{object{"test": "ok"}}})), Valid: true, Reason: "promise p-1: 2 criteria met, with evidence"},
		Case{Name: "in a fence", Content: "```json\n" + promise(met) + "\n```", Valid: true},
		Case{Name: "not met", Content: promise(met, with(met, object{"id": "b", "met": false}), with(met, object{"id": "c", "met": false})), Reason: "b: is not met: it logs in; c: is not met"},
		Case{Name: "without evidence", Content: nothing(nil), Reason: "b: is met without evidence"},
		Case{Name: "empty evidence", Content: nothing(" "), Reason: "b: is met without evidence"},
		Case{Name: "no items", Content: nothing([]any{}), Reason: "b: is met without evidence"},
		Case{Name: "no fields", Content: nothing(object{}), Reason: "b: is met without evidence"},
		Case{Name: "blank items", Content: nothing([]any{" ", object{}}), Reason: "b: is met without evidence"},
		Case{Name: "blank fields", Content: nothing(object{"test": "", "log": []any{}}), Reason: "b: is met without evidence"},
		Case{Name: "a field that is not blank", Content: nothing(object{"test": "", "log": []any{"ok"}}), Valid: true},
		Case{Name: "counts with a failure", Content: nothing(object{"passed": 10, "failed": 2}), Reason: "b: is met, and its evidence has failed: 2"},
		Case{Name: "an exit code", Content: nothing(object{"command": "make check", "exit_code": 2}), Reason: "b: is met, and its evidence has exit_code: 2"},
		Case{Name: "an exit code in a list", Content: nothing([]any{object{"exit_code": 2}}), Reason: "has exit_code: 2"},
		Case{Name: "a text is not read", Content: nothing("go test ./login: 2 failed, 10 passed"), Valid: true},
		Case{Name: "good counts", Content: nothing(object{"passed": 10, "failed": 0, "exit_code": 0}), Valid: true},
		Case{Name: "false", Content: nothing(false), Reason: "b: is met without evidence"},
		Case{Name: "null", Content: nothing(json.RawMessage("null")), Reason: "b: is met without evidence"},
		Case{Name: "no criteria", Content: promise(), Reason: "acceptance_criteria"},
		Case{Name: "the same id twice", Content: promise(met, met), Reason: "acceptance_criteria[1].id: another criterion"},
		Case{Name: "met in words", Content: promise(with(met, object{"met": "true"})), Reason: "acceptance_criteria[0].met: must be a boolean, is a string"},
		Case{Name: "another word for met", Content: promise(with(met, object{"met": nil, "status": "done"})), Reason: "acceptance_criteria[0].met: is missing"},
		Case{Name: "no promise", Content: "done!", Reason: "completion promise: there is no JSON"},
		Case{Name: "empty", Content: "", Reason: "completion promise: there is no JSON"},
		Case{Name: "met twice", Content: strings.Replace(promise(with(met, object{"met": false})), `"met":`, `"met":true,"met":`, 1), Reason: "met: appears twice"},
	)
	many := make([]object, 30)
	for i := range many {
		many[i] = with(met, object{"id": strings.Repeat("i", i), "met": false})
	}
	check, _ := request.PromiseValidator.Bind(nil)
	v, err := check(t.Context(), validators.Subject{Content: promise(many...)})
	if err != nil || len(v.Issues) != 20 || !strings.HasSuffix(v.Reason, "; and 10 more") {
		t.Errorf("got %d %v %v", len(v.Issues), v.Reason, err)
	}
}

func TestJudgeVerdict(t *testing.T) {
	warn := object{"on_judge_unavailable": "warn"}
	Run(t, request.JudgeValidator,
		Case{Name: "PASS", Content: `{"verdict": "PASS", "reasoning": "all borne out"}`, Valid: true, Reason: "PASS: all borne out"},
		Case{Name: "PASS in a fence", With: warn, Content: "I say:\n```json\n{\"verdict\": \"PASS\"}\n```", Valid: true},
		Case{Name: "FAIL", Content: `{"verdict": "FAIL", "reasoning": "no test"}`, Reason: `is "FAIL", not PASS: no test`},
		Case{Name: "PARTIAL", Content: `{"verdict": "PARTIAL"}`, Reason: `is "PARTIAL", not PASS`},
		Case{Name: "BLOCKED", Content: `{"verdict": "BLOCKED"}`, Reason: "not PASS"},
		Case{Name: "small letters", Content: `{"verdict": "pass"}`, Reason: `is "pass", not PASS`},
		Case{Name: "a blank", Content: `{"verdict": "PASS "}`, Reason: `is "PASS ", not PASS`},
		Case{Name: "more than PASS", Content: `{"verdict": "PASSED"}`, Reason: "not PASS"},
		Case{Name: "FAIL, warn", With: warn, Content: `{"verdict": "FAIL"}`, Reason: "not PASS"},
		Case{Name: "nothing, warn", With: warn, Content: "", Valid: true, Reason: "no judge: there is no JSON"},
		Case{Name: "twice, warn", With: warn, Content: `{"verdict": "FAIL", "verdict": "PASS"}`, Valid: true, Reason: "no judge: verdict: appears twice"},
	)
	for name, content := range map[string]string{
		"nothing": "", "prose": "PASS", "no verdict": `{"result": "PASS"}`, "no word": `{"verdict": true}`, "twice": `{"verdict": "FAIL", "verdict": "PASS"}`,
		"a list": `["PASS"]`, "two": `{"verdict": "PASS"}{"verdict": "PASS"}`, "capitals": `{"VERDICT": "PASS"}`,
	} {
		for _, policy := range []object{nil, {"on_judge_unavailable": "block"}} {
			check, err := request.JudgeValidator.Bind(policy)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := check(t.Context(), validators.Subject{Content: content}); err == nil {
				t.Errorf("%s: got %+v", name, v)
			}
		}
		check, _ := request.JudgeValidator.Bind(warn)
		if v, err := check(t.Context(), validators.Subject{Content: content}); err != nil || !v.Valid || len(v.Warnings) != 1 {
			t.Errorf("%s, warn: got %+v %v", name, v, err)
		}
	}
	check, err := request.JudgeValidator.Bind(object{"record": object{"promise": "kept"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, verdict := range []string{"PASS", "FAIL"} {
		v, err := check(t.Context(), validators.Subject{Content: string(text(t, object{"verdict": verdict}))})
		if err != nil || string(text(t, v.Details)) != `{"promise":"kept"}` || v.Status != verdict {
			t.Errorf("got %+v %v", v, err)
		}
	}
	if _, err := request.JudgeValidator.Bind(object{"on_judge_unavailable": "pass"}); err == nil {
		t.Error("an unknown policy is taken")
	}
}

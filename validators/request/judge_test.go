package request_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

type flags = []string

// statuses are the criteria of a judgement in one line: AC-1=PASS AC-2=FAIL.
func statuses(j request.Judgement) string {
	var words []string
	for _, c := range j.Criteria {
		words = append(words, c.ID+"="+string(c.Status))
	}
	return strings.Join(words, " ")
}

func TestJudge(t *testing.T) {
	two, one := ask("a", "b"), ask("a")
	browser, both := with(one, object{"validation_type": "browser"}), with(one, object{"validation_type": "both"})
	pass := answer("PASS", "a", "PASS")
	evidence := func(o object, e object) object { return with(o, object{"evidence_collected": e}) }
	shot := object{"screenshots": []any{object{"path": "shots/a.png", "step": "a"}}}
	tests := func(exit, failed any) object {
		return object{"test_results": with(object{}, object{"command": "go test", "exit_code": exit, "failed": failed})}
	}
	silent := object{"criterion_id": "a", "status": "PASS", "evidence": " \n"}
	for _, c := range []struct {
		rule          string
		request, with object
		effective     request.Verdict
		flags         flags
		statuses      string
	}{
		{"recompute: all PASS is PASS", two, answer("PASS", "b", "PASS", "a", "PASS"), "PASS", flags{"unverified_evidence"}, "a=PASS b=PASS"},
		{"recompute: some PASS, some FAIL, nothing open is PARTIAL", two, answer("PARTIAL", "a", "PASS", "b", "FAIL"), "PARTIAL", flags{"unverified_evidence"}, "a=PASS b=FAIL"},
		{"recompute: all FAIL is FAIL", two, answer("FAIL", "a", "FAIL", "b", "FAIL"), "FAIL", flags{}, "a=FAIL b=FAIL"},
		{"recompute: FAIL with something open is FAIL", two, answer("FAIL", "a", "FAIL", "b", "BLOCKED"), "FAIL", flags{}, "a=FAIL b=BLOCKED"},
		{"recompute: PASS, FAIL and something open is FAIL", ask("a", "b", "c"), answer("FAIL", "a", "PASS", "b", "FAIL", "c", "SKIP"), "FAIL", flags{"unverified_evidence"}, "a=PASS b=FAIL c=BLOCKED"},
		{"recompute: PASS and something open is BLOCKED", two, answer("BLOCKED", "a", "PASS", "b", "BLOCKED"), "BLOCKED", flags{"unverified_evidence"}, "a=PASS b=BLOCKED"},
		{"recompute: nothing but open is BLOCKED", two, answer("BLOCKED", "a", "SKIP", "b", "BLOCKED"), "BLOCKED", flags{}, "a=BLOCKED b=BLOCKED"},

		{"coverage: SKIP counts as BLOCKED", two, answer("PASS", "a", "PASS", "b", "SKIP"), "BLOCKED", flags{"inconsistent", "unverified_evidence"}, "a=PASS b=BLOCKED"},
		{"coverage: missing counts as BLOCKED", two, answer("PASS", "a", "PASS"), "BLOCKED", flags{"inconsistent", "missing_criteria", "unverified_evidence"}, "a=PASS b=BLOCKED"},
		{"coverage: none at all is BLOCKED", two, answer("PASS"), "BLOCKED", flags{"inconsistent", "missing_criteria"}, "a=BLOCKED b=BLOCKED"},
		{"coverage: missing beside FAIL is FAIL", two, answer("FAIL", "a", "FAIL"), "FAIL", flags{"missing_criteria"}, "a=FAIL b=BLOCKED"},
		{"coverage: an unknown id is flagged", one, answer("PASS", "a", "PASS", "z", "PASS"), "PASS", flags{"unknown_criterion", "unverified_evidence"}, "a=PASS"},
		{"coverage: an unknown id decides nothing", one, answer("PASS", "a", "PASS", "z", "FAIL"), "PASS", flags{"unknown_criterion", "unverified_evidence"}, "a=PASS"},
		{"coverage: an id in another case is unknown", one, answer("PASS", "A", "PASS"), "BLOCKED", flags{"inconsistent", "missing_criteria", "unknown_criterion"}, "a=BLOCKED"},
		{"coverage: of duplicates the worst counts, FAIL last", one, answer("PASS", "a", "PASS", "a", "FAIL"), "FAIL", flags{"inconsistent", "duplicate_criterion"}, "a=FAIL"},
		{"coverage: of duplicates the worst counts, FAIL first", one, answer("PASS", "a", "FAIL", "a", "PASS"), "FAIL", flags{"inconsistent", "duplicate_criterion"}, "a=FAIL"},
		{"coverage: of duplicates SKIP is worse than PASS", one, answer("PASS", "a", "SKIP", "a", "PASS"), "BLOCKED", flags{"inconsistent", "duplicate_criterion"}, "a=BLOCKED"},
		{"coverage: of duplicates FAIL is worse than BLOCKED", one, answer("FAIL", "a", "BLOCKED", "a", "FAIL", "a", "SKIP"), "FAIL", flags{"duplicate_criterion"}, "a=FAIL"},
		{"coverage: duplicates that agree are flagged", one, answer("PASS", "a", "PASS", "a", "PASS"), "PASS", flags{"duplicate_criterion", "unverified_evidence"}, "a=PASS"},

		{"effective: PASS claimed, PARTIAL computed", two, answer("PASS", "a", "PASS", "b", "FAIL"), "PARTIAL", flags{"inconsistent", "unverified_evidence"}, "a=PASS b=FAIL"},
		{"effective: PASS claimed, BLOCKED computed", one, answer("PASS", "a", "BLOCKED"), "BLOCKED", flags{"inconsistent"}, "a=BLOCKED"},
		{"effective: PASS claimed, FAIL computed", one, answer("PASS", "a", "FAIL"), "FAIL", flags{"inconsistent"}, "a=FAIL"},
		{"effective: PARTIAL claimed, PASS computed", one, answer("PARTIAL", "a", "PASS"), "PARTIAL", flags{"inconsistent", "unverified_evidence"}, "a=PASS"},
		{"effective: PARTIAL claimed, BLOCKED computed", one, answer("PARTIAL", "a", "SKIP"), "BLOCKED", flags{"inconsistent"}, "a=BLOCKED"},
		{"effective: PARTIAL claimed, FAIL computed", one, answer("PARTIAL", "a", "FAIL"), "FAIL", flags{"inconsistent"}, "a=FAIL"},
		{"effective: BLOCKED claimed, PASS computed", one, answer("BLOCKED", "a", "PASS"), "BLOCKED", flags{"inconsistent", "unverified_evidence"}, "a=PASS"},
		{"effective: BLOCKED claimed, PARTIAL computed", two, answer("BLOCKED", "a", "PASS", "b", "FAIL"), "BLOCKED", flags{"inconsistent", "unverified_evidence"}, "a=PASS b=FAIL"},
		{"effective: BLOCKED claimed, FAIL computed", one, answer("BLOCKED", "a", "FAIL"), "FAIL", flags{"inconsistent"}, "a=FAIL"},
		{"effective: FAIL claimed, PASS computed", one, answer("FAIL", "a", "PASS"), "FAIL", flags{"inconsistent", "unverified_evidence"}, "a=PASS"},
		{"effective: FAIL claimed, PARTIAL computed", two, answer("FAIL", "a", "PASS", "b", "FAIL"), "FAIL", flags{"inconsistent", "unverified_evidence"}, "a=PASS b=FAIL"},
		{"effective: FAIL claimed, BLOCKED computed", one, answer("FAIL", "a", "SKIP"), "FAIL", flags{"inconsistent"}, "a=BLOCKED"},

		{"evidence: PASS without a word is BLOCKED", one, with(pass, object{"criteria_results": []any{silent}}), "BLOCKED", flags{"inconsistent", "missing_evidence"}, "a=BLOCKED"},
		{"evidence: of duplicates the one without a word is worse", one, with(pass, object{"criteria_results": append([]any{silent}, pass["criteria_results"].([]any)...)}), "BLOCKED", flags{"inconsistent", "duplicate_criterion", "missing_evidence"}, "a=BLOCKED"},
		{"evidence: browser PASS without a screenshot is BLOCKED", browser, pass, "BLOCKED", flags{"inconsistent", "missing_screenshot"}, "a=BLOCKED"},
		{"evidence: both PASS without a screenshot is BLOCKED", both, pass, "BLOCKED", flags{"inconsistent", "missing_screenshot"}, "a=BLOCKED"},
		{"evidence: a screenshot without a path is none", browser, evidence(pass, object{"screenshots": []any{object{"description": "login"}}}), "BLOCKED", flags{"inconsistent", "missing_screenshot"}, "a=BLOCKED"},
		{"evidence: browser PASS with a screenshot", browser, evidence(pass, shot), "PASS", flags{"unverified_evidence"}, "a=PASS"},
		{"evidence: browser FAIL needs no screenshot", browser, answer("FAIL", "a", "FAIL"), "FAIL", flags{}, "a=FAIL"},
		{"evidence: code PASS needs no screenshot", one, pass, "PASS", flags{"unverified_evidence"}, "a=PASS"},
		{"evidence: exit code 0 with 0 failed", one, evidence(pass, tests(0, 0)), "PASS", flags{"unverified_evidence"}, "a=PASS"},
		{"evidence: exit code 0 with 2 failed", one, evidence(pass, tests(0, 2)), "BLOCKED", flags{"inconsistent", "false_evidence", "contrary_evidence"}, "a=BLOCKED"},
		{"evidence: exit code 0 with 2 failed, FAIL claimed", one, evidence(answer("FAIL", "a", "FAIL"), tests(0, 2)), "FAIL", flags{"false_evidence"}, "a=FAIL"},
		{"evidence: exit code 1 with 0 failed", one, evidence(pass, tests(1, 0)), "BLOCKED", flags{"inconsistent", "false_evidence", "contrary_evidence"}, "a=BLOCKED"},
		{"evidence: a count below 0", one, evidence(pass, tests(nil, -1)), "BLOCKED", flags{"inconsistent", "false_evidence"}, "a=BLOCKED"},
		{"evidence: tests fail and every criterion passes", one, evidence(pass, tests(1, 2)), "BLOCKED", flags{"inconsistent", "contrary_evidence"}, "a=BLOCKED"},
		{"evidence: tests fail and so does a criterion", two, evidence(answer("PARTIAL", "a", "PASS", "b", "FAIL"), tests(1, 2)), "PARTIAL", flags{"unverified_evidence"}, "a=PASS b=FAIL"},
		{"evidence: only the exit code, and it is 0", one, evidence(pass, tests(0, nil)), "PASS", flags{"unverified_evidence"}, "a=PASS"},
		{"evidence: it does not contain what was expected", two, evidence(answer("PASS", "a", "PASS", "b", "PASS"), object{"file_checks": []any{object{"path": "seen b", "contains_expected": false}}}), "BLOCKED", flags{"inconsistent", "contrary_evidence", "unverified_evidence"}, "a=PASS b=BLOCKED"},
		{"evidence: files are not looked for without a root", one, evidence(pass, object{"file_checks": []any{object{"path": "gone", "exists": true}}}), "PASS", flags{"unverified_evidence"}, "a=PASS"},
		{"late: it says that it took longer than there was", one, with(pass, object{"duration_seconds": 301}), "PASS", flags{"late", "unverified_evidence"}, "a=PASS"},
		{"late: it took all the time there was", one, with(pass, object{"duration_seconds": 300}), "PASS", flags{"unverified_evidence"}, "a=PASS"},
		{"order of flags", ask("a", "b", "c"), with(answer("PASS", "z", "PASS", "a", "PASS", "a", "SKIP", "c", "PASS"), object{"duration_seconds": 1e9}), "BLOCKED", flags{"late", "inconsistent", "missing_criteria", "unknown_criterion", "duplicate_criterion", "unverified_evidence"}, "a=BLOCKED b=BLOCKED c=PASS"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			r, given := asked(t, c.request), answered(t, c.with)
			j := request.Judge(r, given, request.Options{})
			if j.TaskID != r.TaskID || j.Claimed != given.Verdict || j.Effective != c.effective || !slices.Equal(j.Flags, c.flags) || statuses(j) != c.statuses {
				t.Errorf("got %s %q %s (%s)", j.Effective, j.Flags, statuses(j), j.Reason)
			}
			if j.Valid != (c.effective == "PASS") || j.Reason == "" || j.Flags == nil || !(j.Effective != "") {
				t.Errorf("got %+v", j)
			}
			if again := request.Judge(r, given, request.Options{}); !reflect.DeepEqual(again, j) {
				t.Errorf("judged again: %+v, before it was %+v", again, j)
			}
		})
	}
}

func TestJudgeOptions(t *testing.T) {
	partial, pass := answer("PARTIAL", "a", "PASS", "b", "FAIL"), answer("PASS", "a", "PASS", "b", "PASS")
	for name, c := range map[string]struct {
		response object
		options  request.Options
		valid    bool
		status   int
		flags    flags
	}{
		"PASS":                       {pass, request.Options{}, true, 0, flags{"unverified_evidence"}},
		"PASS, late":                 {pass, request.Options{}, false, 1, flags{"late", "unverified_evidence"}},
		"PARTIAL":                    {partial, request.Options{}, false, 1, flags{"unverified_evidence"}},
		"PARTIAL accepted":           {partial, request.Options{AcceptPartial: true}, true, 0, flags{"unverified_evidence"}},
		"PARTIAL accepted, late":     {partial, request.Options{AcceptPartial: true}, false, 1, flags{"late", "unverified_evidence"}},
		"FAIL is not accepted":       {answer("FAIL", "a", "FAIL", "b", "PASS"), request.Options{AcceptPartial: true}, false, 1, flags{"inconsistent", "unverified_evidence"}},
		"BLOCKED is not accepted":    {answer("BLOCKED", "a", "PASS", "b", "FAIL"), request.Options{AcceptPartial: true}, false, 3, flags{"inconsistent", "unverified_evidence"}},
		"BLOCKED, late":              {answer("PASS"), request.Options{}, false, 3, flags{"late", "inconsistent", "missing_criteria"}},
		"PASS that is PARTIAL":       {answer("PASS", "a", "PASS", "b", "FAIL"), request.Options{AcceptPartial: true}, true, 0, flags{"inconsistent", "unverified_evidence"}},
		"another task's PASS":        {with(pass, object{"task_id": "task-2"}), request.Options{}, false, 1, flags{"wrong_task"}},
		"another task's BLOCKED":     {with(answer("BLOCKED"), object{"task_id": "task-2"}), request.Options{}, false, 1, flags{"wrong_task"}},
		"a task in another case":     {with(pass, object{"task_id": "Task-1"}), request.Options{}, false, 1, flags{"wrong_task"}},
		"another task's PARTIAL":     {with(partial, object{"task_id": ""}), request.Options{AcceptPartial: true}, false, 1, flags{"wrong_task"}},
		"another task's FAIL, a lie": {with(answer("FAIL"), object{"task_id": "task-1 "}), request.Options{}, false, 1, flags{"wrong_task"}},
	} {
		j := request.Judge(asked(t, ask("a", "b")), answered(t, c.response), c.options)
		if strings.HasSuffix(name, ", late") {
			j = j.Late()
		}
		if j.Valid != c.valid || j.ExitStatus() != c.status || !slices.Equal(j.Flags, c.flags) {
			t.Errorf("%s: got %v %d %q", name, j.Valid, j.ExitStatus(), j.Flags)
		}
		if wrong := slices.Contains(j.Flags, "wrong_task"); wrong == (j.Effective != "") || wrong && (j.Effective != "" || len(j.Criteria) > 0 || j.Criteria == nil || j.TaskID != "task-1") {
			t.Errorf("%s: got %+v", name, j)
		}
	}
}

// TestCounted checks that the counted response has the effective verdict, and
// the reason for each lost PASS.
func TestCounted(t *testing.T) {
	for _, c := range []struct {
		given    object
		verdict  request.Verdict
		evidence string // the evidence of the first criterion
	}{
		{answer("PASS", "a", "PASS", "b", "PASS"), "PASS", "seen a"},
		{answer("PASS", "a", "PASS"), "BLOCKED", "seen a"},
		{answer("PASS", "a", "SKIP", "b", "PASS"), "BLOCKED", "seen a"},
		{answer("PASS", "a", "PASS", "b", "FAIL"), "PARTIAL", "seen a"},
		{with(answer("PASS", "a", "PASS", "b", "PASS"), object{"evidence_collected": object{"api_responses": []any{object{"endpoint": "/x", "status_code": 500}}}}),
			"BLOCKED", "seen a; counts as BLOCKED: /x: answered 500, which no criterion declares"},
		{with(answer("PASS", "a", "PASS", "b", "PASS"), object{"evidence_collected": object{"test_results": object{"command": "x", "exit_code": 1}}}),
			"BLOCKED", "seen a; counts as BLOCKED: test_results: the tests failed, and no criterion does"},
	} {
		given := answered(t, c.given)
		before := string(text(t, given))
		j := request.Judge(asked(t, ask("a", "b")), given, request.Options{})
		counts := j.Counted(given)
		if counts.Verdict != c.verdict || counts.Verdict != j.Effective || counts.Results[0].Evidence != c.evidence {
			t.Errorf("%s: got %+v", before, counts)
		}
		if again := request.Judge(asked(t, ask("a", "b")), counts, request.Options{}); again.Effective != c.verdict {
			t.Errorf("%s: then %s", before, again.Effective)
		}
		if string(text(t, given)) != before {
			t.Errorf("%s: the response was changed", before)
		}
	}
}

// TestJudgeHandMade checks messages that were built in Go and not parsed.
func TestJudgeHandMade(t *testing.T) {
	r := &request.Request{TaskID: "t"}
	if j := request.Judge(r, &request.Response{TaskID: "t", Verdict: request.Pass}, request.Options{}); j.Effective != request.Blocked {
		t.Errorf("nothing asked is %s", j.Effective)
	}
	r.Criteria = []request.Criterion{{ID: "a"}}
	given := &request.Response{TaskID: "t", Verdict: "GREAT", Results: []request.Result{{CriterionID: "a", Status: "PASS", Evidence: "e"}}}
	r.ValidationType = request.Code
	if j := request.Judge(r, given, request.Options{}); j.Effective != request.Blocked {
		t.Errorf("an unknown verdict is %s", j.Effective)
	}
	given.Verdict, given.Results[0].Status = request.Pass, "GREAT"
	if j := request.Judge(r, given, request.Options{}); j.Effective != request.Blocked {
		t.Errorf("an unknown status is %s", j.Effective)
	}
}

func TestJudgeFiles(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		filepath.Join(root, "a.go"): "12345", filepath.Join(root, "shots", "a.png"): picture(20, 20, asPNG, false), filepath.Join(root, "empty.png"): "", filepath.Join(outside, "secret"): "s",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"out": filepath.Join(outside, "secret"), "outdir": outside, "in": "a.go", "loop": "loop"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	file := func(o object) object { return object{"file_checks": []any{o}} }
	shot := func(path string) object { return object{"screenshots": []any{object{"path": path}}} }
	falsehood := flags{"inconsistent", "false_evidence"}
	for name, c := range map[string]struct {
		kind     string
		evidence object
		flags    flags
	}{
		"there":                       {"code", file(object{"path": "a.go", "exists": true}), flags{"unverified_evidence"}},
		"there, with its size":        {"code", file(object{"path": "./shots/../a.go", "exists": true, "size_bytes": 5}), flags{"unverified_evidence"}},
		"another size":                {"code", file(object{"path": "a.go", "exists": true, "size_bytes": 6}), falsehood},
		"another size, exists unsaid": {"code", file(object{"path": "a.go", "size_bytes": 6}), falsehood},
		"size below 0":                {"code", file(object{"path": "a.go", "size_bytes": -5}), falsehood},
		"a directory":                 {"code", file(object{"path": "shots", "exists": true, "size_bytes": 1}), flags{"unverified_evidence"}},
		"absolute":                    {"code", file(object{"path": filepath.Join(root, "a.go"), "exists": true, "size_bytes": 5}), flags{"unverified_evidence"}},
		"as the request has it":       {"code", file(object{"path": "/home/dev/tree/a.go", "exists": true, "size_bytes": 5}), flags{"unverified_evidence"}},
		"beside the worktree":         {"code", file(object{"path": "/home/dev/trees/a.go", "exists": true}), falsehood},
		"a link inside":               {"code", file(object{"path": "in", "exists": true, "size_bytes": 5}), flags{"unverified_evidence"}},
		"gone":                        {"code", file(object{"path": "gone.go", "exists": true}), falsehood},
		"contains what is not there":  {"code", file(object{"path": "gone.go", "contains_expected": true}), falsehood},
		"said to be gone":             {"code", file(object{"path": "gone.go", "exists": false}), flags{"unverified_evidence"}},
		"said to be gone, and there":  {"code", file(object{"path": "a.go", "exists": false}), falsehood},
		"said to be gone, outside":    {"code", file(object{"path": "out", "exists": false}), flags{"unverified_evidence"}},
		"nothing said of it":          {"code", file(object{"path": "gone.go", "note": "later"}), flags{"unverified_evidence"}},
		"no path":                     {"code", file(object{"path": "", "exists": true}), falsehood},
		"up and out":                  {"code", file(object{"path": "../" + filepath.Base(outside) + "/secret", "exists": true}), falsehood},
		"absolute and out":            {"code", file(object{"path": filepath.Join(outside, "secret"), "exists": true}), falsehood},
		"a link out":                  {"code", file(object{"path": "out", "exists": true}), falsehood},
		"a directory out":             {"code", file(object{"path": "outdir/secret", "exists": true}), falsehood},
		"a link to itself":            {"code", file(object{"path": "loop", "exists": true}), falsehood},
		"NUL":                         {"code", file(object{"path": "a.go\x00", "exists": true}), falsehood},
		"a shell's words":             {"code", file(object{"path": "$(touch pwned); `touch pwned` {{ x }}", "exists": true}), falsehood},
		"a long path":                 {"code", file(object{"path": strings.Repeat("a/", 1<<15), "exists": true}), falsehood},
		"screenshot":                  {"browser", shot("shots/a.png"), flags{"unverified_evidence"}},
		"screenshot gone":             {"browser", shot("shots/b.png"), flags{"inconsistent", "missing_screenshot", "false_evidence"}},
		"screenshot empty":            {"both", shot("empty.png"), flags{"inconsistent", "missing_screenshot", "false_evidence"}},
		"screenshot is a directory":   {"both", shot("shots"), flags{"inconsistent", "missing_screenshot", "false_evidence"}},
		"screenshot out":              {"browser", shot("out"), flags{"inconsistent", "missing_screenshot", "false_evidence"}},
		"a second one gone":           {"browser", object{"screenshots": []any{object{"path": "shots/a.png"}, object{"path": "b.png"}}}, falsehood},
		"screenshot of code, gone":    {"code", shot("b.png"), falsehood},
	} {
		r := asked(t, with(ask("a"), object{"validation_type": c.kind, "worktree_path": "/home/dev/tree"}))
		given := answered(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": c.evidence}))
		j := request.Judge(r, given, request.Options{Root: root})
		want := request.Blocked
		if slices.Equal(c.flags, flags{"unverified_evidence"}) {
			want = request.Pass
		}
		if j.Effective != want || !slices.Equal(j.Flags, c.flags) {
			t.Errorf("%s: got %s %q (%s)", name, j.Effective, j.Flags, j.Reason)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "pwned")); err == nil {
		t.Error("a path reached a shell")
	}
	given := answered(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": file(object{"path": "gone", "exists": true})}))
	for _, nowhere := range []string{"", filepath.Join(root, "nowhere"), filepath.Join(root, "a.go")} {
		j := request.Judge(asked(t, ask("a")), given, request.Options{Root: nowhere})
		if j.Effective != request.Pass || !strings.Contains(j.Reason, "1 file was not looked at: no worktree is known here") || !slices.Equal(j.Flags, flags{"unverified_evidence"}) {
			t.Errorf("root %q: got %s %q (%s)", nowhere, j.Effective, j.Flags, j.Reason)
		}
	}
}

// TestJudgeFilesOfCriteria checks that false evidence removes the PASS of its
// own criteria only.
func TestJudgeFilesOfCriteria(t *testing.T) {
	evidence := object{"file_checks": []any{object{"path": "b.go", "exists": true}}}
	r := ask("a", "b")
	given := answer("PASS", "a", "PASS", "b", "PASS")
	given["evidence_collected"] = evidence
	given["criteria_results"].([]any)[1].(object)["evidence"] = "b.go has it"
	root := t.TempDir()
	if j := request.Judge(asked(t, r), answered(t, given), request.Options{Root: root}); statuses(j) != "a=PASS b=BLOCKED" {
		t.Errorf("by its evidence: %s", statuses(j))
	}
	given["criteria_results"].([]any)[1].(object)["evidence"] = "it is there"
	r["acceptance_criteria"].([]any)[0].(object)["validation_hint"] = "look into b.go"
	if j := request.Judge(asked(t, r), answered(t, given), request.Options{Root: root}); statuses(j) != "a=BLOCKED b=PASS" {
		t.Errorf("by its hint: %s", statuses(j))
	}
	r["acceptance_criteria"].([]any)[0].(object)["validation_hint"] = ""
	if j := request.Judge(asked(t, r), answered(t, given), request.Options{Root: root}); statuses(j) != "a=BLOCKED b=BLOCKED" {
		t.Errorf("by nothing: %s", statuses(j))
	}
	given = answer("PARTIAL", "a", "PASS", "b", "FAIL")
	given["evidence_collected"] = evidence
	given["criteria_results"].([]any)[1].(object)["evidence"] = "b.go lacks it"
	if j := request.Judge(asked(t, r), answered(t, given), request.Options{Root: root}); statuses(j) != "a=PASS b=FAIL" {
		t.Errorf("of one that fails: %s", statuses(j))
	}
}

// TestJudgeNames checks that only a complete path in a text names a file.
func TestJudgeNames(t *testing.T) {
	for _, c := range []struct {
		path, description string
		named             bool
	}{
		{"a.md", "a.md is written", true},
		{"a.md", "the file `a.md` is written", true},
		{"a.md", "it is in ./a.md.", true},
		{"a.md", "see docs/a.md:12", true},
		{"docs/a.md", "see /home/x/docs/a.md", true},
		{"./a.md", "see ./a.md", true},
		{"docs/", "docs/a.md is written", true},
		{"a.md", "data.md is written", false},
		{"a.md", "a.mdx is written", false},
		{"a.md", "a.md.bak is kept", false},
		{"a.md", "my-a.md and x.a.md", false},
		{"docs/a", "docs/a/b.md", false},
		{"a.md", "ä" + "a.md", false},
		{"a.md", "data.md, then a.md", true},
	} {
		r := ask("a", "b")
		r["acceptance_criteria"] = []any{object{"id": "a", "description": "The other thing: " + c.path + " holds"}, object{"id": "b", "description": c.description}}
		given := with(answer("PASS", "a", "PASS", "b", "PASS"), object{"evidence_collected": object{"file_checks": []any{object{"path": c.path, "exists": true, "size_bytes": 9999}}}})
		want := "a=BLOCKED b=PASS"
		if c.named {
			want = "a=BLOCKED b=BLOCKED"
		}
		if j := request.Judge(asked(t, r), answered(t, given), request.Options{Root: t.TempDir()}); statuses(j) != want {
			t.Errorf("%s in %q: %s", c.path, c.description, statuses(j))
		}
	}
}

// TestJudgeQuotes checks that a message shows the blanks of a wrong id.
func TestJudgeQuotes(t *testing.T) {
	for id, want := range map[string]string{" task-1": `its task_id is " task-1"`, "task-1\u00a0": `its task_id is "task-1\u00a0"`, strings.Repeat("x", 600): `x…"`} {
		if j := request.Judge(asked(t, ask("a")), answered(t, with(answer("PASS", "a", "PASS"), object{"task_id": id})), request.Options{}); !strings.Contains(j.Reason, want) {
			t.Errorf("got %s", j.Reason)
		}
	}
	j := request.Judge(asked(t, ask("a")), answered(t, answer("PASS", "a ", "PASS")), request.Options{})
	if !strings.Contains(j.Reason, `the request has no criterion "a "`) {
		t.Errorf("got %s", j.Reason)
	}
}

// TestJudgeKeptScreenshots checks that a screenshot may be in the validators'
// directory, and nowhere else outside the worktree.
func TestJudgeKeptScreenshots(t *testing.T) {
	root, shots, outside := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	own, err := os.MkdirTemp("", worktree.EvidenceDirs)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{shots, own, outside} {
		if err := os.WriteFile(filepath.Join(dir, "a.png"), []byte(picture(20, 20, asPNG, false)), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "empty.png"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(outside, "a.png"), filepath.Join(dir, "link.png")); err != nil {
			t.Skip(err)
		}
	}
	linked := strings.TrimSuffix(own, filepath.Base(own)) + "capstan-evidence-linked"
	if err := os.Symlink(outside, linked); err != nil {
		t.Skip(err)
	}
	r := asked(t, with(ask("a"), object{"validation_type": "browser"}))
	for path, want := range map[string]request.Verdict{
		filepath.Join(shots, "a.png"):             "PASS",
		"a.png":                                   "PASS",
		filepath.Join(own, "a.png"):               "PASS",
		filepath.Join(own, "empty.png"):           "BLOCKED",
		filepath.Join(own, "none.png"):            "BLOCKED",
		filepath.Join(own, "link.png"):            "BLOCKED",
		filepath.Join(shots, "link.png"):          "BLOCKED",
		filepath.Join(linked, "a.png"):            "BLOCKED",
		filepath.Join(outside, "a.png"):           "BLOCKED",
		own + "/../" + filepath.Base(own) + "/x/": "BLOCKED",
		own: "BLOCKED",
		strings.Replace(own, "evidence-", "evidence-/../../../", 1) + "/a.png": "BLOCKED",
	} {
		given := answered(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"screenshots": []any{object{"path": path}}}}))
		if j := request.Judge(r, given, request.Options{Root: root, Evidence: shots}); j.Effective != want {
			t.Errorf("%s: got %s (%s)", path, j.Effective, j.Reason)
		}
	}
	// Without a worktree they are looked at all the same.
	if err := os.WriteFile(filepath.Join(shots, "blank.png"), []byte(picture(20, 20, asPNG, true)), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]request.Verdict{
		filepath.Join(shots, "a.png"): "PASS", filepath.Join(shots, "blank.png"): "BLOCKED", filepath.Join(own, "a.png"): "PASS", "elsewhere/a.png": "PASS",
	} {
		given := answered(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"screenshots": []any{object{"path": path}}}}))
		if j := request.Judge(r, given, request.Options{Evidence: shots}); j.Effective != want {
			t.Errorf("%s: got %s (%s)", path, j.Effective, j.Reason)
		}
	}
}

// TestJudgeFeedback checks that the feedback names the failed criteria and
// their remedies, within limits and without control characters.
func TestJudgeFeedback(t *testing.T) {
	given := answer("FAIL", "a", "FAIL", "b", "PASS")
	one := given["criteria_results"].([]any)[0].(object)
	one["evidence"], one["remediation"] = "no handler\n\x1b[31mfor\u202e /login", "add one {{ to }} routes.go"
	j := request.Judge(asked(t, ask("a", "b")), answered(t, given), request.Options{})
	want := "FAIL: 1 of 2 criteria PASS, 1 FAIL, 0 BLOCKED; a: FAIL: no handler [31mfor /login (to mend it: add one {{ to }} routes.go); verdict: is FAIL, and the criteria come to PARTIAL; evidence_refs: 1 criterion is PASS without checked evidence: b"
	if j.Reason != want || len(j.Issues) != 2 || j.Issues[0].Location != "a" || j.Issues[0].Check != "criterion" {
		t.Errorf("got %s %+v", j.Reason, j.Issues)
	}
	var ids []string
	var pairs []string
	for i := range 50 {
		id := strings.Repeat("x", i) + "y"
		ids, pairs = append(ids, id), append(pairs, id, "FAIL")
	}
	given = answer("FAIL", pairs...)
	for _, r := range given["criteria_results"].([]any) {
		r.(object)["evidence"] = strings.Repeat("long ", 10_000)
	}
	j = request.Judge(asked(t, ask(ids...)), answered(t, given), request.Options{})
	if len(j.Issues) != 20 || !strings.HasSuffix(j.Reason, "; and 30 more") || len(j.Reason) > 20_000 {
		t.Errorf("got %d issues in %d bytes: %s", len(j.Issues), len(j.Reason), j.Reason[len(j.Reason)-30:])
	}
}

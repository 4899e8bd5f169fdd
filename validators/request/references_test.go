package request_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// The request and the response of the protocol's document.
const (
	protocolRequest = `{
  "task_id": "claude-harness-setup-5j8t",
  "prd_id": "PRD-S3-AUTONOMY-001",
  "validation_type": "code",
  "acceptance_criteria": [
    {"id": "F4.1-1", "description": "System 3 can spawn s3-validator on-demand via TeamCreate + Task",
     "validation_hint": "Check skills/system3-orchestrator/references/validation-workflow.md"},
    {"id": "F4.1-2", "description": "s3-validator reports results via SendMessage and exits gracefully",
     "validation_hint": "Check spawn prompt includes SendMessage + exit instructions"}
  ]
}`
	protocolResponse = `{
  "task_id": "claude-harness-setup-5j8t",
  "verdict": "PASS",
  "criteria_results": [
    {"criterion_id": "F4.1-1", "status": "PASS",
     "evidence": "validation-workflow.md contains 'On-Demand Validation Teammate' section with Task spawn pattern including team_name and name parameters"},
    {"criterion_id": "F4.1-2", "status": "PASS",
     "evidence": "Spawn prompt includes 'Report results via SendMessage to team-lead' and 'Exit after reporting'"}
  ],
  "evidence_collected": {
    "file_checks": [
      {"path": ".claude/skills/system3-orchestrator/references/validation-workflow.md", "exists": true, "size_bytes": 15234, "contains_expected": true,
       "note": "Contains on-demand spawn pattern with parallel validator support"}
    ]
  },
  "reasoning": "All F4.1 acceptance criteria are documented with concrete code examples, parallel patterns, and lifecycle diagrams.",
  "confidence": 0.9,
  "duration_seconds": 45.2,
  "timestamp": "2026-02-17T14:30:00Z",
  "validator_id": "s3-validator-claude-harness-setup-5j8t"
}`
)

// TestProtocolExample checks the protocol's own example. It passes. With
// strict, a PASS needs a reference and the file of the reference.
func TestProtocolExample(t *testing.T) {
	tree := t.TempDir()
	file := filepath.Join(tree, ".claude/skills/system3-orchestrator/references/validation-workflow.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("x", 15234)), 0o644); err != nil {
		t.Fatal(err)
	}
	referring := strings.Replace(protocolResponse, `"status": "PASS",`, `"status": "PASS", "evidence_refs": ["file_checks/0"],`, 1)
	for name, c := range map[string]struct {
		response, root string
		strict         bool
		effective      request.Verdict
		statuses       string
		flags          flags
	}{
		"by the letter":                  {protocolResponse, "", false, "PASS", "F4.1-1=PASS F4.1-2=PASS", flags{"unverified_evidence"}},
		"by the letter, with the file":   {protocolResponse, tree, false, "PASS", "F4.1-1=PASS F4.1-2=PASS", flags{"unverified_evidence"}},
		"strict":                         {protocolResponse, tree, true, "BLOCKED", "F4.1-1=BLOCKED F4.1-2=BLOCKED", flags{"inconsistent", "unverified_evidence"}},
		"strict, with a reference":       {referring, tree, true, "BLOCKED", "F4.1-1=PASS F4.1-2=BLOCKED", flags{"inconsistent", "unverified_evidence"}},
		"strict, without the worktree":   {referring, "", true, "BLOCKED", "F4.1-1=BLOCKED F4.1-2=BLOCKED", flags{"inconsistent", "unverified_evidence"}},
		"strict, in an empty worktree":   {referring, t.TempDir(), true, "BLOCKED", "F4.1-1=BLOCKED F4.1-2=BLOCKED", flags{"inconsistent", "false_evidence", "unverified_evidence"}},
		"by the letter, in an empty one": {referring, t.TempDir(), false, "BLOCKED", "F4.1-1=BLOCKED F4.1-2=PASS", flags{"inconsistent", "false_evidence", "unverified_evidence"}},
	} {
		with := object{"request": protocolRequest, "strict": c.strict}
		if c.root != "" {
			with["root"] = c.root
		}
		g, err := request.NewGate(with)
		if err != nil {
			t.Fatal(err)
		}
		j := g.Judge([]byte(c.response))
		if j.Effective != c.effective || statuses(j) != c.statuses || !slices.Equal(j.Flags, c.flags) {
			t.Errorf("%s: %s %s %q (%s)", name, j.Effective, statuses(j), j.Flags, j.Reason)
		}
		if c.strict && !strings.Contains(j.Reason, "no checkable evidence") {
			t.Errorf("%s: %s", name, j.Reason)
		}
	}
}

// TestReferences checks which evidence of a PASS a strict gate accepts.
func TestReferences(t *testing.T) {
	tree := t.TempDir()
	for name, content := range map[string]string{"a.go": "12345", "empty": "", "a.png": picture(20, 20, asPNG, false)} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := func(o object) object { return object{"file_checks": []any{with(object{"path": "a.go"}, o)}} }
	run := func(o object) object {
		return object{"test_results": with(object{"command": "go test", "exit_code": 0}, o)}
	}
	api := func(status any) object {
		return object{"api_responses": []any{with(object{"endpoint": "http://127.0.0.1:8080/old?x=1", "method": "GET"}, object{"status_code": status})}}
	}
	for name, c := range map[string]struct {
		collected object
		refs      []any
		hint      string
		good      bool
	}{
		"a file":                      {file(object{"exists": true}), []any{"file_checks/0"}, "", true},
		"a file that is gone":         {file(object{"path": "b.go", "exists": false}), []any{"file_checks/0"}, "", true},
		"a file without claims":       {file(nil), []any{"file_checks/0"}, "", true},
		"a missing file, no claims":   {file(object{"path": "b.go"}), []any{"file_checks/0"}, "", false},
		"a file without its content":  {file(object{"exists": true, "contains_expected": false}), []any{"file_checks/0"}, "", false},
		"a pointer":                   {file(object{"exists": true}), []any{"/evidence_collected/file_checks/0"}, "", true},
		"an index in brackets":        {file(object{"exists": true}), []any{"evidence_collected.file_checks[0]"}, "", true},
		"an index too far":            {file(object{"exists": true}), []any{"file_checks/1"}, "", false},
		"a list as a whole":           {file(object{"exists": true}), []any{"file_checks"}, "", false},
		"one of two leads nowhere":    {file(object{"exists": true}), []any{"file_checks/0", "test_results"}, "", false},
		"no references":               {file(object{"exists": true}), nil, "", false},
		"an empty list":               {file(object{"exists": true}), []any{}, "", false},
		"nothing collected":           {object{}, []any{"test_results"}, "", false},
		"a run":                       {run(object{"passed": 3, "failed": 0}), []any{"test_results"}, "", true},
		"a run without counts":        {run(nil), []any{"test_results"}, "", true},
		"a run without an exit code":  {run(object{"exit_code": nil, "passed": 3}), []any{"test_results"}, "", false},
		"a run without a command":     {run(object{"command": nil}), []any{"test_results"}, "", false},
		"a run that fails":            {run(object{"exit_code": 1}), []any{"test_results"}, "", false},
		"a run of no tests":           {run(object{"passed": 0, "failed": 0}), []any{"test_results"}, "", false},
		"a run whose output fails":    {run(object{"passed": 3, "output_snippet": "FAILED (failures=1)"}), []any{"test_results"}, "", false},
		"a picture":                   {object{"screenshots": []any{object{"path": "a.png"}}}, []any{"screenshots/0"}, "", true},
		"a picture that is none":      {object{"screenshots": []any{object{"path": "a.go"}}}, []any{"screenshots/0"}, "", false},
		"a picture without a path":    {object{"screenshots": []any{object{"step": "a"}}}, []any{"screenshots/0"}, "", false},
		"an answer":                   {api(200), []any{"api_responses/0"}, "", true},
		"an answer that is cached":    {api(304), []any{"api_responses/0"}, "", true},
		"an answer without a status":  {api(nil), []any{"api_responses/0"}, "", false},
		"a refusal":                   {api(404), []any{"api_responses/0"}, "", false},
		"a declared refusal":          {api(404), []any{"api_responses/0"}, "url: GET /old?x=1 status 404", true},
		"a refusal of another path":   {api(404), []any{"api_responses/0"}, "url: GET /new status 404", false},
		"a refusal of another method": {api(404), []any{"api_responses/0"}, "url: POST /old?x=1 status 404", false},
		"another declared status":     {api(403), []any{"api_responses/0"}, "file: a.go; url: /old?x=1 status 404", false},
		"200 where 404 is declared":   {api(200), []any{"api_responses/0"}, "url: /old?x=1 status 404", false},
		"a declared error":            {api(500), []any{"api_responses/0"}, "url: /old?x=1 status 500", true},
	} {
		r := ask("a")
		r["acceptance_criteria"] = []any{object{"id": "a", "description": "it holds", "validation_hint": c.hint}}
		result := object{"criterion_id": "a", "status": "PASS", "evidence": "seen"}
		if c.refs != nil {
			result["evidence_refs"] = c.refs
		}
		given := answered(t, with(answer("PASS"), object{"criteria_results": []any{result}, "evidence_collected": c.collected}))
		j := request.Judge(asked(t, r), given, request.Options{Root: tree, Strict: true})
		if j.Valid != c.good || !c.good && j.Effective != request.Blocked {
			t.Errorf("%s: %s (%s)", name, j.Effective, j.Reason)
		}
		if letter := request.Judge(asked(t, r), given, request.Options{Root: tree}); slices.Contains(letter.Flags, "unverified_evidence") == c.good && letter.Valid {
			t.Errorf("%s, by the letter: %q (%s)", name, letter.Flags, letter.Reason)
		}
	}
}

// TestReferencesOwners checks that a wrong entry removes the PASS of the
// criteria that refer to it. With strict, a criterion keeps a PASS with right
// entries of its own.
func TestReferencesOwners(t *testing.T) {
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "a.go"), []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	given := answer("PASS", "a", "PASS", "b", "PASS")
	given["evidence_collected"] = object{"file_checks": []any{object{"path": "a.go", "exists": true}, object{"path": "b.go", "exists": true}}}
	for i, result := range given["criteria_results"].([]any) {
		result.(object)["evidence_refs"] = []any{"file_checks/" + string(rune('0'+i))}
	}
	for _, strict := range []bool{false, true} {
		j := request.Judge(asked(t, ask("a", "b")), answered(t, given), request.Options{Root: tree, Strict: strict})
		if statuses(j) != "a=PASS b=BLOCKED" || slices.Contains(j.Flags, "unverified_evidence") {
			t.Errorf("strict %v: %s %q (%s)", strict, statuses(j), j.Flags, j.Reason)
		}
	}
}

// TestReferencesEmpty checks that an empty reference does not protect the other
// criteria.
func TestReferencesEmpty(t *testing.T) {
	given := answer("PASS", "a", "PASS", "b", "PASS")
	given["criteria_results"].([]any)[0].(object)["evidence_refs"] = []any{""}
	j := request.Judge(asked(t, with(ask("a", "b"), object{"validation_type": "browser"})), answered(t, given), request.Options{})
	if statuses(j) != "a=BLOCKED b=BLOCKED" {
		t.Errorf("got %s (%s)", statuses(j), j.Reason)
	}
}

package request_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators/request"
)

// A gateCase is a response to a validation request, with the verdict that it deserves.
type gateCase struct {
	ID, Kind, Want, Evidence, Desc, Wrap string
	Raw                                  [][2]string
	Collected                            map[string]any
	Browser                              bool
	Many, Drop                           int
}

// response returns the request and the response of a case. With item, the
// response has the references that a strict gate demands: to collected evidence
// or to a test run.
func (c gateCase) response(t *testing.T, item bool) (ask object, answer string, given string) {
	t.Helper()
	desc, evidence := c.Desc, c.Evidence
	if desc == "" {
		desc = "login works"
	}
	if evidence == "" {
		evidence = "seen at login.go:12"
	}
	collected := object{}
	for key, value := range c.Collected {
		collected[key] = value
	}
	var refs []any
	hint := ""
	if item {
		given = "a reference"
		if len(collected) == 0 {
			given = "an entry and a reference"
			collected["test_results"] = object{"command": "go test ./login", "exit_code": 0, "passed": 12, "failed": 0}
		}
		if api, ok := collected["api_responses"].([]any); ok {
			if r := api[0].(map[string]any); r["status_code"].(int) >= 400 {
				given = "a reference and a declared status"
				hint = fmt.Sprintf("url: %s %s status %d", r["method"], r["endpoint"], r["status_code"])
			}
		}
		refs = pointersTo(collected)
	}
	var criteria, results []any
	for i := range max(1, c.Many) {
		id := fmt.Sprintf("AC-%d", i+1)
		criteria = append(criteria, object{"id": id, "description": desc, "validation_hint": hint})
		result := object{"criterion_id": id, "status": "PASS", "evidence": evidence}
		if refs != nil {
			result["evidence_refs"] = refs
		}
		results = append(results, result)
	}
	kind := "code"
	if c.Browser {
		kind = "browser"
	}
	ask = object{"task_id": "task-1", "validation_type": kind, "acceptance_criteria": criteria}
	answer = string(text(t, object{"task_id": "task-1", "criteria_results": results[c.Drop:], "evidence_collected": collected}))
	answer = strings.TrimSuffix(answer, "}") + `,"verdict": "PASS","timestamp": "2026-11-20T10:00:00Z"}`
	answer = strings.ReplaceAll(answer, `"status":"PASS"`, `"status": "PASS"`)
	for _, change := range c.Raw {
		if !strings.Contains(answer, change[0]) {
			t.Fatalf("%s: %s is not in the response", c.ID, change[0])
		}
		answer = strings.Replace(answer, change[0], change[1], 1)
	}
	if c.Wrap != "" {
		answer = strings.Replace(c.Wrap, "@", answer, 1)
	}
	return ask, answer, given
}

// pointersTo lists the entries that were collected.
func pointersTo(collected object) (refs []any) {
	for _, key := range []string{"file_checks", "screenshots", "api_responses"} {
		list, _ := collected[key].([]any)
		for i := range list {
			refs = append(refs, fmt.Sprintf("%s/%d", key, i))
		}
	}
	if collected["test_results"] != nil {
		refs = append(refs, "test_results")
	}
	return refs
}

// gateTree is the worktree of the cases.
func gateTree(t *testing.T) string {
	t.Helper()
	tree := t.TempDir()
	large := picture(200, 100, asPNG, false)
	for name, content := range map[string]string{
		"docs/a.md": "hello world\n", "empty.txt": "", "s7.png": picture(7, 7, asPNG, false), "flat.png": picture(64, 48, asPNG, true),
		"cut.png": large[:len(large)/2], "vec.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>", "ok.gif": picture(64, 48, asGIF, false),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(tree, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"zero": "/dev/zero", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(tree, link)); err != nil {
			t.Skip(err)
		}
	}
	if err := exec.Command("mkfifo", filepath.Join(tree, "pipe")).Run(); err != nil {
		t.Skip(err)
	}
	return tree
}

// TestStrictCases checks the cases in strict mode. No false, lazy or malicious
// response may be PASS, with or without references. Each honest response is
// PASS after it names an entry.
func TestStrictCases(t *testing.T) {
	var cases []gateCase
	for _, file := range []string{"request.yaml", "request2.yaml"} {
		source, err := os.ReadFile("../../../shared/data/gates/" + file)
		if err != nil {
			t.Skip(err)
		}
		var list []gateCase
		if err := yaml.Unmarshal(source, &list); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, list...)
	}
	tree := gateTree(t)
	judge := func(c gateCase, item, strict bool) (request.Judgement, string) {
		ask, answer, given := c.response(t, item)
		g, err := request.NewGate(object{"request": ask, "root": tree, "strict": strict})
		if err != nil {
			t.Fatal(err)
		}
		return g.Judge([]byte(answer)), given
	}
	count := map[string]int{}
	for _, c := range cases {
		plain, _ := judge(c, false, true)
		letter, _ := judge(c, false, false)
		count[fmt.Sprintf("%s by the letter, valid %v", c.Kind, letter.Valid)]++
		if plain.Valid {
			t.Errorf("%s (%s) is PASS without a reference", c.ID, c.Kind)
		}
		if c.Kind == "honest" {
			j, given := judge(c, true, true)
			count["honest with "+given]++
			if !j.Valid {
				t.Errorf("%s: %s", c.ID, j.Reason)
			}
			continue
		}
		if len(c.Collected) > 0 {
			_, answer, _ := c.response(t, false)
			ask, _, _ := c.response(t, false)
			refs := string(text(t, pointersTo(c.Collected)))
			answer = strings.Replace(answer, `"status": "PASS"`, `"evidence_refs":`+refs+`,"status": "PASS"`, 1)
			g, err := request.NewGate(object{"request": ask, "root": tree, "strict": true})
			if err != nil {
				t.Fatal(err)
			}
			count[c.Kind+" with references"]++
			if j := g.Judge([]byte(answer)); j.Valid {
				t.Errorf("%s (%s) is PASS with references: %s", c.ID, c.Kind, j.Reason)
			}
		}
	}
	for name, n := range count {
		t.Logf("%3d %s", n, name)
	}
}

package inspectors

import (
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

const workflow = ".claude/skills/system3-orchestrator/references/validation-workflow.md"

func TestProse(t *testing.T) {
	dir := tree(t, map[string]string{
		workflow: "## On-Demand Validation Teammate\n", "README.md": "hello", "a/x.go": "", "b/x.go": "", "node_modules/y.go": "",
	})
	const pass, fail, open = request.Passed, request.Failed, request.Unreachable
	const exists, other = "The file exists.", "The spawn pattern is documented"
	for _, c := range []struct {
		description, hint string
		status            request.Status
		evidence          string
	}{
		// Where to look alone does not settle what is to be found there.
		{other, "Check skills/system3-orchestrator/references/validation-workflow.md", open, workflow + " exists with 33 bytes; whether"},
		{exists, "Check skills/system3-orchestrator/references/validation-workflow.md", pass, workflow},
		{other, "Check spawn prompt includes SendMessage + exit instructions", open, "nothing of"},
		{exists, "README.md", pass, "README.md exists"},
		{exists, "`README.md`.", pass, "README.md exists"},
		{other, "README.md", open, "needs judgement"},
		{exists, "docs/guide.md", fail, "docs/guide.md does not exist"},
		{other, "See docs/guide.md", fail, "docs/guide.md does not exist"},
		{exists, "GUIDE.md", open, "nothing of"},
		{exists, "x.go", open, "may be any of 2 files"},
		{exists, "a/x.go", pass, ""},
		{exists, "y.go", open, ""},
		{other, "Check README.md for `hello`", pass, `contains "hello"`},
		{other, `Look in README.md: it says "goodbye"`, fail, `does not contain "goodbye"`},
		{other, "Check that README.md does not say `hello`", open, "nothing of"},
		{"It exists and explains the limits", "README.md", open, "needs judgement"},
		{"The file does not exist", "README.md", open, ""},
		{"README.md exists", "", pass, "README.md exists"},
		{"docs/guide.md exists", "", fail, "does not exist"},
		{"The guide is well written", "", open, "nothing of"},
		{other, "client/server and/or TCP/IP, e.g. v1.2 of github.com/a/b.go", open, "nothing of"},
		{exists, "#login", open, "nothing of"},
		{exists, "file: README.md; README.md is kind", pass, ""},
		{other, "file: README.md; it is kind", open, "README.md exists with 5 bytes; nothing of"},
		{other, "Run the server and look", open, "nothing of"},
		{other, "make sure that it works", open, "nothing of"},
		{other, "go test ./...", open, "running commands needs --allow-exec"},
		{other, "Run npm run lint", open, "running commands needs --allow-exec"},
	} {
		r := request.Request{WorktreePath: dir, TaskID: "t", ValidationType: request.Code}
		r.Criteria = []request.Criterion{{ID: "1", Description: c.description, Hint: c.hint}}
		response, err := new(Inspector).Inspect(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if got := response.Results[0]; got.Status != c.status || !strings.Contains(got.Evidence, c.evidence) {
			t.Errorf("%s | %s: got %s %q", c.description, c.hint, got.Status, got.Evidence)
		}
	}
}

// A claim says where to look, and proves nothing.
func TestProseClaims(t *testing.T) {
	dir := tree(t, map[string]string{"a/x.go": "", "b/x.go": ""})
	r := request.Request{WorktreePath: dir, Claimed: &request.ClaimedEvidence{FilesModified: []string{dir + "/b/x.go", "../x.go", "c/y.go"}}}
	if got := ask(t, &Inspector{}, r, "Check x.go").Results[0]; !strings.HasPrefix(got.Evidence, "b/x.go exists") {
		t.Errorf("got %+v", got)
	}
	if got := ask(t, &Inspector{}, r, "Check y.go").Results[0]; got.Status != request.Unreachable {
		t.Errorf("got %+v", got)
	}
}

func TestCommandsInProse(t *testing.T) {
	for text, want := range map[string]string{
		"go test ./...": "go test ./...", "Run go test -run=^A$ ./x": "go test -run=^A$ ./x", "pytest": "pytest", "pytest tests/a.py -q": "pytest tests/a.py -q",
		"python -m pytest": "python -m pytest", "npm test": "npm test", "make check": "make check",
		"pytest passes with no failures": "", "go to the page": "", "make sure": "", "npm test | cat": "", "go test; rm x": "",
	} {
		got := ""
		if m := suite().FindStringSubmatch(text); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%q: got %q", text, got)
		}
	}
}

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
		"docs/guide.md": "# G\r\nLimits \"x\"\r\n", "docs/old.md": "call old_name here\n", "docs/new.md": "call new_name here\n",
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
		{exists, "docs/none.md", fail, "docs/none.md does not exist"},
		{other, "See docs/none.md", fail, "docs/none.md does not exist"},
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
		{"docs/none.md exists", "", fail, "does not exist"},
		{"The guide is well written", "", open, "nothing of"},
		{other, "client/server and/or TCP/IP, e.g. v1.2 of github.com/a/b.go", open, "nothing of"},
		{exists, "#login", open, "nothing of"},
		{exists, "file: README.md; README.md is kind", pass, ""},
		{other, "file: README.md; it is kind", open, "README.md exists with 5 bytes; nothing of"},
		{other, "Run the server and look", open, "nothing of"},
		{other, "make sure that it works", open, "nothing of"},
		// Quotations are looked for where the prose says that they are there …
		{other, "Check docs/guide.md for `Limits`", pass, `contains "Limits"`},
		{other, "Check docs/guide.md for the section `Limits` and \"G\".", pass, `contains "G"`},
		{other, "Look for `Limits` in docs/guide.md", pass, ""},
		{other, "Check that docs/guide.md has a section `Limits`", pass, ""},
		{other, "docs/guide.md should mention `Nope`", fail, ""},
		{"docs/old.md contains `old_name`", "", pass, ""},
		{"`docs/old.md` uses the name `new_name`.", "", fail, ""},
		{"`new_name` is mentioned in docs/new.md", "", pass, ""},
		{"`old_name` stands in docs/new.md", "", fail, ""},
		// … and not where it may say the contrary, or something else.
		{"The limits section was dropped", "Check that docs/guide.md lacks `Limits`", open, "nothing of"},
		{"The limits section was dropped", "Check docs/guide.md for `Limits`", open, "docs/guide.md exists"},
		{"The limits section is free of it", "Check docs/guide.md is free of `Limits`", open, ""},
		{"docs/old.md drops `old_name`", "", open, ""},
		{"docs/old.md excludes `old_name`", "", open, "docs/old.md exists"},
		{"docs/old.md avoids `old_name`", "", open, ""},
		{"docs/old.md stops using `old_name`", "", open, ""},
		{"docs/old.md should contain zero `old_name`", "", open, ""},
		{"docs/old.md contains zero `nope`", "", open, ""},
		{"docs/old.md contains `old_name` at most three times", "", open, ""},
		{"docs/old.md fails to mention `old_name`", "", open, ""},
		{"docs/old.md hardly uses `old_name`", "", open, ""},
		{"docs/old.md hat kein `old_name`", "", open, ""},
		{"`old_name` is gone from docs/old.md", "", open, ""},
		{"Before the change docs/old.md had `old_name`", "", open, ""},
		{"docs/new.md uses `new_name` instead of `old_name`", "", open, ""},
		{"`old_name` is renamed to `new_name` in docs/new.md", "", open, ""},
		{"docs/new.md replaces `old_name` by `new_name`", "", open, ""},
		{"docs/new.md contains `old_name` or `new_name`", "", open, ""},
		{"docs/gone.md was dropped", "", open, "nothing of"},
		{"docs/gone.md contains `not`", "", fail, "docs/gone.md does not exist"},
		{"docs/old.md is renamed to docs/gone.md", "", open, ""},
		// That a file is there settles that it is, and nothing else.
		{"The file is there", "Check docs/guide.md", pass, ""},
		{"docs/guide.md exists in the repository.", "Check docs/guide.md", pass, ""},
		{"The file docs/guide.md exists", "", pass, ""},
		{"The guide document exists", "docs/guide.md", pass, ""},
		{"The README is in place", "README.md", pass, ""},
		{"The files exist", "a/x.go and docs/guide.md", pass, ""},
		{"docs/new.md exists", "Check docs/guide.md", open, ""},
		{"A section on parallel validators exists", "Check docs/guide.md", open, "docs/guide.md exists"},
		{"The rate limiter is in place", "Check docs/guide.md", open, ""},
		{"Retry logic is present", "docs/guide.md", open, ""},
		{"The function parseConfig exists", "docs/guide.md", open, ""},
		{"A test for the login exists", "docs/guide.md", open, ""},
		{"The guide exists", "docs/guide.md", open, ""},
		{"The service is up", "docs/guide.md", open, ""},
		{"docs/guide.md and README.md exist", "", pass, ""},
		{"a/x.go, docs/guide.md and docs/none.md exist", "", fail, "docs/none.md does not exist"},
		{"README.md and the limiter exist", "", open, ""},
		// That one is nowhere does not settle what may be meant to be so.
		{"docs/gone.md is gone", "docs/gone.md", open, "docs/gone.md does not exist"},
		{"The old guide was dropped", "Check docs/gone.md", open, "docs/gone.md does not exist"},
		{"README.md or docs/none.md exists", "", open, "docs/none.md does not exist"},
		{"The guide says it", "Look in docs/none.md or README.md", open, "docs/none.md does not exist"},
		{"The guide is not empty", "docs/none.md", open, "docs/none.md does not exist"},
		// Nor does it where more is said than is read.
		{strings.Repeat("The guide tells of it. ", 1000), "docs/none.md", open, "docs/none.md does not exist"},
		{strings.Repeat("The guide tells of it. ", 100), "docs/none.md", fail, "docs/none.md does not exist"},
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

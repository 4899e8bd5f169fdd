package inspectors

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// TestMentions checks that a text without a declared check decides nothing and
// starts nothing. Existing files that it names are evidence.
func TestMentions(t *testing.T) {
	dir := tree(t, map[string]string{"docs/guide.md": "# G\n", "Makefile": "check:\n\ttouch made\n", "a b.md": "x", "run.sh": "touch made\n"})
	symlink(t, "/etc/passwd", dir+"/link")
	for _, c := range []struct{ description, hint, files string }{
		{"The guide has its limits", "Check docs/guide.md for `limits`", "docs/guide.md 4"},
		{"The guide has its limits", "See (docs/guide.md), `Makefile`, ./run.sh and docs/guide.md.", "docs/guide.md 4, Makefile 19, run.sh 11"},
		{"docs/guide.md exists", "", "docs/guide.md 4"},
		{"docs/gone.md exists", "", ""},
		{"The guide is not in docs/guide.md", "", "docs/guide.md 4"},
		{"It builds", "Run `make check`", ""},
		{"It builds", "make -f Makefile check", "Makefile 19"},
		{"It builds", "sh run.sh", "run.sh 11"},
		{"It answers", "GET /api/health returns 200", ""},
		{"It listens", "port 8080 is listening", ""},
		{"Secrets stay", "../x /etc/passwd link docs docs/ guide.md a b.md", ""},
		{"Absolute", dir + "/docs/guide.md", "docs/guide.md 4"},
		{"Many", strings.Repeat("x ", 2000) + "docs/guide.md", ""},
	} {
		for _, kind := range []request.Type{request.Code, request.Browser} {
			r := request.Request{TaskID: "task-1", ValidationType: kind, WorktreePath: dir}
			r.Criteria = []request.Criterion{{ID: "1", Description: c.description, Hint: c.hint}}
			response, err := (&Inspector{AllowExec: true, Browser: NoBrowser}).Inspect(t.Context(), &r)
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			if e := response.Evidence; e != nil {
				if e.TestResults != nil || e.APIResponses != nil {
					t.Errorf("%s: %+v", c.hint, e)
				}
				for _, f := range e.FileChecks {
					files = append(files, fmt.Sprintf("%s %d", f.Path, *f.SizeBytes))
				}
			}
			want := c.files
			if kind == request.Browser {
				want = ""
			}
			if got := response.Results[0]; got.Status != request.Blocked || strings.Join(files, ", ") != want || got.EvidenceRefs != nil {
				t.Errorf("%s %s | %s: %+v, files %q", kind, c.description, c.hint, got, files)
			}
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "made")); err == nil {
		t.Errorf("%v: a mention was executed", info)
	}
}

// TestMentionJudged checks that the judge gets the mentioned files and decides.
func TestMentionJudged(t *testing.T) {
	dir := tree(t, map[string]string{"docs/guide.md": "# G\n"})
	judge := func(_ context.Context, _ request.Criterion, found request.Evidence) (request.Result, error) {
		if len(found.FileChecks) != 1 || found.FileChecks[0].Path != "docs/guide.md" {
			t.Errorf("got %+v", found.FileChecks)
		}
		return request.Result{Status: request.Pass, Evidence: "it has", EvidenceRefs: []string{"file_checks/0"}}, nil
	}
	got := ask(t, &Inspector{Judge: judge}, request.Request{WorktreePath: dir}, "Check docs/guide.md").Results[0]
	if got.Status != request.Pass || len(got.EvidenceRefs) != 1 {
		t.Errorf("got %+v", got)
	}
}

// TestReferencesOfChecks checks that the result of a declared check names its
// evidence, and that a strict gate accepts it.
func TestReferencesOfChecks(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "x"})
	up := server(t, nil)
	up.Config.Handler = nil // answers 404
	r := request.Request{TaskID: "task-1", ValidationType: request.Code, WorktreePath: dir, Services: &request.Services{APIURL: up.URL}}
	for i, hint := range []string{"file: a.md", "file: b.md absent; file: a.md size 1", "run: true", "url: /gone status 404"} {
		r.Criteria = append(r.Criteria, request.Criterion{ID: fmt.Sprint(i), Description: "It is so", Hint: hint})
	}
	response, err := (&Inspector{AllowExec: true, Network: Network{Services: true}}).Inspect(t.Context(), &r)
	if err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, result := range response.Results {
		refs = append(refs, strings.Join(result.EvidenceRefs, "+"))
	}
	if got := strings.Join(refs, " "); got != "file_checks/0 file_checks/1+file_checks/2 test_results api_responses/0" {
		t.Errorf("got %s", got)
	}
	if j := request.Judge(&r, response, request.Options{Root: dir, Strict: true}); !j.Valid || len(j.Flags) > 0 {
		t.Errorf("got %q (%s)", j.Flags, j.Reason)
	}
}

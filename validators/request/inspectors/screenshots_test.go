package inspectors

import (
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

// A screenshot that is kept outside of the worktree bears out the response that
// names it, wherever it is kept.
func TestKeptScreenshotsAreEvidence(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, dir := range []string{"", t.TempDir()} {
		at, err := (&chromium{dir: dir}).keep([]byte("a picture"), 1)
		if err != nil {
			t.Fatal(err)
		}
		r := &request.Request{TaskID: "t", ValidationType: request.Browser, Criteria: []request.Criterion{{ID: "a"}}}
		given := &request.Response{
			TaskID: "t", Verdict: request.Pass, Timestamp: time.Now(), Results: []request.Result{{CriterionID: "a", Status: request.Passed, Evidence: "seen"}},
			Evidence: &request.Evidence{Screenshots: []request.Screenshot{{Path: at}}},
		}
		if j := request.Judge(r, given, request.Options{Root: t.TempDir(), Evidence: dir}); j.Effective != request.Pass {
			t.Errorf("%s: %s", at, j.Reason)
		}
	}
}

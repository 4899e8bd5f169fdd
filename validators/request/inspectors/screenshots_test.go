package inspectors

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

// TestKeptScreenshotsAreEvidence checks that a stored screenshot outside the
// worktree is valid evidence, whatever its directory.
func TestKeptScreenshotsAreEvidence(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	m := image.NewGray(image.Rect(0, 0, 20, 20))
	m.SetGray(3, 3, color.Gray{Y: 9})
	var shot bytes.Buffer
	if err := png.Encode(&shot, m); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", t.TempDir()} {
		at, err := (&chromium{dir: dir}).keep(shot.Bytes(), 1)
		if err != nil {
			t.Fatal(err)
		}
		r := &request.Request{TaskID: "t", ValidationType: request.Browser, Criteria: []request.Criterion{{ID: "a"}}}
		given := &request.Response{
			TaskID: "t", Verdict: request.Pass, Timestamp: time.Now(), Results: []request.Result{{CriterionID: "a", Status: request.Pass, Evidence: "seen"}},
			Evidence: &request.Evidence{Screenshots: []request.Screenshot{{Path: at}}},
		}
		if j := request.Judge(r, given, request.Options{Root: t.TempDir(), Evidence: dir}); j.Effective != request.Pass {
			t.Errorf("%s: %s", at, j.Reason)
		}
	}
}

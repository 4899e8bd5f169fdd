package request_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

// TestEvidenceInvisible checks that a PASS is BLOCKED if its text has no
// visible letter or digit.
func TestEvidenceInvisible(t *testing.T) {
	for text, want := range map[string]request.Verdict{
		"": "BLOCKED", " \n": "BLOCKED", "\u200b\u200d\ufeff": "BLOCKED", "\u3164\u115f": "BLOCKED", "\u2800": "BLOCKED", "\U000e0041": "BLOCKED",
		"-": "BLOCKED", "…": "BLOCKED", "👍": "BLOCKED", "{}": "BLOCKED",
		"401": "PASS", "x": "PASS", "n/a": "PASS", "見た": "PASS",
	} {
		given := with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": text}}})
		j := request.Judge(asked(t, ask("a")), answered(t, given), request.Options{})
		if j.Effective != want || slices.Contains(j.Flags, "missing_evidence") != (want == "BLOCKED") {
			t.Errorf("%q: %s %q", text, j.Effective, j.Flags)
		}
	}
}

// picture returns an image of a size. A blank image has one colour.
func picture(width, height int, encode func(*bytes.Buffer, image.Image) error, blank bool) string {
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	if !blank {
		for i := range min(width, height) {
			m.SetColorIndex(i, i, 1)
		}
	}
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		panic(err)
	}
	return b.String()
}

func asPNG(b *bytes.Buffer, m image.Image) error  { return png.Encode(b, m) }
func asJPEG(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }
func asGIF(b *bytes.Buffer, m image.Image) error  { return gif.Encode(b, m, nil) }

// TestScreenshotsAreImages checks that a screenshot must be an image that shows
// something.
func TestScreenshotsAreImages(t *testing.T) {
	whole := picture(640, 480, asPNG, false)
	webp, err := base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=")
	if err != nil {
		t.Fatal(err)
	}
	point := string(webp)
	for name, c := range map[string]struct {
		content string
		good    bool
		reason  string
	}{
		"png":             {whole, true, ""},
		"jpeg":            {picture(640, 480, asJPEG, false), true, ""},
		"gif":             {picture(640, 480, asGIF, false), true, ""},
		"empty":           {"", false, "is no image"},
		"a text":          {"a picture of a login page", false, "no image"},
		"html":            {"<html><body>login</body></html>", false, "no image"},
		"svg":             {"<svg xmlns='http://www.w3.org/2000/svg'/>", false, "no image"},
		"the header":      {whole[:40], false, "image"},
		"cut off":         {whole[:len(whole)/2], false, "image"},
		"one point":       {picture(1, 1, asPNG, false), false, "1×1"},
		"one point, webp": {point, false, "1×1"},
		"a line":          {picture(600, 1, asPNG, false), false, "600×1"},
		"of one colour":   {picture(640, 480, asPNG, true), false, "single colour"},
		"one colour, gif": {picture(64, 48, asGIF, true), false, "single colour"},
		"one colour, jpg": {picture(64, 48, asJPEG, true), false, "single colour"},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "a.png"), []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		given := answered(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"screenshots": []any{object{"path": "a.png"}, object{"path": "./a.png"}}}}))
		j := request.Judge(asked(t, with(ask("a"), object{"validation_type": "browser"})), given, request.Options{Root: root})
		if (j.Effective == request.Pass) != c.good || !strings.Contains(j.Reason, c.reason) {
			t.Errorf("%s: %s %s", name, j.Effective, j.Reason)
		}
		if c.good && name != "gif" && name != "jpeg" {
			if len(j.Notes) == 0 || !strings.Contains(j.Notes[0].Message, "640×480") {
				t.Errorf("%s: its size is missing: %v", name, j.Notes)
			}
		}
	}
}

// TestEvidenceCollected checks inconsistent entries and entries that contradict
// a PASS.
func TestEvidenceCollected(t *testing.T) {
	tests := func(o object) object {
		return object{"test_results": with(object{"command": "go test", "exit_code": 0}, o)}
	}
	file := func(o object) object { return object{"file_checks": []any{with(object{"path": "a"}, o)}} }
	api := func(status int) object {
		return object{"api_responses": []any{object{"endpoint": "/x", "method": "GET", "status_code": status}}}
	}
	for name, c := range map[string]struct {
		collected object
		flag      string // "" is a PASS
	}{
		"output of a failure":          {tests(object{"failed": 0, "output_snippet": "--- FAIL: TestX (0.00s)"}), "contrary_evidence"},
		"output in colours":            {tests(object{"output_snippet": "\x1b[31m--- FAIL: TestX (0.00s)\x1b[0m"}), "contrary_evidence"},
		"output of Surefire":           {tests(object{"output_snippet": "Tests run: 5, Failures: 2, Errors: 0, Skipped: 0"}), "contrary_evidence"},
		"output of TAP":                {tests(object{"output_snippet": "not ok 1 - x"}), "contrary_evidence"},
		"output with a TAP todo":       {tests(object{"output_snippet": "ok 1 - x\nnot ok 2 - y # todo later"}), ""},
		"a sentence in the output":     {tests(object{"output_snippet": "2 tests failed before the change"}), ""},
		"no tests":                     {tests(object{"passed": 0, "failed": 0}), "missing_evidence"},
		"no tests, all skipped":        {tests(object{"passed": 0, "failed": 0, "skipped": 9}), "missing_evidence"},
		"no tests, by pytest":          {tests(object{"output_snippet": "collected 0 items\n\nno tests ran in 0.01s"}), "missing_evidence"},
		"no tests, by go":              {tests(object{"output_snippet": "ok  \tx\t0.1s [no tests to run]"}), "missing_evidence"},
		"no test files":                {tests(object{"output_snippet": "?   \tx\t[no test files]"}), "missing_evidence"},
		"no tests, by Surefire":        {tests(object{"output_snippet": "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0"}), "missing_evidence"},
		"no tests, by node":            {tests(object{"output_snippet": "# tests 0\n# pass 0\n# fail 0"}), "missing_evidence"},
		"no tests, cut off":            {tests(object{"output_snippet": "?   \tx\t[no test files]\n?…"}), ""},
		"some packages have no tests":  {tests(object{"output_snippet": "?   \tx\t[no test files]\nok  \ty\t0.1s"}), ""},
		"some tests":                   {tests(object{"passed": 12, "failed": 0}), ""},
		"an empty file with a content": {file(object{"exists": true, "size_bytes": 0, "contains_expected": true}), "false_evidence"},
		"an empty file":                {file(object{"exists": true, "size_bytes": 0}), ""},
		"a file that is gone and full": {file(object{"exists": false, "size_bytes": 7}), "false_evidence"},
		"an endpoint that broke":       {api(503), "contrary_evidence"},
		"an endpoint that refused":     {api(404), ""},
		"no status":                    {api(99), "false_evidence"},
	} {
		given := with(answer("PASS", "a", "PASS"), object{"evidence_collected": c.collected})
		j := request.Judge(asked(t, ask("a")), answered(t, given), request.Options{})
		if c.flag == "" && j.Effective != request.Pass || c.flag != "" && (j.Effective != request.Blocked || !slices.Contains(j.Flags, c.flag)) {
			t.Errorf("%s: %s %q %s", name, j.Effective, j.Flags, j.Reason)
		}
	}
}

// TestEvidenceNotes checks irregularities that do not affect the verdict.
func TestEvidenceNotes(t *testing.T) {
	given := with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{
		"test_results":  object{"command": "go test", "passed": 12, "failed": 0},
		"api_responses": []any{object{"endpoint": "/a"}, object{"endpoint": "/b", "status_code": 404}},
	}})
	j := request.Judge(asked(t, ask("a")), answered(t, given), request.Options{Asked: time.Date(2026, 2, 17, 14, 30, 1, 0, time.UTC)})
	var notes []string
	for _, n := range j.Notes {
		notes = append(notes, n.Check)
	}
	if want := []string{"exit_code", "undeclared_status", "api_responses", "unverified_evidence", "timestamp"}; !slices.Equal(notes, want) || !j.Valid {
		t.Errorf("got %q, valid %v; want %q", notes, j.Valid, want)
	}
}

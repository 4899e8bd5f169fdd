package request

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/files"
	"github.com/seed61713e19/capstan/runner/reports"
)

// evidence holds what was collected against itself, and against the files
// under the root. What does not hold takes the PASS from the criteria that it
// belongs to.
func (h *hearing) evidence() {
	e := cmp.Or(h.response.Evidence, &Evidence{})
	w := h.worktree()
	defer w.close()
	h.screenshots(w, e.Screenshots)
	h.files(w, e.FileChecks)
	h.tests(e.TestResults)
	h.apis(e.APIResponses)
	h.contrary(e)
	if w.unchecked > 0 {
		h.note("unchecked_evidence", "evidence_collected", "%s not looked at: no worktree is known here", were(w.unchecked, "file"))
	}
}

func were(n int, word string) string {
	if n == 1 {
		return "1 " + word + " was"
	}
	return reports.Count(n, word) + " were"
}

func (h *hearing) files(w *worktree, list []FileCheck) {
	for _, f := range list {
		gone := f.Exists != nil && !*f.Exists
		if f.Exists == nil && f.SizeBytes == nil && !is(f.ContainsExpected) {
			continue
		}
		info, known := w.look(f.Path)
		empty := f.SizeBytes != nil && *f.SizeBytes == 0 || info != nil && info.Mode().IsRegular() && info.Size() == 0
		switch {
		case empty && is(f.ContainsExpected):
			h.refute(FalseEvidence, f.Path, f.Path, "is said to contain what was expected, and is empty")
		case gone && (is(f.ContainsExpected) || f.SizeBytes != nil && *f.SizeBytes > 0):
			h.refute(FalseEvidence, f.Path, f.Path, "is said not to exist, and to have something in it")
		case !known, gone && info == nil:
		case gone:
			h.refute(FalseEvidence, f.Path, f.Path, "is said not to exist, and is in the worktree")
		case info == nil:
			h.refute(FalseEvidence, f.Path, f.Path, "is said to exist, and is not in the worktree")
		case f.SizeBytes != nil && info.Mode().IsRegular() && info.Size() != *f.SizeBytes:
			h.refute(FalseEvidence, f.Path, f.Path, "is said to have %s, and has %d", reports.Count(int(*f.SizeBytes), "byte"), info.Size())
		}
	}
}

func is(b *bool) bool { return b != nil && *b }

// screenshots wants one picture that is there, and shows something, for what
// was seen in a browser.
func (h *hearing) screenshots(w *worktree, list []Screenshot) {
	shown, passes := 0, slices.Contains(h.status, Passed)
	looked := map[string]error{}
	for _, s := range list {
		if s.Path == "" {
			continue
		}
		err, known := looked[s.Path]
		if !known {
			err = h.screenshot(w, s, len(looked) < maxPictures)
			looked[s.Path] = err
		}
		if err != nil {
			h.refute(FalseEvidence, s.Path, s.Path, "is said to be a screenshot, and %v", err)
			continue
		}
		shown++
	}
	if h.request.ValidationType != Code && shown == 0 && passes {
		h.refute(MissingScreenshot, "screenshots", "", "what is PASS in a browser needs a screenshot, and there is none")
	}
}

// screenshot looks at one picture, where there is somewhere to look, and tells
// its size. Without a worktree that is where screenshots alone may lie.
func (h *hearing) screenshot(w *worktree, s Screenshot, whole bool) error {
	file := h.kept(s.Path)
	if file == nil {
		var known bool
		if file, known = w.open(s.Path); !known {
			return nil
		}
	}
	if file == nil {
		return errors.New("there is none in the worktree")
	}
	defer file.Close()
	size, err := lookAt(file, whole)
	if err == nil {
		h.note("screenshot", s.Path, "shows %s points", size)
	}
	return err
}

// tests holds the counts of a test run against its exit code.
func (h *hearing) tests(t *TestResults) {
	if t == nil {
		return
	}
	for _, n := range []*int{t.Passed, t.Failed, t.Skipped} {
		if n != nil && *n < 0 {
			h.refute(FalseEvidence, "test_results", t.Command, "has a count below 0")
			return
		}
	}
	if t.ExitCode != nil && t.Failed != nil && (*t.ExitCode == 0) != (*t.Failed == 0) {
		h.refute(FalseEvidence, "test_results", t.Command, "exit code %d does not go with %d failed", *t.ExitCode, *t.Failed)
	}
	h.ran(t)
}

// contrary looks for evidence of a failure where nothing is said to fail.
func (h *hearing) contrary(e *Evidence) {
	if slices.Contains(h.status, Failed) {
		return
	}
	if t := e.TestResults; t != nil && (t.ExitCode != nil && *t.ExitCode != 0 && !h.exitAsked(*t.ExitCode) || t.Failed != nil && *t.Failed > 0) {
		h.refute(ContraryEvidence, "test_results", t.Command, "the tests failed, and no criterion does")
	}
	for _, f := range e.FileChecks {
		if f.ContainsExpected != nil && !*f.ContainsExpected {
			h.refute(ContraryEvidence, f.Path, f.Path, "does not contain what was expected, and no criterion fails")
		}
	}
}

// exitAsked tells whether a criterion that passes names the status that a program
// ended with.
func (h *hearing) exitAsked(code int) bool {
	for i, c := range h.request.Criteria {
		if h.status[i] == Passed && namesExit(c, code) {
			return true
		}
	}
	return false
}

// A worktree is the directory that evidence is looked for in, without a way out
// of it: not by "..", and not by a link.
type worktree struct {
	root      *os.Root // nil where none is known
	prefixes  []string // what absolute paths in it begin with
	unchecked int
}

func (h *hearing) worktree() *worktree {
	if h.options.Root == "" {
		return &worktree{}
	}
	return openTree(h.options.Root, h.request.WorktreePath)
}

// openTree opens a directory that absolute paths may also call by other names.
func openTree(dir string, names ...string) *worktree {
	w := &worktree{prefixes: names}
	if root, err := os.OpenRoot(dir); err == nil {
		w.root = root
	}
	if whole, err := filepath.Abs(dir); err == nil {
		w.prefixes = append(w.prefixes, whole)
	}
	return w
}

// EvidenceDirs is how directories for screenshots are called that a validator
// here makes under [os.TempDir], as a pattern of [os.MkdirTemp]. Judge knows
// them by it.
const EvidenceDirs = "capstan-evidence-*"

// kept gives a screenshot that lies beside the worktree: in the directory that
// the options name, or in one of EvidenceDirs. It is nil for nothing.
func (h *hearing) kept(path string) *os.File {
	dir := h.options.Evidence
	if own := filepath.Dir(path); isEvidenceDir(own) {
		dir = own
	}
	if dir == "" {
		return nil
	}
	w := openTree(dir)
	defer w.close()
	file, _ := w.open(path)
	return file
}

func isEvidenceDir(dir string) bool {
	if alike, err := filepath.Match(filepath.Join(os.TempDir(), EvidenceDirs), dir); err != nil || !alike {
		return false
	}
	info, err := os.Lstat(dir) // a link of that name may lead anywhere
	return err == nil && info.IsDir()
}

func (w *worktree) close() {
	if w.root != nil {
		w.root.Close()
	}
}

// look gives what stands at a path, nil for nothing; known is false where there
// is nowhere to look.
func (w *worktree) look(path string) (info os.FileInfo, known bool) {
	if w.root == nil {
		w.unchecked++
		return nil, false
	}
	inside, ok := w.inside(path)
	if !ok {
		return nil, true
	}
	info, err := w.root.Stat(inside)
	if err != nil {
		return nil, true
	}
	return info, true
}

// open opens a regular file that is not empty; nil for anything else.
func (w *worktree) open(path string) (file *os.File, known bool) {
	info, known := w.look(path)
	if !known || info == nil || info.Size() == 0 {
		return nil, known
	}
	inside, _ := w.inside(path)
	file, err := files.OpenIn(w.root, inside)
	if err != nil {
		return nil, true
	}
	return file, true
}

// inside is a path as seen from the root; not ok is a path that is not in it.
func (w *worktree) inside(path string) (string, bool) {
	if strings.ContainsRune(path, 0) {
		return "", false
	}
	if !filepath.IsAbs(path) {
		return path, filepath.IsLocal(path)
	}
	for _, prefix := range w.prefixes {
		if !filepath.IsAbs(prefix) {
			continue
		}
		if rel, err := filepath.Rel(prefix, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return "", false
}

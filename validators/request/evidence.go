package request

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// evidence holds what was collected against itself, and against the files
// under the root. What does not hold takes the PASS from the criteria that it
// belongs to.
func (h *hearing) evidence() {
	e := h.response.Evidence
	if e == nil {
		e = &Evidence{}
	}
	w := h.worktree()
	defer w.close()
	h.screenshots(w, e.Screenshots)
	h.files(w, e.FileChecks)
	h.tests(e.TestResults)
	h.contrary(e)
	if w.unchecked > 0 {
		h.note("unchecked_evidence", "evidence_collected", "%s not looked at: no worktree is known here", were(w.unchecked, "file"))
	}
}

func were(n int, word string) string {
	if n == 1 {
		return "1 " + word + " was"
	}
	return count(n, word) + " were"
}

func (h *hearing) files(w *worktree, list []FileCheck) {
	for _, f := range list {
		gone := f.Exists != nil && !*f.Exists
		if f.Exists == nil && f.SizeBytes == nil && !is(f.ContainsExpected) {
			continue
		}
		info, known := w.look(f.Path)
		switch {
		case !known, gone && info == nil:
		case gone:
			h.object(FalseEvidence, f.Path, "is said not to exist, and is in the worktree")
			h.open(f.Path)
		case info == nil:
			h.object(FalseEvidence, f.Path, "is said to exist, and is not in the worktree")
			h.open(f.Path)
		case f.SizeBytes != nil && info.Mode().IsRegular() && info.Size() != *f.SizeBytes:
			h.object(FalseEvidence, f.Path, "is said to have %s, and has %d", count(int(*f.SizeBytes), "byte"), info.Size())
			h.open(f.Path)
		}
	}
}

func is(b *bool) bool { return b != nil && *b }

// screenshots wants one picture that is there for what was seen in a browser.
func (h *hearing) screenshots(w *worktree, list []Screenshot) {
	shown, passes := 0, slices.Contains(h.status, Passed)
	for _, s := range list {
		if s.Path == "" {
			continue
		}
		info, known := w.look(s.Path)
		if known && info == nil {
			info = h.kept(s.Path)
		}
		if known && (info == nil || !info.Mode().IsRegular() || info.Size() == 0) {
			h.object(FalseEvidence, s.Path, "is said to be a screenshot, and there is none in the worktree")
			h.open(s.Path)
			continue
		}
		shown++
	}
	if h.request.ValidationType != Code && shown == 0 && passes {
		h.object(MissingScreenshot, "screenshots", "what is PASS in a browser needs a screenshot, and there is none")
		h.open("")
	}
}

// tests holds the counts of a test run against its exit code.
func (h *hearing) tests(t *TestResults) {
	if t == nil {
		return
	}
	for _, n := range []*int{t.Passed, t.Failed, t.Skipped} {
		if n != nil && *n < 0 {
			h.object(FalseEvidence, "test_results", "has a count below 0")
			h.open(t.Command)
			return
		}
	}
	if t.ExitCode != nil && t.Failed != nil && (*t.ExitCode == 0) != (*t.Failed == 0) {
		h.object(FalseEvidence, "test_results", "exit code %d does not go with %d failed", *t.ExitCode, *t.Failed)
		h.open(t.Command)
	}
}

// contrary looks for evidence of a failure where nothing is said to fail.
func (h *hearing) contrary(e *Evidence) {
	if slices.Contains(h.status, Failed) {
		return
	}
	if t := e.TestResults; t != nil && (t.ExitCode != nil && *t.ExitCode != 0 || t.Failed != nil && *t.Failed > 0) {
		h.object(ContraryEvidence, "test_results", "the tests failed, and no criterion does")
		h.open(t.Command)
	}
	for _, f := range e.FileChecks {
		if f.ContainsExpected != nil && !*f.ContainsExpected {
			h.object(ContraryEvidence, f.Path, "does not contain what was expected, and no criterion fails")
			h.open(f.Path)
		}
	}
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
func (h *hearing) kept(path string) os.FileInfo {
	dir := h.options.Evidence
	if own := filepath.Dir(path); isEvidenceDir(own) {
		dir = own
	}
	if dir == "" {
		return nil
	}
	w := openTree(dir)
	defer w.close()
	info, _ := w.look(path)
	return info
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

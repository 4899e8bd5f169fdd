package request

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators/request/internal/testoutput"
	"github.com/seed61713e19/capstan/validators/request/internal/worktree"
)

// An entry is one item of evidence_collected.
type entry struct {
	pointer string // file_checks/0
	name    string // its path, command or endpoint
	problem string // why it supports no PASS; "": it does
	method  string // of an API response
	status  int    // of an API response
}

// entry adds an entry. An entry with a problem supports no PASS. The problem by itself is
// no finding.
func (a *assessment) entry(pointer, name string, problem string) *entry {
	e := &entry{pointer: pointer, name: name, problem: problem}
	a.entries[pointer] = e
	return e
}

// refute reports a wrong entry. The criteria that refer to the entry lose their
// PASS. Without a reference, the criteria that mention its name lose it, or all
// criteria if none mentions it.
func (a *assessment) refute(e *entry, f string, location, format string, args ...any) {
	e.problem = fmt.Sprintf(format, args...)
	a.object(f, location, "%s", e.problem)
	named := make([]bool, len(a.status))
	if e.pointer != "" {
		for _, i := range a.refs[e.pointer] {
			named[i] = true
		}
	}
	if mention := mentionOf(e.name); mention != nil && len(a.j.Issues) < maxIssues && !slices.Contains(named, true) {
		for i, c := range a.request.Criteria {
			named[i] = mention.MatchString(a.words(i, c))
		}
	}
	all := !slices.Contains(named, true)
	for i, s := range a.status {
		if s == Pass && (all || named[i]) {
			a.status[i] = Blocked
		}
	}
}

// mentionOf returns a pattern for a complete path or command in a text. The
// text data.md does not match a.md, but docs/a.md does.
func mentionOf(name string) *regexp.Regexp {
	const word = `[\pL\pN_-]`
	if name == "" || len(name) > 1000 {
		return nil
	}
	before, after := `(?:^|[^\pL\pN_.-]|(?:^|[^\pL\pN_-])\.)`, `(?:$|[^\pL\pN_./-]|\.(?:$|[^\pL\pN_-]))`
	if isWord := regexp.MustCompile(`^` + word); !isWord.MatchString(name) {
		before = ""
	}
	if isWord := regexp.MustCompile(word + `$`); !isWord.MatchString(name) {
		after = ""
	}
	return regexp.MustCompile(before + regexp.QuoteMeta(name) + after)
}

// words returns the description and hint of a criterion, and its evidence.
func (a *assessment) words(i int, c Criterion) string {
	text := c.Description + "\n" + c.Hint
	if a.result[i] != nil {
		text += "\n" + a.result[i].Evidence
	}
	return text
}

// evidence checks that the entries are consistent, and that the files under the root are
// as stated.
func (a *assessment) evidence() {
	e := cmp.Or(a.response.Evidence, &Evidence{})
	tree := treeOf(a.options.Root, a.request.WorktreePath)
	defer tree.Close()
	unchecked := a.screenshots(tree, e.Screenshots) + a.files(tree, e.FileChecks)
	if e.TestResults != nil {
		a.tests(e.TestResults)
	}
	a.apis(e.APIResponses)
	if unchecked > 0 {
		verb := " was"
		if unchecked > 1 {
			verb = " were"
		}
		a.note("unchecked_evidence", "evidence_collected", "%s%s not looked at: no worktree is known here", reports.Count(unchecked, "file"), verb)
	}
}

const noWorktree = "cannot be checked: no worktree is known here"

// files checks the files again, and returns the number of files without a worktree.
func (a *assessment) files(tree *worktree.Tree, list []FileCheck) (unchecked int) {
	for i, f := range list {
		missing := f.Exists != nil && !*f.Exists
		contains := f.ContainsExpected != nil && *f.ContainsExpected
		e := a.entry(fmt.Sprintf("file_checks/%d", i), f.Path, "")
		var info os.FileInfo
		if tree == nil {
			e.problem = noWorktree
		} else {
			info, _ = tree.Stat(f.Path) // outside the tree there is nothing
		}
		claims := f.Exists != nil || f.SizeBytes != nil || contains
		if claims && tree == nil {
			unchecked++
		}
		empty := f.SizeBytes != nil && *f.SizeBytes == 0 || info != nil && info.Mode().IsRegular() && info.Size() == 0
		switch {
		case empty && contains:
			a.refute(e, falseEvidence, f.Path, "is said to contain what was expected, and is empty")
		case missing && (contains || f.SizeBytes != nil && *f.SizeBytes > 0):
			a.refute(e, falseEvidence, f.Path, "is said not to exist, and to have something in it")
		case f.ContainsExpected != nil && !contains:
			e.problem = "does not contain what was expected"
			a.contrary(e, f.Path, "does not contain what was expected, and no criterion fails")
		case tree == nil, missing && info == nil:
		case missing:
			a.refute(e, falseEvidence, f.Path, "is said not to exist, and is in the worktree")
		case info == nil && !claims:
			e.problem = "is not in the worktree"
		case info == nil:
			a.refute(e, falseEvidence, f.Path, "is said to exist, and is not in the worktree")
		case !info.Mode().IsRegular() && !info.IsDir():
			a.refute(e, falseEvidence, f.Path, "is neither a file nor a directory")
		case f.SizeBytes != nil && info.Mode().IsRegular() && info.Size() != *f.SizeBytes:
			a.refute(e, falseEvidence, f.Path, "is said to have %s, and has %d", reports.Count(int(*f.SizeBytes), "byte"), info.Size())
		}
	}
	return unchecked
}

// contrary refutes an entry that speaks for a FAIL if no criterion fails.
func (a *assessment) contrary(e *entry, location, format string, args ...any) {
	if !slices.Contains(a.status, Fail) {
		a.refute(e, contraryEvidence, location, format, args...)
	}
}

// screenshots checks the pictures. A PASS in a browser needs at least one.
func (a *assessment) screenshots(tree *worktree.Tree, list []Screenshot) (unchecked int) {
	shown, passes := 0, slices.Contains(a.status, Pass)
	type look struct {
		known bool
		err   error
	}
	looked := map[string]look{}
	for i, s := range list {
		e := a.entry(fmt.Sprintf("screenshots/%d", i), s.Path, "has no path")
		if s.Path == "" {
			continue
		}
		l, again := looked[s.Path]
		if !again {
			l.known, l.err = a.screenshot(tree, s, len(looked) < maxPictures)
			looked[s.Path] = l
			if !l.known {
				unchecked++
			}
		}
		e.problem = ""
		switch {
		case l.err != nil:
			a.refute(e, falseEvidence, s.Path, "is said to be a screenshot, and %v", l.err)
			continue
		case !l.known:
			e.problem = noWorktree
		}
		shown++
	}
	if a.request.ValidationType != Code && shown == 0 && passes {
		a.refute(&entry{}, missingScreenshot, "screenshots", "what is PASS in a browser needs a screenshot, and there is none")
	}
	return unchecked
}

// screenshot looks at one picture and notes its size. known is false if there is
// nowhere to look.
func (a *assessment) screenshot(tree *worktree.Tree, s Screenshot, whole bool) (known bool, err error) {
	file := a.picture(s.Path)
	switch {
	case file == nil && tree == nil:
		return false, nil
	case file == nil:
		if file, err = tree.File(s.Path); err != nil {
			return true, errors.New("the worktree has no such file")
		}
	}
	defer file.Close()
	size, err := lookAt(file, whole)
	if err == nil {
		a.note("screenshot", s.Path, "shows %s points", size)
	}
	return true, err
}

// picture opens a screenshot in the directory of the options or in
// [worktree.EvidenceDirs]. If there is none, it returns nil.
func (a *assessment) picture(path string) *os.File {
	dir := a.options.Evidence
	if own := filepath.Dir(path); isEvidenceDir(own) {
		dir = own
	}
	tree := treeOf(dir)
	defer tree.Close()
	if tree == nil {
		return nil
	}
	file, _ := tree.File(path)
	return file
}

// treeOf returns the tree of a directory, or nil if there is none.
func treeOf(dir string, names ...string) *worktree.Tree {
	if dir == "" {
		return nil
	}
	tree, _ := worktree.Open(dir, names...)
	return tree
}

func isEvidenceDir(dir string) bool {
	if alike, err := filepath.Match(filepath.Join(os.TempDir(), worktree.EvidenceDirs), dir); err != nil || !alike {
		return false
	}
	info, err := os.Lstat(dir) // a link of that name may lead anywhere
	return err == nil && info.IsDir()
}

// tests compares the counts of a test run with its exit code and its output.
func (a *assessment) tests(t *TestResults) {
	e := a.entry("test_results", t.Command, "")
	output := testoutput.Read(t.Output)
	failed := t.Failed != nil && *t.Failed > 0
	cut := strings.HasSuffix(t.Output, "…") // it may hide a run of tests
	none := t.Passed != nil && *t.Passed == 0 && !failed || t.Passed == nil && t.Failed == nil && output.None() && !cut
	negative := slices.ContainsFunc([]*int{t.Passed, t.Failed, t.Skipped}, func(n *int) bool { return n != nil && *n < 0 })
	switch {
	case t.ExitCode == nil:
		e.problem = "has no exit_code"
	case t.Command == "":
		e.problem = "has no command"
	case *t.ExitCode != 0:
		e.problem = fmt.Sprintf("has exit code %d", *t.ExitCode)
	}
	if negative {
		a.refute(e, falseEvidence, "test_results", "has a count below 0")
		return
	}
	if t.ExitCode != nil && t.Failed != nil && (*t.ExitCode == 0) == failed {
		a.refute(e, falseEvidence, "test_results", "exit code %d does not go with %d failed", *t.ExitCode, *t.Failed)
	}
	if none {
		a.refute(e, missingEvidence, "test_results", "is a run of no tests%s", ofCommand(t))
	}
	if t.ExitCode != nil && *t.ExitCode == 0 && output.Failure != "" {
		a.refute(e, contraryEvidence, "test_results", "ended with exit code 0, and its output reports a failure: %s", brief(output.Failure))
	}
	if failed || t.ExitCode != nil && *t.ExitCode != 0 {
		a.contrary(e, "test_results", "the tests failed, and no criterion does")
	}
	if t.ExitCode == nil && (t.Passed != nil || t.Failed != nil) {
		a.note("exit_code", "test_results", "has counts and no exit code to compare them with")
	}
}

func ofCommand(t *TestResults) string {
	if t.Command == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", brief(t.Command))
}

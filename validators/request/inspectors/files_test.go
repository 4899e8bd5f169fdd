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

func TestFiles(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.md": "Hello\nworld\n", "docs/b c.md": "x", "empty": "", "bin": "\xff\xfe\x00 text", "big": strings.Repeat("x", 200) + "end",
	})
	symlink(t, "a.md", filepath.Join(dir, "inside"))
	symlink(t, "nowhere", filepath.Join(dir, "dangling"))
	symlink(t, "loop", filepath.Join(dir, "loop"))
	const pass, fail, blocked = request.Pass, request.Fail, request.Blocked
	for _, c := range []struct {
		hint     string
		status   request.Verdict
		evidence string
	}{
		{"file: a.md", pass, "a.md exists with 12 bytes"},
		{"file: ./a.md", pass, "a.md exists"},
		{"file: nope.md", fail, "nope.md does not exist"},
		{"file: a.md/b", fail, "a.md/b does not exist"},
		{"file: nope.md absent", pass, "nope.md does not exist"},
		{"file: a.md absent", fail, "a.md exists, which it must not"},
		{"file: docs/", pass, "docs exists, a directory"},
		{"file: docs", pass, "docs exists, a directory"},
		{"file: a.md/", fail, "a.md is no directory"},
		{"file: docs size > 0", fail, "is a directory"},
		{`file: "docs/b c.md" size = 1`, pass, "1 bytes"},
		{"file: empty size 0", pass, "0 bytes"},
		{"file: empty size > 0", fail, "empty has 0 bytes, not > 0"},
		{"file: a.md size >= 12 size <= 12", pass, ""},
		{"file: a.md size < 12", fail, "not < 12"},
		{"file: a.md contains Hello contains world", pass, `a.md contains "Hello"; a.md contains "world"`},
		{"file: a.md contains hello", fail, `a.md does not contain "hello"`},
		{"file: a.md lacks hello", pass, `a.md does not contain "hello"`},
		{"file: a.md lacks Hello", fail, "which it must not"},
		{"file: a.md matches /^hello$/im", pass, "a match of"},
		{"file: a.md matches /^world$/", fail, "does not contain a match of"},
		{"file: bin contains text", pass, ""},
		{"file: big contains xx", pass, ""},
		{"file: big contains end", blocked, "in its first 100 bytes, and more was not read"},
		{"file: big lacks end", blocked, "more was not read"},
		{"file: inside contains Hello", pass, ""},
		{"file: dangling", fail, "does not exist"},
		{"file: loop", blocked, ""},
		{"file: a.md; file: nope.md", fail, "a.md exists with 12 bytes; nope.md does not exist"},
		{"file: a.md\nfile: docs/", pass, ""},
		{"file: nope.md; file: ../x", fail, "outside"},
		{"file: '" + dir + "/a.md' contains Hello", pass, "a.md exists with 12 bytes"},
		{"file: '" + dir + "/nope.md'", fail, "nope.md does not exist"},
		{"file: '" + dir + "//a.md'", pass, "a.md exists"},
		{"file: '" + dir + "/../a.md'", blocked, "outside"},
		{"file: '" + dir + "s/a.md'", blocked, "outside"},
		{"file: '/x" + dir + "/a.md'", blocked, "outside"},
		{"Check `" + dir + "/a.md` for \"Hello\"", blocked, "a.md found; whether"},
		{"Check /x" + dir + "/a.md", blocked, "declares no check"},
	} {
		one(t, &Inspector{limits: limits{Bytes: 100}}, request.Request{WorktreePath: dir}, c.hint, c.status, c.evidence)
	}
}

func symlink(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip(err)
	}
}

func TestFilesOutside(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := tree(t, map[string]string{"docs/a.md": "x"})
	symlink(t, outside, filepath.Join(dir, "link.txt"))
	symlink(t, filepath.Dir(outside), filepath.Join(dir, "links"))
	symlink(t, "../../"+filepath.Base(filepath.Dir(outside))+"/secret.txt", filepath.Join(dir, "relative.txt"))
	i := &Inspector{AllowExec: true, Judge: never(t)}
	for _, name := range []string{
		outside, "/etc/passwd", "../secret.txt", "docs/../../x.md", "link.txt", "links/secret.txt", "relative.txt", "..",
	} {
		for _, hint := range []string{"file: " + name, "file: " + name + " contains secret", "run: " + strings.Replace(name, "link.txt", "./link.txt", 1)} {
			if strings.HasPrefix(hint, "run: ") && !strings.Contains(name, "/") {
				continue
			}
			got := one(t, i, request.Request{WorktreePath: dir}, hint, request.Blocked, "")
			text := got.Results[0].Evidence
			if !strings.Contains(text, "outside the worktree") && !strings.Contains(text, "not in the worktree") {
				t.Errorf("%s: got %q", hint, text)
			}
			if got.Evidence != nil && got.Evidence.FileChecks != nil {
				t.Errorf("%s: got %+v", hint, got.Evidence)
			}
		}
	}
	for _, hint := range []string{outside, "Check " + outside, "Check ../secret.txt for the secret"} {
		if got := one(t, &Inspector{}, request.Request{WorktreePath: dir}, hint, request.Blocked, "declares no check"); got.Evidence != nil {
			t.Errorf("%s: %+v", hint, got.Evidence)
		}
	}
}

// never returns a judge that fails the test when it is called.
func never(t *testing.T) Judge {
	return func(_ context.Context, c request.Criterion, _ request.Evidence) (request.Result, error) {
		t.Errorf("the judge was asked of %q", c.Hint)
		return request.Result{}, nil
	}
}

func TestFileEvidence(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "Hello", "empty": ""})
	got := ask(t, &Inspector{}, request.Request{WorktreePath: dir}, "file: ./a.md contains Hello", "file: b.md", "file: a.md contains Bye lacks Hello", "file: a.md",
		"file: a.md lacks Hello", "file: a.md contains Hello lacks Bye", "file: empty lacks Hello", "file: empty matches /^$/", "file: empty contains x", "file: a.md contains Hello lacks Hello")
	all := got.Evidence.FileChecks
	if len(all) != 10 {
		t.Fatalf("got %+v", all)
	}
	if f := all[0]; f.Path != "a.md" || !*f.Exists || *f.SizeBytes != 5 || !*f.ContainsExpected || f.Note == "" {
		t.Errorf("got %+v", f)
	}
	if f := all[1]; *f.Exists || f.SizeBytes != nil || f.ContainsExpected != nil {
		t.Errorf("got %+v", f)
	}
	for n, want := range map[int]string{2: "false", 3: "", 4: "", 5: "true", 6: "", 7: "", 8: "false", 9: "true"} {
		evidence := ""
		if as := all[n].ContainsExpected; as != nil {
			evidence = fmt.Sprint(*as)
		}
		if evidence != want {
			t.Errorf("%d: got %q, want %q", n, evidence, want)
		}
	}
	for _, hint := range []string{"file: empty lacks Hello", "file: empty matches /^$/"} {
		r := request.Request{TaskID: "task-1", WorktreePath: dir, ValidationType: request.Code, Criteria: []request.Criterion{{ID: "1", Description: "It is so", Hint: hint}}}
		got, err := new(Inspector).Inspect(t.Context(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if j := request.Judge(&r, got, request.Options{Root: dir}); j.Effective != request.Pass {
			t.Errorf("%s: %s", hint, j.Reason)
		}
	}
}

func TestWorktree(t *testing.T) {
	dir := tree(t, map[string]string{"work/a.md": "x"})
	other := t.TempDir()
	inner := filepath.Join(dir, "work")
	symlink(t, other, filepath.Join(dir, "away"))
	const pass, blocked = request.Pass, request.Blocked
	for _, c := range []struct {
		root, path string
		status     request.Verdict
		evidence   string
	}{
		{"", "", blocked, "no worktree_path"},
		{"", "work", blocked, "is not absolute"},
		{"", "/no/such/place", blocked, "no worktree"},
		{"", filepath.Join(inner, "a.md"), blocked, "no worktree"},
		{"", inner, pass, ""},
		{inner, "", pass, ""},
		{dir, inner, pass, ""},
		{inner, inner, pass, ""},
		{dir, "work", pass, ""},
		{dir, other, blocked, "lies outside"},
		{inner, dir, blocked, "lies outside"},
		{dir, filepath.Join(dir, "away"), blocked, "lies outside"},
		{dir, "../" + filepath.Base(other), blocked, "no worktree"},
		{dir, "/no/such/place", blocked, "no worktree"},
		{dir, "a\x00b", blocked, "no worktree"},
	} {
		one(t, &Inspector{Root: c.root}, request.Request{WorktreePath: c.path}, "file: a.md", c.status, c.evidence)
	}
}

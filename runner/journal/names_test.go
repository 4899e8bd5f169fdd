package journal

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
)

// A file with two names is rejected, because SQLite would use a log for each.
func TestJournalHardLink(t *testing.T) {
	onFile(t)
	dir := t.TempDir()
	file, other := filepath.Join(dir, "runs.db"), filepath.Join(dir, "other.db")
	first := journalAt(t, file, Options{})
	begin(t, first, runner.Start{RunID: "run"})
	if err := os.Link(file, other); err != nil {
		t.Skipf("NOT TESTED: no hard link can be made here: %v", err)
	}
	for _, name := range []string{file, other} {
		for _, o := range []Options{{}, {ReadOnly: true}} {
			if j, err := Open(name, o); err == nil || !strings.Contains(err.Error(), "2 names (hard links)") {
				t.Errorf("%s, %+v: got %v, %v", name, o, j, err)
			}
		}
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	second := journalAt(t, file, Options{})
	if run, err := second.Run(t.Context(), "run"); err != nil || run.RunID != "run" {
		t.Errorf("got %+v, %v", run, err)
	}
}

// A journal shares one log with a symbolic link to it.
func TestJournalSymbolicLink(t *testing.T) {
	onFile(t)
	dir := t.TempDir()
	file, other := filepath.Join(dir, "runs.db"), filepath.Join(t.TempDir(), "other.db")
	if err := os.Symlink(file, other); err != nil {
		t.Skipf("NOT TESTED: no symbolic link can be made here: %v", err)
	}
	one, two := journalAt(t, other, Options{}), journalAt(t, file, Options{})
	for j, id := range map[*Journal]string{one: "a", two: "b"} {
		begin(t, j, runner.Start{RunID: id})
	}
	for _, j := range []*Journal{one, two, journalAt(t, other, Options{ReadOnly: true})} {
		if list, err := j.Runs(t.Context(), Filter{}); err != nil || len(list) != 2 {
			t.Errorf("got %+v, %v", list, err)
		}
	}
	if _, err := os.Stat(other + "-wal"); err == nil {
		t.Error("the link has a log of its own")
	}
}

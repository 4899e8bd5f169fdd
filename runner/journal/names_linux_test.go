package journal

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner"
)

const mountedVariable = "CAPSTAN_JOURNAL_MOUNTED"

// TestJournalMounted runs TestMountedFile and TestMountedDirectory with a
// second mount of the journal or its directory.
func TestJournalMounted(t *testing.T) {
	onFile(t)
	dir := t.TempDir()
	for _, name := range []string{"host", "container"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	real, mounted := filepath.Join(dir, "host", "runs.db"), filepath.Join(dir, "container", "runs.db")
	begin(t, journalAt(t, real, Options{}), runner.Start{RunID: "run"})
	if err := os.WriteFile(mounted, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("unshare", "-m", "mount", "--bind", real, mounted).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no file can be mounted here: %v %s", err, out)
	}
	for test, script := range map[string]string{
		"TestMountedFile":      "mount --bind " + real + " " + mounted,
		"TestMountedDirectory": "mount --bind " + filepath.Dir(real) + " " + filepath.Dir(mounted),
	} {
		c := exec.Command("unshare", "-m", "sh", "-ec", script+`; exec "$0" -test.run="^`+test+`$"`, os.Args[0])
		c.Env = append(os.Environ(), mountedVariable+"="+mounted)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// mountedJournal returns the file of a test that [TestJournalMounted] runs in a
// namespace.
func mountedJournal(t *testing.T) string {
	onFile(t)
	file := os.Getenv(mountedVariable)
	if file == "" {
		t.Skip("TestJournalMounted runs it")
	}
	return file
}

// A file mounted under a second name is rejected there, because SQLite would
// use a second log for it.
func TestMountedFile(t *testing.T) {
	file := mountedJournal(t)
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if j, err := Open(file, o); err == nil || !strings.Contains(err.Error(), "mount its directory instead") {
			t.Errorf("%+v: got %v, %v", o, j, err)
		}
	}
}

// A journal in a mounted directory is the same journal under both names.
func TestMountedDirectory(t *testing.T) {
	j := journalAt(t, mountedJournal(t), Options{ReadOnly: true})
	if run, err := j.Run(t.Context(), "run"); err != nil || run.RunID != "run" {
		t.Errorf("got %+v, %v", run, err)
	}
}

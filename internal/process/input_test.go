//go:build unix

package process

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// owner is the directory of a test that runs this test binary as a process and
// kills it.
const owner = "CAPSTAN_TEST_INPUT_OWNER"

func input() []byte { return bytes.Repeat([]byte("0123456789abcdef"), 1<<16) }

// TestRunCallerKilled checks that a program reads its whole input even if its caller is killed.
func TestRunCallerKilled(t *testing.T) {
	if dir := os.Getenv(owner); dir != "" {
		c := sh("touch started; while [ ! -e dead ]; do sleep 0.01; done; cat > read; mv read whole")
		c.Dir, c.Stdin = dir, input()
		_, _ = Run(t.Context(), c)
		return
	}
	t.Parallel()
	dir := t.TempDir()
	caller := exec.Command(os.Args[0], "-test.run=^TestRunCallerKilled$")
	caller.Env = append(os.Environ(), owner+"="+dir)
	if err := caller.Start(); err != nil {
		t.Fatal(err)
	}
	waitFile(t, filepath.Join(dir, "started"))
	if err := caller.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = caller.Wait()
	if err := os.WriteFile(filepath.Join(dir, "dead"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFile(t, filepath.Join(dir, "whole"))
	got, err := os.ReadFile(filepath.Join(dir, "whole"))
	if err != nil || !bytes.Equal(got, input()) {
		t.Errorf("the program read %d of %d bytes, %v", len(got), len(input()), err)
	}
}

func waitFile(t *testing.T, name string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
	t.Fatalf("no %s", name)
}

// TestRunInputUnnamed checks that the input of a program has no name on disk while the program
// runs.
func TestRunInputUnnamed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	command := sh(`ls -A "$TMPDIR"; cat`)
	command.Stdin = []byte("secret")
	out, err := Run(t.Context(), command)
	if err != nil || string(out.Stdout) != "secret" {
		t.Errorf("got %q, %v", out.Stdout, err)
	}
	f, err := unlinked() // for systems without files in memory
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if list, err := os.ReadDir(dir); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
}

// TestRunInputReadOnly checks that a program cannot change its input in memory.
func TestRunInputReadOnly(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has sealed files in memory")
	}
	command := sh(`(echo changed >&0) 2>/dev/null; cat`)
	command.Stdin = []byte("original")
	out, err := Run(t.Context(), command)
	if err != nil || string(out.Stdout) != "original" {
		t.Errorf("got %q, %v", out.Stdout, err)
	}
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestConceal runs a program that looks for the keys of its parent process
// where the system exposes them.
func TestConceal(t *testing.T) {
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "conceal") // others can read this folder, unlike t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(dir, "capstan")
	for name, content := range map[string][]byte{own: text, filepath.Join(dir, "peek.yaml"): []byte(`
cascade_id: peek
tools:
  peek: {exec: [sh, -c, "id -u; env; for f in environ mem maps; do head -c 1000 /proc/$PPID/$f 2>&1 >/dev/null; done; tr '\\0' '\\n' </proc/$PPID/environ; exit 0"], env: [NAMED]}
phases: [{name: a, tool: peek}]
`)} {
		if err := os.WriteFile(name, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(own, "run", "peek.yaml", "--store", "off")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "OPENAI_API_KEY=sk-0123456789", "OWLS=hidden-owls", "NAMED=given"}
	if os.Getuid() == 0 { // root may read everything
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	got := out.String()
	if strings.Contains(got, "owls") || strings.Contains(got, "OPENAI") || strings.HasPrefix(got, "0\n") || !strings.Contains(got, "NAMED=given") {
		t.Errorf("the program told\n%s", got)
	}
	for _, file := range []string{"environ", "mem", "maps"} {
		if !strings.Contains(got, "/"+file) || strings.Count(got, "ermission denied") < 3 {
			t.Errorf("it could read %s:\n%s", file, got)
		}
	}
}

//go:build unix

package mcpserver_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestRootFiles checks that pipes and links out of the root are refused.
func TestRootFiles(t *testing.T) {
	dir := t.TempDir()
	o := options()
	o.Root = dir + "/root"
	write(t, dir, map[string]string{"out/a.yaml": "secret: text", "root/in/a.yaml": "x"})
	for _, err := range []error{
		syscall.Mkfifo(o.Root+"/pipe.yaml", 0o600), os.Symlink("../out/a.yaml", o.Root+"/link.yaml"), os.Symlink("../out", o.Root+"/dir"), os.Symlink("in/a.yaml", o.Root+"/good.yaml"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	s := connect(t, o)
	for file, want := range map[string]string{
		"pipe.yaml": "not a regular file", "link.yaml": "a link leads outside", "dir/a.yaml": "a link leads outside", "good.yaml": "good.yaml:1:1", "in": "is a directory", "": "is a directory", "/dev/zero": "is outside",
	} {
		if text, _, _ := use(t, s, "lint", map[string]any{"file": file}); !strings.Contains(text, want) || strings.Contains(text, "secret") {
			t.Errorf("%s: %s", file, text)
		}
	}
}

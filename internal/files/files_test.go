package files_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/files"
)

// world creates a folder with two folders: in, which is a root, and out, which is not.
func world(t *testing.T) (dir string, root files.Root) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"in/a.md": "a", "in/sub/b.md": "b", "out/secret.md": "secret", "named.md": "named"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in/out.md": "../out/secret.md", "in/away": "../out", "in/good.md": "sub/b.md"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	return dir, files.Root{Dirs: []string{filepath.Join(dir, "in"), filepath.Join(dir, "none")}, Files: []string{filepath.Join(dir, "named.md")}}
}

func TestRootRead(t *testing.T) {
	dir, root := world(t)
	t.Chdir(dir)
	for name, want := range map[string]string{
		"in/a.md": "a", filepath.Join(dir, "in/a.md"): "a", "in/sub/../a.md": "a", "in/good.md": "b", filepath.Join(dir, "named.md"): "named",
	} {
		if text, err := root.Read(name, 10); err != nil || string(text) != want {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{
		"out/secret.md", "in/../out/secret.md", filepath.Join(dir, "out/secret.md"), "out/missing.md", "in/out.md", "in/away/secret.md", "named.md", "..", "/dev/zero", "",
	} {
		text, err := root.Read(name, 10)
		if !errors.Is(err, files.ErrOutside) || text != nil || !strings.Contains(err.Error(), filepath.Join(dir, "in")) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if err := root.Check(name); !errors.Is(err, files.ErrOutside) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"in/missing.md", "none/missing.md"} {
		if _, err := root.Read(name, 10); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"in", "in/a.md", "in/missing.md", "none"} {
		if err := root.Check(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadLimit(t *testing.T) {
	dir, root := world(t)
	in, err := os.OpenRoot(filepath.Join(dir, "in"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for limit, want := range map[int64]error{0: files.ErrTooLarge, 1: nil} {
		_, all := files.Read(filepath.Join(dir, "in/a.md"), limit)
		_, confined := root.Read(filepath.Join(dir, "in/a.md"), limit)
		_, inside := files.ReadIn(in, "a.md", limit)
		for _, err := range []error{all, confined, inside} {
			if !errors.Is(err, want) {
				t.Errorf("limit %d: %v", limit, err)
			}
		}
		if want != nil && !strings.Contains(confined.Error(), "in/a.md: too large: 1 bytes are more than the limit of 0") {
			t.Errorf("got %v", confined)
		}
	}
}

func TestReadDirectory(t *testing.T) {
	dir, root := world(t)
	for _, read := range []func(string, int64) ([]byte, error){files.Read, root.Read} {
		if _, err := read(filepath.Join(dir, "in"), 10); err == nil || !strings.Contains(err.Error(), "is a directory") {
			t.Errorf("got %v", err)
		}
	}
}

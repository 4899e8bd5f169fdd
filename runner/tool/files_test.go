package tool_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner/tool"
)

// tree creates a directory with files, next to a secret file. It returns the
// directory and its tools.
func tree(t *testing.T, files map[string]string) (string, tool.Set) {
	t.Helper()
	base := t.TempDir()
	root := filepath.Join(base, "root")
	for name, text := range files {
		put(t, filepath.Join(root, name), text)
	}
	put(t, filepath.Join(base, "secret.txt"), "secret")
	put(t, filepath.Join(root, "here.txt"), "here")
	return root, tool.NewSet(tool.Builtins(tool.Options{Root: root})...)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skip(err)
	}
}

func find(t *testing.T, s tool.Set, name string) tool.Tool {
	t.Helper()
	tl, err := s.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return tl
}

func TestFilesStayInside(t *testing.T) {
	root, set := tree(t, map[string]string{"sub/a.txt": "a"})
	secret := filepath.Join(root, "..", "secret.txt")
	link(t, "../secret.txt", filepath.Join(root, "relative"))
	link(t, secret, filepath.Join(root, "absolute"))
	link(t, "..", filepath.Join(root, "up"))
	link(t, "/", filepath.Join(root, "slash"))
	link(t, "../nowhere", filepath.Join(root, "dangling"))
	for _, path := range []string{
		"../secret.txt", "sub/../../secret.txt", secret, "/etc/passwd", "relative", "absolute", "up/secret.txt", "slash/etc/passwd",
		"dangling", "", "here.txt\x00", "../root/../secret.txt", "./../secret.txt", "up/root/../secret.txt", "up",
	} {
		fails(t, find(t, set, "read_file"), map[string]any{"path": path}, "error: ")
		fails(t, find(t, set, "write_file"), map[string]any{"path": path, "content": "overwritten"}, "error: ")
		if path != "" { // the working directory
			fails(t, find(t, set, "list_files"), map[string]any{"path": path}, "error: ")
		}
	}
	if text, err := os.ReadFile(secret); err != nil || string(text) != "secret" {
		t.Errorf("the file outside has %q, %v", text, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(root)); len(entries) != 2 {
		t.Errorf("outside there are %v", entries)
	}
}

// A symbolic link that changes while it is read must never show a file outside
// the directory.
func TestFilesStayInsideInARace(t *testing.T) {
	root, set := tree(t, map[string]string{"in/f": "inside"})
	put(t, filepath.Join(root, "..", "out", "f"), "outside")
	link(t, "in", filepath.Join(root, "d"))
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		d := filepath.Join(root, "d")
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			os.Symlink([]string{"in", "../out"}[i%2], d+"~")
			os.Rename(d+"~", d)
		}
	})
	for range 5000 {
		if r := run(t, find(t, set, "read_file"), map[string]any{"path": "d/f"}); r.Text() == "outside" {
			t.Error("read what is outside")
			break
		}
	}
	for range 200 {
		run(t, find(t, set, "write_file"), map[string]any{"path": "d/new", "content": "x"})
	}
	close(stop)
	swapper.Wait()
	if _, err := os.Stat(filepath.Join(root, "..", "out", "new")); err == nil {
		t.Error("wrote outside")
	}
}

func TestReadFile(t *testing.T) {
	root, set := tree(t, map[string]string{"sub/ä.txt": "\ufefftext\r\n", "empty": "", "binary": "ab\xff", "cut": "x\xe2\x82"})
	link(t, "sub/ä.txt", filepath.Join(root, "inside"))
	read := find(t, set, "read_file")
	for path, want := range map[string]string{"sub/ä.txt": "\ufefftext\r\n", "./sub/../sub/ä.txt": "\ufefftext\r\n", "inside": "\ufefftext\r\n", "empty": ""} {
		if r := run(t, read, map[string]any{"path": path}); r.Failed || r.Value != want {
			t.Errorf("%s: got %q", path, r.Value)
		}
	}
	fails(t, read, map[string]any{"path": "binary"}, "binary: not text: byte 2 is not UTF-8")
	fails(t, read, map[string]any{"path": "cut"}, "byte 1 is not UTF-8")
	fails(t, read, map[string]any{"path": "sub"}, "sub: is a directory")
	fails(t, read, map[string]any{"path": "none.txt"}, "none.txt: no such file")
	fails(t, read, map[string]any{"path": "here.txt/below"}, "not a directory")
	fails(t, read, map[string]any{"path": "a", "mode": "x"}, "'mode' not allowed")
}

func TestReadFileHuge(t *testing.T) {
	root, set := tree(t, nil)
	huge := filepath.Join(root, "huge")
	put(t, huge, "")
	if err := os.Truncate(huge, 1<<40); err != nil {
		t.Skip(err)
	}
	fails(t, find(t, set, "read_file"), map[string]any{"path": "huge"}, "huge: too large: 1099511627776 bytes are more than the limit of 10485760")
	put(t, huge, strings.Repeat("x", 10<<20))
	if r := run(t, find(t, set, "read_file"), map[string]any{"path": "huge"}); r.Failed {
		t.Error("10 MiB are not too much")
	}
}

func TestReadFileGrowing(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no files here that are longer than they say")
	}
	set := tool.NewSet(tool.Builtins(tool.Options{Root: "/proc/self"})...)
	if r := run(t, find(t, set, "read_file"), map[string]any{"path": "status"}); r.Failed || !strings.HasPrefix(r.Text(), "Name:") {
		t.Errorf("got %.100q", r.Text())
	}
}

func TestWriteFile(t *testing.T) {
	root, set := tree(t, map[string]string{"script": "old", "dir/x": "x"})
	write := find(t, set, "write_file")
	if err := os.Chmod(filepath.Join(root, "script"), 0o700); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Open(filepath.Join(root, "script"))
	defer before.Close()
	for path, content := range map[string]string{"a/b/c.txt": "ä", "script": "new and longer", "empty": ""} {
		r := run(t, write, map[string]any{"path": path, "content": content})
		if got := asJSON(t, r.Value); got != fmt.Sprintf(`{"bytes":%d,"path":%q}`, len(content), path) {
			t.Errorf("got %s", got)
		}
		if text, err := os.ReadFile(filepath.Join(root, path)); err != nil || string(text) != content {
			t.Errorf("%s has %q, %v", path, text, err)
		}
	}
	if info, _ := os.Stat(filepath.Join(root, "script")); info.Mode().Perm() != 0o700 {
		t.Errorf("permissions are now %v", info.Mode())
	}
	old := make([]byte, 100)
	if n, _ := before.Read(old); string(old[:n]) != "old" {
		t.Errorf("who had the old file open reads %q", old[:n])
	}
	link(t, "script", filepath.Join(root, "alias"))
	fails(t, write, map[string]any{"path": "alias", "content": ""}, "is a symbolic link")
	fails(t, write, map[string]any{"path": "dir", "content": ""}, "dir: is a directory")
	fails(t, write, map[string]any{"path": ".", "content": ""}, "is a directory")
	fails(t, write, map[string]any{"path": "dir/", "content": ""}, "names a directory")
	fails(t, write, map[string]any{"path": "script/x", "content": ""}, "not a directory")
	fails(t, write, map[string]any{"path": "x", "content": strings.Repeat("x", 10<<20+1)}, "10485761 bytes exceed the maximum of")
	fails(t, write, map[string]any{"path": strings.Repeat("n", 300), "content": ""}, "name too long")
	for _, e := range entries(t, set, ".", true) {
		if strings.HasSuffix(e, ".tmp") {
			t.Errorf("left behind: %s", e)
		}
	}
}

// A reader always gets one whole text while others write.
func TestWriteFileIsAtomic(t *testing.T) {
	root, set := tree(t, nil)
	write := find(t, set, "write_file")
	texts := [][]byte{bytes.Repeat([]byte("a"), 50_000), bytes.Repeat([]byte("b"), 70_000)}
	put(t, filepath.Join(root, "f"), string(texts[0]))
	var writers sync.WaitGroup
	for _, text := range texts {
		writers.Go(func() {
			for range 50 {
				if r := run(t, write, map[string]any{"path": "f", "content": string(text)}); r.Failed {
					t.Error(r.Text())
				}
			}
		})
	}
	for range 200 {
		got, err := os.ReadFile(filepath.Join(root, "f"))
		if err != nil || !bytes.Equal(got, texts[0]) && !bytes.Equal(got, texts[1]) {
			t.Fatalf("read %d bytes, %v", len(got), err)
		}
	}
	writers.Wait()
}

func entries(t *testing.T, set tool.Set, path string, deep bool) []string {
	t.Helper()
	r := run(t, find(t, set, "list_files"), map[string]any{"path": path, "recursive": deep})
	if r.Failed {
		t.Fatal(r.Text())
	}
	var out []string
	for _, e := range r.Value.(map[string]any)["entries"].([]any) {
		out = append(out, e.(string))
	}
	return out
}

func TestListFiles(t *testing.T) {
	root, set := tree(t, map[string]string{"b/2": "", "b/1": "", "b/c/d/e": "", "a": "", "b.txt": ""})
	link(t, "..", filepath.Join(root, "up"))
	if got := strings.Join(entries(t, set, ".", false), " "); got != "a b/ b.txt here.txt up" {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(entries(t, set, "", true), " "); got != "a b/ b/1 b/2 b/c/ b/c/d/ b/c/d/e b.txt here.txt up" {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(entries(t, set, "b/c/..", true), " "); got != "1 2 c/ c/d/ c/d/e" {
		t.Errorf("got %s", got)
	}
	fails(t, find(t, set, "list_files"), map[string]any{"path": "a"}, "a: not a directory")
	fails(t, find(t, set, "list_files"), map[string]any{"path": "none"}, "none: no such file")
	fails(t, builtin(t, "list_files", tool.Options{Root: filepath.Join(root, "none")}), nil, "the working directory: ")
}

func TestListFilesIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("a/%03d", i)] = ""
		files[fmt.Sprintf("b/%03d", i)] = ""
	}
	_, set := tree(t, files)
	r := run(t, find(t, set, "list_files"), map[string]any{"recursive": true})
	list := r.Value.(map[string]any)
	if n := len(list["entries"].([]any)); n != 1000 || list["truncated"] != true {
		t.Errorf("%d entries, truncated: %v", n, list["truncated"])
	}
	r = run(t, find(t, set, "list_files"), map[string]any{"path": "a"})
	if list := r.Value.(map[string]any); list["truncated"] != false {
		t.Error("a directory of 600 is not too much")
	}
}

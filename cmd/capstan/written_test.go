package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestWriteOver checks that an overwritten file changes only its text. Links
// and permissions remain, and no temporary file is left.
func TestWriteOver(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "link.yaml")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.yaml", link); err != nil {
		t.Skip(err) // Windows may not allow links
	}
	if err := writeOver(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || string(text) != "new" {
		t.Errorf("got %q, %v", text, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "a.yaml" {
		t.Errorf("the link is %q, %v", to, err)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("got %v, %v", list, err)
	}
	if err := writeOver(filepath.Join(dir, "none.yaml"), []byte("new")); err == nil {
		t.Error("a file that is not there was written over")
	}
}

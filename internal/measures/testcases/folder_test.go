package testcases_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/testcases"
)

// outward moves a file or folder of a test case to another place, and replaces it by a link.
func outward(t *testing.T, dir, name string) (moved string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	moved = filepath.Join(t.TempDir(), filepath.Base(name))
	if err := os.Rename(file, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, file); err != nil {
		t.Skip(err) // Windows allows it to some users only
	}
	return moved
}

// lengthy returns a test case with a text file.
func lengthy(t *testing.T) (*story, string) {
	t.Helper()
	s := newStory(t, post, "short", "tiny", "long", strings.Repeat("long enough\n", 300))
	s.input = map[string]any{"topic": "owls"}
	_, dir := s.freeze(t)
	return s, dir
}

func textOf(t *testing.T, dir string) string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "texts", "*.md"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return "texts/" + filepath.Base(list[0])
}

// TestLinkOutOfTest checks that no file is read through a link out of the folder.
func TestLinkOutOfTest(t *testing.T) {
	for _, name := range []string{"case.yaml", "input.json", "effects", "effects/draft.yaml", "texts", "one text", "cascade", "cascade/cascade.yaml"} {
		t.Run(name, func(t *testing.T) {
			s, dir := lengthy(t)
			if name == "one text" {
				name = textOf(t, dir)
			}
			outward(t, dir, name)
			all := testcases.RunAll(t.Context(), []string{dir}, s.known)
			if len(all) != 1 || all[0].OK() || !strings.Contains(text(all[0]), "leads out of the test's folder "+dir) {
				t.Errorf("got %v", all)
			}
		})
	}
}

// TestLinkWithinTest checks that other links are followed.
func TestLinkWithinTest(t *testing.T) {
	_, dir := lengthy(t)
	file := filepath.Join(dir, filepath.FromSlash(textOf(t, dir)))
	if err := os.Rename(file, file+".txt"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Base(file)+".txt", file); err != nil {
		t.Skip(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	s, _ := lengthy(t)
	if _, o := s.test(t, link); !o.OK() {
		t.Error(text(o))
	}
}

// TestUpdateLinkOutOfTest checks that an update neither writes nor removes a file outside.
func TestUpdateLinkOutOfTest(t *testing.T) {
	for _, name := range []string{"effects", "effects/publish.yaml", "texts", "one text"} {
		t.Run(name, func(t *testing.T) {
			s, dir := lengthy(t)
			if name == "one text" {
				name = textOf(t, dir)
			}
			edit(t, dir, "cascade/cascade.yaml", "Write about", "Write at length about")
			c, o := s.test(t, dir)
			moved := filepath.Dir(outward(t, dir, name))
			if err := os.WriteFile(filepath.Join(moved, "mine"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			before := tree(t, moved)
			if err := c.Update(o); err == nil && name != "one text" && name != "effects/publish.yaml" {
				t.Error("it was updated")
			}
			if after := tree(t, moved); !reflect.DeepEqual(after, before) {
				t.Errorf("got %v, want %v", after, before)
			}
		})
	}
}

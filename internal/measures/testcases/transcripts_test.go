package testcases_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/internal/storytest"
)

// TestTranscripts records and replays every run of the engine's transcripts.
func TestTranscripts(t *testing.T) {
	for _, one := range storytest.Stories(t) {
		t.Run(one.Name, func(t *testing.T) {
			s := transcript(t, one)
			_, dir := s.freeze(t)
			first := tree(t, dir)
			if _, o := s.test(t, dir); !o.OK() {
				t.Fatal(text(o))
			}
			updated(t, s, dir)
			if again := tree(t, dir); !reflect.DeepEqual(first, again) {
				t.Errorf("an update of what is well changes it:\n%v\n%v", first, again)
			}
			for name, content := range first {
				if strings.Contains(content, "1a2b3c4d") {
					t.Errorf("%s names the run:\n%s", name, content)
				}
				if strings.Contains(content, dir) {
					t.Errorf("%s names a place:\n%s", name, content)
				}
			}
		})
	}
}

// updated updates the test case in a folder.
func updated(t *testing.T, s *story, dir string) {
	t.Helper()
	c, o := s.test(t, dir)
	if err := c.Update(o); err != nil {
		t.Fatal(err)
	}
	if _, o = s.test(t, dir); !o.OK() {
		t.Fatalf("after an update:\n%s", text(o))
	}
}

// tree returns all files below a folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSameBytes records a run twice and compares the bytes. A folder that contained another test
// case has the same bytes too.
func TestSameBytes(t *testing.T) {
	s := transcript(t, storytest.Embedded(t, "soundings"))
	run := s.record(t)
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	other := transcript(t, storytest.Embedded(t, "tools")).record(t)
	short := newStory(t, "cascade_id: c\nphases: [{name: a, instructions: b}]\n", "x").record(t)
	c, d := filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "d")
	for _, one := range []struct {
		run testcases.Run
		dir string
	}{{run, a}, {other, b}, {run, b}, {other, c}, {short, c}, {short, d}} {
		if _, err := testcases.Record(t.Context(), one.run, testcases.Options{Dir: one.dir, Known: s.known}); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := tree(t, a), tree(t, b); !reflect.DeepEqual(x, y) {
		t.Errorf("%v\n%v", x, y)
	}
	if git := tree(t, c)[".gitattributes"]; git != "* -text\n" {
		t.Errorf("git may give texts other line ends: %q", git)
	}
	if x, y := tree(t, c), tree(t, d); !reflect.DeepEqual(x, y) {
		t.Errorf("%v\n%v", x, y)
	}
}

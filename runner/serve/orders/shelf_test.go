package orders

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
)

// TestShelf holds that a cascade is parsed once as long as its files are what
// they were, and that no change of one is overlooked.
func TestShelf(t *testing.T) {
	dir := t.TempDir()
	file, beside := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "sub.yaml")
	long := time.Now().Add(-time.Hour)
	write := func(name, text string, when time.Time) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, when, when); err != nil {
			t.Fatal(err)
		}
	}
	const text = "cascade_id: a\ntools: {sum: {cascade: sub.yaml, description: sums}}\nphases: [{name: one, instructions: hi, tackle: [sum]}]\n"
	const sub = "cascade_id: sub\nphases: [{name: two, instructions: hi}]\n#"
	write(file, text, long)
	write(beside, sub+"one", long)
	r, err := runner.New()
	if err != nil {
		t.Fatal(err)
	}
	s := shelf{kept: map[string]*shelved{}}
	load := func() string {
		t.Helper()
		c, err := s.load(r, file)
		if err != nil {
			return "broken"
		}
		if again, err := s.load(r, file); again != c || err != nil {
			t.Errorf("it is parsed again: %v", err)
		}
		return c.ID + " " + strings.TrimPrefix(string(c.Files[1].Text), sub)
	}
	now := time.Now()
	for i, change := range []struct {
		do   func()
		want string
	}{
		{func() {}, "a one"},
		{func() { write(beside, sub+"two", long.Add(time.Second)) }, "a two"},       // of the same size
		{func() { write(beside, sub+"threes", long.Add(time.Second)) }, "a threes"}, // at the same time
		{func() { // another file in its place, of the same size and time
			write(beside+"~", sub+"fourth", long.Add(time.Second))
			if err := os.Rename(beside+"~", beside); err != nil {
				t.Fatal(err)
			}
		}, "a fourth"},
		{func() { write(beside, sub+"just now", now) }, "a just now"},
		{func() { write(beside, sub+"just was", now) }, "a just was"}, // twice within what a time tells apart
		{func() { write(file, text+"oops", long) }, "broken"},
		{func() { write(file, text, long) }, "a just was"},
		{func() { os.Remove(beside) }, "broken"},
		{func() { write(beside, sub+"back", long) }, "a back"},
	} {
		change.do()
		if got := load(); got != change.want {
			t.Errorf("change %d: got %s, want %s", i, got, change.want)
		}
	}
	if len(s.kept) != 1 {
		t.Errorf("%d cascades are kept", len(s.kept))
	}
}

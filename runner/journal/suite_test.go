package journal

import (
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// The journal passes the suite for hosts.
func TestSuite(t *testing.T) {
	onFile(t)
	if testing.Short() {
		t.Skip("thousands of starts: TestStories has some")
	}
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	storytest.RunDurable(t, func(tb testing.TB, s *storytest.Story) storytest.Start {
		emptied(tb, j)
		begun := false
		return func(world engine.Host, run func(engine.Host)) {
			var r runner.Recording
			if begun {
				r = reopen(tb, j, "run")
			} else {
				r = begin(tb, j, (&story{s}).start("run"))
			}
			begun = true
			run(r.Host(world))
			loseProcess(tb, j, r) // it does not store the end of the run
		}
	})
}

// oneByOne is for tests in which one goroutine or process waits for another.
// They have no races, and the race detector makes them ten times as long.
func oneByOne(t testing.TB) {
	if t.Helper(); racing {
		t.Skip("nothing happens at the same time")
	}
}

package journal

import (
	"path/filepath"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
)

// The journal is a host like any other.
func TestSuite(t *testing.T) {
	onFile(t)
	if testing.Short() {
		t.Skip("thousands of starts: TestStories has some")
	}
	enginetest.RunKept(t, func(tb testing.TB, s *enginetest.Story) enginetest.Start {
		file := filepath.Join(tb.TempDir(), "j.db")
		begun := false
		return func(world engine.Host, run func(engine.Host)) {
			j := journalAt(tb, file, Options{})
			defer j.Close() // the process is gone: it does not say how the run ended
			var r runner.Recording
			if begun {
				r = reopen(tb, j, "run")
			} else {
				r = begin(tb, j, (&story{s}).start("run"))
			}
			begun = true
			run(r.Host(world))
		}
	})
}

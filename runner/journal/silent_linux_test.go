package journal

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
)

// A silent server is waited for as long as one that refuses connections. Runs continue
// when the server is available again.
func TestServerSilent(t *testing.T) {
	c := serverOnly(t)
	const wait = 3 * time.Second
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{patience: wait})
	begin(t, j, runner.Start{RunID: "before"})
	var backend int64
	err := j.db.Writer.Do(func(c *stores.Conn) (err error) {
		backend, err = c.Number("SELECT pg_backend_pid()")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := func(s syscall.Signal) {
		for _, pid := range []int{c.PID(), int(backend)} {
			_ = syscall.Kill(pid, s) // a closed process ends when it wakes
		}
	}
	all(syscall.SIGSTOP)
	defer all(syscall.SIGCONT)
	for _, most := range []time.Duration{wait * 3 / 2, wait / 2} {
		began := time.Now()
		if _, err := j.Begin(runner.Start{RunID: "during"}); !errors.Is(err, runner.ErrAway) || time.Since(began) > most {
			t.Errorf("reported after %v: %v", time.Since(began), err)
		}
	}
	all(syscall.SIGCONT)
	// After a failed wait, a run waits for only a quarter of the time. A busy machine
	// may take longer to start the processes of the server again.
	_, err = j.Begin(runner.Start{RunID: "after"})
	for end := time.Now().Add(time.Minute); errors.Is(err, runner.ErrAway) && time.Now().Before(end); {
		_, err = j.Begin(runner.Start{RunID: "after"})
	}
	if err != nil {
		t.Error(err)
	}
}

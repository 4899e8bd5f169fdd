package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/runner"
)

// apart starts a child in its own namespace of process numbers.
func apart(t *testing.T, c *exec.Cmd) *exec.Cmd {
	t.Helper()
	if out, err := exec.Command("unshare", "-p", "-f", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: no namespace of process numbers can be made here: %v %s", err, out)
	}
	moved := exec.Command("unshare", append([]string{"-p", "-f", "--mount-proc"}, c.Args...)...)
	moved.Env, moved.Stderr = c.Env, c.Stderr
	return moved
}

// A process sleeps in an effect while a process in another namespace takes over
// its run. When it wakes, it makes no further effect, writes nothing and
// returns the reason. Without TakeOver the run stays with it.
func TestSleeperIsTakenOver(t *testing.T) {
	onFile(t) // see TestPausedOwner
	oneByOne(t)
	dir := t.TempDir()
	calm := filepath.Join(dir, "calm.db")
	want, err := child(t, "story", calm, 0).Output()
	if err != nil {
		t.Fatal(err)
	}
	all := lines(t, calm+".notes")
	for _, k := range []int{1, len(all) / 2, len(all)} {
		file := filepath.Join(dir, fmt.Sprintf("slept%d.db", k))
		var words bytes.Buffer
		sleeper := child(t, "story", file, k)
		sleeper.Env, sleeper.Stderr = append(sleeper.Env, stopVariable+"=1"), &words
		if err := sleeper.Start(); err != nil {
			t.Fatal(err)
		}
		defer sleeper.Process.Kill()
		asleep(t, sleeper)
		busy := apart(t, child(t, "story", file, 0))
		busy.Stderr = nil
		if out, err := busy.Output(); err == nil || !strings.Contains(string(err.(*exec.ExitError).Stderr), runner.ErrRunBusy.Error()) {
			t.Fatalf("effect %d: it was gone on with: %s %v %s", k, out, err, err.(*exec.ExitError).Stderr)
		}
		taker := apart(t, child(t, "story", file, 0))
		taker.Env = append(taker.Env, takeVariable+"=1")
		got, err := taker.Output()
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("effect %d: %v: got %s\nwant %s", k, err, got, want)
		}
		before := logRows(t, journalAt(t, file, Options{ReadOnly: true}))
		sleeper.Process.Signal(syscall.SIGCONT)
		if err := sleeper.Wait(); err == nil || sleeper.ProcessState.ExitCode() != 3 || !strings.Contains(words.String(), runner.ErrRunTaken.Error()) {
			t.Errorf("effect %d: it ended with %v: %s", k, err, words.String())
		}
		twice := slices.Insert(slices.Clone(all), k, all[k-1]) // the effect that it slept in
		if notes := lines(t, file+".notes"); !slices.Equal(notes, twice) {
			t.Errorf("effect %d: the effects were\n%s", k, strings.Join(notes, "\n"))
		}
		j := journalAt(t, file, Options{ReadOnly: true})
		if n := logRows(t, j); n != before {
			t.Errorf("effect %d: it wrote %d rows after it woke", k, n-before)
		}
		if r, err := j.Result(t.Context(), "run"); err != nil || string(compact(t, r)) != string(want) {
			t.Errorf("effect %d: kept is %s, %v", k, asJSON(t, r), err)
		}
	}
}

func compact(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

// asleep waits until a child has stopped itself.
func asleep(t *testing.T, c *exec.Cmd) {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(c.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the child did not stop: %v, %v", status, err)
	}
}

// stop stops this process until a signal wakes it.
func stop() {
	woken := make(chan os.Signal, 1)
	signal.Notify(woken, syscall.SIGCONT)
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	<-woken
}

//go:build unix

package batch_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/batch"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// childVariable contains the folder and the call at which a child process kills itself.
const childVariable = "CAPSTAN_BATCH_CHILD"

func TestMain(m *testing.M) {
	if dir, at, child := strings.Cut(os.Getenv(childVariable), "|"); child {
		n, _ := strconv.Atoi(at)
		if err := killed(dir, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// killed runs the batch of the folder and logs every call and every finished row. It kills its own
// process at the n-th call: before the answer if n is odd, and otherwise after it.
func killed(dir string, at int) error {
	notes, err := os.OpenFile(filepath.Join(dir, "notes"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	j, err := journal.Open(filepath.Join(dir, "runs.db"), journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	a := &author{asked: map[string]int{}}
	die := func(when int) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if at > 0 && a.all >= at && at%2 == when {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	counted := model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		fmt.Fprintln(notes, "call", r.Run)
		resp, err := a.Call(ctx, r)
		die(1)
		return resp, err
	})
	r, err := runner.New(runner.WithModel(counted), runner.WithJournal(j))
	if err != nil {
		return err
	}
	c, err := r.Parse("gated.yaml", []byte(gated))
	if err != nil {
		return err
	}
	set, err := batch.Open(filepath.Join(dir, "set.jsonl"))
	if err != nil {
		return err
	}
	b := &batch.Batch{Cascade: c, Dataset: set, Parallel: 4, Progress: func(o batch.Outcome) {
		fmt.Fprintln(notes, "done", o.RunID, o.Usage.Calls, o.Status)
		die(0)
	}}
	_, err = b.Evaluate(context.Background(), r, nil)
	return err
}

// A batch that is killed 50 times makes no call for a finished row.
func TestKilled(t *testing.T) {
	t.Parallel()
	const rows = 300
	kills := 50
	if testing.Short() {
		kills = 10
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "set.jsonl"), []byte(strings.Repeat(topics("an owl"), rows)), 0o600); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range kills + 1 {
		at := 1 + rng.IntN(7)
		if n == kills {
			at = 0
		}
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%d", childVariable, dir, at))
		out, err := c.CombinedOutput()
		if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); n < kills && ok && status.Signaled() {
			continue
		}
		if n < kills || err != nil {
			t.Fatalf("start %d, to die at call %d: %v\n%s", n, at, err, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "notes"))
	if err != nil {
		t.Fatal(err)
	}
	calls, done := map[string]int{}, map[string]bool{}
	for line := range bytes.Lines(text) {
		switch words := strings.Fields(string(line)); {
		case words[0] == "call" && done[words[1]]:
			t.Errorf("row %s was done, and paid for again", words[1])
		case words[0] == "call":
			calls[words[1]]++
		case words[2] != "1" || words[3] != "succeeded":
			t.Errorf("row %s has cost %s calls and %s", words[1], words[2], words[3])
		default:
			done[words[1]] = true
		}
	}
	again := 0
	for _, n := range calls {
		again += n - 1
	}
	if len(done) != rows || again > 4*kills {
		t.Errorf("%d rows are done, %d calls were made again", len(done), again)
	}
	t.Logf("%d rows, %d kills: %d calls that were in flight were made again", rows, kills, again)
}

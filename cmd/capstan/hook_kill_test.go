package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/hooks"
)

// storeWrites are the system calls that change the files of a store.
const storeWrites = "write,pwrite64,pwritev,ftruncate,fsync,fdatasync,unlink,unlinkat,rename,renameat2"

// TestHookKilled kills a hook in each of its writes, while seven others judge the same
// message. No count is lost, and the store is whole.
func TestHookKilled(t *testing.T) {
	if testing.Short() {
		t.Skip(elsewhere)
	}
	program, err := exec.LookPath("capstan")
	if err != nil {
		t.Fatal(err)
	}
	if exec.Command("strace", "-f", "-e", "trace=none", "true").Run() != nil {
		t.Skip("strace does not run, which kills a process in one of its system calls")
	}
	dir, store := hookFolder(t)
	if os.Getenv("CAPSTAN_AGENTS") != "all" {
		if out, err := killedHook(program, dir, store, 60_000); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	answered, killed, writes := 0, 0, 0
	for write := 1; ; write++ {
		var all sync.WaitGroup
		answers := make([]bool, 7)
		for i := range answers {
			all.Go(func() {
				out, err := hookProcess(program, dir, store, stopPayload(dir, "cats")).Output()
				answers[i] = err == nil && bytes.Contains(out, []byte("Refused by the gate"))
			})
		}
		out, err := killedHook(program, dir, store, write)
		all.Wait()
		for i, ok := range answers {
			if !ok {
				t.Errorf("write %d: hook %d does not refuse", write, i)
			}
		}
		if answered += len(answers); bytes.Contains(out, []byte("Refused by the gate")) {
			answered++
		}
		writes++
		if err == nil {
			break // the hook has fewer writes
		}
		killed++
	}
	checkStore(t, store, answered)
	t.Logf("%d rounds, %d hooks killed, %d answers", writes, killed, answered)
	if killed < 3 {
		t.Errorf("only %d hooks were killed", killed)
	}
}

// killedHook runs a hook that dies in one of its writes, from 1.
func killedHook(program, dir, store string, write int) ([]byte, error) {
	cmd := hookProcess(program, dir, store, stopPayload(dir, "cats"))
	inject := fmt.Sprintf("inject=%s:signal=KILL:when=%d", storeWrites, write)
	traced := exec.Command("strace", append([]string{"-f", "-qq", "-o", os.DevNull, "-e", "trace=" + storeWrites, "-e", inject}, cmd.Args...)...)
	traced.Stdin, traced.Env, traced.WaitDelay = cmd.Stdin, cmd.Env, time.Second
	return traced.Output()
}

// checkStore checks that a store is whole and has a record of each answer.
func checkStore(t *testing.T, store string, answered int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var sound string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		t.Errorf("the store: %s, %v", sound, err)
	}
	records, err := sessionRecords(t, store)
	if err != nil {
		t.Fatal(err)
	}
	seen, refusals := map[int]bool{}, 0
	for _, r := range records {
		if r.Rule != "stop-2" {
			continue
		}
		switch r.Verdict {
		case hooks.Refused, hooks.Exhausted:
			refusals++
		case hooks.Passed:
			t.Errorf("a refused message passed: %+v", r)
		}
		if seen[r.Attempt] {
			t.Errorf("attempt %d is there twice", r.Attempt)
		}
		seen[r.Attempt] = true
	}
	if refusals < answered || len(seen) < answered {
		t.Errorf("%d refusals with %d numbers for %d answers", refusals, len(seen), answered)
	}
	if verdict := hooks.Verdict(records, ""); verdict == hooks.Passed || verdict == hooks.Tampered {
		t.Errorf("the session is %s", verdict)
	}
}

package inspectors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

func TestCommands(t *testing.T) {
	dir := tree(t, map[string]string{"a.md": "x", "ok.sh": "#!/bin/sh\nexit 0\n", "e3.sh": "#!/bin/sh\nexit 3\n", "plain": ""})
	executable(t, dir, "ok.sh", "e3.sh")
	t.Setenv("CAPSTAN_SECRET", "hunter2")
	const pass, fail, blocked = request.Passed, request.Failed, request.Unreachable
	for _, c := range []struct {
		hint     string
		status   request.Status
		evidence string
	}{
		{"run: true", pass, `"true" ended with status 0`},
		{"run: false", fail, `"false" ended with status 1`},
		{"run: test -f a.md", pass, ""},
		{"run: sh -c 'echo oops >&2; exit 7'", fail, "status 7; it printed: oops"},
		{"run: sh -c 'kill -9 $$'", fail, "status 137"},
		{`run: test "a  b" = "a  b"`, pass, ""},
		{"run: ./ok.sh", pass, ""},
		{"run: ./plain", blocked, "not started"},
		{"run: ./nope.sh", blocked, "is not in the worktree"},
		{"run: no-such-program-here", blocked, "not started"},
		{`run: sh -c 'test -z "$CAPSTAN_SECRET"'`, pass, ""},
		{`run: sh -c 'test -n "$PATH"'`, pass, ""},
		{"Run `false` and succeeds", fail, ""},
		{"Run `true` and it passes.", pass, ""},
		{"Run `./e3.sh` and exits with status 3", pass, ""},
		{"Run `./ok.sh`, exits 3", fail, `"./ok.sh" ended with status 0`},
		{"Run `true | false`", blocked, "for a shell"},
		{"run: true; run: false", fail, `"true" ended with status 0; "false" ended`},
	} {
		one(t, &Inspector{AllowExec: true, Judge: never(t)}, request.Request{WorktreePath: dir}, c.hint, c.status, c.evidence)
	}
	for _, c := range []struct {
		description, hint string
		status            request.Status
	}{
		{"The build works", "Run `./ok.sh`", pass},
		{"All tests of the login pass", "Run `./ok.sh`", pass},
		{"`./ok.sh` succeeds without errors.", "Run `./ok.sh`", pass},
		{"The project builds", "Run `./e3.sh`", fail},
		{"The tests must pass", "Run `./e3.sh`", fail},
		{"`./e3.sh` exits with status 3", "Run `./e3.sh`", pass},
		{"The CLI refuses a bad flag with exit code 3", "Run `./e3.sh`", pass},
		{"`./ok.sh` exits with status 3", "Run `./ok.sh`", fail},
		{"`./ok.sh` ends with status 0", "Run `./ok.sh`", pass},
		{"The usage is printed and the exit status is told: exit 3", "Run `./e3.sh`", blocked},
		{"`./ok.sh` does not exit with status 3", "Run `./ok.sh`", blocked},
		{"It exits 3 or exits 4", "Run `./e3.sh`", blocked},
		{"Coverage is at least 80 percent", "Run `./ok.sh`", blocked},
		{"The limiter is in place", "Run `./ok.sh`", blocked},
		{"The login works", "Run `./ok.sh`", blocked},
		{"A user can pass", "Run `./ok.sh`", blocked},
		{"No tests pass", "Run `./ok.sh`", blocked},
		{"A bad flag is refused", "Run `./e3.sh`", blocked},
		{"The build fails", "Run `./e3.sh`", blocked},
	} {
		r := request.Request{WorktreePath: dir, Criteria: []request.Criterion{{ID: "1", Description: c.description, Hint: c.hint}}}
		if got := ask(t, &Inspector{AllowExec: true}, r).Results[0]; got.Status != c.status {
			t.Errorf("%s: got %s %q", c.description, got.Status, got.Evidence)
		}
	}
	one(t, &Inspector{}, request.Request{WorktreePath: dir}, "run: true", blocked, "running commands needs --allow-exec")
	one(t, &Inspector{}, request.Request{WorktreePath: dir}, "Run `true`", blocked, "running commands needs --allow-exec")
	one(t, &Inspector{AllowExec: true}, request.Request{}, "run: true", blocked, "no worktree")
	own := &Inspector{AllowExec: true, Env: []string{"A=1"}}
	one(t, own, request.Request{WorktreePath: dir}, `run: /bin/sh -c 'true'`, blocked, "outside the worktree")
	one(t, own, request.Request{WorktreePath: dir}, `run: sh -c 'test "$A" = 1 -a -n "$PATH"'`, pass, "")
}

func executable(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCommandEvidence(t *testing.T) {
	dir := tree(t, nil)
	got := ask(t, &Inspector{AllowExec: true}, request.Request{WorktreePath: dir},
		"run: echo one", "run: sh -c 'yes é | head -c 3000; exit 3'", "run: sh -c 'exit 4'").Evidence.TestResults
	if !strings.Contains(got.Command, "exit 3") || *got.ExitCode != 3 || got.Failed != nil {
		t.Errorf("got %+v", got)
	}
	if n := len([]rune(got.Output)); n != 500 || !strings.HasSuffix(got.Output, "…") {
		t.Errorf("%d characters: %q", n, got.Output)
	}
}

func TestCommandLimits(t *testing.T) {
	t.Parallel()
	dir := tree(t, nil)
	i := &Inspector{AllowExec: true, Limits: Limits{Criterion: time.Second, Bytes: 1000}}
	for hint, want := range map[string]string{
		"run: sleep 100000":                             "out of time",
		"run: sh -c 'trap : TERM; while :; do :; done'": "out of time",
		"run: head -c 1073741824 /dev/zero":             "too much output",
		"run: sh -c 'yes >&2'":                          "too much output",
	} {
		got := one(t, i, request.Request{WorktreePath: dir}, hint, request.Unreachable, want)
		if r := got.Evidence.TestResults; r.ExitCode != nil || len(r.Output) > 1500 {
			t.Errorf("%s: got %+v", hint, r)
		}
	}
}

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name, output string
		code         int
		want         string
	}{
		{"nothing", "all well\n", 0, ""},
		{"go test -v", "=== RUN TestA\n--- PASS: TestA (0.00s)\n    --- SKIP: TestA/b (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n", 1, "1 passed, 1 failed, 1 skipped"},
		{"go test", "--- FAIL: TestB (0.00s)\n    b_test.go:1: no\nFAIL\n", 1, "1 failed"},
		{"go test -json", `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"fail","Package":"p","Test":"B"}` + "\nnoise\n" + `{"Action":"pass","Package":"p"}` + "\n", 1, "1 passed, 1 failed, 0 skipped"},
		{"pytest", "...F\n==== short ====\n=== 1 failed, 3 passed, 2 skipped, 1 warning in 0.12s ===\n", 1, "3 passed, 1 failed, 2 skipped"},
		{"pytest -q", "....\n4 passed in 1.20s\n", 0, "4 passed, 0 failed, 0 skipped"},
		{"pytest error", "=== 2 errors in 0.12s ===\n", 1, "0 passed, 2 failed, 0 skipped"},
		{"no test failed, and the program did", "--- PASS: TestA (0.00s)\nFAIL\n", 1, ""},
		{"prose", "of 3 passed in 4 tries\n", 0, ""},
		{"huge", "99999999999999999999999 passed in 1.0s\n", 0, ""},
	} {
		r := request.TestResults{ExitCode: &c.code}
		count([]byte(c.output)).into(&r)
		if got := countsOf(r); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	dir := tree(t, nil)
	one(t, &Inspector{AllowExec: true}, request.Request{WorktreePath: dir},
		"run: sh -c 'echo 1 failed, 2 passed in 0.1s'", request.Failed, "status 0: 2 passed, 1 failed")
}

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
	const pass, fail, blocked = request.Pass, request.Fail, request.Blocked
	for _, c := range []struct {
		hint     string
		status   request.Verdict
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
		{"run: true | false", blocked, "for a shell"},
		{"run: ./e3.sh", fail, `"./e3.sh" ended with status 3`},
		{"run: true; run: false", fail, `"true" ended with status 0; "false" ended`},
	} {
		one(t, &Inspector{AllowExec: true, Judge: never(t)}, request.Request{WorktreePath: dir}, c.hint, c.status, c.evidence)
	}
	one(t, &Inspector{}, request.Request{WorktreePath: dir}, "run: true", blocked, "running commands needs --allow-exec")
	one(t, &Inspector{AllowExec: true}, request.Request{WorktreePath: dir}, "Run `true`", blocked, "declares no check")
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
	i := &Inspector{AllowExec: true, limits: limits{Criterion: time.Second, Bytes: 1000}}
	for hint, want := range map[string]string{
		"run: sleep 100000":                             "out of time",
		"run: sh -c 'trap : TERM; while :; do :; done'": "out of time",
		"run: head -c 1073741824 /dev/zero":             "too much output",
		"run: sh -c 'yes >&2'":                          "too much output",
	} {
		got := one(t, i, request.Request{WorktreePath: dir}, hint, request.Blocked, want)
		if r := got.Evidence.TestResults; r.ExitCode != nil || len(r.Output) > 1500 {
			t.Errorf("%s: got %+v", hint, r)
		}
	}
}

func TestCommandCounts(t *testing.T) {
	r := request.Request{WorktreePath: tree(t, nil)}
	for _, c := range []hinted{
		{"run: echo all well", request.Pass, "status 0"},
		{"run: sh -c 'echo 1 failed, 2 passed in 0.1s'", request.Fail, "status 0: 2 passed, 1 failed, 0 skipped; it printed: 1 failed"},
		{"run: sh -c 'echo Ran 3 tests in 0.1s >&2; echo \"FAILED (failures=1)\" >&2'", request.Fail, "FAILED (failures=1)"},
		{"run: sh -c 'echo Ran 3 tests in 0.1s >&2; echo OK >&2'", request.Pass, "status 0"},
		{"run: sh -c 'echo not ok 1 - x'", request.Fail, "it printed: not ok 1 - x"},
		{"run: sh -c 'echo \"--- PASS: TestA (0.00s)\"; exit 1'", request.Fail, "ended with status 1; it printed"},
		{"run: sh -c 'echo \"2 tests failed last week\"'", request.Pass, "status 0"},
		{"run: echo '?  m  [no test files]'", request.Blocked, "a run of no tests"},
		{"run: echo 'Tests run: 0, Failures: 0, Errors: 0, Skipped: 0'", request.Blocked, "a run of no tests"},
		{"run: sh -c 'seq -f \"?  m/%g  [no test files]\" 100; printf \"ok  \\tm\\t0.1s\\n\"'", request.Pass, ""},
	} {
		one(t, &Inspector{AllowExec: true}, r, c.hint, c.status, c.evidence)
	}
	got := ask(t, &Inspector{AllowExec: true}, r, "run: echo '=== 1 failed, 2 passed, 3 skipped in 0.1s ==='").Evidence.TestResults
	if *got.Passed != 2 || *got.Failed != 1 || *got.Skipped != 3 {
		t.Errorf("got %+v", got)
	}
}

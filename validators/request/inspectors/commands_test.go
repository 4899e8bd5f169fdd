package inspectors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/process"
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
		{"The CLI stops on a bad flag: exit_code 3", "Run `./e3.sh`", pass},
		{"The exit code is 3", "Run `./e3.sh`", pass},
		{"The exit code is 3", "Run `./ok.sh`", fail},
		{"`./ok.sh` exits with status 3", "Run `./ok.sh`", fail},
		{"`./ok.sh` ends with status 0", "Run `./ok.sh`", pass},
		{"The usage is printed and the exit status is told: exit 3", "Run `./e3.sh`", blocked},
		{"`./ok.sh` does not exit with status 3", "Run `./ok.sh`", blocked},
		{"It exits 3 or exits 4", "Run `./e3.sh`", blocked},
		{"Coverage is at least 80 percent", "Run `./ok.sh`", blocked},
		{"At least 5 tests pass", "Run `./ok.sh`", blocked},
		{"Fewer than three tests pass", "Run `./ok.sh`", blocked},
		{"Half of the tests pass", "Run `./ok.sh`", blocked},
		{"`./e3.sh` exits with status 0 or 3", "Run `./e3.sh`", blocked},
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
		{"pytest in colours", "\x1b[31m=== \x1b[1m1 failed\x1b[0m, \x1b[32m2 passed\x1b[0m in 0.10s ===\x1b[0m\n", 1, "2 passed, 1 failed, 0 skipped"},
		{"go test -v, all skipped", "--- SKIP: TestA (0.00s)\nPASS\nok  \tm\t0.1s\n", 0, "0 passed, 0 failed, 1 skipped"},
		{"go test, none", "?   \tm/a\t[no test files]\n?   \tm/b\t[no test files]\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"go test -run, none", "ok  \tm/a\t0.003s [no tests to run]\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"go test -run, some", "ok  \tm/a\t0.003s [no tests to run]\nok  \tm/b\t0.004s\n", 0, ""},
		{"go test, cached", "?   \tm/a\t[no test files]\nok  \tm/b\t(cached)\tcoverage: 80.0% of statements\n", 0, ""},
		{"go test -cover, none", "ok  \tm/a\t0.003s\tcoverage: 0.0% of statements [no tests to run]\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"Maven", "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0 -- in A\nTests run: 3, Failures: 1, Errors: 0, Skipped: 1 <<< FAILURE! -- in B\n[ERROR] Tests run: 5, Failures: 1, Errors: 0, Skipped: 1\n", 1, "3 passed, 1 failed, 1 skipped"},
		{"Maven, none", "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"unittest", "Ran 3 tests in 0.1s\n\nFAILED (failures=1, skipped=1)\n", 1, "1 passed, 1 failed, 1 skipped"},
		{"unittest, well", "Ran 3 tests in 0.1s\n\nOK\n", 0, "3 passed, 0 failed, 0 skipped"},
		{"unittest, none", "Ran 0 tests in 0.000s\n\nOK\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"TAP", "1..4\nok 1 - a\nnot ok 2 - b\nok 3 # SKIP no net\nnot ok 4 - c # TODO later\n", 1, "1 passed, 1 failed, 2 skipped"},
		{"node --test", "# tests 5\n# pass 4\n# fail 1\n# cancelled 0\n# skipped 0\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"node --test, none", "# tests 0\n# pass 0\n# fail 0\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"PHPUnit", "FAILURES!\nTests: 5, Assertions: 9, Failures: 1.\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"PHPUnit, well", "OK (5 tests, 9 assertions)\n", 0, "5 passed, 0 failed, 0 skipped"},
		{"jest", "Test Suites: 1 failed, 1 total\nTests:       1 failed, 5 passed, 6 total\nTime:        1.2 s\n", 1, "5 passed, 1 failed, 0 skipped"},
		{"vitest", " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 5 passed (6)\n", 1, "5 passed, 1 failed, 0 skipped"},
		{"mocha", "  5 passing (10ms)\n  1 pending\n  1 failing\n\n  1) it works:\n", 1, "5 passed, 1 failed, 1 skipped"},
		{"cargo", "running 3 tests\ntest result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\nrunning 2 tests\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n", 101, "5 passed, 1 failed, 1 skipped"},
		{"rspec", "Finished in 0.1 seconds\n5 examples, 1 failure, 1 pending\n", 1, "3 passed, 1 failed, 1 skipped"},
		{"gradle", "6 tests completed, 1 failed\n", 1, "5 passed, 1 failed, 0 skipped"},
		{"dotnet", "Failed!  - Failed:     1, Passed:     5, Skipped:     0, Total:     6, Duration: 3 ms\n", 1, "5 passed, 1 failed, 0 skipped"},
		{"GoogleTest", "[  PASSED  ] 5 tests.\n[  FAILED  ] 1 test, listed below:\n", 1, "5 passed, 1 failed, 0 skipped"},
		{"ctest", "80% tests passed, 1 tests failed out of 5\n", 8, "4 passed, 1 failed, 0 skipped"},
		{"XCTest", "Executed 5 tests, with 1 failure (0 unexpected) in 0.1 (0.2) seconds\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"bun", " 5 pass\n 1 fail\n 9 expect() calls\n", 1, "5 passed, 1 failed, 0 skipped"},
		{"Ansible", "localhost : ok=12 changed=3 unreachable=0 failed=0 skipped=2 rescued=0 ignored=0\n", 0, "12 passed, 0 failed, 2 skipped"},
		{"an import", "12400 rows updated, 0 errors, 3 skipped as duplicates\n", 0, ""},
		{"pytest, an error and a skip", "=== 1 skipped, 1 error in 0.12s ===\n", 1, "0 passed, 1 failed, 1 skipped"},
		{"a line", "3 failed\n", 1, "3 failed"},
		{"swift test", "Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.001) seconds\n✔ Test run with 5 tests in 2 suites passed after 0.012 seconds.\n", 0, "5 passed, 0 failed, 0 skipped"},
		{"swift test, one fails", "✘ Test run with 5 tests failed after 0.012 seconds with 1 issue.\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"sbt", "[error] Failed: Total 5, Failed 1, Errors 0, Passed 4\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"ScalaTest", "[info] Tests: succeeded 4, failed 1, canceled 0, ignored 0, pending 0\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"Cucumber", "5 scenarios (1 failed, 4 passed)\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"Cypress", "  │ Tests:        5    │\n  │ Passing:      4    │\n  │ Failing:      1    │\n  │ Pending:      0    │\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"cargo bench", "test result: ok. 0 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out\n", 0, "1 passed, 0 failed, 0 skipped"},
		{"Catch2, as expected", "test cases: 2 | 1 passed | 1 failed as expected\n", 0, "1 passed, 0 failed, 0 skipped"},
		{"vitest, all fail", " Test Files  1 failed (1)\n      Tests  1 failed (1)\n", 1, "1 failed"},
		{"vitest, all pass", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n", 0, "3 passed, 0 failed, 0 skipped"},
		{"vitest, a file that cannot be read", " Test Files  1 failed (1)\n      Tests  no tests\n", 1, "1 failed"},
		{"vitest, an error beside the tests", " Test Files  1 passed (1)\n      Tests  3 passed (3)\n     Errors  1 error\n", 1, "0 passed, 1 failed, 0 skipped"},
		{"vitest, all skipped", " Test Files  1 skipped (1)\n      Tests  2 skipped (2)\n", 0, "0 passed, 0 failed, 1 skipped"},
		{"vitest, no files", "No test files found, exiting with code 0\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"unittest, what was to fail did not", "Ran 3 tests in 0.1s\n\nFAILED (unexpected successes=1)\n", 1, "2 passed, 1 failed, 0 skipped"},
		{"unittest, as expected", "Ran 3 tests in 0.1s\n\nOK (expected failures=1)\n", 0, "3 passed, 0 failed, 0 skipped"},
		{"pytest, all deselected", "=== 5 deselected in 0.01s ===\n", 0, "0 passed, 0 failed, 5 skipped"},
		{"ExUnit, all excluded", "5 tests, 0 failures, 5 excluded\n", 0, "0 passed, 0 failed, 5 skipped"},
		{"nextest", "Summary [   0.012s] 4 tests run: 3 passed (1 flaky), 1 failed, 0 skipped\n", 100, "3 passed, 1 failed, 0 skipped"},
		{"deno", "FAILED | 2 passed (2 steps) | 1 failed (1 step) (2ms)\n", 1, "2 passed, 1 failed, 0 skipped"},
		{"busted", "3 successes / 1 failure / 0 errors / 0 pending : 0.01 seconds\n", 1, "3 passed, 1 failed, 0 skipped"},
		{"tape", "# tests 2\n# pass  1\n# fail  1\n", 1, "1 passed, 1 failed, 0 skipped"},
		{"JUnit's XML", `<testsuite name="x" tests="3" failures="1" errors="0" skipped="0" time="0.1">` + "\n", 1, "2 passed, 1 failed, 0 skipped"},
		{"JUnit's XML, well", `<testsuite name="x" tests="3" failures="0" errors="0" skipped="0" time="0.1">` + "\n", 0, "3 passed, 0 failed, 0 skipped"},
		{"dotnet in German", "Fehler!      : Fehler:     1, erfolgreich:     2, übersprungen:     0, gesamt:     3, Dauer: 12 ms\n", 1, "2 passed, 1 failed, 0 skipped"},
		{"no failures, and silent of the rest", "Ran 3 tests containing 5 assertions.\n0 failures, 0 errors.\n", 0, "0 failed"},
		{"colours whose mark was taken out", "[31m=== 1 failed[0m, [32m2 passed[0m in 0.12s ===\n", 1, "2 passed, 1 failed, 0 skipped"},
		{"what a test printed", `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"output","Package":"p","Test":"A","Output":"3 failed, 2 passed\n"}` + "\n", 0, "1 passed, 0 failed, 0 skipped"},
		{"Gradle, none", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 3s\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"Gradle, none in one of two", "> Task :a:test NO-SOURCE\n> Task :b:test\n\nBUILD SUCCESSFUL in 3s\n", 0, ""},
		{"TAP, none", "1..0 # SKIP no net\n", 0, "0 passed, 0 failed, 0 skipped"},
		{"lines with numbers", "listening on port 8080\nready in 3 tests\nerror 12 of 13\n200 passed along\n", 0, ""},
		{"prose", "of 3 passed in 4 tries\n", 0, ""},
		{"prove", "t/a.t (Wstat: 256 (exited 1) Tests: 3 Failed: 1)\n", 1, "2 passed, 1 failed, 0 skipped"},
		{"labels without commas", "Tests: 3 Failed: 1 Skipped: 1\n", 1, "1 passed, 1 failed, 1 skipped"},
		{"labels and a word before them", "3 Tests run: 5, Failures: 1\n", 1, "4 passed, 1 failed, 0 skipped"},
		{"huge", "99999999999999999999999 passed in 1.0s\n", 0, ""},
	} {
		r := request.TestResults{ExitCode: &c.code}
		into(&r, count(process.Output{Stdout: []byte(c.output)}))
		if got := countsOf(r); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	r := request.Request{WorktreePath: tree(t, nil)}
	for _, c := range []hinted{
		{"run: sh -c 'echo 1 failed, 2 passed in 0.1s'", request.Failed, "status 0: 2 passed, 1 failed"},
		{"run: sh -c 'echo Ran 3 tests in 0.1s >&2; echo \"FAILED (failures=1)\" >&2'", request.Failed, "status 0: 2 passed, 1 failed"},
		{"run: sh -c 'echo Ran 3 tests in 0.1s >&2; echo OK >&2'", request.Passed, "status 0: 3 passed"},
		{"run: sh -c 'echo not ok 1 - x'", request.Failed, "1 failed"},
		{"run: echo '?  m  [no test files]'", request.Unreachable, "a run of no tests"},
		{"run: echo 'Tests run: 0, Failures: 0'", request.Unreachable, "a run of no tests"},
		{"run: sh -c 'seq -f \"?  m/%g  [no test files]\" 100; printf \"ok  \\tm\\t0.1s\\n\"'", request.Passed, ""},
	} {
		one(t, &Inspector{AllowExec: true}, r, c.hint, c.status, c.evidence)
	}
}

package request_test

import (
	"os"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators/request"
)

// What runners of tests print bears out a PASS where tests ran and none failed, be
// it told as evidence or as a command's output. Of testdata/runners.txt each part
// begins with "@@", what the run is, and its name.
func TestRunners(t *testing.T) {
	outputs(t, "runners.txt", func(run, name, output string) {
		tally := request.Tests(output)
		collected := judged(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"test_results": object{"command": "t", "exit_code": 0, "output_snippet": output}}}))
		told := judged(t, with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": output}}}))
		switch run {
		case "passes":
			if !told.Valid || !collected.Valid || tally.Failed > 0 || tally.None() {
				t.Errorf("%s: %+v, %s; %s", name, tally, told.Reason, collected.Reason)
			}
		case "fails":
			if told.Valid || collected.Valid {
				t.Errorf("%s passes: %s; %s", name, told.Reason, collected.Reason)
			}
		case "none":
			if collected.Valid || !tally.None() && tally.Failed == 0 {
				t.Errorf("%s passes: %+v", name, tally)
			}
		default:
			t.Errorf("%s is %q", name, run)
		}
	})
}

// What linters, scanners, compilers, databases and the like print bears out a PASS
// where it tells of no failure.
func TestTools(t *testing.T) {
	outputs(t, "tools.txt", func(run, name, output string) {
		j := judged(t, with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": output}}}))
		if j.Valid != (run == "passes") {
			t.Errorf("%s, which %s: %s", name, run, j.Reason)
		}
	})
}

func outputs(t *testing.T, file string, each func(run, name, output string)) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range strings.SplitSeq("\n"+string(text), "\n@@ ") {
		if head, output, found := strings.Cut(part, "\n"); found && head != "" {
			run, name, _ := strings.Cut(head, " ")
			each(run, name, output)
		}
	}
}

func judged(t *testing.T, response any) request.Judgement {
	t.Helper()
	return request.Judge(asked(t, ask("a")), answered(t, response), request.Options{})
}

// Of tests sentences are read, too, with counts in words, and in other languages:
// those that say of some that they fail now, and no others.
func TestSentencesOnTests(t *testing.T) {
	for good, list := range map[bool][]string{false: {
		"Two tests failed.",
		"I ran the suite: two tests failed",
		"I ran the suite, 2 tests failed.",
		"I ran the suite and two tests failed, the rest pass.",
		"Ten passed, two failed",
		"ten tests passed but two failed",
		"One of the tests fails.",
		"All but one of the tests pass",
		"All tests pass except two",
		"11 of 12 tests pass",
		"eleven of twelve tests pass",
		"11 out of 12 passed",
		"Most tests pass, three still fail",
		"one test is failing",
		"three tests are still failing",
		"Some tests failed.",
		"A test fails, but it is flaky",
		"2 tests have failed",
		"45 tests, two failures",
		"45 passed but 2 failed",
		"45 tests passed and 2 tests failed",
		"10 Tests bestanden, 2 fehlgeschlagen",
		"2 Tests sind fehlgeschlagen",
		"Zwei Tests schlagen fehl",
		"10 tests réussis, 2 échoués",
		"2 tests ont échoué",
		"deux tests échouent",
		"10 pruebas pasaron, 2 fallaron",
		"dos pruebas fallan",
		"Échec! - échec : 1, réussite : 4, ignorée(s) : 0, total : 5, durée : 3 ms",
		"Con error! - Con error: 1, Superado: 4, Omitido: 0, Total: 5, Duración: 3 ms",
		"The run: 45 tests (2 failed)",
		"Tests failed: 2",
		"failed tests: 2, passed tests: 43",
		"43 passing, 2 failing",
		"The suite is red: 2 tests fail",
		"two out of twelve tests failed",
		"2 failing tests",
		"3 failed tests, 42 passed",
		"pytest -q => 2 failed",
		"pass: 43 fail: 2",
		"pass=43 fail=2",
		"✗ 2 failed, ✓ 43 passed",
		"The tests fail.", "Tests are failing", "all tests fail", "the unit tests do not pass", "the tests do not compile", "the build is broken", "the suite fails", "TestLogin fails", "TestLogin failed: want 401, got 200", "test_login fails",
		"The tests time out.", "The test suite crashes on start.", "The tests hang.", "CI is red.", "The pipeline failed at the test stage.", "The build failed with 3 errors.", "lint fails with 12 errors", "3 of the 12 scenarios are red", "9/12 tests green",
		"Not all tests pass.", "All tests pass except for TestLogin.", "TestLogin: FAIL", "Status: failed", "Verdict: FAIL", "The criterion is not met: the hash is compared in plain text.", "This is not implemented yet.",
		"78 passed. test_timezone is failing but it was failing before my change.", "Everything green except for test_export, which needs network access", "Pipeline #4411 failed in 3 minutes 4 seconds", "Not yet implemented; stubbed in search.py:88",
		"77 von 79 Tests bestanden, die zwei übrigen sind bekannt", "77 sur 79 tests réussis", "77 de 79 pruebas superadas", "2 tests échouent mais ils ne sont pas liés à cette tâche", "Fallan dos pruebas, pero no tienen relación", "有 2 个测试失败，但与本次修改无关", "79件中77件成功、2件失敗", "2 теста упали, но они не связаны с задачей",
		"Run 1832: build ✓, test (3.11) ✓, test (3.12) ✗", "| job | result |\n|---|---|\n| build | success |\n| test | failure |", "X main CI · 123\n  ✓ build in 40s\n  X test in 1m2s", `{"conclusion": "failure", "status": "completed"}`,
		"Die Tests schlagen fehl", "les tests échouent", "las pruebas fallan", "FAILED", "go test ./login: FAIL login 0.3s",
	}, true: {
		"TestLogin failed before the fix but it passes now", "12 von 12 Tests bestanden", "12 sur 12 tests réussis", "12 de 12 pruebas superadas", "0 个测试失败，12 个通过", "12件すべて成功、失敗0件", "12 тестов пройдено, 0 упало", "登录失败3次后锁定账户，见 login.go:44", "上传失败 2 次后成功", "После 3 неудачных попыток запрос отклонён: 429",
		"The matrix is as designed: read: admin ✓, guest ✗", "build ✓, lint ✓, deploy skipped", "conclusion is one of success, failure and neutral", "X is handled in x.go:12", "Not implemented yet by others: see the table in docs/x.md",
		"The pipeline failed on main before the fix; on this branch it is green (45 passed).", "No test crashes any more: 45 passed.", "12/12 tests green", "The build is green, 0 errors, 2 warnings.", "CI is not red any more: 45 passed",
		`The status page shows "CI is red" in the fixture, as the mock has it.`, "The menu has the items:\n- Open\n- × Close", "expect(received).toBe(expected) is what jest prints; login.test.ts has 12 passed tests", "a red button times out after 5 s and shows the test page",
		"The docs list the exit codes: 0 success, 1 failure, 2 usage", "The 2 failing tests from the ticket now pass (45 passed)", "Expected 2 failures in the fixture run and got 2 failures; our own suite: 12 passed",
		"Lighthouse: 12 of 14 audits passed, performance 96", "The gate refuses a PR whose tests fail", "The test suite fails fast (-x) as configured in pytest.ini:4", "[ERROR] is printed in red and [INFO] in grey, see logger.go:12",
		"The tests do not fail", "If the guard is removed, the tests fail", "I removed the guard: the tests fail. With it 12 pass", "TestLogin fails without the fix and passes with it",
		"TestLoginFailed and TestErrorPage pass", "12 passed; I did not run the integration tests, which are not asked for", "the build does not fail on warnings any more, see Makefile:3", "login fails with 401 and {\"error\": \"invalid\"}",
		"A test that fails is told by name, see out.go:12", "The tests failed on main, which is why the fix was made; on this branch 12 pass",
		"docs/ci.md says in section 3 that a Task :test FAILED line is coloured red",
		"The settings page > Log shows ERROR lines in red, as the mock has it.",
		"The endpoint lists 3 jobs: 1 queued, 1 running, 1 done.",
		"The table has 5 columns and 3 errors are shown in the tile with their dates.",
		"After two failed attempts the third login is accepted; 12 passed, 0 failed.",
		"Attempt 1 of 3 failed, attempt 2 of 3 succeeded: the retry works as the fixture wants; log line 44.",
		"Step 1 of 3 passed, step 2 of 3 passed, step 3 of 3 passed.",
		"retry.go:44: on try 1 of 3 failed requests are put back, see TestRetry",
		"All twelve tests pass.",
		"No tests failed; twelve passed.",
		"None of the 12 tests failed",
		"None failed: 12 passed in 0.3s",
		"0 of 45 tests failed",
		"Zero tests failed, forty passed",
		`The banner says "2 tests failed" for the fixture with two red tests, as the mock has it`,
		"TestBanner renders '1 failed' and '2 passed' for the sample run",
		"Two tests failed before the fix; now all 12 pass.",
		"Before this change one test failed. After it: 12 passed, 0 failed",
		"At first two tests failed, since the migration was missing; after I ran it all 12 pass.",
		"Initially 1 test failed; with the seed in place 12 tests pass.",
		"I mutated the guard and one test failed, as it should; with the guard 12 pass.",
		"Error 404, test 3 and test 4 of handler_test.go cover it",
		"The compiler makes 2 passes and 3 runs of each example",
		"12 tests, 3 invalid inputs each, all refused with 422",
		"README says that 2 of 3 nodes must agree; quorum_test.go line 12 holds",
		"1 of 3 replicas failing is tolerated: the cluster stays up (curl answers 200)",
		"Tests 1 to 5 of login_test.go cover it",
		"tests/test_login.py E2E block, lines 3-20",
		"Failed tests: 0",
		"Failed tests: none; passed: 12",
		"Result: 12 passed, errors: 0",
		"[info] 12 tests passed",
		`The importer reports "10 rows (2 failed)" for the sample with two broken rows`,
		"The report has | PASS | for all 12 keywords",
		"Changed FAILED to BLOCKED in status.go line 12",
		`grep shows status.go:12 const Failed = "FAILED"`,
		`curl /jobs/7 shows {"state":"FAILED","retry":true}, the state machine of docs/jobs.md`,
		"ls shows: src > login > handler.go, 120 lines",
		"Line 12 of deploy.yml retries 3 times, test 2 failed 0 times",
		"5 tests (2 skipped on Linux), 0 failures",
		"Ran 6 tests (2 skipped): all passed",
		"The summary line of the CLI is `Total 5, Failed 1, Errors 0`, as in the golden file",
		"Chrome 90.0 (Linux) opens the page; no errors in the console",
		"12 scenarios (12 passed), 40 steps (40 passed)",
		"3 workflows run, 2 with cache, 1 without; each ends with status 0",
		"The first test failed on purpose in the fixture repository, and the gate refused it",
		"if two tests fail the script exits 1 (read in run.sh line 8)",
		"Version one passed through the proxy",
		"The page has a counter; one passed query is shown at a time",
		"Alle 12 Tests bestanden, 0 fehlgeschlagen",
		"Les 12 tests passent, aucun échec",
		"Las 12 pruebas pasan, 0 fallos",
		"12 tests réussis, 0 échec",
		"Total 12, bestanden 12, fehlgeschlagen 0",
		"Kein Test ist fehlgeschlagen",
	}} {
		for _, s := range list {
			j := judged(t, with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": s}}}))
			if j.Valid != good {
				t.Errorf("%q: %s", s, j.Reason)
			}
		}
	}
}

// Other programs fail in forms of their own; what is said of errors has none.
func TestOtherFailures(t *testing.T) {
	for good, list := range map[bool][]string{false: {
		"Exit code: 1",
		"Process finished with exit code 1",
		"npm test exited with code 1",
		"node app.js: TypeError: x is not a function",
		"ReferenceError: x is not defined",
		`Exception in thread "main" java.lang.NullPointerException`,
		"KeyError: 'user'",
		"ImportError: cannot import name 'x' from 'y'",
		"curl: (7) Failed to connect to localhost port 8080: Connection refused",
		"dial tcp 127.0.0.1:5432: connect: connection refused",
		"bash: ./run.sh: No such file or directory",
		"bash: ./run.sh: Permission denied",
		"fatal: not a git repository (or any of the parent directories): .git",
		"go: cannot find main module",
		"./main.go:12:3: undefined: foo",
		"# example.com/x\n./main.go:12:3: undefined: foo",
		`ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2`,
		"##[error]Process completed with exit code 1.",
		"Error: Process completed with exit code 1.",
		"ERROR: Job failed: exit code 1",
		"error Command failed with exit code 2.",
		"sh: 1: jest: not found",
		"'jest' is not recognized as an internal or external command",
		"Traceback:\nNameError: name 'x' is not defined",
		"E   assert 200 == 401",
		">       assert r.status_code == 401\nE       assert 200 == 401",
		"AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:",
		"login_test.go:12: got 200, want 401",
		"    --- FAIL: TestLogin/wrong_password (0.00s)",
		"panic: test timed out after 10m0s",
		"BUILD FAILED in 3s",
		"[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.0.0:test",
		"FAILED: //app:login_test",
		"error: linking with `cc` failed: exit status: 1",
		"ld: symbol(s) not found for architecture arm64",
		"undefined reference to `foo'",
		"TestCafe: 2/14 failed",
		"ruff: Found 3 errors.",
		"would reformat app.py\n1 file would be reformatted, 2 files would be left unchanged.",
		`Error: Timed out waiting for element "#login"`,
		"TimeoutError: page.click: Timeout 30000ms exceeded.",
		"HTTP/1.1 500 Internal Server Error",
		"Tests: 12 total, 10 passed, 2 failed",
		"83% of the tests pass",
		"test_login ... FAIL",
		"test_login (tests.LoginTest) ... ERROR",
		"× refuses a wrong password 12ms",
		"● Login › refuses a wrong password",
		"Unhandled exception. System.NullReferenceException: Object reference not set",
		"RuntimeError: CUDA out of memory",
		"thread 'main' panicked at 'index out of bounds'",
		"** (RuntimeError) boom",
		"PHP Fatal error:  Uncaught Error: Call to undefined function",
		"NoMethodError: undefined method `x' for nil",
		"rake aborted!",
		"make: *** [Makefile:3: test] Error 1",
		"mvn test: There are test failures.",
		"pass 10 / fail 2",
		"Failures: 2",
		"curl: (22) The requested URL returned error: 500",
		`report.json: {"passed": 10, "failed": 2, "total": 12}`,
		"Passed 10, Failed 2",
		"error TS2345: Argument of type 'string' is not assignable", "Found 1 error in src/a.ts:12", "Found 2 errors in the same file, starting at: src/a.ts:12", "WARNING - Doc file 'a.md' contains a link 'b.md'\nAborted with 1 warnings in strict mode!", "Required test coverage of 80% not reached. Total coverage: 76.31%",
		"app-1 Restarting (1) 3 seconds ago", "app-1   Up 2 minutes (unhealthy)", "< HTTP/1.1 503 Service Unavailable",
	}, true: {
		"app-1   Up 2 minutes (healthy)", "< HTTP/1.1 200 OK", "Required test coverage of 80% reached. Total coverage: 86.31%", "Found 0 errors in src/a.ts", "unhealthy pods are restarted within 10 s, see the events",
		"Ran `npm test` locally: Test Suites: 12 passed, 12 total; Tests: 84 passed, 84 total.",
		"CI run #482 is green: lint, unit (312 passed), e2e (41 passed, 3 flaky retried).",
		"validation-workflow.md contains 'On-Demand Validation Teammate' section with Task spawn pattern including team_name and name parameters",
		`auth.ts:88 throws UnauthorizedError if the token is missing; covered by auth.test.ts "rejects missing token" (✓ 4 ms)`,
		"The retry loop tries 3 times (retry.ts:20); in the test the first two calls fail and the third returns 200.",
		"Queue dashboard shows Completed: 10, Failed: 0 after the run.",
		"kubectl get pods: 3/3 running, 0 failed",
		"ansible: ok=12 changed=3 unreachable=0 failed=0",
		"PLAY RECAP: localhost : ok=12 changed=3 unreachable=0 failed=0 skipped=2 rescued=0 ignored=0",
		"terraform plan: 0 to add, 0 to change, 0 to destroy",
		"eslint: 0 errors, 3 warnings",
		"tsc --noEmit prints nothing, exit code 0",
		"Found 0 errors in 12 files",
		"mypy: Success: no issues found in 12 source files",
		"cargo clippy: 0 warnings; test result: ok. 45 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out",
		"Benchmarks: 3 runs, 2 warmups, mean 120 ms",
		"Coverage: 312 of 340 statements (91%), above the 80% threshold",
		"4 of 5 replicas answered within 10 ms, the fifth within 12 ms; the limit is 50 ms",
		"Lighthouse: 12 of 14 audits passed, performance 96; the criterion asks for 90",
		`Screenshots home.png and login.png show the form with the error "Wrong password"`,
		"git log shows 3 commits, the last one reverts the broken migration; 12 tests pass",
		"The migration ran on staging: 12,400 rows updated, 0 errors, 3 skipped as duplicates",
		"import.log: total 120, imported 118, skipped 2",
		"Import finished: 118 succeeded, 2 skipped",
		`status.json: {"passed": 12, "failed": 0}`,
		`GET /queue answers {"completed": 10, "failed": 2, "total": 12}`,
		"TestRetry/first_call_fails and TestRetry/second_call_fails pass",
		"handler_test.go has 12 cases, 3 of them for failed logins, all pass",
		`A failed login writes "login failed" to the audit log, see audit.log line 3`,
		`With the flag off the page shows "2 tests failed" in red as designed in Figma`,
		"Sentry shows no new events after the deploy; 5xx rate 0 of 12,000 requests",
		`curl -i /health → HTTP/1.1 200 OK {"status":"ok","failed":0}`,
		"make lint && make test ended with exit code 0; see build.log",
		"Playwright: 41 passed (1.2m), 2 skipped",
		"I stopped the database, the health endpoint went to 503, and back to 200 when it was up again.",
		"The old test was removed since the API is gone; the rest of the suite passes (88 passed).",
		"Not a single failing spec: 41 specs, 0 failures",
		"Suite is green on main and on this branch (run 4711)",
		"A broken link checker run: 320 links, 0 broken",
		"Test plan: 1. open /login 2. type a wrong password 3. see the error. All steps done, see shots/.",
		"Tests 3 and 4 were merged into one; 11 passed",
		"Errors 1 to 4 of the table are documented in errors.md",
		"Tested on Chrome 120.0 (Linux), Firefox 121.0 (Linux) and Safari 17 (macOS): the menu opens",
		"[info] server listening on 8080",
		"[ERROR] is printed in red and [INFO] in grey, see logger.go:12",
		"pipeline.yml > build > test has `continue-on-error: false`",
		"Chapter 2 > Section 3 names the state FAILED (and four others)",
		"nightly: Executed 312 of 312 SUCCESS (4.1 secs / 3.9 secs)",
		"The test run with 5 workers passed after 12 minutes",
		"We measured 3 runs: 12 ms, 13 ms, 12 ms",
		"Pass rate 100%: 12/12",
		"12/12 passed",
		"12 of 12 tests pass, 0 fail",
		"3 tests were failing on main; after the fix: 45 passed, 0 failed",
		"Fixes the 2 failing tests of #812: 45 passed in 3.2s",
		"The 2 failing tests from the ticket now pass (45 passed)",
		"Two tests that failed in CI are fixed: run 4712 has 45 passed",
		"Issue #12 (1 test failed on Windows) does not occur any more: windows-latest 45 passed",
		`When 2 tests fail the reporter prints "2 failed" and exits 1 (reporter.test.ts, 9 passed)`,
		"The gate refuses a PR whose tests fail",
		`Checked that the build fails when a test fails: see ci.yml, step "test"`,
		"Table of the docs: | Status | Meaning | ... | FAIL | not met |",
		"No build is broken: 4 of 4 targets built",
		"all 3 packages build and 12 tests pass",
		"The test suite fails fast (-x) as configured in pytest.ini:4",
		"rspec ./spec/login_spec.rb:4 passes: 1 example, 0 failures",
		"Ran rspec ./spec/login_spec.rb:4 # 1 example, 0 failures",
		"0 failing, 12 passing",
		"Failures: 0, Errors: 0, Tests run: 12",
		"Failed: none. Passed: 12",
		"No failed tests, 12 passed tests",
		"Expected 2 failures in the fixture run and got 2 failures; our own suite: 12 passed",
		"I deliberately broke the hash compare and 1 test failed, then restored it and all 12 pass.",
		"The log of the last failing build (before this PR) is linked; the current build is green: 45 passed",
		"handles errors: 3 unit tests (invalid, missing, expired) pass",
		"12 passed, 1 xfailed (known upstream bug, not part of this)",
		`The job ended with status 0 and printed "done, 0 errors"`,
		"users.csv has 120 rows; 118 valid, 2 invalid, as the summary on the page says",
		`grep -c TODO src → 0; grep -rn "FAILED" src → 0`,
		"Error handling: see errors.go:12", "The page shows Error: wrong password below the field, see shots/login.png", "errors.py has a new class ValidationError: see line 12", "docs/x.go:12:3: error handling was added",
		"login_test.go:12 wants 401 and gets it", "The old answer was HTTP/1.1 500, now it is HTTP/1.1 200", "black: 12 files would be left unchanged.", "×3 faster than before, 12 ms", "E2E   suite: 12 passed",
		"TypeError: x is not a function\n  logged by the test of a bad plugin\n12 passed, 0 failed",
	}} {
		for _, s := range list {
			j := judged(t, with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": s}}}))
			if j.Valid != good {
				t.Errorf("%q: %s", s, j.Reason)
			}
		}
	}
}

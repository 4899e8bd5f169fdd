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
	text, err := os.ReadFile("testdata/runners.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "@@ ")[1:] {
		head, output, _ := strings.Cut(part, "\n")
		run, name, _ := strings.Cut(head, " ")
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
		"Die Tests schlagen fehl", "les tests échouent", "las pruebas fallan", "FAILED", "go test ./login: FAIL login 0.3s",
	}, true: {
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

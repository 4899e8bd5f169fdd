package request_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/validators/request"
)

// Evidence that shows nothing is none, however it is spelt.
func TestHollowEvidence(t *testing.T) {
	for _, s := range []string{
		"", " \n", "\u200b\u200d\ufeff", "\u00a0\u2003", "\u3164\u115f", "\u2800", "\u00ad", "\u202e\u2066", "\U000e0041", "\u0301\u0301",
		"-", "—", "…", "...", "?", "✅", "👍", "[]", "{}", "\"\"", "`` ``", "***", "| |",
		"n/a", "N/A", "n.a.", "(N / A)", "[n/a]", "**N/A**", "`n/a`", "<n/a>", "na", "not applicable", "Not available.", "none", "None.", "NONE", "[none]", "\"none\"", "nil", "null", "undefined", "nothing",
		"TODO", "todo:", "TO DO", "[TODO]", "tbd", "T.B.D.", "TBC", "FIXME", "pending", "placeholder", "lorem ipsum", "<evidence>", "evidence here", "insert evidence here",
		"ok", "OK!", "O.K.", "okay", "yes", "y", "true", "pass", "PASSED", "done", "Done.", "✅ done", "good", "fine", "works", "It works!", "works as expected", "LGTM", "looks good to me", "all good", "verified", "Checked and verified.", "confirmed", "criterion met",
		"Everything works correctly.", "Implemented as requested", "Meets the requirement.", "Implementation verified", "Manually verified.", "Status: PASS", "A: PASS", "not verified", "Not tested", "I could not run the tests", "The tests could not be run, since docker is missing.", "I couldn't run the test suite here.", "I was unable to run the tests in this environment.", "I did not run the tests.", "Tests were not run.", "Not run.",
		"The tests have not been executed, but the code looks right.", "The test suite cannot be executed in this sandbox; by reading the code it holds.", "Unable to execute the test suite: no network.", "Ich konnte die Tests nicht ausführen.", "Je n'ai pas pu exécuter les tests.", "No pude ejecutar las pruebas.", "unable to verify", "I assume that it works", "should work",
		"I can't verify this directly since I don't have access to a running instance.", "Unable to verify: the service is not running.", "Could not verify — port 8080 not responding", "This could not be verified in the sandbox.", "I haven't verified this yet.", "We were unable to verify it because staging is down.", "I did not have time to test this, but it is a small change.", "Cannot verify without credentials",
		"Skipped: needs manual verification", "Needs manual testing.", "To be verified in staging", "Will be tested after deployment.", "Not verifiable in this environment.", "Out of scope for automated validation.", "I assume this works as the code was copied from the old module", "Assumed to work since the library handles it.",
		"Konnte nicht geprüft werden, da kein Docker vorhanden.", "No se pudo verificar porque el servicio está caído.", "Impossible de vérifier sans accès au serveur.", "无法验证：服务未启动。", "環境がないため確認できません。", "Не удалось проверить: сервис недоступен.", "Nicht getestet, sollte aber gehen.",
		"tried it, works", "works on my machine", "yep tested on my machine, all good 👍", "did it, pls merge", "see PR", "merged", "It has been implemented according to the specification.", "The feature has been successfully implemented and thoroughly tested.", "All acceptance criteria are met. The implementation is complete and production-ready.",
		"Verified by code inspection.", "Code review confirms correct implementation.", "I've reviewed the implementation thoroughly and am confident it meets the acceptance criterion.", "Deployed to production", "Holds as expected: A",
		"Verified: it holds that A", "I verified that it holds that a.", "a: it holds that a - works as expected", "It holds that a ✅",
		"Geprüft und in Ordnung.", "Alles erfüllt.", "Ja, funktioniert.", "Oui, c'est fait.", "Tout fonctionne.", "Sí, funciona correctamente", "Todo bien", "Tutto ok", "Tudo certo",
		"see above", "See above.", "(see above)", "see below", "as above", "ditto", "same as above", "see attached", "trust me", "no evidence", "self-evident", "obviously",
		"n\u200b/\u200ba", "nоne", "ＮＯＮＥ", "N\u00ado\u00adne",
		"keine", "entfällt", "siehe oben", "s.o.", "erledigt", "k. A.", "aucune", "sans objet", "voir ci-dessus", "ninguna", "ver arriba", "nessuno", "nenhum", "geen", "нет", "см. выше", "готово", "无", "同上", "なし", "없음",
	} {
		given := answer("PASS", "a", "PASS")
		given["criteria_results"] = []any{object{"criterion_id": "a", "status": "PASS", "evidence": s}}
		j := request.Judge(asked(t, ask("a")), answered(t, given), request.Options{})
		if j.Effective != request.Blocked || !slices.Contains(j.Flags, request.MissingEvidence) {
			t.Errorf("%q: %s %q", s, j.Effective, j.Flags)
		}
	}
	short := ask("a")
	short["acceptance_criteria"] = []any{object{"id": "a", "description": "The status is 401"}}
	if j := request.Judge(asked(t, short), answered(t, with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": "401"}}})), request.Options{}); !j.Valid {
		t.Errorf("what was seen is no evidence: %s", j.Reason)
	}
	repeated := answer("PASS", "a", "PASS")
	repeated["criteria_results"] = []any{object{"criterion_id": "a", "status": "PASS", "evidence": "It holds that a."}}
	if j := request.Judge(asked(t, ask("a")), answered(t, repeated), request.Options{}); j.Effective != request.Blocked {
		t.Errorf("the criterion itself is evidence: %s", j.Reason)
	}
	for said, good := range map[string]bool{
		"The login functionality works correctly as expected.": false, "Login and logout successfully implemented": false, "Logout, login: verified": false,
		"login, logout: 2 requests verified": true, "logout clears the cookie": true, "login, then logout": true,
	} {
		asks := ask("a")
		asks["acceptance_criteria"] = []any{object{"id": "a", "description": "Login works, and so does logout"}}
		given := with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": said}}})
		if j := request.Judge(asked(t, asks), answered(t, given), request.Options{}); j.Valid != good {
			t.Errorf("%q: %s", said, j.Reason)
		}
	}
	for _, s := range []string{"x", "401", "seen a", "none of the tests fail", "12 passed", "I could not run the tests; login.go:12 compares the hash", "12 passed; I did not run the integration tests, which are not asked for", "The user could not run the tests from the menu while one was running: the button is grey", "I could not verify the tablet layout; desktop and phone are fine: shots/desk.png", "I could not reproduce the crash with 1000 inputs", "The server could not verify the token and answered 401", "It could not be verified twice: the second click shows 'already verified'", "Skipped rows: 0 of 1200", "Skipped: 0, passed: 12", "Not implemented endpoints answer 501", "Assumed role arn:aws:iam::1:role/x, the call answers", "Will be validated by zod in form.ts:12", "reviewed by ann in #12, 2 approvals", "The checkbox can't be checked, as it is disabled", "fixed in abc1234", "it holds that a: line 3", "manually verified at line 3", "the code is gone", "status 401", "funktioniert mit Firefox", "a.go:12", "POST /login answers 401", "it is there", "見た: 401", "Проверил файл a.go", "ok  	example.com/login	0.3s"} {
		given := answer("PASS", "a", "PASS")
		given["criteria_results"] = []any{object{"criterion_id": "a", "status": "PASS", "evidence": s}}
		if j := request.Judge(asked(t, ask("a")), answered(t, given), request.Options{}); j.Effective != request.Pass {
			t.Errorf("%q: %s", s, j.Reason)
		}
	}
}

// picture is an image of a size, with something in it.
func picture(width, height int, encode func(*bytes.Buffer, image.Image) error, blank bool) string {
	m := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	if !blank {
		for i := range min(width, height) {
			m.SetColorIndex(i, i, 1)
		}
	}
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		panic(err)
	}
	return b.String()
}

func asPNG(b *bytes.Buffer, m image.Image) error  { return png.Encode(b, m) }
func asJPEG(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }
func asGIF(b *bytes.Buffer, m image.Image) error  { return gif.Encode(b, m, nil) }

// A screenshot is a picture that shows something.
func TestScreenshotsAreImages(t *testing.T) {
	whole := picture(640, 480, asPNG, false)
	webp, err := base64.StdEncoding.DecodeString("UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAwA0JaQAA3AA/vuUAAA=")
	if err != nil {
		t.Fatal(err)
	}
	point := string(webp)
	for name, c := range map[string]struct {
		content string
		good    bool
		why     string
	}{
		"png":             {whole, true, ""},
		"jpeg":            {picture(640, 480, asJPEG, false), true, ""},
		"gif":             {picture(640, 480, asGIF, false), true, ""},
		"empty":           {"", false, "there is none"},
		"a text":          {"a picture of a login page", false, "no image"},
		"html":            {"<html><body>login</body></html>", false, "no image"},
		"svg":             {"<svg xmlns='http://www.w3.org/2000/svg'/>", false, "no image"},
		"the header":      {whole[:40], false, "image"},
		"cut off":         {whole[:len(whole)/2], false, "image"},
		"one point":       {picture(1, 1, asPNG, false), false, "1×1"},
		"one point, webp": {point, false, "1×1"},
		"a line":          {picture(600, 1, asPNG, false), false, "600×1"},
		"of one colour":   {picture(640, 480, asPNG, true), false, "one colour"},
		"one colour, gif": {picture(64, 48, asGIF, true), false, "one colour"},
		"one colour, jpg": {picture(64, 48, asJPEG, true), false, "one colour"},
	} {
		root := t.TempDir()
		if err := os.WriteFile(filepath.Join(root, "a.png"), []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		given := answered(t, with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"screenshots": []any{object{"path": "a.png"}, object{"path": "./a.png"}}}}))
		j := request.Judge(asked(t, with(ask("a"), object{"validation_type": "browser"})), given, request.Options{Root: root})
		if (j.Effective == request.Pass) != c.good || !strings.Contains(j.Reason, c.why) {
			t.Errorf("%s: %s %s", name, j.Effective, j.Reason)
		}
		if c.good && name != "gif" && name != "jpeg" {
			if len(j.Notes) == 0 || !strings.Contains(j.Notes[0].Message, "640×480") {
				t.Errorf("%s: its size is not told: %v", name, j.Notes)
			}
		}
	}
}

// Evidence of a failure does not bear out a PASS, and a run of no tests shows
// nothing.
func TestContraryWords(t *testing.T) {
	evidence := func(s string) object {
		return with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": s}}})
	}
	collected := func(o object) object {
		return with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"test_results": o}})
	}
	files := func(o object) object {
		return with(answer("PASS", "a", "PASS"), object{"evidence_collected": object{"file_checks": []any{o}}})
	}
	for name, c := range map[string]struct {
		given object
		flag  request.Flag // "" is a PASS
	}{
		"a console's error":             {evidence("Console: Uncaught TypeError: x is undefined"), request.ContraryEvidence},
		"a traceback":                   {evidence("Traceback (most recent call last):\n  File \"a.py\""), request.ContraryEvidence},
		"a panic":                       {evidence("ran it: panic: runtime error: index out of range"), request.ContraryEvidence},
		"failed tests":                  {evidence("pytest: 3 failed, 12 passed"), request.ContraryEvidence},
		"a test that fails":             {evidence("--- FAIL: TestLogin (0.00s)"), request.ContraryEvidence},
		"an exit code":                  {evidence("make check: exit code 2"), request.ContraryEvidence},
		"nothing listens":               {evidence("curl: connection refused (ECONNREFUSED)"), request.ContraryEvidence},
		"a sentence on it":              {evidence("the command ended with exit code 2"), request.ContraryEvidence},
		"an exit code in brackets":      {evidence("ran make check (exit status 2)"), request.ContraryEvidence},
		"a failed command":              {evidence("error Command failed with exit code 1."), request.ContraryEvidence},
		"JUnit's":                       {evidence("Tests run: 5, Failures: 2, Errors: 0"), request.ContraryEvidence},
		"unittest's":                    {evidence("Ran 3 tests in 0.1s; FAILED (failures=1)"), request.ContraryEvidence},
		"TAP's":                         {evidence("1..2\nnot ok 1 - x\nok 2 - y"), request.ContraryEvidence},
		"PHPUnit's":                     {evidence("FAILURES! Tests: 5, Assertions: 9, Failures: 1."), request.ContraryEvidence},
		"a list in a sentence":          {evidence("ran pytest and got 3 failed, 12 passed"), request.ContraryEvidence},
		"failed tests alone":            {evidence("pytest: 3 tests failed."), request.ContraryEvidence},
		"go's package":                  {evidence("FAIL\texample.com/a\t0.1s"), request.ContraryEvidence},
		"jest's file":                   {evidence("FAIL src/a.test.js"), request.ContraryEvidence},
		"in colours":                    {evidence("\x1b[31m--- FAIL: TestLogin\x1b[0m"), request.ContraryEvidence},
		"a compiler's errors":           {evidence("cc: 2 errors generated."), request.ContraryEvidence},
		"a crash":                       {evidence("sh: line 1: 7 Segmentation fault (core dumped) ./a"), request.ContraryEvidence},
		"no such command":               {evidence("sh: foo: command not found"), request.ContraryEvidence},
		"go test -json's":               {evidence(`{"Time":"2026-01-01T00:00:00Z","Action":"fail","Package":"x","Test":"TestA"}`), request.ContraryEvidence},
		"vitest's":                      {evidence(" Test Files  1 failed (1)\n      Tests  1 failed (1)"), request.ContraryEvidence},
		"pytest -v's":                   {evidence("tests/test_a.py::test_x FAILED   [100%]"), request.ContraryEvidence},
		"cargo's":                       {evidence("error: could not compile `x` (lib) due to 2 previous errors"), request.ContraryEvidence},
		"rustc's":                       {evidence("error[E0308]: mismatched types\n --> src/lib.rs:3:5"), request.ContraryEvidence},
		"rustc's end":                   {evidence("error: aborting due to 2 previous errors"), request.ContraryEvidence},
		"ruff's":                        {evidence("ruff: Found 1 error."), request.ContraryEvidence},
		"go's package behind a sum":     {evidence("45 passed, 0 failed; the run ended: FAIL\texample.com/x\t0.1s"), request.ContraryEvidence},
		"Rust's panic":                  {evidence("thread 'a' panicked at src/lib.rs:3:5:"), request.ContraryEvidence},
		"Gradle's":                      {evidence("FAILURE: Build failed with an exception."), request.ContraryEvidence},
		"dotnet build's":                {evidence("Build FAILED.\n    1 Error(s)"), request.ContraryEvidence},
		"xcodebuild's":                  {evidence("** TEST FAILED **"), request.ContraryEvidence},
		"prove's":                       {evidence("Files=1, Tests=3\nResult: FAIL"), request.ContraryEvidence},
		"TAP without numbers":           {evidence("1..2\nok\nnot ok"), request.ContraryEvidence},
		"TAP's end":                     {evidence("Bail out! no database"), request.ContraryEvidence},
		"npm's of today":                {evidence("npm error code ELIFECYCLE"), request.ContraryEvidence},
		"pnpm's":                        {evidence(" ELIFECYCLE  Test failed. See above for more details."), request.ContraryEvidence},
		"tsc's":                         {evidence("src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'."), request.ContraryEvidence},
		"gcc's":                         {evidence("a.c:3:5: error: expected ';' before 'return'"), request.ContraryEvidence},
		"mypy's":                        {evidence("Found 3 errors in 1 file (checked 2 source files)"), request.ContraryEvidence},
		"pyright's":                     {evidence("3 errors, 0 warnings, 0 informations"), request.ContraryEvidence},
		"a share of the tests":          {evidence("I ran them: 43 of 45 tests pass"), request.ContraryEvidence},
		"a share, with a slash":         {evidence("the suite: 43/45 passed"), request.ContraryEvidence},
		"a share that fails":            {evidence("1 out of 3 tests failed"), request.ContraryEvidence},
		"less failures than before":     {evidence("Before the fix 5 failed, 2 passed, now 3 failed, 4 passed"), request.ContraryEvidence},
		"failures, and nothing since":   {evidence("I ran the suite before the commit: 3 failed, 12 passed"), request.ContraryEvidence},
		"failures before the fix":       {evidence("Before the fix: 2 failed, 43 passed; after the fix: 45 passed"), ""},
		"failures without the fix":      {evidence("Without the fix pytest printed '1 failed, 2 passed'. With it: '3 passed'"), ""},
		"all of the tests":              {evidence("45/45 tests passing, 0 of 45 tests failed"), ""},
		"a share, the rest skipped":     {evidence("43/45 passed, 2 skipped on Linux"), ""},
		"a share of something else":     {evidence("3/5 pass the threshold filter, page 3 of 5 passed to the renderer on 2026/11/26 passed"), ""},
		"a place in a file":             {evidence("src/a.go:12:3: error handling was added; docs/cli.md:12:5: error codes table"), ""},
		"a message that is quoted":      {evidence("It prints `error: could not compile` no more"), ""},
		"attempts that failed":          {evidence("After 3 failed attempts POST /login answers 423 and stays locked"), ""},
		"an exit code in a table":       {evidence("docs/cli.md line 30 documents exit code 3 for blocked"), ""},
		"errors on a page":              {evidence("The dashboard shows \"12 errors\" from the fixture in the red tile"), ""},
		"faults that are tolerated":     {evidence("Segmentation fault tolerance described at line 9"), ""},
		"a threshold":                   {evidence("FAIL threshold is 80, coverage is 91 percent"), ""},
		"failures before":               {evidence("After 2 failures the third try succeeded, see log line 44"), ""},
		"a word in a list":              {evidence("README.md lists all 14 commands, also \"command not found\""), ""},
		"counts of a good run":          {evidence("Tests run: 5, Failures: 0, Errors: 0"), ""},
		"a good run of TAP":             {evidence("1..2\nok 1 - x\nok 2 - y"), ""},
		"none failed":                   {evidence("pytest: 0 failed, 12 passed, exit code 0"), ""},
		"no errors":                     {evidence("the console has no errors"), ""},
		"output of a failure":           {collected(object{"command": "go test", "exit_code": 0, "failed": 0, "output_snippet": "--- FAIL: TestX"}), request.ContraryEvidence},
		"no tests":                      {collected(object{"command": "go test", "exit_code": 0, "passed": 0, "failed": 0}), request.MissingEvidence},
		"no tests, all skipped":         {collected(object{"command": "go test", "exit_code": 0, "passed": 0, "failed": 0, "skipped": 9}), request.MissingEvidence},
		"no tests, by the output":       {collected(object{"command": "pytest", "exit_code": 0, "output_snippet": "collected 0 items\n\nno tests ran in 0.01s"}), request.MissingEvidence},
		"no tests, by go":               {collected(object{"command": "go test", "exit_code": 0, "output_snippet": "ok  	x	0.1s [no tests to run]"}), request.MissingEvidence},
		"no test files":                 {collected(object{"command": "go test", "exit_code": 0, "output_snippet": "?   	x	[no test files]"}), request.MissingEvidence},
		"no tests, by Maven":            {collected(object{"command": "mvn test", "exit_code": 0, "output_snippet": "Tests run: 0, Failures: 0, Errors: 0, Skipped: 0"}), request.MissingEvidence},
		"no tests, by node":             {collected(object{"command": "node --test", "exit_code": 0, "output_snippet": "# tests 0\n# pass 0\n# fail 0"}), request.MissingEvidence},
		"no tests, cut off":             {collected(object{"command": "go test", "exit_code": 0, "output_snippet": "?   	x	[no test files]\n?…"}), ""},
		"some packages have the test":   {collected(object{"command": "go test -run TestX ./...", "exit_code": 0, "output_snippet": "ok  	m/a	0.003s [no tests to run]\nok  	m/b	0.004s\n"}), ""},
		"output of JUnit":               {collected(object{"command": "mvn test", "exit_code": 0, "output_snippet": "Tests run: 5, Failures: 2, Errors: 0, Skipped: 0"}), request.ContraryEvidence},
		"output of TAP":                 {collected(object{"command": "prove", "exit_code": 0, "output_snippet": "not ok 1 - x"}), request.ContraryEvidence},
		"some packages have no tests":   {collected(object{"command": "go test", "exit_code": 0, "output_snippet": "?   	x	[no test files]\nok  	y	0.1s"}), ""},
		"some tests":                    {collected(object{"command": "go test", "exit_code": 0, "passed": 12, "failed": 0}), ""},
		"what is in an empty file":      {files(object{"path": "a", "exists": true, "size_bytes": 0, "contains_expected": true}), request.FalseEvidence},
		"an empty file that is no more": {files(object{"path": "a", "exists": true, "size_bytes": 0}), ""},
	} {
		j := request.Judge(asked(t, ask("a")), answered(t, c.given), request.Options{})
		if c.flag == "" && j.Effective != request.Pass || c.flag != "" && (j.Effective != request.Blocked || !slices.Contains(j.Flags, c.flag)) {
			t.Errorf("%s: %s %q %s", name, j.Effective, j.Flags, j.Reason)
		}
	}
	// What programs print when they fail, and what they print, or people say, where nothing does.
	for contrary, all := range map[bool][]string{true: {
		"a.go:12:2: Error return value of `f.Close` is not checked (errcheck)", "1 issues:\n* errcheck: 1", "[warn] src/a.js\n[warn] Code style issues found in 2 files. Run Prettier with --write to fix.", "$ ./import all\nKilled",
		"[error] one error found\n[error] (Compile / compileIncremental) Compilation failed", "     checks.........................: 87.10% ✓ 1742 ✗ 258", "    checks_failed......: 12.90% 258 out of 2000", "GET      /api      1200   340(28.33%) |    12       3",
		"summary =    100 in 00:00:10 =   10.0/s Avg:   12 Min:     3 Max:   120 Err:    20 (20.00%)", "  Non-2xx or 3xx responses: 120", "Status code distribution:\n  [200] 100 responses\n  [500] 20 responses", "http.codes.500: ................ 20",
		"a.out: a.c:5: main: Assertion `x > 0' failed.", "==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x60", "==1== ERROR SUMMARY: 3 errors from 3 contexts", "web-1   0/1     CrashLoopBackOff   5          3m", "     Active: failed (Result: exit-code) since Mon",
		"web   Exited (1) 3 seconds ago", "CONFLICT (content): Merge conflict in a.txt", " ! [rejected]        main -> main (non-fast-forward)", "error: failed to push some refs to 'origin'", "a.rb:3:in `foo': undefined local variable or method `x' (NameError)",
		"Can't locate Foo.pm in @INC (you may need to install it)", "lua: a.lua:3: attempt to call a nil value", "Error in foo() : could not find function", "psql:x.sql:3: ERROR:  relation \"users\" does not exist", "Error from server (NotFound): deployments.apps \"web\" not found",
		"3 files inspected, 1 offense detected", "Done linting! Found 2 violations, 1 serious in 3 files.", "Error: 1 chart(s) linted, 1 chart(s) failed", "app> Test suite failed", " [ERROR] Found 3 errors", "❌  2 assertions failed", "Diff in /home/u/app/src/main.rs:3:", "Dockerfile:3 DL3008 warning: Pin versions",
	}, false: {
		"0 issues.", "All matched files use Prettier code style!", "     checks.........................: 100.00% ✓ 2000 ✗ 0", "    checks_failed......: 0.00% 0 out of 2000", "GET      /api      1200   0(0.00%) |    12       3", "summary =    100 in 00:00:10 =   10.0/s Avg:   12 Err:     0 (0.00%)",
		"  [200] 120 responses", "http.codes.200: ................ 120", "==1== ERROR SUMMARY: 0 errors from 0 contexts", "web-1   1/1     Running   0          3m", "     Active: active (running) since Mon", "web   Exited (0) 3 seconds ago", "3 files inspected, no offenses detected",
		"Done linting! Found 0 violations, 0 serious in 3 files.", "1 chart(s) linted, 0 chart(s) failed", " [OK] No errors", "The old process was Killed by the watchdog; now it ends within 3 s", "handler.go:42:3: returns the error of the reader (wrapped)", "the pod no longer goes into CrashLoopBackOff",
		"docs/cli.md:12 says what `! [rejected]` means", "error: lines of the log have the row's number, see log.go:12",
	}} {
		for _, said := range all {
			if j := request.Judge(asked(t, ask("a")), answered(t, evidence(said)), request.Options{}); slices.Contains(j.Flags, request.ContraryEvidence) != contrary {
				t.Errorf("%q: %s %q", said, j.Effective, j.Flags)
			}
		}
	}
	// A criterion may be about failures; that something is refused is not about those of its tests.
	for _, c := range []struct {
		criterion, evidence string
		good                bool
	}{
		{"an unknown command ends with an error", "exit code 2", true},
		{"an unknown command ends with an error", "pytest: 3 failed, 12 passed", false},
		{"a wrong password is refused", "--- FAIL: TestWrongPassword (0.00s)", false},
		{"a wrong password is refused", "two tests failed", false},
		{"all tests pass", "I could not run the tests; login.go:12 compares the hash", false},
		{"a wrong password is refused", "I could not run the tests; login.go:12 compares the hash", true},
		{"the tests cover the lock", "I could not run the end-to-end tests; go test ./lock: 12 passed", true},
		{"all tests pass", "Based on my review of the code, all tests should pass.", false},
		{"all tests pass", "The code compiles and I believe the tests would pass.", false},
		{"all tests pass", "12 passed, and the tests of main should pass as well", true},
		{"a smoke test is there", "smoke_test.py has test_home; I could not run the load tests, they are out of scope, smoke: 1 passed", true},
		{"a wrong password is refused", "--- PASS: TestWrongPassword (0.00s)", true},
		{"a crash is logged", "the log has: panic: runtime error", true},
		{"the summary counts failing tests", "it prints: 3 failed, 12 passed", true},
		{"make check exits with status 0", "make check: exit code 2", false},
		{"GET /items returns with status 200", "make check: exit code 2", false},
	} {
		r := ask("a")
		r["acceptance_criteria"] = []any{object{"id": "a", "description": c.criterion}}
		if j := request.Judge(asked(t, r), answered(t, evidence(c.evidence)), request.Options{}); j.Valid != c.good {
			t.Errorf("%s, %s: %s", c.criterion, c.evidence, j.Reason)
		}
	}
}

// A status of a program that a criterion names is no failure.
func TestExitAsked(t *testing.T) {
	for criterion, good := range map[string]bool{
		"The CLI refuses a bad flag with exit code 2": true, "A bad flag ends with status 2": true, "capstan --bad exits 2": true,
		"The CLI stops: exit_code 2": true, "exitCode: 2 on a bad flag": true, "the exit status should be 2": true, "return code 2": true, "Ein falsches Flag endet mit Exit-Code 2": true,
		"capstan --bad exits non-zero": true, "capstan --bad never exits with a non-zero status": false, "exit_code 20": false, "capstan ends with exit code 0": false,
		"The CLI refuses a bad flag with exit code 3": false, "The CLI prints its usage": false, "The tests of the error handler pass": false,
	} {
		r := ask("a")
		r["acceptance_criteria"] = []any{object{"id": "a", "description": criterion}}
		given := with(answer("PASS", "a", "PASS"), object{
			"criteria_results":   []any{object{"criterion_id": "a", "status": "PASS", "evidence": "capstan --bad exits with code 2"}},
			"evidence_collected": object{"test_results": object{"command": "capstan --bad", "exit_code": 2}}})
		if j := request.Judge(asked(t, r), answered(t, given), request.Options{}); (j.Effective == request.Pass) != good {
			t.Errorf("%s: %s", criterion, j.Reason)
		}
	}
}

// What is only told.
func TestNotedEvidence(t *testing.T) {
	long := "go test ./login: 12 passed, 0 failed"
	given := answer("PASS", "a", "PASS", "b", "PASS")
	for _, r := range given["criteria_results"].([]any) {
		r.(object)["evidence"] = long
	}
	given["evidence_collected"] = object{"test_results": object{"command": "go test", "passed": 12, "failed": 0}}
	j := request.Judge(asked(t, ask("a", "b")), answered(t, given), request.Options{})
	var notes []string
	for _, n := range j.Notes {
		notes = append(notes, n.Check)
	}
	early := request.Judge(asked(t, ask("a", "b")), answered(t, given), request.Options{Asked: time.Date(2026, 2, 17, 14, 30, 1, 0, time.UTC)})
	if len(early.Notes) != len(j.Notes)+1 || early.Notes[len(j.Notes)].Check != "timestamp" {
		t.Errorf("finished before it was asked for: %q", early.Notes)
	}
	none := judged(t, with(answer("PASS", "a", "PASS"), object{"criteria_results": []any{object{"criterion_id": "a", "status": "PASS", "evidence": "pytest: no tests ran in 0.01s"}}}))
	if len(none.Notes) != 1 || none.Notes[0].Check != "no_tests" {
		t.Errorf("evidence of no tests: %q", none.Notes)
	}
	if j.Effective != request.Pass || !slices.Contains(notes, "copied_evidence") || !slices.Contains(notes, "exit_code") {
		t.Errorf("got %s %q", j.Effective, j.Notes)
	}
}

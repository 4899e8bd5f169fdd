package request

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// An outcry is how programs write that something broke: that evidence mentions a
// failure does not make it one. A line that has it has one of the needles, and to
// look for them takes a hundredth of the time.
type outcry struct {
	needles []string
	line    func() *regexp.Regexp
}

type outcries []outcry

// find gives what a line has of one of them, and "" where it has none.
func (o outcries) find(line string) string {
	for _, form := range o {
		if !slices.ContainsFunc(form.needles, func(n string) bool { return strings.Contains(line, n) }) {
			continue
		}
		if found := form.line().FindString(line); found != "" {
			return strings.Trim(found, " \t:;,.")
		}
	}
	return ""
}

var (
	// testFailures are of one test, and of a run of them.
	testFailures = outcries{
		{[]string{"FAIL", "ail\"", "ailed", "not ok", "Bail out!", "ERROR", "TIMEOUT", "NO STATUS", "***", "(fail)", ".py ", "Dubious", " +", "E   ", "    assert", "_test.go:", "● "},
			patterns.Lazy(`^\s*--- FAIL: |^\s*FAILED[.!]?$|^\s*FAIL(?:$|\t|: |\s+\S*[./]\S*(?:\s|$))|^\s*FAIL +\[[> \d.]+s\]|\bFAIL(?:\t\S|\s+[^\s\[]+\s+\(?[\d.]+ ?s\b)|^FAILED \S+::|^\S+::\S+ (?:FAILED|ERROR)\b|^not ok(?:$| -)|^\s+not ok \d+\b[^#]*$|^Bail out!|"Action":"(?:build-)?fail"` +
				`|^(?:ERROR|FAIL): \S+ \([\w.]+\)| \.\.\. (?:FAIL|FAILED|ERROR)(?: \(\d+m?s\))?$|^(?:\S+ > \S|> Task :|[A-Z]\w+(?: \w+)? [\d.]+ \([^()]*\)).* (?:FAILED|ERROR)(?: \(|$)|^//\S+ +(?:FAILED|TIMEOUT|NO STATUS)(?: in|$)` +
				`|^\[ +FAILED +\]|\S +\| FAIL \|\s*$|\*\*\*(?:Failed|Timeout|Not Run|Exception)\b|^\(fail\) \S|^\s*Failed \S.* \[[\d<][^\[\]]*s\]$|\bTest (?:Suite|Case) '[^']*' failed\b` +
				`|\.py [.sxX]*[FE][.sxXFE]* +\[ *\d+%\]|\.\. (?:Failed \d+/\d+ subtests|Dubious, test returned)|^\d+:\d\d \+\d+(?: ~\d+)? -[1-9]\d*: |^\s*\S+: FAIL (?:code \d|✖)|^\s*(?:Test\p{Lu}|test_)\w+: (?:FAIL(?:ED)?|ERROR)\b|^\*\*\* Failed! ` +
				`|^E {3,}\S|^> {4,}assert |_test\.go:\d+: .*\bgot\b.*\bwant\b|^\s*● (?:\S.* › \S|Test suite failed to run)`)},
		// What a cross stands before, but for the count of a linter.
		{[]string{"✗ ", "✘ ", "✕ ", "✖ ", "× ", "❌"}, patterns.Lazy(`^\s*(?:(?:[-*] )?[✗✘✕✖] |× )(?:(?:.*\d ?ms[\])]?$| *(?:\d+ \[|\[?\pL)))|^\s*(?:[-*] )?❌ *(?:\pL|[1-9]\d* \pL+ failed)`)},
		{[]string{"[gw", "worker 'gw", "ERROR at ", "ERROR collecting ", "TIMEOUT", "ERROR  ", "SIG", "UNEXPECTEDPASS", "<<< ", "[FAIL]", "(FAILED - ", "but was", "Failure/Error: ", "Failed asserting", "(in test file ", "%)"},
			patterns.Lazy(`^(?:\[gw\d+\]|worker 'gw\d+')(?: \[ *\d+%\])? (?:FAILED|ERROR|crashed)\b|\bERROR (?:at (?:setup|teardown) of|collecting) \S|^\s*(?:TIMEOUT|SIG[A-Z]+) +\[[> \d.]+s\]|\s(?:TIMEOUT|ERROR|UNEXPECTEDPASS) +[\d.]+ ?s\b|<<< (?:FAILURE|ERROR)!| \[FAIL\]\s*$| \(FAILED - \d+\)\s*$` +
				`|\bexpected: ?<[^>]*> but was: ?<|^\s*Failure/Error: |^[\s│]*Failed asserting that |^[.FESIRWDN]*[FE][.FESIRWDN]* +\d+ / \d+ \(|^#?\s*\(in test file \S+, line \d+\)`)},
		{[]string{"Failed test", "=== FAIL: ", "[FAILED]", "[Fail] ", "⨯ ", ") Failure:", ") Error:", "Test Failed***", "Failed example:", "Falsifying", `"unexpected"`, `"failure_count"`, "<failure", "<error", "..Failed", "Failure → ", "assertion ", "Failed files: ", " s = ", ".F", ".E"},
			patterns.Lazy(`^\s*#\s+Failed test\b|^=== FAIL: \S|^• \[FAILED\]|^\[Fail\] \S|^\s*⨯ \S|^\s*\d+\) (?:Failure|Error):$|^\*\*\*Test Failed\*\*\*|^Failed example:$|^Falsifying example: |"(?:unexpected|failure_count)": ?[1-9]|^\s*<(?:failure|error)(?: (?:message|type)=|>)|\.{4}Failed$` +
				`|^Failure → \S|^assertion .* failed$|^Failed files: +[1-9]|^\S+#\w+ = [\d.]+ s = [FE]$|^\.[.sEF]*[EF][.sEF]*$`)},
		{[]string{"DATA RACE", "race detected", "XCTAssert", "Test Failed at", "Error During", "s │", "(received)", "───", " invalid", "ooks like you", "setup_all", "Timeout: ", "Pass: ", "Test Summary:", "timed out", "ncaught", "unhandled", "hook"},
			patterns.Lazy(`^WARNING: DATA RACE|\brace detected during execution of test|\bXCTAssert\w* failed|: (?:Test Failed|Error During Test) at \S|^│ +[\w-]+ │ +\d+ │ +[1-9]\d* │|^(?:error: )?\s*expect\(received\)\.\S+(?: // .*)?$|^\s*\d+\) .* ───` +
				`|\bLooks like you planned \d+ tests? but|^\d+ (?:tests?|doctests?|properties)\b.*, [1-9]\d* invalid$|\bfailure on setup_all callback\b|^(?:Timeout|Unexpected Pass): +[1-9]|^Test Summary: +\|.* (?:Fail|Error)\b|^\s*[1-9]\d* (?:uncaught exceptions?|unhandled rejections?|hooks? failed|tests? timed out)\b|^\s*Uncaught exception in \S`)},
		{[]string{"FAIL", "ailed", "ailing", "ailure", "ERRORS!", "rror", "ABORTED", "Fail", "s: fail", "t: fail", "numFailed", "rspec ./", ": exit "},
			patterns.Lazy(`^(?:FAILURES|ERRORS)!|\bTEST FAILED\b|^Test Run Failed\b|^(?:\[doctest\] )?(?:Status|Result|Verdict|Overall result|Test run summary): (?:FAIL|[Ff]ail)|\b[1-9]\d* (?:FAILED TESTS?|TESTS FAILED|SUITES? ABORTED)\b|\([1-9]\d* FAILED\)` +
				`|^The following tests FAILED|^Errors while running CTest|\bThere are test failures\.|\bThere were failing tests\.|^There (?:was|were) [1-9]\d* (?:failures?|errors?):|^Fail(?:ed|ing) (?:[Tt]ests|examples|scenarios)(?: \([1-9]\d*\))?:\s*$` +
				`|\bTest run .* failed after [\d.]+ seconds|: Some tests failed\.$|\bevaluation failed :\(|^ERROR: +\S+: commands failed|\bLooks like you failed [1-9]|^\*\*\* [1-9]\d* failures? (?:is|are) detected|"numFailedTests": ?[1-9]|\bcaught [1-9]\d* unhandled errors?\b|\bstopping after [1-9]\d* failures|: exit [1-9]\d* \([\d.]+ seconds\)|^nox > .* failed\.?$|^rspec \./\S+:\d+ # ` +
				`|(?i:(?:^|: )(?:Found |Interrupted: )?[1-9]\d* (?:tests? (?:failed|failing)|errors?)(?: found| generated| in (?:\d+ files?|the same file, starting at: \S+|\S+:\d+)| during collection)?(?: \([^()]*\))?[.!]?[\s!]*$)`)},
	}
	// anyFailure is those, and of programs that ended before they were done, of
	// compilers, linters and the programs that run others, and their exit codes.
	anyFailure = append(slices.Clip(testFailures),
		outcry{[]string{"Traceback", "panic: ", "Uncaught", "Unhandled", "panicked", "egmentation fault", "core dumped", "rror", "ECONNREFUSED", "net::ERR_", "browserType.launch", "failed to start", "command not found", "Cannot find module", "Exception", "sh: ", "not recognized", "go: "},
			patterns.Lazy(`Traceback \(most recent call last\)|\bpanic: |\bUncaught (?:\(in promise\) )?\w*(?:Error|Exception)\b|\bUnhandled(?:PromiseRejection| exception| promise rejection)` +
				`|\bSegmentation fault(?:[.;]|\s*\(core|\s*$)|\(core dumped\)|(?:^|: |E\s+)AssertionError(?::|\s*$| \[)|^thread '[^']*' (?:\(\d+\) )?panicked at ` +
				`|\bECONNREFUSED\b|\bnet::ERR_\w+|\bbrowserType\.launch: |\bfailed to start\.$|: command not found\b|\bcommand not found:|^(?:ba|z|da)?sh: .*: (?:No such file or directory|Permission denied|not found)$|\bis not recognized as an internal or external command|^go: cannot find |\bCannot find module ['"]|\bModuleNotFoundError: |\bSyntaxError: |\b(?:java|kotlin)\.\w[\w.]*Exception\b` +
				`|^\S+:\d+:in [\x60'].* \((?:\w+::)*\w+Error\)$|^Error in .* : |^psql: error: |^Error from server \(\w+\): `)},
		outcry{[]string{"FAIL", "ail", "npm ERR!", "npm error", "ELIFECYCLE", "no test specified", "***", "problem", "rror", "threshold", "aborted!", "symbol(s)", "ndefined", ".go:", "reformat", "not reached", "Code style", "COMPILATION", "e: ", "ERROR"},
			patterns.Lazy(`: Assertion .* failed\.$|\bERROR: \w+Sanitizer: |\bERROR SUMMARY: [1-9]\d* errors? from|^psql:\S+:\d+: ERROR: |^\s*Active: failed\b|\b[1-9]\d* chart\(s\) failed$|^Analysis failed with [1-9]|^\S+> Test suite failed$|^== \[.*\] FAIL$|\[ERROR\] Found [1-9]\d* errors?|^Coverage failure: total of ` +
				`|\.go:\d+:\d+: (?:.* has arg .* of wrong type|.* \((?:errcheck|govet|staticcheck|unused|gosimple|ineffassign|revive|gosec|gocritic|stylecheck|typecheck|misspell|lll|unparam|nilerr|bodyclose)\)$)|^FAILURE: |\bB(?:UILD|uild) FAIL(?:ED|URE)\b|^FAILED: (?:Build did NOT complete|//)|\bFailed to execute goal\b|\bCOMPILATION ERROR\b|^e: \S+:\d+:\d+:? |^ERROR: (?:/\S*:\d+:\d+: |file or directory not found: )|^TS\d+ \[ERROR\]: |^error: Leaks detected|^rake aborted!|\bld: symbol\(s\) not found|\bundefined reference to \W|\.go:\d+:\d+: (?:undefined: |package \S+ is not in |.* \(SA\d{4}\)$|cannot use |syntax error|declared and not used|\S+ imported and not used)|^would reformat \S|^(?:[1-9]\d* files? would be reformatted|Code style issues (?:found|were))|\bcoverage threshold for .* not met\b|^ERROR: Coverage for .* does not meet|^ERROR: Coverage failure|\bRequired test coverage of .* not reached|\bnpm ERR!|^npm error |\bELIFECYCLE\b|^Error: no test specified\b|^make(?:\[\d+\])?: \*\*\* ` +
				`|(?i:\b\d+ problems? \([1-9]\d* errors?\b)|^[1-9]\d* errors?, \d+ warnings?\b|^\S+[:(]\d+(?:[:,]\d+)?\)?: (?:fatal )?error(?: [A-Z]+\d+)?: |^error\[E\d+\]: |^error: (?:could not compile|[Tt]est (?:run )?failed|aborting due to)\b`)},
		outcry{[]string{"error TS", "o compile", "compiled with", "ERROR in ", "during build:", "CMake", "ninja: ", "FAILED: ", "collect2", "Could not find", "from daemon", "│ Error: ", "lerna ERR!", "ERR_PNPM_", "error Command ", "Parse error", "syntax error", "awaiting response", "Failed requests: ", "Failed: ", "fatal error: ", "FATAL ERROR: ", "in strict mode", "thresholds on", ".py:", " error  ", "GATE STATUS"},
			patterns.Lazy(`^\S+:\d+:\d+ - error TS\d+: |^Failed to compile\b|\bcompiled with [1-9]\d* errors?\b|^ERROR in \S|^error during build:|^CMake Error\b|^ninja: build stopped|^(?:\S+: )?error TS\d+: |^Aborted with [1-9]\d* warnings? in strict mode|^FAILED: \S+\.\w+|^collect2: error: |^ERROR: Could not find |^Error response from daemon: |^│ Error: |^lerna ERR!|^\s*ERR_PNPM_|^error Command "|^PHP Parse error: |^\S+:\d+: syntax error\b` +
				`|\bawaiting response\.\.\. [45]\d\d |^Failed requests: +[1-9]|^Failed: +\S+#\S+|^(?:fatal error|FATAL ERROR): \S|\bthresholds on metrics .* crossed|^\S+\.py:\d+:\d+: [CEFRW]\d{3,4}:? |^ +\d+:\d+ +error +\S|^QUALITY GATE STATUS: FAILED`)},
		outcry{[]string{"Killed", "Aborted", "0/", "Exited (", "Restarting (", "unhealthy", "CONFLICT (", "rejected]", "Can't locate ", "lua: ", "Non-2xx", "[5", ".codes.5", "%)", "checks", "issues:", "offense", "violation", "Diff in ", " DL", "FAILED", "packet loss", "NXDOMAIN", "test failed", " invalid", "validate", "parser error", "exceeded by", "breaking threshold", "with errors", "with problems", "rejected, ", " differ", "Data race", "data race", "exited with ", "Exited with ", "\tfail\t", "Fatal error occurred"},
			patterns.Lazy(`^(?:Killed|Aborted|OOMKilled)$|^\S+ +0/\d+ +(?:CrashLoopBackOff|ImagePullBackOff|ErrImagePull|Error|OOMKilled|CreateContainer\w+) +\d|\b(?:Exited|Restarting) \([1-9]\d*\) .*\bago\b|\bUp .* \(unhealthy\)|^CONFLICT \(\w+\): |^ ! \[(?:remote )?rejected\] |^Can't locate \S+ in @INC|^lua: \S+:\d+: ` +
				`|^ *Non-2xx or 3xx responses: [1-9]|^\s*\[5\d\d\]\s+[1-9]\d* responses|^http\.codes\.5\d\d: \.+ [1-9]|^summary .* Err: +[1-9]\d* \(|\s[1-9]\d*\(\d+\.\d\d%\) +\||^\s*checks\.+: .*✗ +[1-9]|^\s*checks_failed\.+: .*\b[1-9]\d* out of ` +
				`|^[1-9]\d* issues:$|\b[1-9]\d* offenses? detected\b|\bFound [1-9]\d* violations?, [1-9]\d* serious\b|^Diff in \S+:\d+:$|^Diff in \S+ at line \d+:$|^\S+:\d+ DL\d{4} ` +
				`|^\S+: FAILED$|\b(?:advisories|bans|licenses|sources) FAILED\b|^FAILED: [A-Z]|^(?:CREATE|UPDATE|DELETE)_FAILED: |\b100% packet loss\b|: NXDOMAIN$|^nginx: .* test failed$|^\S+\.\w+ (?:invalid|fails to validate)$|: parser error : |^\s*Package size limit has exceeded by |\bunder breaking threshold \d` +
				`|· Failed with errors in |^build finished with problems, |^ ! +Push rejected, |^Files \S+ and \S+ differ$|^\S+ \S+ differ: (?:char|byte) \d|: data race \(pid|\b[Ee]xited with (?:code exit status )?[1-9]\d*\.?$|^[^\t]+\tfail\t|==> Fatal error occurred`)},
		// What linters, scanners and the like count, alone in its line.
		outcry{[]string{"ound", "etected", "rror", "ERROR", "Invalid: ", "failure(s)", "findings", "Failed checks: ", "Security Warnings: ", "(UNKNOWN: ", ">> Issue: [", " SC", "affected by ", "had format violations"},
			patterns.Lazy(`(?:^|[ :,])(?:found|Found|detected):? (?:\d+ warnings? and )?` + count + `(?: and \d+ warnings?)?(?: in \d+ (?:files?|packages?))?(?: \([^()]*\))?[.!:]?$|(?:^|[:,] )` + count + ` (?:found|detected)[.!:]?$` +
				`|(?:^|[ ,])(?:Issues found|Errors|Failed checks|leaks found|Security Warnings): [1-9]\d*(?:,| in \d+ files?\.?|$)|^Summary: (?:[1-9]\d* error|.*\b(?:Invalid|Errors): [1-9])|^Failed: [1-9]\d* failure\(s\)|^Status: [1-9]\d* ERRORs?\b|🚫 [1-9]\d* Errors?\b|^- [1-9]\d* errors?$|: [1-9]\d* findings?\.$` +
				`|^Total: [1-9]\d* \(UNKNOWN: |^>> Issue: \[|\bSC\d{4} \((?:error|warning|info|style)\): |^Your code is affected by [1-9]|^> The following files had format violations:`)},
		outcry{[]string{"✗", "✘", "❌", "fail", "onclusion", "X "}, patterns.Lazy(`(?i:\b(?:tests?|build|lint|e2e|unit|integration|type-?check|ci)\b[\w. ()-]{0,20}[|:]? *)(?:[✗✘❌]|\| *(?i:fail(?:ed|ure)?)) *(?:[,;|]|$)|\bconclusion"?: ?"?(?:failure|timed_out|startup_failure)\b|^\s*X \S.* (?:in (?:\d+m)?\d+s\b|· \d+$)`)},
		outcry{[]string{"xit", "EXIT", "ode ", "ode:", "ode=", "CODE", "tatus", "STATUS"}, patterns.Lazy(`(?i:(?:^|[:;(,.] ?)exit(?:ed)?(?: with)?[ _-]?(?:code|status)[ :=]+-?[1-9]\d*(?:[).;,]|\s*$))|` + ended)},
	)
	// reported are also what a program that goes on may write as well, and tests of errors do.
	reported = append(slices.Clip(anyFailure), outcry{[]string{"rror", "Exception", "** (", "onnection refused", "HTTP/", "fatal: ", "curl: (", "ERROR", "error ", "error:", "(char ", "could not be resolved", "Could not find gem "},
		patterns.Lazy(`(?:^|: |E\s+)(?:\w+\.)*[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?: \S|^(?:Error: [A-Z\d]|error: (?:[Ff]ailed|[Cc]annot|unable|could not|error \w|Assert |unknown |no such |[1-9]\d* vulnerabilit))|^Exception in thread "|^\*\* \(\w+\) |[:)] [Cc]onnection refused\b|^(?:< )?HTTP/[\d.]+ 5\d\d\b|^fatal: \S|^curl: \(\d+\) ` +
			`|^(?:ERROR|FATAL): +(?:[a-mo-zA-MO-Z(/]|n[^oui]|N[^OUoui])|^error: .{0,80}\b(?:failed|exceeded|does not|not found|denied|missing|invalid|timed out)\b|^Error: error |^ERROR \d+ \(\w+\)|^An error occurred \(\w+\) when calling |^(?:[Pp]arse error(?:: | near line )|jq: error|verify error:)|^Expecting .*: line \d+ column \d+ \(char \d+\)$|^Your requirements could not be resolved to |^Could not find gem `)})
)

// count is how many things a linter or scanner has found.
const count = `[1-9]\d* (?:potential |known )?(?:errors?|issues?|problems?|diagnostics?|leaks?|vulnerabilit(?:y|ies))\b(?:\(s\))?`

// ended is a sentence on how a program ended.
const ended = `(?i:\b(?:ended|ends|exited|exits|exiting|finished|terminated|failed|fails|died|completed|returned)(?: with)?(?: an?)?(?: non-?zero)?(?: exit)?(?: code| status)[ :=]+-?[1-9]\d*\b)`

// exitNamed is a status of a program that a criterion names; one of HTTP is none.
var (
	exitNamed = patterns.Lazy(`(?i)\b(?:exit(?:s|ed|ing)?(?: with)?(?: an?| the)?(?: exit)?(?:[ _-]?(?:status|code))?|return[ _-]?(?:status|code))(?: of| is| (?:must |should )?(?:be|equal))?[ :=]+(\d{1,3})\b|\b(?:with|mit|avec|con)(?: an?| the| dem| einem)?(?: exit)?[ -]?(?:status|code)(?: of)? (\d\d?|1[2-4]\d|25[0-5])\b`)
	nonZero   = patterns.Lazy(`(?i)\bnon-?zero\b`)
)

// exits are the statuses of programs that a criterion names; notZero is whether every
// one but 0 is.
func exits(c Criterion) (named []int, notZero bool) {
	said := c.Description + "\n" + c.Hint
	for _, m := range exitNamed().FindAllStringSubmatch(said, -1) {
		if n, err := strconv.Atoi(m[1] + m[2]); err == nil {
			named = append(named, n)
		}
	}
	at := nonZero().FindStringIndex(said)
	return named, at != nil && !denied().MatchString(said[:at[0]])
}

// namesExit tells whether a criterion names the status that a program ended with.
func namesExit(c Criterion, code int) bool {
	named, notZero := exits(c)
	return notZero && code != 0 || slices.Contains(named, code)
}

// rerun is what Playwright says where tests passed when they were run again.
var rerun = patterns.Lazy(`(?m)^\s*[1-9]\d* flaky\s*$`)

// failing gives what a text has of a failure, and "" where it has none.
func failing(text string, o outcries) string {
	text = plainOutput(text)
	if strings.Contains(text, " flaky") && rerun().MatchString(text) {
		o = nil // each test that failed is told before it passed
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "a known issue") {
			continue // of Swift, which passes with it
		}
		if found := o.find(strings.TrimRight(line, "\r\n")); found != "" {
			return found
		}
	}
	if found := lacking(text); found != "" {
		return found
	}
	if t := Tests(text); t.Failed > 0 {
		return fmt.Sprintf("%d failed", t.Failed)
	}
	return ""
}

// words holds what a PASS says it was shown by against the PASS: an output of a
// failure does not bear it out, but where the criterion is about failures. One of
// tests does not bear out that something is refused, either.
func (h *hearing) words() {
	told := map[string]string{} // evidence → the criterion that has it already
	for i, c := range h.request.Criteria {
		if h.status[i] != Passed {
			continue
		}
		evidence := h.result[i].Evidence
		if found := contrary(c, evidence); found != "" {
			h.object(ContraryEvidence, c.ID, "is PASS, and its evidence tells of a failure: %s", brief(found))
			h.status[i] = Unreachable
		} else if strings.ContainsAny(evidence, "0oO") && Tests(evidence).None() {
			h.note("no_tests", c.ID, "has the evidence of a run of no tests")
		}
		if first, twice := told[evidence]; !twice {
			told[evidence] = c.ID
		} else if len(evidence) > 20 {
			h.note("copied_evidence", c.ID, "has the evidence of %s, word by word", brief(first))
		}
	}
}

// contrary gives what evidence tells of a failure that the criterion is not about.
func contrary(c Criterion, evidence string) string {
	if mayBeUnrun(evidence) && onTests().MatchString(c.Description) {
		found := unrun().FindString(evidence)
		rest := unrun().ReplaceAllString(evidence, " ")
		if onTests().MatchString(found) && !strings.Contains(rest, "pass") && !strings.Contains(rest, "green") && Tests(evidence).Passed == 0 {
			return strings.TrimSpace(found)
		}
	}
	if admitted(evidence, reported) == "" {
		return "" // which most are, and what the criterion is about takes longer to find out
	}
	return admitted(evidence, contraryTo(c, evidence))
}

var onTests = patterns.Lazy(`(?i)\b(?:tests?|suite|specs?|build|coverage)\b`)

var fails = patterns.Lazy(`(?i)\bfail(?:s|ed|ing|ures?)?\b`)

// contraryTo is which failures are not what a criterion is about; nil is none. What
// is reported in the evidence may be of tests that passed.
func contraryTo(c Criterion, evidence string) outcries {
	said := c.Description + "\n" + c.Hint
	named, _ := exits(c)
	switch {
	case fails().MatchString(said):
		return nil
	case speaksOfFailure().MatchString(said), slices.ContainsFunc(named, func(n int) bool { return n != 0 }):
		return testFailures
	case Tests(evidence).Passed > 0:
		return anyFailure
	}
	return reported
}

// ran looks at whether a run of tests shows anything: one of no tests does not,
// nor one whose output is of a failure.
func (h *hearing) ran(t *TestResults) {
	some := t.Passed != nil && *t.Passed > 0
	none := t.Passed != nil && *t.Passed == 0 && (t.Failed == nil || *t.Failed == 0)
	if t.Passed == nil {
		none = Tests(t.Output).None() && !strings.HasSuffix(t.Output, "…") // there may be tests in what was cut off
	}
	switch {
	case none && (t.Failed == nil || *t.Failed == 0):
		h.refute(MissingEvidence, "test_results", t.Command, "is a run of no tests%s", ofCommand(t))
	case t.ExitCode == nil && (some || t.Failed != nil):
		h.note("exit_code", "test_results", "has counts and no exit code, which nobody can hold against them")
	}
	if found := failing(t.Output, anyFailure); found != "" && t.ExitCode != nil && *t.ExitCode == 0 {
		h.refute(ContraryEvidence, "test_results", t.Command, "ended with exit code 0, and its output tells of a failure: %s", brief(found))
	}
}

func ofCommand(t *TestResults) string {
	if t.Command == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", brief(t.Command))
}

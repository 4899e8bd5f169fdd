package request

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// failure is what programs write when something broke, in the form in which they
// write it: that evidence mentions a failure does not make it one.
var failure = patterns.Lazy(`(?m)Traceback \(most recent call last\)|\bpanic: |\bUncaught (?:\(in promise\) )?\w*(?:Error|Exception)\b|\bUnhandled(?:PromiseRejection| exception| promise rejection)` +
	`|^\s*--- FAIL: |^\s*FAIL(?:$|\t|: |\s+\S*[./]\S*(?:\s|$))|\bFAIL\t\S|^FAILED \S+::|^\S+::\S+ (?:FAILED|ERROR)\b|^FAILURES!|^FAILURE: |\bB(?:UILD|uild) FAIL(?:ED|URE)\b|\bTEST FAILED\b|^Test Run Failed\b|^Result: FAIL\b|^not ok(?:$| -)|^Bail out!|"Action":"(?:build-)?fail"|\bnpm ERR!|^npm error |\bELIFECYCLE\b|^Error: no test specified\b|^make(?:\[\d+\])?: \*\*\* ` +
	`|\bSegmentation fault(?:[.;]|\s*\(core|\s*$)|\(core dumped\)|(?:^|: |E\s+)AssertionError(?::|\s*$| \[)` +
	`|(?i:(?:^|: )(?:Found )?[1-9]\d* (?:tests? (?:failed|failing)|errors?)(?: found| generated| in \d+ files?)?(?: \([^()]*\))?[.!]?\s*$)|(?i:\b\d+ problems? \([1-9]\d* errors?\b)` +
	`|^[1-9]\d* errors?, \d+ warnings?\b|^\S+[:(]\d+[:,]\d+\)?: (?:fatal )?error(?: [A-Z]+\d+)?: |^error\[E\d+\]: |^error: (?:could not compile|test failed|aborting due to)\b|^thread '[^']*' (?:\(\d+\) )?panicked at ` +
	`|(?i:(?:^|[:;(,.] ?)exit(?:ed)?(?: with)?(?: code| status)[ :=]+-?[1-9]\d*(?:[).;,]|\s*$))|` + ended +
	`|\bECONNREFUSED\b|\bnet::ERR_\w+|: command not found\b|\bcommand not found:|\bCannot find module ['"]|\bModuleNotFoundError: |\bSyntaxError: |\b(?:java|kotlin)\.\w[\w.]*Exception\b`)

// alarms are what a line with a failure has one of: to look for them takes a
// hundredth of the time.
var alarms = []string{"Traceback", "panic: ", "Uncaught", "Unhandled", "FAIL", "ail\"", "Test Run Failed", "not ok", "Bail out!", "npm ERR!", "npm error", "ELIFECYCLE", "no test specified", "panicked", ": *** ", "egmentation fault", "core dumped", "AssertionError", "rror", "failing", "failed", "problem",
	"xit", "EXIT", "ode ", "ode:", "ode=", "CODE", "tatus", "STATUS", "ECONNREFUSED", "net::ERR_", "command not found", "Cannot find module", "Exception"}

// ended is a sentence on how a program ended.
const ended = `(?i:\b(?:ended|ends|exited|exits|exiting|finished|terminated|failed|fails|died|completed|returned)(?: with)?(?: an?)?(?: non-?zero)?(?: exit)?(?: code| status)[ :=]+-?[1-9]\d*\b)`

// exitNamed is a status of a program that a criterion names.
var exitNamed = patterns.Lazy(`(?i)\bexit(?:s|ed|ing)?(?: with)?(?: an?| the)?(?: exit)?(?: status| code)?(?: of)?[ :=]+(\d{1,3})\b|\b(?:ends?|ended|terminates?|finishes|returns?|stops?) with(?: an?| the)?(?: exit)? (?:status|code)(?: of)? (\d{1,3})\b`)

// namesExit tells whether a criterion names the status that a program ended with.
func namesExit(c Criterion, code int) bool {
	for _, m := range exitNamed().FindAllStringSubmatch(c.Description+"\n"+c.Hint, -1) {
		if n, err := strconv.Atoi(m[1] + m[2]); err == nil && n == code {
			return true
		}
	}
	return false
}

// failing gives what a text has of a failure, and "" where it has none.
func failing(text string) string {
	text = plainOutput(text)
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(alarms, func(a string) bool { return strings.Contains(line, a) }) {
			continue
		}
		if found := failure().FindString(strings.TrimRight(line, "\r\n")); found != "" {
			return strings.TrimSpace(found)
		}
	}
	if t := Tests(text); t.Failed > 0 {
		return fmt.Sprintf("%d failed", t.Failed)
	}
	return ""
}

var (
	// earlier is what a sentence says of the time before the work was done, up to
	// where it goes on to what is now.
	earlier = patterns.Lazy(`(?im)(?:^|[;.] )[^;.\n]*?\b(?:before|without|prior to|(?:after )?(?:undoing|reverting)) (?:the|this|my) (?:fix|change|patch|commit|edit)\b.*?(?:[;.] |\b(?:now|after|then|with|still|but|and)\b|$)`)
	share   = patterns.Lazy(`(?i)(?:^|[^/.\d-])(\d+)(?:/| (?:out )?of (?:the |all )?)(\d+) (?:(?:\p{L}+ )?(?:tests?|specs?|examples|scenarios|test cases) )?(?:(pass|succeed)(?:e[ds]|ing)?|fail(?:s|ed|ing)?)\s*(?:[.,;)]|$)`)
)

// admitted gives what evidence in words has of a failure that is not of the time
// before the work. That is so where something is said to pass now.
func admitted(evidence string) string {
	found := broken(evidence)
	if found == "" {
		return ""
	}
	if now := earlier().ReplaceAllString(evidence, " "); strings.Contains(now, "pass") {
		return broken(now)
	}
	return found
}

// broken does what failing does, and reads shares such as "43 of 45 tests passed".
func broken(evidence string) string {
	if !strings.Contains(evidence, "pass") && !strings.Contains(evidence, "fail") && !strings.Contains(evidence, "succeed") {
		return failing(evidence)
	}
	for _, m := range share().FindAllStringSubmatch(evidence, -1) {
		part, of := number(m[1]), number(m[2])
		if m[3] == "" && part > 0 || m[3] != "" && part < of && !strings.Contains(evidence, "skipped") {
			return strings.TrimSpace(m[0])
		}
	}
	return failing(evidence)
}

// words holds what a PASS says it was shown by against the PASS: an output of a
// failure does not bear it out, but where the criterion is about failures.
func (h *hearing) words() {
	told := map[string]string{} // evidence → the criterion that has it already
	for i, c := range h.request.Criteria {
		if h.status[i] != Passed {
			continue
		}
		evidence := h.result[i].Evidence
		if found := admitted(evidence); found != "" && !h.aboutFailure(i) {
			h.object(ContraryEvidence, c.ID, "is PASS, and its evidence tells of a failure: %s", brief(found))
			h.status[i] = Unreachable
		}
		if first, twice := told[evidence]; !twice {
			told[evidence] = c.ID
		} else if len(evidence) > 20 {
			h.note("copied_evidence", c.ID, "has the evidence of %s, word by word", brief(first))
		}
	}
}

func (h *hearing) aboutFailure(i int) bool {
	c := h.request.Criteria[i]
	said := c.Description + "\n" + c.Hint
	return speaksOfFailure().MatchString(said) || exitNamed().MatchString(said)
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
	if found := failing(t.Output); found != "" && t.ExitCode != nil && *t.ExitCode == 0 {
		h.refute(ContraryEvidence, "test_results", t.Command, "ended with exit code 0, and its output tells of a failure: %s", brief(found))
	}
}

func ofCommand(t *TestResults) string {
	if t.Command == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", brief(t.Command))
}

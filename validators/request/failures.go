package request

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// failure is what programs write when something broke.
var failure = patterns.Lazy(`(?m)Traceback \(most recent call last\)|\bpanic: |\bUncaught (?:\(in promise\) )?\w*(?:Error|Exception)\b|\bUnhandled(?:PromiseRejection| exception| promise rejection)|^\s*--- FAIL: |^FAIL(?:\s|$)` +
	`|npm ERR!|Segmentation fault|\bcore dumped\b|\bAssertionError\b|(?i:\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b)|(?i:\bexit(?:ed)?(?: with)?(?: code| status)[ :=]+(?:-?[1-9]\d*)\b)` +
	`|\bECONNREFUSED\b|\bnet::ERR_\w+|\bcommand not found\b|\bCannot find module\b|\bModuleNotFoundError\b|\bSyntaxError: |\b(?:java|kotlin)\.\w[\w.]*Exception\b`)

// noTests is what runners of tests write when there was none to run.
var noTests = patterns.Lazy(`(?i)\bno tests? (?:ran|run|found|were found|were run|executed|to run)\b|\bcollected 0 items\b|\b0 (?:tests?|passing|passed|specs?|examples)\b[^\n]*\b0 (?:failing|failed|failures)\b|\bran 0 tests\b|\b0 tests\b|\brunning 0 tests\b`)

// someTests is what they write when there was one.
var someTests = patterns.Lazy(`(?i)\b[1-9]\d* (?:tests?|passing|passed|specs?|examples)\b|^ok\s+\S+\s+[\d.]+s\s*$|--- PASS: `)

// words holds what a PASS says it was shown by against the PASS: an output of a
// failure does not bear it out, but where the criterion is about failures.
func (h *hearing) words() {
	told := map[string]string{} // evidence → the criterion that has it already
	for i, c := range h.request.Criteria {
		if h.status[i] != Passed {
			continue
		}
		evidence := h.result[i].Evidence
		if found := failure().FindString(evidence); found != "" && !h.aboutFailure(i) {
			h.object(ContraryEvidence, c.ID, "is PASS, and its evidence tells of a failure: %s", brief(strings.TrimSpace(found)))
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
	return speaksOfFailure().MatchString(c.Description + "\n" + c.Hint)
}

// ran looks at whether a run of tests shows anything: one of no tests does not,
// nor one whose output is of a failure.
func (h *hearing) ran(t *TestResults) {
	some := t.Passed != nil && *t.Passed > 0
	none := t.Passed != nil && *t.Passed == 0 && (t.Failed == nil || *t.Failed == 0)
	if t.Passed == nil {
		last := noTests().FindAllString(t.Output, -1)
		none = len(last) > 0 && !someTests().MatchString(t.Output)
	}
	switch {
	case none && (t.Failed == nil || *t.Failed == 0):
		h.refute(MissingEvidence, "test_results", t.Command, "is a run of no tests%s", ofCommand(t))
	case t.ExitCode == nil && (some || t.Failed != nil):
		h.note("exit_code", "test_results", "has counts and no exit code, which nobody can hold against them")
	}
	if found := failure().FindString(t.Output); found != "" && t.ExitCode != nil && *t.ExitCode == 0 {
		h.refute(ContraryEvidence, "test_results", t.Command, "ended with exit code 0, and its output tells of a failure: %s", brief(strings.TrimSpace(found)))
	}
}

func ofCommand(t *TestResults) string {
	if t.Command == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", brief(t.Command))
}

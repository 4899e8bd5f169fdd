package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// A Judgement is the result of judging a response.
type Judgement struct {
	TaskID    string            `json:"task_id"`           // the request's
	Claimed   Verdict           `json:"claimed_verdict"`   // empty if the response cannot be read
	Effective Verdict           `json:"effective_verdict"` // empty if the response does not count
	Valid     bool              `json:"valid"`             // whether the work is accepted
	Reason    string            `json:"reason"`
	Flags     []string          `json:"flags"`    // never nil
	Criteria  []criterionStatus `json:"criteria"` // of the request, in its order; empty if the response does not count

	// Issues speak against the work or the response. Notes decide nothing. Maximum: 20 each.
	Issues []validators.Issue `json:"-"`
	Notes  []validators.Issue `json:"-"`
}

// A criterionStatus is the effective status of a criterion, which is never SKIP.
type criterionStatus struct {
	ID     string  `json:"id"`
	Status Verdict `json:"status"`
}

// The flags of a response.
const (
	badProtocol        = "protocol_error"      // no response of the protocol; it does not count
	wrongTask          = "wrong_task"          // a response to another task; it does not count
	late               = "late"                // it arrived after the deadline, or took longer than the timeout
	inconsistent       = "inconsistent"        // the verdict differs from the result of the criteria
	missingCriteria    = "missing_criteria"    // criteria have no result
	unknownCriterion   = "unknown_criterion"   // a result for an unknown criterion
	duplicateCriterion = "duplicate_criterion" // several results for a criterion
	missingEvidence    = "missing_evidence"    // a PASS without evidence
	missingScreenshot  = "missing_screenshot"  // a PASS of a browser without a screenshot
	falseEvidence      = "false_evidence"      // an entry of the evidence is wrong
	contraryEvidence   = "contrary_evidence"   // an entry shows a failure, and no criterion is FAIL
	unverifiedEvidence = "unverified_evidence" // a PASS without checked evidence
)

// flagOrder is the order of the flags of a judgement.
var flagOrder = []string{
	badProtocol, wrongTask, late, inconsistent, missingCriteria, unknownCriterion, duplicateCriterion,
	missingEvidence, missingScreenshot, falseEvidence, contraryEvidence, unverifiedEvidence,
}

// ExitStatus returns the exit status of a program: 0 valid, 1 not valid, 3 BLOCKED.
func (j Judgement) ExitStatus() int {
	switch {
	case j.Valid:
		return 0
	case j.Effective == Blocked:
		return 3
	default:
		return 1
	}
}

// Late returns the judgement of a response that arrived too late. The response
// is not applied.
func (j Judgement) Late() Judgement {
	flags := append(slices.Clone(j.Flags), late)
	j.Flags = slices.DeleteFunc(slices.Clone(flagOrder), func(f string) bool { return !slices.Contains(flags, f) })
	j.Valid = false
	j.Reason = "too late, and not applied: " + j.Reason
	j.Issues = add(slices.Clone(j.Issues), late, "error", "", "the response came after its time and is not applied")
	return j
}

// Counted returns a copy of the response with the effective verdict and statuses.
func (j Judgement) Counted(given *Response) *Response {
	taken := map[string]bool{}
	for _, c := range j.Criteria {
		taken[c.ID] = c.Status != Pass
	}
	counts := *given
	counts.Verdict, counts.Results = j.Effective, slices.Clone(given.Results)
	for i := range counts.Results {
		if r := &counts.Results[i]; r.Status == Pass && taken[r.CriterionID] {
			r.Status = Blocked
			r.Evidence += "; counts as BLOCKED: " + j.against(r.CriterionID)
			counts.Confidence = nil
		}
	}
	if counts.Verdict != given.Verdict {
		counts.Reasoning = j.Reason
	}
	return &counts
}

// against returns the issues of a criterion, or those of the response if it has none.
func (j Judgement) against(id string) string {
	var own, all []string
	for _, issue := range j.Issues {
		if issue.Location == brief(id) {
			own = append(own, issue.Message)
		} else if issue.Check != inconsistent {
			all = append(all, issue.Location+": "+issue.Message)
		}
	}
	if own == nil {
		own = all
	}
	return strings.Join(own, "; ")
}

// verdict returns the judgement as the verdict of a validator. BLOCKED is an error.
func (j Judgement) verdict() (validators.Verdict, error) {
	if j.ExitStatus() == 3 {
		return validators.Verdict{}, errors.New(j.Reason)
	}
	details, err := schema.Plain(j)
	v := validators.Verdict{Valid: j.Valid, Reason: j.Reason, Status: string(j.Effective), Warnings: j.Notes, Details: details}
	if j.Valid {
		v.Warnings = slices.Concat(j.Issues, j.Notes)
	} else {
		v.Issues = j.Issues
	}
	return v, err
}

// refuse returns the judgement of a text that is no response.
func refuse(r *Request, err error) Judgement {
	return Judgement{TaskID: r.TaskID, Flags: []string{badProtocol}, Criteria: []criterionStatus{}, Reason: err.Error(), Issues: brokenIn(err)}
}

// brokenIn returns the problems of an error.
func brokenIn(err error) (list []validators.Issue) {
	if broken, ok := errors.AsType[*ProtocolError](err); ok {
		for _, p := range broken.Problems {
			list = add(list, badProtocol, "error", p.Field, p.Message)
		}
	}
	return list
}

// maxIssues is the maximum number of a judgement's issues, which go into a
// prompt.
const maxIssues = 20

func add(list []validators.Issue, check, severity, location, message string) []validators.Issue {
	if len(list) == maxIssues {
		return list
	}
	return append(list, validators.Issue{Check: check, Severity: severity, Message: clean(message, maxText), Location: brief(location)})
}

// reason returns the judgement as a text, with its issues.
func (j Judgement) reason() string {
	tally := map[Verdict]int{}
	for _, c := range j.Criteria {
		tally[c.Status]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %s PASS, %d FAIL, %d BLOCKED", j.Effective, tally[Pass], criteria(len(j.Criteria)), tally[Fail], tally[Blocked])
	for _, issue := range slices.Concat(j.Issues, j.Notes) {
		b.WriteString("; ")
		if issue.Location != "" {
			b.WriteString(issue.Location + ": ")
		}
		b.WriteString(issue.Message)
	}
	return b.String()
}

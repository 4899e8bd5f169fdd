package request

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Judgement is what a response comes to once it is held against its request.
type Judgement struct {
	TaskID    string   `json:"task_id"`           // the request's
	Claimed   Verdict  `json:"claimed_verdict"`   // what the response says; empty where it cannot be read
	Effective Verdict  `json:"effective_verdict"` // what counts; empty where the response does not
	Valid     bool     `json:"valid"`             // whether the work may go on
	Reason    string   `json:"reason"`
	Flags     []Flag   `json:"flags"`    // in the order of [Flags], never nil
	Criteria  []Judged `json:"criteria"` // every criterion of the request, in its order; none where the response does not count

	// Issues are what speaks against the work or the response, and Notes what
	// is only told; at most 20 each.
	Issues []validators.Issue `json:"-"`
	Notes  []validators.Issue `json:"-"`
}

// A Judged criterion has the status that counts: never SKIP.
type Judged struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
}

// A Flag names something about a response that is not as it should be.
type Flag string

// The flags.
const (
	BadProtocol        Flag = "protocol_error"      // it is no response of the protocol, and does not count
	WrongTask          Flag = "wrong_task"          // it answers another task, and does not count
	Late               Flag = "late"                // it came after its time, or says that it took longer than there was
	Inconsistent       Flag = "inconsistent"        // its verdict is not what its criteria come to
	MissingCriteria    Flag = "missing_criteria"    // it leaves criteria out
	UnknownCriterion   Flag = "unknown_criterion"   // it answers what was not asked
	DuplicateCriterion Flag = "duplicate_criterion" // it answers a criterion more than once
	MissingEvidence    Flag = "missing_evidence"    // it passes a criterion and shows nothing
	MissingScreenshot  Flag = "missing_screenshot"  // it passes a criterion of a browser without any screenshot
	FalseEvidence      Flag = "false_evidence"      // what it has collected is not so
	ContraryEvidence   Flag = "contrary_evidence"   // what it has collected speaks for a FAIL that it does not give
	UnverifiedEvidence Flag = "unverified_evidence" // it passes a criterion and names no evidence that was checked
)

// Flags lists the flags in the order in which a judgement has them.
func Flags() []Flag {
	return []Flag{BadProtocol, WrongTask, Late, Inconsistent, MissingCriteria, UnknownCriterion, DuplicateCriterion,
		MissingEvidence, MissingScreenshot, FalseEvidence, ContraryEvidence, UnverifiedEvidence}
}

// Counts tells whether the response is one of the request at all. One that is
// not changes nothing, whatever it says.
func (j Judgement) Counts() bool { return j.Effective != "" }

// ExitStatus is the status that a program ends with: 0 valid, 1 not valid, 3
// blocked.
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

// late is the judgement of a response that came too late to be applied.
func (j Judgement) late() Judgement {
	had := append(slices.Clone(j.Flags), Late)
	j.Flags = slices.DeleteFunc(Flags(), func(f Flag) bool { return !slices.Contains(had, f) })
	j.Valid = false
	j.Reason = "too late, and not applied: " + j.Reason
	j.Issues = add(slices.Clone(j.Issues), string(Late), "error", "", "the response came after its time and is not applied")
	return j
}

// Counted is the response as it counts: with the effective verdict, and BLOCKED
// where a PASS was taken, with the reason. The response itself stays as it is.
func (j Judgement) Counted(given *Response) *Response {
	taken := map[string]bool{}
	for _, c := range j.Criteria {
		taken[c.ID] = c.Status != Passed
	}
	counts := *given
	counts.Verdict, counts.Results = j.Effective, slices.Clone(given.Results)
	for i := range counts.Results {
		if r := &counts.Results[i]; r.Status == Passed && taken[r.CriterionID] {
			r.Status = Unreachable
			r.Evidence += "; counts as BLOCKED: " + j.against(r.CriterionID)
			counts.Confidence = nil
		}
	}
	if counts.Verdict != given.Verdict {
		counts.Reasoning = j.Reason
	}
	return &counts
}

// against is what speaks against a criterion, and where nothing speaks against it
// alone, what does against the response.
func (j Judgement) against(id string) string {
	var own, all []string
	for _, issue := range j.Issues {
		if issue.Location == brief(id) {
			own = append(own, issue.Message)
		} else if issue.Check != string(Inconsistent) {
			all = append(all, issue.Location+": "+issue.Message)
		}
	}
	if own == nil {
		own = all
	}
	return strings.Join(own, "; ")
}

// Verdict gives the judgement as a ward has it: status is the effective verdict
// and details the judgement. BLOCKED is an error: it says nothing of the work.
func (j Judgement) Verdict() (validators.Verdict, error) {
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

// refuse is the judgement of a text that [ParseResponse] does not take: a no
// that names the fields, so that who wrote it can mend it.
func refuse(r *Request, err error) Judgement {
	return Judgement{TaskID: r.TaskID, Flags: []Flag{BadProtocol}, Criteria: []Judged{}, Reason: err.Error(), Issues: brokenIn(err)}
}

// brokenIn are the places that an error names.
func brokenIn(err error) (list []validators.Issue) {
	if broken, ok := errors.AsType[*ProtocolError](err); ok {
		for _, p := range broken.Problems {
			list = add(list, string(BadProtocol), "error", p.Field, p.Message)
		}
	}
	return list
}

// maxIssues bounds what one judgement lists: it goes into a prompt.
const maxIssues = 20

func add(list []validators.Issue, check, severity, location, message string) []validators.Issue {
	if len(list) == maxIssues {
		return list
	}
	return append(list, validators.Issue{Check: check, Severity: severity, Message: clean(message, maxText), Location: brief(location)})
}

// reason is the judgement in a sentence, with its issues behind it.
func (j Judgement) reason() string {
	tally := map[Status]int{}
	for _, c := range j.Criteria {
		tally[c.Status]++
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %s PASS, %d FAIL, %d BLOCKED", j.Effective, tally[Passed], criteria(len(j.Criteria)), tally[Failed], tally[Unreachable])
	for _, issue := range slices.Concat(j.Issues, j.Notes) {
		b.WriteString("; ")
		if issue.Location != "" {
			b.WriteString(issue.Location + ": ")
		}
		b.WriteString(issue.Message)
	}
	return b.String()
}

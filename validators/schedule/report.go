package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

// Statuses of findings and verdicts.
const (
	statusReady       = "READY"        // preflight: no blockers
	statusApproved    = "APPROVED"     // the schedule passes
	statusInfo        = "INFO"         // information
	statusWarning     = "WARNING"      // logged, and the schedule passes
	statusNeedsReview = "NEEDS_REVIEW" // passes, marked for a person
	statusRevise      = "REVISE"       // the critic requires a better schedule
	statusRejected    = "REJECTED"
	statusBlocked     = "BLOCKED" // the pipeline stops
	statusSkipped     = "SKIPPED" // the policy does not have the gate
)

// rejects reports whether a finding with this status rejects the schedule.
func rejects(status string) bool {
	return status == statusBlocked || status == statusRejected || status == statusRevise
}

// A report collects the findings of one gate.
type report struct {
	policy   *gatePolicy
	issues   []validators.Issue // findings that reject the schedule
	phases   []string           // the phase to return to for each issue
	warnings []validators.Issue
	counts   map[string]int // by rule
	returns  map[string]any // the phase to return to, by code
	worst    *policyRule    // the most severe issue
	status   string         // the most severe status of all findings
	critical int
	other    int // findings that reduce the quality score and are not critical
}

func newReport(p *gatePolicy) *report {
	return &report{policy: p, counts: map[string]int{}, returns: map[string]any{}}
}

// A finding is a place where a rule is broken.
type finding struct {
	at       string // items[3], or the name of a field
	message  string
	expected string
	got      string
}

func (r *report) add(rule string, f finding) {
	row := r.policy.Rules[rule]
	r.counts[rule]++
	issue := validators.Issue{Check: row.Code, Severity: row.Severity, Message: f.message, Location: f.at, Expected: f.expected, Got: f.got}
	if !row.Apart {
		r.weigh(row)
	}
	r.raiseStatus(row.Status)
	if !rejects(row.Status) {
		r.warnings = append(r.warnings, issue)
		return
	}
	r.issues, r.phases = append(r.issues, issue), append(r.phases, row.ReturnTo)
	if row.ReturnTo != "" && r.returns[row.Code] == nil {
		r.returns[row.Code] = row.ReturnTo
	}
	if r.worst == nil || rank(row) < rank(*r.worst) {
		r.worst = &row
	}
}

// merge appends the findings of another report.
func (r *report) merge(o *report) {
	r.issues, r.phases, r.warnings = append(r.issues, o.issues...), append(r.phases, o.phases...), append(r.warnings, o.warnings...)
	r.critical, r.other = r.critical+o.critical, r.other+o.other
	for rule, n := range o.counts {
		r.counts[rule] += n
	}
	for code, phase := range o.returns {
		if r.returns[code] == nil {
			r.returns[code] = phase
		}
	}
	if o.worst != nil && (r.worst == nil || rank(*o.worst) < rank(*r.worst)) {
		r.worst = o.worst
	}
	r.raiseStatus(o.status)
}

// takeRejections appends the rejections of another report without its warnings.
// With soft, they become warnings.
func (r *report) takeRejections(o *report, soft bool) {
	if !o.rejected() {
		return
	}
	if soft {
		r.warnings = append(r.warnings, o.issues...)
		r.raiseStatus(statusWarning)
		return
	}
	refusals := newReport(r.policy)
	refusals.issues, refusals.phases, refusals.returns, refusals.worst, refusals.status = o.issues, o.phases, o.returns, o.worst, statusRejected
	r.merge(refusals)
}

// raiseStatus records a finding's status if it is the most severe so far.
func (r *report) raiseStatus(status string) {
	if status != "" && (r.status == "" || slices.Index(statuses, status) < slices.Index(statuses, r.status)) {
		r.status = status
	}
}

func (r *report) weigh(row policyRule) {
	switch row.Severity {
	case "CRITICAL":
		r.critical++
	case "NONE":
	default:
		r.other++
	}
}

// rank orders findings by severity; of equal ones, the first counts.
func rank(row policyRule) int { return slices.Index(severities, row.Severity) }

// has reports whether one of the rules is broken.
func (r *report) has(rules ...string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool { return r.counts[rule] > 0 })
}

// checkCreator reports whether the database has the plan's creator, and adds a
// finding if not.
func (r *report) checkCreator(p *plan, f facts) bool {
	if !f.known() {
		r.add(creatorRefused, finding{at: "creator_id", message: "no creator is called " + show(p.creator)})
	}
	return f.known()
}

// rejected reports whether a finding rejects the schedule.
func (r *report) rejected() bool { return len(r.issues) > 0 }

// returnTo returns the phase to return to for the most severe issue.
func (r *report) returnTo() string {
	if r.worst == nil {
		return ""
	}
	return r.worst.ReturnTo
}

// everyReturn returns, for each issue, the phase to return to. The result is a plain value.
func (r *report) everyReturn() []any {
	list, plain := make([]any, len(r.phases)), map[string]any{} // few different phases for many issues
	for i, phase := range r.phases {
		if plain[phase] == nil {
			plain[phase] = phase
		}
		list[i] = plain[phase]
	}
	return list
}

// verdict returns the verdict with a status. object becomes its details, with
// the phases to return to. pass is the reason if it passes.
func (r *report) verdict(status, pass string, object map[string]any) validators.Verdict {
	object["return_to"] = r.returnTo()
	object["returns"] = r.returns
	object["issues_return_to"] = r.everyReturn()
	v := validators.Verdict{Valid: !r.rejected(), Status: status, Issues: r.issues, Warnings: r.warnings, Details: object}
	if v.Valid {
		v.Reason = pass
		if len(r.warnings) > 0 {
			v.Reason += "; " + inWords(r.warnings)
		}
		return v
	}
	v.Reason = inWords(r.issues)
	return v
}

// inWords returns the first findings as text, because a reason goes into
// prompts.
func inWords(issues []validators.Issue) string {
	const most = 10
	words := make([]string, 0, most+1)
	for _, i := range issues[:min(len(issues), most)] {
		at := ""
		if i.Location != "" {
			at = " " + i.Location
		}
		words = append(words, i.Check+at+": "+i.Message)
	}
	if more := len(issues) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}

// skipped returns the verdict of a gate that the policy does not have.
func skipped(gate string) validators.Verdict {
	v := validators.Pass("the policy has no %s", gate)
	v.Status, v.Details = statusSkipped, map[string]any{"return_to": "", "returns": map[string]any{}, "issues_return_to": []any{}}
	return v
}

package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

// What a finding, and a verdict as a whole, may come to.
const (
	Ready       = "READY"        // preflight: nothing is in the way
	Approved    = "APPROVED"     // the gate lets the schedule pass
	Info        = "INFO"         // worth knowing
	Warning     = "WARNING"      // logged, and the schedule goes on
	NeedsReview = "NEEDS_REVIEW" // goes on, flagged for a person
	Revise      = "REVISE"       // the critic wants it better
	Rejected    = "REJECTED"
	Blocked     = "BLOCKED" // the pipeline stops
	Skipped     = "SKIPPED" // the policy has no such gate
)

// refusing tells whether a finding with that status keeps a schedule back.
func refusing(status string) bool {
	return status == Blocked || status == Rejected || status == Revise
}

// A report collects all that one gate finds.
type report struct {
	policy   *Policy
	issues   []validators.Issue // what keeps the schedule back
	phases   []string           // of each of the issues, the one to go back to
	warnings []validators.Issue
	counts   map[string]int // by rule
	returns  map[string]any // code → the phase to go back to
	worst    *Rule          // of the issues
	status   string         // the gravest of all findings
	critical int
	other    int // findings that count in the quality score and are not critical
}

func newReport(p *Policy) *report {
	return &report{policy: p, counts: map[string]int{}, returns: map[string]any{}}
}

// A finding is where and how a rule is broken.
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
	r.graver(row.Status)
	if !refusing(row.Status) {
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

// absorb adds what another report found, as if it were found here next.
func (r *report) absorb(o *report) {
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
	r.graver(o.status)
}

// take adds what another report refuses by, and none of its warnings; soft makes
// that a warning here.
func (r *report) take(o *report, soft bool) {
	if !o.refused() {
		return
	}
	if soft {
		r.warnings = append(r.warnings, o.issues...)
		r.graver(Warning)
		return
	}
	refusals := newReport(r.policy)
	refusals.issues, refusals.phases, refusals.returns, refusals.worst, refusals.status = o.issues, o.phases, o.returns, o.worst, Rejected
	r.absorb(refusals)
}

// graver notes a finding's status where it is the gravest so far.
func (r *report) graver(status string) {
	if status != "" && (r.status == "" || slices.Index(statuses, status) < slices.Index(statuses, r.status)) {
		r.status = status
	}
}

func (r *report) weigh(row Rule) {
	switch row.Severity {
	case "CRITICAL":
		r.critical++
	case "NONE":
	default:
		r.other++
	}
}

// rank orders findings by severity; of equals the first found counts.
func rank(row Rule) int { return slices.Index(severities, row.Severity) }

// has tells whether one of the rules was broken.
func (r *report) has(rules ...string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool { return r.counts[rule] > 0 })
}

// knows tells whether the database has the plan's creator, and that it has not.
func (r *report) knows(p *plan, f facts) bool {
	if !f.known() {
		r.add(creatorRefused, finding{at: "creator_id", message: "no creator is called " + show(p.creator)})
	}
	return f.known()
}

// refused tells whether anything keeps the schedule back.
func (r *report) refused() bool { return len(r.issues) > 0 }

// returnTo is the phase to go back to for the gravest issue.
func (r *report) returnTo() string {
	if r.worst == nil {
		return ""
	}
	return r.worst.ReturnTo
}

// everyReturn is the phase to go back to for each of the issues, as a plain value.
func (r *report) everyReturn() []any {
	list, plain := make([]any, len(r.phases)), map[string]any{} // few phases, many issues
	for i, phase := range r.phases {
		if plain[phase] == nil {
			plain[phase] = phase
		}
		list[i] = plain[phase]
	}
	return list
}

// verdict gives the verdict with that status. The object becomes its details,
// with the phases to return to; what it says of a pass is pass.
func (r *report) verdict(status, pass string, object map[string]any) validators.Verdict {
	object["return_to"] = r.returnTo()
	object["returns"] = r.returns
	object["issues_return_to"] = r.everyReturn()
	v := validators.Verdict{Valid: !r.refused(), Status: status, Issues: r.issues, Warnings: r.warnings, Details: object}
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

// inWords joins the first of the findings: a reason goes into prompts.
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

// skipped is the verdict of a gate that the policy does not have.
func skipped(gate string) validators.Verdict {
	v := validators.Pass("the policy has no %s", gate)
	v.Status, v.Details = Skipped, map[string]any{"return_to": "", "returns": map[string]any{}, "issues_return_to": []any{}}
	return v
}

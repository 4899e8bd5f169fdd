package request

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Options say how responses are judged.
type Options struct {
	Root          string    // the directory of the files of the evidence; "": they are not checked
	Evidence      string    // a directory of screenshots beside Root; "": none but those named EvidenceDirs
	Strict        bool      // whether a PASS must name evidence that can be checked
	AcceptPartial bool      // whether PARTIAL is enough
	Late          bool      // whether the response came after its time: it is judged, and not valid
	Asked         time.Time // when the request was made; the zero time: unknown
}

// Judge judges a response against its request. The effective verdict is the worse of
// the claimed one and the one that the criteria come to.
//
// A response of another task is refused. A criterion of the request that is missing or
// SKIP counts as BLOCKED. Of several results for a criterion the worst counts. A PASS
// counts as BLOCKED if its evidence is empty or does not hold. With [Options.Strict]
// a PASS must name an entry of evidence_collected that can be checked.
func Judge(r *Request, given *Response, o Options) Judgement {
	if given.TaskID != r.TaskID {
		return wrongTask(r, given)
	}
	a := newAssessment(r, given, o)
	a.results()
	a.coverage()
	a.evidence()
	a.references()
	j := a.judgement()
	if o.Late {
		j = j.late()
	}
	return j
}

func wrongTask(r *Request, given *Response) Judgement {
	j := Judgement{TaskID: r.TaskID, Claimed: given.Verdict, Flags: []Flag{WrongTask}, Criteria: []Judged{}}
	j.Reason = fmt.Sprintf("this is no response to task %s: its task_id is %s", brief(r.TaskID), quoted(given.TaskID))
	j.Issues = add(nil, string(WrongTask), "error", "task_id", fmt.Sprintf("must be %s, not %s", quoted(r.TaskID), quoted(given.TaskID)))
	return j
}

// An assessment is one response while it is judged.
type assessment struct {
	request  *Request
	response *Response
	options  Options

	status  []Status  // the status that counts, for each criterion
	result  []*Result // its source; nil: there is none
	times   []int     // the number of results
	entries map[string]*entry
	refs    map[string][]int // the criteria that name an entry
	flags   map[Flag]bool
	more    int // issues that are not listed
	j       Judgement
}

func newAssessment(r *Request, given *Response, o Options) *assessment {
	n := len(r.Criteria)
	a := &assessment{
		request: r, response: given, options: o,
		flags: map[Flag]bool{}, entries: map[string]*entry{}, refs: map[string][]int{},
	}
	a.status, a.result, a.times = make([]Status, n), make([]*Result, n), make([]int, n)
	a.j = Judgement{TaskID: r.TaskID, Claimed: given.Verdict, Flags: []Flag{}, Criteria: []Judged{}}
	return a
}

// object flags the response and adds an issue.
func (a *assessment) object(f Flag, location, format string, args ...any) {
	a.flags[f] = true
	a.issue(string(f), location, fmt.Sprintf(format, args...))
}

func (a *assessment) issue(check, location, message string) {
	if len(a.j.Issues) == maxIssues {
		a.more++
		return
	}
	a.j.Issues = add(a.j.Issues, check, "error", location, message)
}

func (a *assessment) note(check, location, format string, args ...any) {
	a.j.Notes = add(a.j.Notes, check, "warning", location, fmt.Sprintf(format, args...))
}

// results assigns each result to its criterion.
func (a *assessment) results() {
	index := make(map[string]int, len(a.request.Criteria))
	for i, c := range a.request.Criteria {
		index[c.ID] = i
	}
	for i := range a.response.Results {
		result := &a.response.Results[i]
		at, known := index[result.CriterionID]
		if !known {
			a.flags[UnknownCriterion] = true
			a.note(string(UnknownCriterion), fmt.Sprintf("criteria_results[%d].criterion_id", i), "the request has no criterion %s", quoted(result.CriterionID))
			continue
		}
		status := counted(result)
		if a.times[at]++; a.times[at] == 1 || badness(status) > badness(a.status[at]) {
			a.status[at], a.result[at] = status, result
		}
	}
	for i, result := range a.result {
		if result != nil {
			for _, pointer := range result.pointers() {
				a.refs[pointer] = append(a.refs[pointer], i)
			}
		}
	}
}

// counted returns the status of a result by itself: a PASS needs a text or a reference.
func counted(r *Result) Status {
	switch {
	case r.Status == Failed:
		return Failed
	case r.Status == Passed && (visible(r.Evidence) || len(r.EvidenceRefs) > 0):
		return Passed
	default:
		return Unreachable
	}
}

// visible reports whether a text has a letter or a digit that a reader sees.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	})
}

func badness(s Status) int { return slices.Index([]Status{Passed, Unreachable, Failed}, s) }

// coverage reports every criterion that does not have exactly one result, PASS.
func (a *assessment) coverage() {
	for i, c := range a.request.Criteria {
		result := a.result[i]
		if a.times[i] > 1 {
			a.object(DuplicateCriterion, c.ID, "has %d results; the worst counts", a.times[i])
		}
		switch {
		case result == nil:
			a.status[i] = Unreachable
			a.object(MissingCriteria, c.ID, "has no result")
		case result.Status == Passed && a.status[i] != Passed:
			a.object(MissingEvidence, c.ID, "is PASS without evidence, and counts as BLOCKED")
		case result.Status != Passed:
			a.issue("criterion", c.ID, unmet(result))
		}
	}
}

// unmet describes a result that is not PASS, with its remediation.
func unmet(r *Result) string {
	text := fmt.Sprintf("%s: %s", r.Status, clean(r.Evidence, maxText/2))
	if strings.TrimSpace(r.Remediation) != "" {
		text += " (to mend it: " + clean(r.Remediation, maxText/2) + ")"
	}
	return text
}

func (a *assessment) judgement() Judgement {
	j := &a.j
	for i, c := range a.request.Criteria {
		j.Criteria = append(j.Criteria, Judged{c.ID, a.status[i]})
	}
	own := Overall(a.status)
	j.Effective = worse(j.Claimed, own)
	if own != j.Claimed {
		a.object(Inconsistent, "verdict", "is %s, and the criteria come to %s", brief(string(j.Claimed)), own)
	}
	a.clock()
	for _, f := range Flags() {
		if a.flags[f] {
			j.Flags = append(j.Flags, f)
		}
	}
	j.Valid = j.Effective == Pass || j.Effective == Partial && a.options.AcceptPartial
	j.Reason = j.reason()
	if a.more > 0 {
		j.Reason += fmt.Sprintf("; and %d more", a.more)
	}
	return *j
}

// clock notes a duration above the timeout, and a timestamp before the request. Both
// count nevertheless. Timestamps may be in whole seconds.
func (a *assessment) clock() {
	if took, allowed := a.response.DurationSeconds, a.request.Timeout(); took > allowed.Seconds() {
		a.flags[Late] = true
		a.note(string(Late), "duration_seconds", "it took %gs, and there were %s", took, allowed.Round(time.Second))
	}
	asked := a.options.Asked.Truncate(time.Second)
	if at := a.response.Timestamp; !asked.IsZero() && at.Before(asked) {
		a.note("timestamp", "timestamp", "%s lies before the request was made, at %s", at.UTC().Format(time.RFC3339), asked.UTC().Format(time.RFC3339))
	}
}

// Overall returns the verdict of the statuses of criteria. All PASS is PASS. PASS and
// FAIL without anything else is PARTIAL. Any other FAIL is FAIL. The rest, an empty
// list included, is BLOCKED.
func Overall(list []Status) Verdict {
	passed, failed, open := 0, 0, 0
	for _, s := range list {
		switch s {
		case Passed:
			passed++
		case Failed:
			failed++
		default:
			open++
		}
	}
	switch {
	case failed > 0 && passed > 0 && open == 0:
		return Partial
	case failed > 0:
		return Fail
	case open == 0 && passed > 0:
		return Pass
	default:
		return Blocked
	}
}

// worse returns the worse of two verdicts. An unknown verdict counts as BLOCKED.
func worse(a, b Verdict) Verdict {
	order := []Verdict{Pass, Partial, Blocked, Fail}
	rank := func(v Verdict) int {
		if i := slices.Index(order, v); i >= 0 {
			return i
		}
		return slices.Index(order, Blocked)
	}
	return order[max(rank(a), rank(b))]
}

package request

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Options are the settings of [Judge].
type Options struct {
	Root          string    // the directory of the evidence's files; "": the files are not checked
	Evidence      string    // a second directory of screenshots; "": only the inspectors' screenshots are allowed outside Root
	Strict        bool      // whether a PASS must name evidence that can be checked
	AcceptPartial bool      // whether PARTIAL is enough
	Asked         time.Time // when the request was made; the zero time: unknown
}

// Judge judges a response to a request. The effective verdict is the worse of
// the claimed verdict and the verdict of the criteria.
//
// A response to another task is rejected. A missing or skipped criterion counts
// as BLOCKED. If a criterion has several results, the worst counts. A PASS
// counts as BLOCKED if its evidence is empty or wrong. With [Options.Strict], a
// PASS must name an entry of evidence_collected that can be checked.
func Judge(r *Request, given *Response, o Options) Judgement {
	if given.TaskID != r.TaskID {
		return otherTask(r, given)
	}
	a := newAssessment(r, given, o)
	a.results()
	a.coverage()
	a.evidence()
	a.references()
	return a.judgement()
}

func otherTask(r *Request, given *Response) Judgement {
	j := Judgement{TaskID: r.TaskID, Claimed: given.Verdict, Flags: []string{wrongTask}, Criteria: []criterionStatus{}}
	j.Reason = fmt.Sprintf("this is no response to task %s: its task_id is %s", brief(r.TaskID), quoted(given.TaskID))
	j.Issues = add(nil, wrongTask, "error", "task_id", fmt.Sprintf("must be %s, not %s", quoted(r.TaskID), quoted(given.TaskID)))
	return j
}

// An assessment is one response while it is judged.
type assessment struct {
	request  *Request
	response *Response
	options  Options

	status  []Verdict // the status that counts, for each criterion
	result  []*Result // its source; nil: there is none
	times   []int     // the number of results
	entries map[string]*entry
	refs    map[string][]int // the criteria that name an entry
	flags   map[string]bool
	more    int // issues that are not listed
	j       Judgement
}

func newAssessment(r *Request, given *Response, o Options) *assessment {
	n := len(r.Criteria)
	a := &assessment{
		request: r, response: given, options: o,
		flags: map[string]bool{}, entries: map[string]*entry{}, refs: map[string][]int{},
	}
	a.status, a.result, a.times = make([]Verdict, n), make([]*Result, n), make([]int, n)
	a.j = Judgement{TaskID: r.TaskID, Claimed: given.Verdict, Flags: []string{}, Criteria: []criterionStatus{}}
	return a
}

// object flags the response and adds an issue.
func (a *assessment) object(f string, location, format string, args ...any) {
	a.flags[f] = true
	a.issue(f, location, fmt.Sprintf(format, args...))
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
			a.flags[unknownCriterion] = true
			a.note(unknownCriterion, fmt.Sprintf("criteria_results[%d].criterion_id", i), "the request has no criterion %s", quoted(result.CriterionID))
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
func counted(r *Result) Verdict {
	switch {
	case r.Status == Fail:
		return Fail
	case r.Status == Pass && (visible(r.Evidence) || len(r.EvidenceRefs) > 0):
		return Pass
	default:
		return Blocked
	}
}

// visible reports whether a text has a letter or a digit that a reader sees.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return (unicode.IsLetter(r) || unicode.IsNumber(r)) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	})
}

func badness(s Verdict) int { return slices.Index([]Verdict{Pass, Blocked, Fail}, s) }

// coverage reports every criterion that does not have exactly one result, PASS.
func (a *assessment) coverage() {
	for i, c := range a.request.Criteria {
		result := a.result[i]
		if a.times[i] > 1 {
			a.object(duplicateCriterion, c.ID, "has %d results; the worst counts", a.times[i])
		}
		switch {
		case result == nil:
			a.status[i] = Blocked
			a.object(missingCriteria, c.ID, "has no result")
		case result.Status == Pass && a.status[i] != Pass:
			a.object(missingEvidence, c.ID, "is PASS without evidence, and counts as BLOCKED")
		case result.Status != Pass:
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
		j.Criteria = append(j.Criteria, criterionStatus{c.ID, a.status[i]})
	}
	own := Overall(a.status)
	j.Effective = worse(j.Claimed, own)
	if own != j.Claimed {
		a.object(inconsistent, "verdict", "is %s, and the criteria come to %s", brief(string(j.Claimed)), own)
	}
	a.clock()
	for _, f := range flagOrder {
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
		a.flags[late] = true
		a.note(late, "duration_seconds", "it took %gs, and there were %s", took, allowed.Round(time.Second))
	}
	asked := a.options.Asked.Truncate(time.Second)
	if at := a.response.Timestamp; !asked.IsZero() && at.Before(asked) {
		a.note("timestamp", "timestamp", "%s lies before the request was made, at %s", at.UTC().Format(time.RFC3339), asked.UTC().Format(time.RFC3339))
	}
}

// Overall returns the verdict of the statuses of criteria. All PASS is PASS. PASS and
// FAIL without anything else is PARTIAL. Any other FAIL is FAIL. The rest, an empty
// list included, is BLOCKED.
func Overall(list []Verdict) Verdict {
	passed, failed, open := 0, 0, 0
	for _, s := range list {
		switch s {
		case Pass:
			passed++
		case Fail:
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

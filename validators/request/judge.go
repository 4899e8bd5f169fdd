package request

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Options say how responses are judged.
type Options struct {
	Root          string    // the directory that files of the evidence are looked for in; "" looks for none
	Evidence      string    // the directory that screenshots may be kept in beside Root; "" is none but those called EvidenceDirs
	AcceptPartial bool      // whether PARTIAL is enough
	Late          bool      // whether the response came after its time: it is judged, and not valid
	Asked         time.Time // when the request was made; the zero time where nobody knows
}

// Judge holds a response against its request. Neither what the response claims
// nor what its evidence claims is taken for granted, and the effective verdict
// is never better than the claimed one or than what the criteria come to.
//
// A response of another task is refused. Of the criteria of the request, one
// that is missing or SKIP is BLOCKED; of several results for one, the worst
// counts; a PASS is BLOCKED where its evidence is missing or does not hold.
func Judge(r *Request, given *Response, o Options) Judgement {
	if given.TaskID != r.TaskID {
		return wrongTask(r, given)
	}
	h := newHearing(r, given, o)
	h.results()
	h.coverage()
	h.words()
	h.evidence()
	j := h.judgement()
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

// A hearing is one response while it is judged.
type hearing struct {
	request  *Request
	response *Response
	options  Options

	status []Status  // what counts, for each criterion
	result []*Result // where it is from; nil is missing
	times  []int     // how many results there are
	opened int       // how often evidence has taken a PASS
	flags  map[Flag]bool
	more   int // issues that are not listed
	j      Judgement
}

func newHearing(r *Request, given *Response, o Options) *hearing {
	n := len(r.Criteria)
	h := &hearing{request: r, response: given, options: o, flags: map[Flag]bool{}}
	h.status, h.result, h.times = make([]Status, n), make([]*Result, n), make([]int, n)
	h.j = Judgement{TaskID: r.TaskID, Claimed: given.Verdict, Flags: []Flag{}, Criteria: []Judged{}}
	return h
}

// object flags the response and says why.
func (h *hearing) object(f Flag, location, format string, args ...any) {
	h.flags[f] = true
	h.issue(string(f), location, fmt.Sprintf(format, args...))
}

// refute objects to what the criteria about something pass by, and opens them.
func (h *hearing) refute(f Flag, location, about, format string, args ...any) {
	h.object(f, location, format, args...)
	h.open(about)
}

func (h *hearing) issue(check, location, message string) {
	if len(h.j.Issues) == maxIssues {
		h.more++
		return
	}
	h.j.Issues = add(h.j.Issues, check, "error", location, message)
}

func (h *hearing) note(check, location, format string, args ...any) {
	h.j.Notes = add(h.j.Notes, check, "warning", location, fmt.Sprintf(format, args...))
}

// results gives each result to its criterion.
func (h *hearing) results() {
	index := make(map[string]int, len(h.request.Criteria))
	for i, c := range h.request.Criteria {
		index[c.ID] = i
	}
	for i := range h.response.Results {
		result := &h.response.Results[i]
		at, known := index[result.CriterionID]
		if !known {
			h.flags[UnknownCriterion] = true
			h.note(string(UnknownCriterion), fmt.Sprintf("criteria_results[%d].criterion_id", i), "the request has no criterion %s", quoted(result.CriterionID))
			continue
		}
		status := counted(result, h.request.Criteria[at])
		if h.times[at]++; h.times[at] == 1 || badness(status) > badness(h.status[at]) {
			h.status[at], h.result[at] = status, result
		}
	}
}

// counted is the status of a result by itself: what shows nothing, or says the
// criterion again, passes nothing.
func counted(r *Result, c Criterion) Status {
	switch {
	case r.Status == Failed:
		return Failed
	case r.Status == Passed && !hollowText(r.Evidence) && !restates(r.Evidence, c):
		return Passed
	default:
		return Unreachable
	}
}

func badness(s Status) int { return slices.Index([]Status{Passed, Unreachable, Failed}, s) }

// coverage tells of every criterion that is not answered once, with PASS.
func (h *hearing) coverage() {
	for i, c := range h.request.Criteria {
		result := h.result[i]
		if h.times[i] > 1 {
			h.object(DuplicateCriterion, c.ID, "has %d results; the worst counts", h.times[i])
		}
		switch {
		case result == nil:
			h.status[i] = Unreachable
			h.object(MissingCriteria, c.ID, "has no result")
		case result.Status == Passed && h.status[i] != Passed:
			h.object(MissingEvidence, c.ID, "is PASS without evidence%s, and counts as BLOCKED", quotedHollow(result.Evidence))
		case result.Status != Passed:
			h.issue("criterion", c.ID, unmet(result))
		}
	}
}

// quotedHollow is what stands where evidence should.
func quotedHollow(s string) string {
	if s = brief(s); s == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", s)
}

// unmet is what a result that is no PASS says, with what would mend it.
func unmet(r *Result) string {
	said := fmt.Sprintf("%s: %s", r.Status, clean(r.Evidence, maxText/2))
	if strings.TrimSpace(r.Remediation) != "" {
		said += " (to mend it: " + clean(r.Remediation, maxText/2) + ")"
	}
	return said
}

// open takes the PASS from the criteria that a text belongs to: those whose
// evidence, description or hint has it, and all if none has.
func (h *hearing) open(about string) {
	if h.opened++; h.opened > maxIssues {
		about = "" // each look reads all of the evidence
	}
	named := make([]bool, len(h.status))
	for i, c := range h.request.Criteria {
		named[i] = about != "" && names(h.said(i, c), about)
	}
	all := !slices.Contains(named, true)
	for i, s := range h.status {
		if s == Passed && (all || named[i]) {
			h.status[i] = Unreachable
		}
	}
}

// names tells whether a text has a path or a command as a whole: data.md does not
// name a.md, docs/a.md may.
func names(text, what string) bool {
	return whole(text, what, func(before, after string) bool {
		first, last := what[0], what[len(what)-1]
		return !(goesOn(first) && before != "" && (goesOn(before[len(before)-1]) || before[len(before)-1] == '.' && (len(before) < 2 || goesOn(before[len(before)-2])))) &&
			!(goesOn(last) && after != "" && (goesOn(after[0]) || after[0] == '/' || after[0] == '.' && len(after) > 1 && goesOn(after[1])))
	})
}

func goesOn(c byte) bool { return c != '/' && strings.IndexByte(inPath, c) >= 0 || c >= utf8.RuneSelf }

// whole tells whether something stands in a text with something around it that
// makes it whole.
func whole(text, what string, bounded func(before, after string) bool) bool {
	if len(what) > maxText { // to compare it again and again would take too long
		return strings.Contains(text, what)
	}
	for from := 0; ; {
		i := strings.Index(text[from:], what)
		if i < 0 {
			return false
		}
		begin, end := from+i, from+i+len(what)
		if bounded(text[:begin], text[end:]) {
			return true
		}
		from = begin + 1
	}
}

// said are the words of a criterion and of its evidence.
func (h *hearing) said(i int, c Criterion) string {
	said := c.Description + "\n" + c.Hint
	if h.result[i] != nil {
		said += "\n" + h.result[i].Evidence
	}
	return said
}

func (h *hearing) judgement() Judgement {
	j := &h.j
	for i, c := range h.request.Criteria {
		j.Criteria = append(j.Criteria, Judged{c.ID, h.status[i]})
	}
	own := Overall(h.status)
	j.Effective = worse(j.Claimed, own)
	if own != j.Claimed {
		h.object(Inconsistent, "verdict", "is %s, and the criteria come to %s", brief(string(j.Claimed)), own)
	}
	h.slow()
	h.early()
	for _, f := range Flags() {
		if h.flags[f] {
			j.Flags = append(j.Flags, f)
		}
	}
	j.Valid = j.Effective == Pass || j.Effective == Partial && h.options.AcceptPartial
	j.Reason = j.reason()
	if h.more > 0 {
		j.Reason += fmt.Sprintf("; and %d more", h.more)
	}
	return *j
}

// slow flags what says of itself that it took too long. It was in time, and
// counts.
func (h *hearing) slow() {
	if took, allowed := h.response.DurationSeconds, h.request.Timeout(); took > allowed.Seconds() {
		h.flags[Late] = true
		h.note(string(Late), "duration_seconds", "it took %gs, and there were %s", took, allowed.Round(time.Second))
	}
}

// early tells of a response that says it was finished before it was asked for:
// a clock that is wrong, or an answer to something else. Timestamps may be of
// whole seconds.
func (h *hearing) early() {
	asked := h.options.Asked.Truncate(time.Second)
	if at := h.response.Timestamp; !asked.IsZero() && at.Before(asked) {
		h.note("timestamp", "timestamp", "%s lies before the request was made, at %s", at.UTC().Format(time.RFC3339), asked.UTC().Format(time.RFC3339))
	}
}

// Overall is what the statuses of criteria come to: all PASS is PASS; some PASS and some FAIL and
// nothing else is PARTIAL; any other FAIL is FAIL; all else, none at all
// included, is BLOCKED.
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

// worse is the worse of two verdicts; what is none is BLOCKED.
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

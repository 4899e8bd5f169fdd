package request

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/request/internal/hints"
)

// pointers returns the references of a result in one spelling: file_checks/0. A model may
// also write /evidence_collected/file_checks/0, file_checks[0] or file_checks.0.
func (r *Result) pointers() []string {
	list := make([]string, len(r.EvidenceRefs))
	for i, ref := range r.EvidenceRefs {
		ref = strings.NewReplacer("[", "/", "]", "", ".", "/", "#", "").Replace(strings.TrimSpace(ref))
		list[i] = strings.TrimPrefix(strings.Trim(ref, "/"), "evidence_collected/")
	}
	return list
}

// references checks the entries that each PASS names. A PASS is verified if it
// names an entry and all its entries are right. With strict, an unverified PASS
// counts as BLOCKED.
func (a *assessment) references() {
	var bare []string
	for i, c := range a.request.Criteria {
		if a.status[i] != Pass {
			continue
		}
		problem := a.unverified(i, c)
		switch {
		case problem == "":
		case a.options.Strict:
			a.status[i] = Blocked
			a.object(unverifiedEvidence, c.ID, "is PASS with no checkable evidence (%s), and counts as BLOCKED", problem)
		default:
			bare = append(bare, brief(c.ID))
		}
	}
	if bare != nil {
		a.flags[unverifiedEvidence] = true
		verb := "is"
		if len(bare) > 1 {
			verb = "are"
		}
		a.note(unverifiedEvidence, "evidence_refs", "%s %s PASS without checked evidence: %s", criteria(len(bare)), verb, strings.Join(bare, ", "))
	}
}

// unverified returns why the references of a criterion do not support it, or "".
func (a *assessment) unverified(i int, c Criterion) string {
	refs := a.result[i].pointers()
	if len(refs) == 0 {
		return "it has no evidence_refs"
	}
	for _, ref := range refs {
		e := a.entries[ref]
		switch {
		case e == nil:
			return fmt.Sprintf("evidence_collected has no %s", brief(ref))
		case e.problem != "":
			return brief(e.pointer) + " " + e.problem
		case e.status > 0 && !c.accepts(e):
			return fmt.Sprintf("%s answered %d, and the criterion declares no such status", e.pointer, e.status)
		}
	}
	return ""
}

// apis checks the statuses of endpoints. A status of 500 or more refutes the PASS that
// the response belongs to, unless a criterion declares it.
func (a *assessment) apis(list []APIResponse) {
	silent := 0
	for i, r := range list {
		e := a.entry(fmt.Sprintf("api_responses/%d", i), pathOf(r.Endpoint), "")
		e.method, e.status = strings.ToUpper(r.Method), r.StatusCode
		switch {
		case r.StatusCode == 0:
			silent++
			e.problem = "has no status_code"
		case r.StatusCode < 100 || r.StatusCode > 599:
			a.refute(e, falseEvidence, r.Endpoint, "is said to have answered %d, which is no status", r.StatusCode)
		case r.StatusCode < 400, slices.ContainsFunc(a.request.Criteria, func(c Criterion) bool { return c.accepts(e) }):
		case r.StatusCode >= 500:
			a.contrary(e, r.Endpoint, "answered %d, which no criterion declares", r.StatusCode)
		default:
			a.note("undeclared_status", r.Endpoint, "answered %d, and no criterion declares that status", r.StatusCode)
		}
	}
	if silent > 0 {
		a.note("api_responses", "evidence_collected", "%d of the api_responses without a status_code", silent)
	}
}

// accepts reports whether the status of an endpoint supports the criterion: the status
// that a url: check of its hint declares, else a status below 400.
func (c Criterion) accepts(e *entry) bool {
	for _, declared := range hints.Parse(c.Hint) {
		if declared.Keyword != "url" || declared.Err != nil || pathOf(declared.Args[0]) != e.name ||
			e.method != "" && e.method != declared.Method() {
			continue
		}
		status := declared.Status()
		return e.status == status || status == 0 && e.status/100 == 2
	}
	return e.status > 0 && e.status < 400
}

// pathOf returns the path and query of an address.
func pathOf(endpoint string) string {
	endpoint = strings.Trim(endpoint, "\"'`")
	u, err := url.Parse(endpoint)
	if err != nil || u.Path == "" {
		return endpoint
	}
	return u.RequestURI()
}

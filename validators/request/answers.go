package request

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Refuses tells whether a criterion speaks of errors or refusals, which a status of
// 4xx may bear out.
func Refuses(c Criterion) bool {
	e := expects(c)
	return e.failures || e.refusals != nil
}

// An answer is what an endpoint of a criterion answered.
type answer struct {
	status  int
	foreign bool // another criterion of the endpoint speaks of it, and this one does not
	sent    bool // something was sent, which is often answered by leading to a page
}

// objection says why the answers that were seen do not bear out the criterion;
// "" where they do. A status that is named must be among them, and the others be
// steps on the way. Where none is named they are of 2xx, with 3xx and 4xx as far
// as the criterion speaks of such; a redirect that was followed to one of 2xx is a
// step as well. What is another criterion's is not held against this one, where
// that is not all there is.
func (e expectation) objection(seen []answer) string {
	own := slices.DeleteFunc(slices.Clone(seen), func(a answer) bool { return a.foreign })
	if len(own) == 0 {
		own = seen
	}
	arrived := slices.ContainsFunc(own, func(a answer) bool { return a.status/100 == 2 })
	for _, a := range own {
		led := a.status/100 == 3 && (arrived || len(e.named) > 0 || a.sent && (a.status == http.StatusFound || a.status == http.StatusSeeOther))
		if fine := a.status/100 == 2 || a.status == http.StatusSwitchingProtocols || led || e.asks(a.status); !fine || e.bars(a.status) {
			return fmt.Sprintf("answered %d, which does not bear the criterion out", a.status)
		}
	}
	if len(e.named) > 0 && !slices.ContainsFunc(seen, func(a answer) bool { return e.names(a.status) }) {
		return fmt.Sprintf("answered %d, and the criterion names another status", seen[0].status)
	}
	return ""
}

// apis weighs the statuses of endpoints against the criteria that name the
// endpoint; those of one that nobody names against all.
func (h *hearing) apis(list []APIResponse) {
	if len(list) == 0 {
		return
	}
	expected := make([]expectation, len(h.status))
	for i, c := range h.request.Criteria {
		expected[i] = expects(c)
	}
	seen := h.answers(list, expected)
	for i, c := range h.request.Criteria {
		if h.status[i] != Passed || seen[i] == nil {
			continue
		}
		if why := expected[i].objection(seen[i]); why != "" {
			h.object(ContraryEvidence, c.ID, "its endpoint %s", why)
			h.status[i] = Unreachable
		}
	}
}

// answers gives each criterion what its endpoints answered.
func (h *hearing) answers(list []APIResponse, expected []expectation) [][]answer {
	seen := make([][]answer, len(h.status))
	asked := map[[2]string][]int{}
	silent := 0
	for _, a := range list {
		switch {
		case a.StatusCode == 0:
			silent++
			continue
		case a.StatusCode < 100 || a.StatusCode > 599:
			h.refute(FalseEvidence, a.Endpoint, a.Endpoint, "is said to have answered %d, which is no status", a.StatusCode)
			continue
		}
		a.Method = strings.ToUpper(a.Method)
		key := [2]string{a.Method, a.Endpoint}
		which, known := asked[key]
		if !known {
			which = h.naming(a, len(asked) < maxEndpoints)
			asked[key] = which
		}
		theirs := slices.ContainsFunc(which, func(i int) bool { return expected[i].asks(a.StatusCode) })
		for _, i := range which {
			got := answer{a.StatusCode, theirs && !expected[i].asks(a.StatusCode), !slices.Contains([]string{"", http.MethodGet, http.MethodHead}, a.Method)}
			if !slices.Contains(seen[i], got) {
				seen[i] = append(seen[i], got)
			}
		}
	}
	if silent > 0 {
		h.note("api_responses", "evidence_collected", "%s told without a status", were(silent, "answer"))
	}
	return seen
}

// maxEndpoints is how many endpoints of a response are looked for in the words
// of its criteria; the others are held against all.
const maxEndpoints = 200

// naming are the criteria that an answer belongs to: those whose words or evidence
// have the endpoint's path, without those that have it with another method alone;
// and all if none has. Of a failure that is told beside one that is given nothing
// follows for the others.
func (h *hearing) naming(a APIResponse, look bool) []int {
	path := a.Endpoint
	if u, err := url.Parse(a.Endpoint); err == nil && u.Path != "" {
		path = u.Path
	}
	var named, apart, all []int
	for i, c := range h.request.Criteria {
		all = append(all, i)
		if said := h.said(i, c); !look || !mentions(said, path) {
			continue
		} else if apart = append(apart, i); a.Method == "" || !otherMethod(said, a.Method, path) {
			named = append(named, i)
		}
	}
	switch {
	case len(named) > 0:
		return named
	case len(apart) > 0:
		return apart
	case slices.Contains(h.status, Failed):
		return nil
	}
	return all
}

// otherMethod tells whether a text has a path with other methods alone.
func otherMethod(text, method, path string) bool {
	other := false
	return !whole(text, path, func(before, _ string) bool {
		before = strings.TrimSuffix(before[max(0, len(before)-10):], " ")
		word := before[strings.LastIndexAny(before, " \t\n\"'`(")+1:]
		if word == method || !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"}, word) {
			return true
		}
		other = true
		return false
	}) && other
}

// inPath are what a path goes on with, before it or behind it: in ./login and
// src/login there is no endpoint /login.
const inPath = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/"

// mentions tells whether a path stands in a text as a whole. Behind a host it does.
func mentions(text, path string) bool {
	if strings.Trim(path, "/") == "" {
		return false
	}
	return whole(text, path, func(before, after string) bool {
		return (after == "" || strings.IndexByte(inPath, after[0]) < 0) && !withinFile(before)
	})
}

// withinFile tells whether what stands before a path makes it one of files: dots, or
// the folder that it is in. An address has a host there.
func withinFile(before string) bool {
	before = before[max(0, len(before)-300):]
	word := before[strings.LastIndexAny(before, " \t\n\"'`(<,;")+1:]
	if strings.Contains(word, "://") {
		return false
	}
	return strings.Trim(word, ".") == "" && word != "" || word != "" && strings.IndexByte(inPath, word[len(word)-1]) >= 0 && !strings.Contains(word, ":") && !strings.Contains(word, ".")
}

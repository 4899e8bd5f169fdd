package request

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// An expectation is which statuses of an endpoint bear out a criterion.
type expectation struct {
	named     map[int]bool // statuses and, as their hundreds, classes that it names: 201, 4
	failures  bool         // it speaks of refusals or errors
	refusals  []int        // of 4xx, where what it speaks of is a refusal without such a word
	redirects bool         // it speaks of being led elsewhere
}

var (
	statusNumber = patterns.Lazy(`(?i)\b([1-5])(\d\d|xx)\b(\s*[\p{L}%€$£]+)?`)
	statusWord   = patterns.Lazy(`(?i)(?:status(?:es)?|codes?|https?(?:/\d(?:\.\d)?)?)(?: (?:must|should|shall|will))?(?: (?:is|are|be|of))?(?: (?:an?|the|one of|either))?\s*[=:]?\s*["'` + "`" + `]?$`)
	statusBefore = patterns.Lazy(`(?i)(?:\b(?:returns?|returned|answers?|answered|responds?|responded|responses?|gives?|gets?|got|yields?|sends?|with|by|an?|the|either)|→|->|=>|: |\()\s*(?:an?\s+|the\s+|with\s+|by\s+|either\s+)*["'` + "`" + `]?$`)
	statusIs     = patterns.Lazy(`(?i)\b(?:status|code|answer|response|reply)(?: (?:of|to|from|for)(?: \S+){1,3}?)?(?: (?:must|should|shall|will))? (?:is|are|be)\s+(?:an?\s+)?["'` + "`" + `]?$`)
	quantity     = patterns.Lazy(`(?i)\b(?:limit|max\w*|min\w*|size|length|count|total|timeout|number|width|height|score|price|weight|default|port|id): $`)
	statusList   = patterns.Lazy(`(?i)^["'` + "`" + `]?\s*(?:,|/|or|and|,\s*or|,\s*and)\s*(?:an?\s+)?["'` + "`" + `]?$`)
	otherNumbers = patterns.Lazy(`(?i)^\s*(?:[%€$£]|ms|msec|milli\p{L}*|s|sec|secs|min|h|[kmgt]i?b|b|px|pt|em|rem|m|km|cm|mm|g|kg|mg|l|ml|w|kw|v|hz|khz|mhz|ghz|bits?|eur|euro|usd|people|[\p{L}]*[^u\P{L}]s)$`)

	speaksOfFailure  = patterns.Lazy(`(?i)\b(?:errors?|fails?|failed|failing|failures?|refus\w*|reject\w*|den(?:y|ies|ied)|invalid|wrong|bad|unauthori[sz]ed|unauthenticated|forbid\w*|forbidden|not found|missing|unknown|illegal|malformed|block(?:s|ed)?|crash\w*|panics?|exceptions?|disallow\w*|prohibit\w*|without (?:an? )?\w+|unavailable|down|non-?zero|exit (?:code|status) [1-9]\d*|too many|rate.?limit\w*|expired?|conflict\w*|abgelehnt|verweigert|fehler|erreur|refusé\w*)\b`)
	speaksOfRedirect = patterns.Lazy(`(?i)\b(?:redirect\w*|forward\w*|moved|location|leads? to|sent to|not modified|cached?|etag)\b`)
)

// refusals are what a criterion speaks of that a service answers with some of
// 4xx, and with those alone.
var refusals = []struct {
	spoken   func() *regexp.Regexp
	statuses []int
}{
	{patterns.Lazy(`(?i)\b(?:requires?|needs?|demands?|asks? for|wants) (?:\w+ ){0,3}(?:authentication|authori[sz]ation|log-?in|sign-?in|password|token|credentials?|permissions?|(?:api )?key|role|session)\b` +
		`|\b(?:protected|guarded|secured|restricted|locked)\b|\bonly (?:\w+ ){0,3}(?:may|can|are allowed|is allowed|have access|has access)\b|\b(?:reserved|open|accessible|visible) (?:only )?(?:for|to) (?:\w+ )?(?:admins?|members|owners?|staff)\b`), []int{401, 403, 407, 423}},
	{patterns.Lazy(`(?i)\b(?:is|are|was|were|been) (?:\w+ )?(?:gone|retired|discontinued|decommissioned|switched off|shut down)\b|\b(?:has|have|had) been (?:deleted|removed)\b|\b(?:no longer|disappears?|disappeared)\b`), []int{404, 410}},
	{patterns.Lazy(`(?i)\b(?:validates?|is validated|are validated|checks?|verifies) (?:\w+ ){0,3}(?:input|inputs|body|payload|fields?|parameters?|arguments?|schema|data|values?|requests?|length|format)\b|\b(?:input|body|payload|parameters?|fields?) (?:is|are) (?:validated|checked)\b`), []int{400, 413, 415, 422}},
}

// expects reads which statuses a criterion names or speaks of.
func expects(c Criterion) expectation {
	said := c.Description + "\n" + c.Hint
	e := expectation{named: map[int]bool{}, failures: speaksOfFailure().MatchString(said), redirects: speaksOfRedirect().MatchString(said)}
	for _, r := range refusals {
		if r.spoken().MatchString(said) {
			e.refusals = append(e.refusals, r.statuses...)
		}
	}
	last := -1 // where the status before ends
	for _, m := range statusNumber().FindAllStringSubmatchIndex(said, -1) {
		unit := m[6] >= 0 && otherNumbers().MatchString(said[m[6]:m[7]]) && !strings.Contains(strings.ToLower(said[m[6]:m[7]]), "status")
		listed := last >= 0 && m[2]-last < 20 && statusList().MatchString(said[last:m[2]])
		if unit || partOfWord(said, m[2], m[5]) && !listed {
			continue
		}
		if class := said[m[2]:m[3]]; strings.EqualFold(said[m[4]:m[5]], "xx") {
			n, _ := strconv.Atoi(class)
			e.named[n], last = true, m[5]
		} else if n, _ := strconv.Atoi(said[m[2]:m[5]]); listed || isStatus(n, said[max(0, m[2]-40):m[2]]) {
			e.named[n], last = true, m[5]
		}
	}
	return e
}

// isStatus tells whether a number is a status by what stands before it. Where
// nothing calls it one it must be one that there is, and of a final answer.
func isStatus(n int, before string) bool {
	return statusWord().MatchString(before) ||
		n >= 200 && !quantity().MatchString(before) && http.StatusText(n) != "" && (statusBefore().MatchString(before) || statusIs().MatchString(before))
}

// partOfWord tells whether a number belongs to a path, a version or a word with a
// hyphen: /users/404, v2.200, 256-bit.
func partOfWord(text string, begin, end int) bool {
	if begin > 0 && strings.IndexByte("/.-#?&", text[begin-1]) >= 0 {
		return true
	}
	rest := text[end:]
	return len(rest) > 1 && (rest[0] == '-' || rest[0] == '.') && strings.IndexByte(inPath, rest[1]) >= 0
}

func (e expectation) names(status int) bool { return e.named[status] || e.named[status/100] }

// objection says why the statuses that were seen do not bear out the criterion;
// "" where they do. One that is named must be among them, and the others be
// steps on the way. Where none is named they are of 2xx, with 3xx and 4xx as far
// as the criterion speaks of such; a redirect that was followed to one of 2xx is a
// step as well.
func (e expectation) objection(seen []int) string {
	arrived := slices.ContainsFunc(seen, func(s int) bool { return s/100 == 2 })
	for _, s := range seen {
		class := s / 100
		fine := class == 2 || e.names(s) || class == 3 && (arrived || e.redirects || len(e.named) > 0) ||
			len(e.named) == 0 && (class == 4 && e.failures || slices.Contains(e.refusals, s))
		if !fine {
			return fmt.Sprintf("answered %d, which does not bear the criterion out", s)
		}
	}
	if len(e.named) > 0 && !slices.ContainsFunc(seen, e.names) {
		return fmt.Sprintf("answered %d, and the criterion names another status", seen[0])
	}
	return ""
}

// apis weighs the statuses of endpoints against the criteria that name the
// endpoint; those of one that nobody names against all.
func (h *hearing) apis(list []APIResponse) {
	if len(list) == 0 {
		return
	}
	seen := make([][]int, len(h.status)) // by criterion
	asked := map[string][]int{}
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
		which, known := asked[a.Endpoint]
		if !known {
			which = h.naming(a.Endpoint, len(asked) < maxEndpoints)
			asked[a.Endpoint] = which
		}
		for _, i := range which {
			if !slices.Contains(seen[i], a.StatusCode) {
				seen[i] = append(seen[i], a.StatusCode)
			}
		}
	}
	if silent > 0 {
		h.note("api_responses", "evidence_collected", "%s told without a status", were(silent, "answer"))
	}
	for i, c := range h.request.Criteria {
		if h.status[i] != Passed || seen[i] == nil {
			continue
		}
		if why := expects(c).objection(seen[i]); why != "" {
			h.object(ContraryEvidence, c.ID, "its endpoint %s", why)
			h.status[i] = Unreachable
		}
	}
}

// maxEndpoints is how many endpoints of a response are looked for in the words
// of its criteria; the others are held against all.
const maxEndpoints = 200

// naming are the criteria that an endpoint belongs to: those whose words or
// evidence have its path, and all if none has. Of a failure that is told beside
// one that is given nothing follows for the others.
func (h *hearing) naming(endpoint string, look bool) []int {
	path := endpoint
	if u, err := url.Parse(endpoint); err == nil && u.Path != "" {
		path = u.Path
	}
	var named, all []int
	for i, c := range h.request.Criteria {
		all = append(all, i)
		if look && mentions(h.said(i, c), path) {
			named = append(named, i)
		}
	}
	if len(named) > 0 {
		return named
	}
	if slices.Contains(h.status, Failed) {
		return nil
	}
	return all
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

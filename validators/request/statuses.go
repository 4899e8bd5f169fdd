package request

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// An expectation is which statuses of an endpoint bear out a criterion.
type expectation struct {
	named     map[int]bool // statuses and, as their hundreds, classes that it names: 201, 4
	barred    map[int]bool // those that it names as what must not come
	failures  bool         // it speaks of refusals or errors
	refusals  []int        // of 4xx, where what it speaks of is a refusal without such a word
	redirects bool         // it speaks of being led elsewhere
}

// answering are verbs that have a status for their object.
const answering = `returns?|returned|returning|answers?|answered|answering|responds?|responded|responding|responses?|repl(?:y|ies|ied)|gives?|gets?|got|yields?|sends?|says?|shows?|throws?|issues?|produces?|results?|causes?|causing|raises?|triggers?|expects?|expected|gibt|liefert|renvoie|retourne|devuelve|responde`

var (
	statusNumber = patterns.Lazy(`(?i)\b([1-5])(\d\d|xx)\b(\s*[\p{L}%€$£]+)?`)
	statusWord   = patterns.Lazy(`(?i)(?:status(?:es)?|codes?|https?(?:/\d(?:\.\d)?)?)(?: (?:must|should|shall|will))?(?: (?:is|are|be|of|equals?|to (?:be|equal)))?(?: (?:an?|the|one of|either))?\s*(?:=|:|==|===)?\s*["'*` + "`" + `]*$`)
	statusBefore = patterns.Lazy(`(?i)(?:\b(?:` + answering + `|with|by|an?|the|either|mit|avec|con)|→|⇒|->|=>|==|: |\(|\| ?|返回)\s*(?:an?\s+|the\s+|with\s+|by\s+|as\s+|in\s+|to\s+|either\s+)*["'*` + "`" + `]*$`)
	statusIs     = patterns.Lazy(`(?i)\b(?:status|code|answer|response|reply)(?: (?:of|to|from|for)(?: \S+){1,3}?)?(?: (?:must|should|shall|will))? (?:is|are|be)\s+(?:an?\s+)?["'` + "`" + `]?$`)
	statusFirst  = patterns.Lazy(`(?i)(?:^|[\n.,;(] ?|\b(?:and|or|but|an?) )$`)
	statusThen   = patterns.Lazy(`(?i)^["'*` + "`" + `]*\s+(?:for|when|if|on|unless|otherwise|is (?:returned|sent|given|answered))\b`)
	statusBarred = patterns.Lazy(`(?i)(?:(?:\b(?:never|not|no longer|cannot|without|nor)|n['’]t)(?: ever)?(?: (?:be|` + answering + `))?(?: (?:with|in|to|as|by|an?|any|the|http|status|code|anything but))*|\b(?:instead of|rather than|other than|anything but|previously|formerly|avoid(?:s|ing)?|prevents?|zero|free (?:of|from))(?: (?:an?|the|any))?|\((?:was|before:?)|\bno)\s+["'*` + "`" + `]?$`)
	statusNoOne  = patterns.Lazy(`(?i)\bno (?:\S+ ){1,4}?(?:` + answering + `)(?: (?:with|in|an?))*\s+["'*` + "`" + `]?$`)
	quantity     = patterns.Lazy(`(?i)\b(?:limit|max\w*|min\w*|size|length|count|total|timeout|number|width|height|score|price|weight|default|port|id): $`)
	statusList   = patterns.Lazy(`(?i)^["'` + "`" + `]?\s*(?:,|/|or|and|,\s*or|,\s*and)\s*(?:an?\s+)?["'` + "`" + `]?$`)
	otherNumbers = patterns.Lazy(`(?i)^\s*(?:[%€$£]|ms|msec|milli\p{L}*|s|sec|secs|min|h|[kmgt]i?b|b|px|pt|em|rem|m|km|cm|mm|g|kg|mg|l|ml|w|kw|v|hz|khz|mhz|ghz|bits?|eur|euro|usd|people|[\p{L}]*[^u\P{L}]s)$`)
	noUnits      = patterns.Lazy(`(?i)^\s*(?:is|was|has|as|unless|always|errors|responses|answers|replies|pages)$`)

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
		`|\bmust (?:first )?(?:be )?(?:log(?:ged)?|sign(?:ed)?)[- ]?in\b|\b(?:protected|guarded|secured|restricted|locked)\b|\bonly (?:[\w-]+ ){0,3}(?:may|can|are allowed|is allowed|have access|has access)\b|\b(?:reserved|open|accessible|visible) (?:only )?(?:for|to) (?:\w+ )?(?:admins?|members|owners?|staff)\b`), []int{401, 403, 407, 423}},
	{patterns.Lazy(`(?i)(?:\b(?:not|never|no longer)|n['’]t) (?:be )?(?:publicly |directly )?(?:accessible|reachable|exposed|served|public|allowed|accepted|permitted)\b` +
		`|\b(?:cannot|can not|may not|must not|can['’]t) (?:be )?(?:access|reach|open|view|see|call|use|edit|delete|create|update|log in|sign in)(?:e?d|n)?\b`), []int{401, 403, 404, 405, 409, 410}},
	{patterns.Lazy(`(?i)\b(?:disabled|switched off|turned off)\b`), []int{403, 404, 405, 410}},
	{patterns.Lazy(`(?i)\b(?:unique|duplicates?)\b`), []int{400, 409, 422}},
	{patterns.Lazy(`(?i)\b(?:is|are|was|were|been) (?:\w+ )?(?:gone|retired|discontinued|decommissioned|switched off|shut down)\b|\b(?:has|have|had) been (?:deleted|removed)\b|\b(?:no longer|disappears?|disappeared)\b`), []int{404, 410}},
	{patterns.Lazy(`(?i)\b(?:validates?|is validated|are validated|checks?|verifies) (?:\w+ ){0,3}(?:input|inputs|body|payload|fields?|parameters?|arguments?|schema|data|values?|requests?|length|format)\b|\b(?:input|body|payload|parameters?|fields?) (?:is|are) (?:validated|checked)\b|\b(?:is|are) (?:required|mandatory)\b|\bat (?:most|least) \d+ (?:characters|letters|bytes|digits|[km]b)\b`), []int{400, 413, 415, 422}},
}

// expects reads which statuses a criterion names or speaks of.
func expects(c Criterion) expectation {
	said := c.Description + "\n" + c.Hint
	e := expectation{named: map[int]bool{}, barred: map[int]bool{}, failures: speaksOfFailure().MatchString(said), redirects: speaksOfRedirect().MatchString(said)}
	for _, r := range refusals {
		if r.spoken().MatchString(said) {
			e.refusals = append(e.refusals, r.statuses...)
		}
	}
	last, into := -1, e.named // where the status before ends, and where it went
	for _, m := range statusNumber().FindAllStringSubmatchIndex(said, maxStatuses) {
		unit := m[6] >= 0 && isUnit(said[m[6]:m[7]])
		listed := last >= 0 && m[2]-last < 20 && statusList().MatchString(said[last:m[2]])
		if unit || partOfWord(said, m[2], m[5]) && !listed {
			continue
		}
		before, after := said[max(0, m[2]-60):m[2]], said[m[5]:min(len(said), m[5]+60)]
		n, _ := strconv.Atoi(said[m[2]:m[3]])
		class := strings.EqualFold(said[m[4]:m[5]], "xx")
		if !class {
			n, _ = strconv.Atoi(said[m[2]:m[5]])
		}
		barred := isBarred(n, before)
		if listed || class && n != 5 || barred || isStatus(n, before, after) {
			if last = m[5]; !listed {
				into = e.named
			}
			if barred {
				into = e.barred
			}
			into[n] = true
		}
	}
	return e
}

// maxStatuses is how many numbers of a criterion may be statuses.
const maxStatuses = 200

// isUnit tells whether the word behind a number makes it one of something else.
func isUnit(word string) bool {
	return otherNumbers().MatchString(word) && !noUnits().MatchString(word) && !strings.Contains(strings.ToLower(word), "status")
}

// isBarred tells whether what stands before a status says that it must not come. "No
// body returns 400" says what comes without one; nobody wants that of a 5xx.
func isBarred(n int, before string) bool {
	if n >= 100 && http.StatusText(n) == "" {
		return false
	}
	return statusBarred().MatchString(before) || (n == 5 || n/100 == 5) && statusNoOne().MatchString(before)
}

// isStatus tells whether a number is a status by what stands around it. Where
// nothing calls it one it must be one that there is, and of a final answer.
func isStatus(n int, before, after string) bool {
	switch text := http.StatusText(n); {
	case statusWord().MatchString(before), n == 5 && !strings.HasSuffix(before, "(") && statusBefore().MatchString(before):
		return true
	case n < 200 || text == "" || quantity().MatchString(before):
		return false
	}
	after = strings.TrimLeft(after, "\"'*` ")
	return statusBefore().MatchString(before) || statusIs().MatchString(before) || n >= 400 && statusFirst().MatchString(before) && statusThen().MatchString(" "+after) ||
		len(after) >= len(http.StatusText(n)) && n >= 400 && strings.EqualFold(after[:len(http.StatusText(n))], http.StatusText(n))
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
func (e expectation) bars(status int) bool  { return e.barred[status] || e.barred[status/100] }

// asks tells whether the criterion speaks of a status: of 2xx only where it names it.
func (e expectation) asks(status int) bool {
	return !e.bars(status) && (e.names(status) || len(e.named) == 0 &&
		(status/100 == 4 && e.failures || status/100 == 3 && e.redirects || slices.Contains(e.refusals, status)))
}

package openai

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
)

// The members of a request that an endpoint may not take, and can do without or
// take by another name.
const (
	formatField = "response_format"
	usageField  = "stream_options"
	limitField  = "max_output_tokens"
	extrasField = "extras"
)

// A lack is a member that an endpoint does not take for a model.
type lack struct {
	field, model string
	format       string // the one that it does not take; "" if it takes none
}

func (q *question) lack(field string) lack { return lack{field, q.name, ""} }
func (q *question) notThisOne() lack       { return lack{formatField, q.name, q.format} }

func (q *question) without(field string) bool {
	return slices.ContainsFunc(q.lacks, func(l lack) bool { return l.field == field })
}

// limit is what the limit of the output is called. An endpoint that does not
// take the one name takes the other.
func (q *question) limit() string {
	name := q.c.provider.LimitField
	if !q.without(limitField) {
		return name
	}
	if name == "max_tokens" {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// giveUp says whether a failure is about something that the question can do
// without, and leaves it out from now on.
func (q *question) giveUp(f *model.Failure) bool {
	l, found := lack{}, false
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		l, found = q.named(strings.ToLower(f.Message))
	case http.StatusNotImplemented:
	case http.StatusInternalServerError:
		if q.failed++; q.failed == 1 && q.c.tries > 1 {
			return false // it may pass
		}
	default:
		return false
	}
	if !found && q.suspicious() {
		l, found, q.onTrial, q.tried = q.suspect(), true, true, true
	}
	if found {
		q.lacks = append(q.lacks, l)
	}
	return found
}

// named is the lack that a complaint names.
func (q *question) named(text string) (lack, bool) {
	cache := q.c.provider.CacheField
	formatted := q.format != "" && !q.without(formatField)
	switch {
	case q.stream && !q.without(usageField) && mentions(text, usageField, "include_usage"):
		return q.lack(usageField), true
	case q.caches() && mentions(text, cache):
		return q.lack(cache), true
	case q.r.Params != nil && q.r.Params.MaxOutputTokens > 0 && !q.without(limitField) && mentions(text, q.limit()):
		return q.lack(limitField), true
	case !q.without(extrasField) && !mentions(text, "passed back", "missing") && mentions(text, q.extras()...):
		return q.lack(extrasField), true
	case formatted && strings.Contains(text, "invalid schema"):
		return q.notThisOne(), true
	case formatted && mentions(text, formatField, "response format", "json_schema", "json schema", "structured output", "guided", "grammar"):
		return q.lack(formatField), true
	}
	return lack{}, false
}

// suspicious says whether a failure that names nothing may be about the
// schema: where it was sent, and never yet was taken.
func (q *question) suspicious() bool {
	return q.format != "" && !q.without(formatField) && !q.tried && !q.c.lacking.taken(q.notThisOne())
}

// suspect is what may be to blame: this schema where others were taken, else
// any.
func (q *question) suspect() lack {
	if q.c.lacking.taken(q.lack(formatField)) {
		return q.notThisOne()
	}
	return q.lack(formatField)
}

// acquit takes back what was given up on a suspicion: it failed without, too.
func (q *question) acquit() {
	if q.onTrial {
		q.onTrial, q.lacks = false, q.lacks[:len(q.lacks)-1]
	}
}

// extras returns the names of the unknown members of earlier answers that go back.
func (q *question) extras() []string {
	var list []string
	for _, m := range q.r.Messages {
		if m.Provider != q.c.provider.Name || m.Role != model.Assistant {
			continue
		}
		list = append(list, names(m.Extra)...)
		for _, c := range m.ToolCalls {
			list = append(list, names(c.Extra)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// told are the names of what was left out that an author would miss.
func (q *question) told() []string {
	var names []string
	if q.without(formatField) {
		names = append(names, formatField)
	}
	if q.without(extrasField) {
		names = append(names, q.extras()...)
	}
	return names
}

// mentions says whether one of the words stands in a text, and is not a part of
// another.
func mentions(text string, words ...string) bool {
	within := func(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
	for _, w := range words {
		for rest := text; ; {
			i := strings.Index(rest, w)
			if i < 0 {
				break
			}
			end := i + len(w)
			if (i == 0 || !within(rest[i-1])) && (end == len(rest) || !within(rest[end])) {
				return true
			}
			rest = rest[end:]
		}
	}
	return false
}

// lacking is what an endpoint was found to lack, and what it was found to take,
// for as long as the client lives.
type lacking struct {
	mu    sync.RWMutex
	known map[lack]bool // true for what it lacks
}

// of lists what q has to do without.
func (k *lacking) of(q *question) []lack {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if len(k.known) == 0 && q.format == "" {
		return nil
	}
	var list []lack
	add := func(l lack) {
		if k.known[l] {
			list = append(list, l)
		}
	}
	for _, field := range []string{usageField, limitField, extrasField, q.c.provider.CacheField} {
		add(q.lack(field))
	}
	switch {
	case q.format == "":
	case q.c.provider.NoFormat:
		list = append(list, q.lack(formatField))
	default:
		add(q.lack(formatField))
		add(q.notThisOne())
	}
	return list
}

// taken says whether an endpoint answered what it was asked with.
func (k *lacking) taken(l lack) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	lacks, known := k.known[l]
	return known && !lacks
}

// learn remembers what a question was answered without, and with.
func (k *lacking) learn(q *question) {
	sent := q.format != "" && !q.without(formatField)
	if len(q.lacks) == 0 && (!sent || k.taken(q.notThisOne())) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) > 1000 {
		k.known = map[lack]bool{}
	}
	for _, l := range q.lacks {
		k.known[l] = true
	}
	if sent {
		k.known[q.lack(formatField)], k.known[q.notThisOne()] = false, false
	}
}

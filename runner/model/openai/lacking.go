package openai

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// The optional members of a request that an endpoint may reject.
const (
	formatField = "response_format"
)

// A lack is a member that an endpoint rejects for a model.
type lack struct {
	field, model string
	schema       string // the schema that it rejects; "" for every schema
}

func (q *question) lack(field string) lack { return lack{field, q.r.Model, ""} }
func (q *question) notThisOne() lack       { return lack{protocol.AsSchema, q.r.Model, string(q.r.Schema)} }

func (q *question) without(field string) bool {
	return slices.ContainsFunc(q.lacks, func(l lack) bool { return l.field == field })
}

// giveUp reports whether the request can be repeated without a member that the
// endpoint rejects,
// and removes the member.
func (q *question) giveUp(f *model.Failure) bool {
	l, found := lack{}, false
	switch f.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		l, found = q.named(strings.ToLower(f.Message))
	case http.StatusNotImplemented:
	case http.StatusInternalServerError:
		if q.failed++; q.failed == 1 && q.c.tries > 1 {
			return false // the error may be temporary
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

// named returns the member in the message of an endpoint.
func (q *question) named(text string) (lack, bool) {
	cache := q.c.provider.CacheField
	form := q.form()
	formatted := form == protocol.AsSchema || form == protocol.AsObject
	for _, m := range q.c.protocol.Optional(q.query()) {
		if !q.without(m.Name) && mentions(text, m.Words...) {
			return q.lack(m.Name), true
		}
	}
	switch {
	case q.caches() && mentions(text, cache):
		return q.lack(cache), true
	case !q.without(protocol.Extras) && !mentions(text, "passed back", "missing") && mentions(text, q.extras()...):
		return q.lack(protocol.Extras), true
	case form == protocol.AsSchema && (strings.Contains(text, "invalid schema") || mentions(text, "format.schema")):
		return q.notThisOne(), true
	case form == protocol.AsSchema && q.object && mentions(text, formatWords...):
		return q.lack(protocol.AsSchema), true
	case formatted && mentions(text, formatWords...):
		return q.lack(formatField), true
	}
	return lack{}, false
}

// formatWords are words in the messages about the response format.
var formatWords = []string{formatField, "response format", protocol.AsSchema, "json schema", protocol.AsObject, "structured output", "output_config",
	"output_format", "text.format", "guided", "grammar"}

// suspicious reports whether the response format may have caused an error
// without details. That is possible if the request had a format that the
// endpoint has never accepted.
func (q *question) suspicious() bool {
	switch q.form() {
	case protocol.AsSchema:
		return !q.tried && !q.c.lacking.taken(q.notThisOne())
	case protocol.AsObject:
		return !q.tried && !q.c.lacking.taken(q.lack(protocol.AsObject))
	}
	return false
}

// suspect returns the probable cause: this schema if the endpoint accepted
// others, or every
// schema.
func (q *question) suspect() lack {
	if q.form() == protocol.AsSchema && q.c.lacking.taken(q.lack(protocol.AsSchema)) {
		return q.notThisOne()
	}
	return q.lack(formatField)
}

// acquit restores the last suspected member, because the request without it
// also failed.
func (q *question) acquit() {
	if q.onTrial {
		q.onTrial, q.lacks = false, q.lacks[:len(q.lacks)-1]
	}
}

// extras returns the names of the unknown members of earlier answers in the
// request.
func (q *question) extras() []string {
	var list []string
	for _, m := range q.r.Messages {
		if m.Provider != q.c.provider.Name || m.Role != model.Assistant {
			continue
		}
		list = append(list, protocol.Names(m.Extra)...)
		for _, c := range m.ToolCalls {
			list = append(list, protocol.Names(c.Extra)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// omitted returns the names of the removed members for the author of the
// cascade.
func (q *question) omitted() []string {
	var names []string
	switch form := q.form(); {
	case form == protocol.AsObject:
		names = append(names, protocol.AsSchema)
	case form == protocol.AsPrompt && q.formatted:
		names = append(names, formatField)
	}
	if q.without(protocol.Extras) {
		names = append(names, q.extras()...)
	}
	return names
}

// mentions reports whether the text contains one of the words as a whole word.
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

// lacking stores the members that an endpoint rejected and accepted during the
// life of the client.
type lacking struct {
	mu    sync.RWMutex
	known map[lack]bool // true for rejected members
}

// of returns the members that the request must not have.
func (k *lacking) of(q *question) []lack {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var list []lack
	for l, lacks := range k.known {
		if lacks && l.model == q.r.Model && (l.schema == "" || l.schema == string(q.r.Schema)) {
			list = append(list, l)
		}
	}
	if q.c.provider.Format == protocol.AsObject {
		list = append(list, q.lack(protocol.AsSchema))
	}
	return list
}

// taken reports whether the endpoint has accepted the member.
func (k *lacking) taken(l lack) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	lacks, known := k.known[l]
	return known && !lacks
}

// learn stores the accepted and the rejected members of the request.
func (k *lacking) learn(q *question) {
	var took []lack
	switch q.form() {
	case protocol.AsSchema:
		took = []lack{q.lack(protocol.AsSchema), q.notThisOne()}
	case protocol.AsObject:
		took = []lack{q.lack(protocol.AsObject)}
	}
	if len(q.lacks) == 0 && !slices.ContainsFunc(took, func(l lack) bool { return !k.taken(l) }) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) > 1000 {
		k.known = map[lack]bool{}
	}
	for _, l := range q.lacks {
		// With Messages, a rejected thinking block belongs to one conversation,
		// not to the model.
		k.known[l] = q.c.provider.API != model.Messages || l.field != protocol.Extras
	}
	for _, l := range took {
		k.known[l] = false
	}
}

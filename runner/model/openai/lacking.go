package openai

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// The members of a request that an endpoint may not take, and can do without or
// take by another name.
const (
	formatField = "response_format"
)

// A lack is a member that an endpoint does not take for a model.
type lack struct {
	field, model string
	schema       string // the one that it does not take; "" if it takes none
}

func (q *question) lack(field string) lack { return lack{field, q.r.Model, ""} }
func (q *question) notThisOne() lack       { return lack{protocol.AsSchema, q.r.Model, string(q.r.Schema)} }

func (q *question) without(field string) bool {
	return slices.ContainsFunc(q.lacks, func(l lack) bool { return l.field == field })
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

// formatWords are the words of a complaint about the response format.
var formatWords = []string{formatField, "response format", protocol.AsSchema, "json schema", protocol.AsObject, "structured output", "output_config",
	"output_format", "text.format", "guided", "grammar"}

// suspicious says whether a failure that names nothing may be about the
// response format: where it was sent, and never yet was taken.
func (q *question) suspicious() bool {
	switch q.form() {
	case protocol.AsSchema:
		return !q.tried && !q.c.lacking.taken(q.notThisOne())
	case protocol.AsObject:
		return !q.tried && !q.c.lacking.taken(q.lack(protocol.AsObject))
	}
	return false
}

// suspect is what may be to blame: this schema where others were taken, else
// any.
func (q *question) suspect() lack {
	if q.form() == protocol.AsSchema && q.c.lacking.taken(q.lack(protocol.AsSchema)) {
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
		list = append(list, protocol.Names(m.Extra)...)
		for _, c := range m.ToolCalls {
			list = append(list, protocol.Names(c.Extra)...)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// told are the names of what was left out that an author would miss.
func (q *question) told() []string {
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

// taken says whether an endpoint answered what it was asked with.
func (k *lacking) taken(l lack) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	lacks, known := k.known[l]
	return known && !lacks
}

// learn remembers what a question was answered without, and with.
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
		// With Messages, the refusal of thinking concerns one conversation, not the model.
		k.known[l] = q.c.provider.API != model.Messages || l.field != protocol.Extras
	}
	for _, l := range took {
		k.known[l] = false
	}
}

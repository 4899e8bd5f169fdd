package journal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A taker makes the attempts of runs, one after the other, of their rows.
type taker struct {
	brief
	head  Attempt
	list  []Attempt
	at    map[event.Path]int
	given map[event.Path]ruling   // verdicts
	texts map[event.Path]string   // of turns, as they are
	spent map[event.Path]spending // by the validator of the verdict that comes
	last  map[event.Path]string   // of the last attempt of a sounding, by the sounding
	tries map[event.Path]bool     // of the whole cascade: what is in one is counted, not it
	ended map[event.Path]string   // the status of visits, and of items of each, that have ended
}

// A ruling is where a verdict stands.
type ruling struct{ attempt, verdict int }

type spending struct {
	usage model.Usage
	took  time.Duration
	asked bool // a model was asked
	anew  bool // and not by another run alone
}

func newTaker() *taker {
	return &taker{
		brief: brief{words: map[string]string{}}, at: map[event.Path]int{}, given: map[event.Path]ruling{}, texts: map[event.Path]string{},
		spent: map[event.Path]spending{}, last: map[event.Path]string{},
		tries: map[event.Path]bool{}, ended: map[event.Path]string{},
	}
}

// begin takes up a run, of which all attempts begin as head is.
func (k *taker) begin(head Attempt) {
	k.head, k.list = head, nil
	clear(k.at)
	clear(k.given)
	clear(k.texts)
	clear(k.spent)
	clear(k.last)
	clear(k.tries)
	clear(k.ended)
}

// row takes a row, false where it does not read.
func (k *taker) row(l *logged) bool {
	try, within := tryOf(l.path)
	if l.kind == string(event.PhaseFinished) {
		k.ended[l.path] = k.finish(l).status
		return !k.bad
	}
	own, rest := ownAttempt(within)
	if own == "" {
		return true
	}
	if try != "" {
		own, k.tries[try] = l.path[:len(l.path)-len(within)+len(own)], true
	}
	a := k.attempt(own)
	switch l.kind {
	case string(event.AttemptFinished):
		if rest == "" {
			k.finished(a, l)
		}
	case string(event.VerdictGiven):
		if !strings.Contains(rest, "attempt[") && !strings.HasPrefix(rest, "sub[") {
			k.verdict(a, own, l)
		}
	default:
		k.effect(a, rest, l)
	}
	return !k.bad
}

// tryOf is the try of the whole cascade that an address is in, "" for none, and
// the address that it has within.
func tryOf(path event.Path) (try, within event.Path) {
	text := string(path)
	if !strings.HasPrefix(text, cascades.TriesName+"/sounding[") {
		return "", path
	}
	i := strings.IndexByte(text, ']') + 1
	below, found := strings.CutPrefix(text[i:], "/attempt[1]/tool/")
	if _, below, ok := strings.Cut(below, "/"); found && ok { // behind the cascade's name
		return path[:i] + "/attempt[1]", event.Path(below)
	}
	return "", path
}

// ownAttempt splits a path after the attempt at a phase of the run's own cascade. A call
// beside the attempts belongs to its visit. For every other path it returns "".
//
//	draft/attempt[1]/turn[0]/model         draft/attempt[1]          turn[0]/model
//	draft/item[2]/attempt[1]/post[0]       draft/item[2]/attempt[1]  post[0]
//	draft/pre[0]                           draft                     pre[0]
//	draft/sub[0]/research/look/attempt[1]  draft                     sub[0]/research/look/attempt[1]
//	draft/sounding[1]/filter/post[0]       draft/sounding[1]         filter/post[0]
//	draft/threshold[1]/post[0]/model       draft/threshold[1]        post[0]/model
//	draft/evaluator/model/rung[1]          draft/evaluator           model/rung[1]
func ownAttempt(path event.Path) (own event.Path, rest string) {
	text := string(path)
	at := strings.IndexByte(text, '/') // the first name is a phase's
	for at >= 0 {
		name, after, _ := strings.Cut(text[at+1:], "/")
		end := at + 1 + len(name)
		switch kind, _, numbered := event.Numbered(name); {
		case kind == "attempt" && numbered, besideSoundings(name, after):
			return path[:end], after
		case (kind == "pre" || kind == "sub") && numbered, name == event.Filter && strings.HasPrefix(after, "post["):
			return path[:at], text[at+1:]
		}
		if at = end; at == len(text) {
			at = -1
		}
	}
	return "", ""
}

// besideSoundings reports whether the name in a path, with the names after it, is of a
// request that soundings make beside their attempts. A phase of a group may have the
// same name.
func besideSoundings(name, after string) bool {
	kind, _, numbered := event.Numbered(name)
	switch kind {
	case "evaluator", "mutation":
		return strings.HasPrefix(after, "model")
	case event.Threshold:
		return numbered
	}
	return false
}

// ofSoundings reports whether the soundings of a visit ask a model at a path, beside
// their attempts.
func ofSoundings(at event.Path) bool {
	name, _, _ := event.Numbered(at.Last())
	return at.Up() != "" && (name == "evaluator" || name == "mutation" || name == event.Threshold)
}

// done is the attempts, of which those that did not come to an end have no text, and
// what was said of the text of each.
func (k *taker) done() []Attempt {
	k.list = slices.DeleteFunc(k.list, func(a Attempt) bool { return k.tries[a.Path] })
	for i := range k.list {
		k.list[i].Item, k.list[i].Visit = k.endings(k.list[i].Path)
		for n := range k.list[i].Verdicts {
			if v := &k.list[i].Verdicts[n]; v.Text == ofAttempt {
				v.Text = k.list[i].Text
			}
		}
	}
	return k.list
}

// endings returns the status of the item of each that a path is in, and that of the
// visit. A visit without items is its own item.
func (k *taker) endings(at event.Path) (item, visit string) {
	for ; at != ""; at = at.Up() {
		visit = k.ended[at]
		item = cmp.Or(item, visit)
		if name, _, numbered := event.Numbered(at.Last()); visit != "" && (name != "item" || !numbered) {
			return item, visit
		}
	}
	return item, ""
}

func (k *taker) attempt(own event.Path) *Attempt {
	i, ok := k.at[own]
	if !ok {
		i = len(k.list)
		k.at[own] = i
		a := k.head
		a.Path, a.Edited = own, strings.HasSuffix(string(own.Up()), "/human_input")
		k.list = append(k.list, a)
	}
	return &k.list[i]
}

func (k *taker) finished(a *Attempt, l *logged) {
	e := k.finish(l)
	a.Phase, a.Number, a.Outcome, a.Text, a.Finished = e.phase, e.attempt, e.status, e.text, timeOf(l.time)
	k.last[l.path.Up()] = a.Text
}

// ofAttempt stands for an attempt's text, which is what it ends with last: one that
// broke off, or waited for a person, has ended without one before.
const ofAttempt = "?"

func (k *taker) verdict(a *Attempt, own event.Path, l *logged) {
	v, broke := k.brief.verdict(l)
	where := l.path.Up()
	g := Judgement{
		Path: l.path, Moment: v.Asked(), Validator: v.Validator, Mode: v.Mode, Turn: v.Turn, Valid: v.Valid, Broke: broke,
		Reason: v.Reason, Score: v.Score, Time: timeOf(l.time), Usage: k.spent[l.path].usage, Took: k.spent[l.path].took,
		Shared: k.shared(a, k.spent[l.path]),
	}
	switch {
	case where == own:
		g.Text = ofAttempt
	case g.Moment == event.Filter:
		g.Text = k.last[own]
	default:
		g.Text = k.texts[where]
	}
	if a.Phase == "" {
		a.Phase, a.Number = v.Phase, v.Attempt
	}
	if s, again := k.given[l.path]; again {
		k.list[s.attempt].Verdicts[s.verdict] = g
		return
	}
	k.given[l.path] = ruling{k.at[own], len(a.Verdicts)}
	a.Verdicts = append(a.Verdicts, g)
}

// shared tells of a verdict that tells no more than another run's does: what was
// computed of a text that was shared is what it was there.
func (k *taker) shared(a *Attempt, s spending) bool {
	return k.head.Shared || !s.anew && (s.asked || a.Shared)
}

// effect adds what an effect cost, to the attempt and to the verdict that it was
// made for, and notes what a model said in a turn.
func (k *taker) effect(a *Attempt, rest string, l *logged) {
	took := time.Duration(l.took)
	a.Took += took
	if l.kind == findingEffect {
		s := k.spent[l.path]
		s.took, s.anew = s.took+took, s.anew || took > 0
		k.spent[l.path] = s
	}
	if l.kind != modelEffect {
		return
	}
	r := k.answered(l)
	if !r.came {
		return
	}
	a.Usage = a.Usage.Add(r.usage)
	at, anew := asker(l.path), took > 0 || r.usage != model.Usage{} // one that was taken over has cost neither
	switch {
	case strings.Contains(rest, "attempt["): // of a cascade within it
	case r.validator != "":
		s := k.spent[at]
		s.usage, s.took, s.asked, s.anew = s.usage.Add(r.usage), s.took+took, true, s.anew || anew
		k.spent[at] = s
	case ofSoundings(a.Path):
		a.Phase = r.phase
	case r.role == "":
		k.texts[at] = r.text
		a.Shared = k.head.Shared || !anew && (a.Shared || a.Model == "")
		a.Model = cmp.Or(r.model, r.by)
		if a.Phase == "" {
			a.Phase, a.Number = r.phase, r.attempt
		}
	}
}

// asker is the address of the turn or verdict that a model was asked for: of
// draft/attempt[1]/post[0]/vote[1]/model it is draft/attempt[1]/post[0].
func asker(path event.Path) event.Path {
	for path != "" {
		name, _, _ := strings.Cut(path.Last(), "[")
		switch name {
		case "model", "rung", "vote", "confirm":
			path = path.Up()
		default:
			return path
		}
	}
	return path
}

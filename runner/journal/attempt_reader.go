package journal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/model"
)

// An attemptReader makes the attempts of runs from their rows, one run after
// the other. It does not use the tree of a run, because it reads no texts, and
// because the durations of effects and the cost of repeated ones are in rows
// only.
type attemptReader struct {
	head     Attempt
	list     []Attempt
	at       map[event.Path]int
	verdicts map[event.Path]verdictIndex // positions of verdicts
	texts    map[event.Path]string       // texts of turns
	spent    map[event.Path]spending     // cost by the path of the next verdict
	last     map[event.Path]string       // text of the last attempt of a sounding
	tries    map[event.Path]bool         // tries of the whole cascade, whose contents count instead of them
	ended    map[event.Path]string       // status of finished visits and items
}

// verdictIndex is the position of a verdict.
type verdictIndex struct{ attempt, verdict int }

type spending struct {
	usage      model.Usage
	took       time.Duration
	modelAsked bool // a model was asked
	ownCost    bool // it has a cost of its own, not only that of another run
}

func newAttemptReader() *attemptReader {
	return &attemptReader{
		at: map[event.Path]int{}, verdicts: map[event.Path]verdictIndex{}, texts: map[event.Path]string{},
		spent: map[event.Path]spending{}, last: map[event.Path]string{},
		tries: map[event.Path]bool{}, ended: map[event.Path]string{},
	}
}

// begin starts a run. All its attempts begin as copies of head.
func (k *attemptReader) begin(head Attempt) {
	k.head, k.list = head, nil
	clear(k.at)
	clear(k.verdicts)
	clear(k.texts)
	clear(k.spent)
	clear(k.last)
	clear(k.tries)
	clear(k.ended)
}

// row adds a row. It returns an error if the row is invalid.
func (k *attemptReader) row(l *codec.StoredRow) error {
	try, within := tryOf(l.Path)
	if l.Kind == string(event.PhaseFinished) {
		e, err := l.AttemptEnd()
		k.ended[l.Path] = e.Status
		return err
	}
	own, rest := ownAttempt(within)
	if own == "" {
		return nil
	}
	if try != "" {
		own, k.tries[try] = l.Path[:len(l.Path)-len(within)+len(own)], true
	}
	a := k.attempt(own)
	switch l.Kind {
	case string(event.AttemptFinished):
		if rest == "" {
			return k.finishAttempt(a, l)
		}
	case string(event.VerdictGiven):
		if !strings.Contains(rest, "attempt[") && !strings.HasPrefix(rest, "sub[") {
			return k.verdict(a, own, l)
		}
	default:
		return k.effect(a, rest, l)
	}
	return nil
}

// ownAttempt splits a path after the attempt at a phase of the run's own
// cascade. A call outside attempts belongs to its visit. For every other path
// it returns "".
//
//	draft/attempt[1]/turn[0]/model         draft/attempt[1]          turn[0]/model
//	draft/item[2]/attempt[1]/post[0]       draft/item[2]/attempt[1]  post[0]
//	draft/pre[0]                           draft                     pre[0]
//	draft/sub[0]/research/look/attempt[1]  draft                     sub[0]/research/look/attempt[1]
//	draft/sounding[1]/filter/post[0]       draft/sounding[1]         filter/post[0]
//	draft/threshold[1]/post[0]/model       draft/threshold[1]        post[0]/model
//	draft/evaluator/model/fallback[1]          draft/evaluator           model/fallback[1]
func ownAttempt(path event.Path) (own event.Path, rest string) {
	text := string(path)
	at := strings.IndexByte(text, '/') // the first name is that of a phase
	for at >= 0 {
		name, after, _ := strings.Cut(text[at+1:], "/")
		end := at + 1 + len(name)
		switch kind, _, numbered := event.SplitIndex(name); {
		case kind == "attempt" && numbered, isSoundingRequest(name, after):
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

// tryOf returns the try of the whole cascade that contains a path, or "", and
// the path within it.
func tryOf(path event.Path) (try, within event.Path) {
	text := string(path)
	if !strings.HasPrefix(text, keywords.Tries+"/sounding[") {
		return "", path
	}
	i := strings.IndexByte(text, ']') + 1
	below, found := strings.CutPrefix(text[i:], "/attempt[1]/tool/")
	if _, below, ok := strings.Cut(below, "/"); found && ok { // after the name of the cascade
		return path[:i] + "/attempt[1]", event.Path(below)
	}
	return "", path
}

// isSoundingRequest reports whether a name in a path, with the names after it,
// is a request of soundings outside their attempts. A phase of a group may have
// the same name.
func isSoundingRequest(name, after string) bool {
	kind, _, numbered := event.SplitIndex(name)
	switch kind {
	case "evaluator", "mutation":
		return strings.HasPrefix(after, "model")
	case event.Threshold:
		return numbered
	}
	return false
}

// isSoundingCall reports whether the soundings of a visit call a model at a
// path, outside their attempts.
func isSoundingCall(at event.Path) bool {
	name, _, _ := event.SplitIndex(at.Last())
	return at.Parent() != "" && (name == "evaluator" || name == "mutation" || name == event.Threshold)
}

// done returns the attempts. Unfinished attempts have no text. Verdicts on the
// text of an attempt have its name.
func (k *attemptReader) done() []Attempt {
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

// endings returns the status of the item of each that contains a path, and the status
// of the visit. A visit without items is its own item.
func (k *attemptReader) endings(at event.Path) (item, visit string) {
	for ; at != ""; at = at.Parent() {
		visit = k.ended[at]
		item = cmp.Or(item, visit)
		if name, _, numbered := event.SplitIndex(at.Last()); visit != "" && (name != "item" || !numbered) {
			return item, visit
		}
	}
	return item, ""
}

func (k *attemptReader) attempt(own event.Path) *Attempt {
	i, ok := k.at[own]
	if !ok {
		i = len(k.list)
		k.at[own] = i
		a := k.head
		a.Path, a.Edited = own, strings.HasSuffix(string(own.Parent()), "/human_input")
		k.list = append(k.list, a)
	}
	return &k.list[i]
}

func (k *attemptReader) finishAttempt(a *Attempt, l *codec.StoredRow) error {
	e, err := l.AttemptEnd()
	a.Phase, a.Number, a.Outcome, a.Text, a.Finished = e.Phase, e.Attempt, e.Status, e.Text, timeOf(l.Time)
	k.last[l.Path.Parent()] = a.Text
	return err
}

// ofAttempt stands for the final text of an attempt. An attempt that was
// interrupted, or that waited for a person, has an earlier end without one.
const ofAttempt = "?"

func (k *attemptReader) verdict(a *Attempt, own event.Path, l *codec.StoredRow) error {
	v, err := l.Verdict()
	if err != nil {
		return err
	}
	where := l.Path.Parent()
	g := Judgement{
		Path: l.Path, Moment: v.CheckMoment(), Validator: v.Validator, Mode: v.Mode, Turn: v.Turn, Valid: v.Valid, Broke: v.Error != nil,
		Reason: v.Reason, Score: v.Score, Time: timeOf(l.Time), Usage: k.spent[l.Path].usage, Took: k.spent[l.Path].took,
		Shared: k.shared(a, k.spent[l.Path]),
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
	if s, again := k.verdicts[l.Path]; again {
		k.list[s.attempt].Verdicts[s.verdict] = g
		return nil
	}
	k.verdicts[l.Path] = verdictIndex{k.at[own], len(a.Verdicts)}
	a.Verdicts = append(a.Verdicts, g)
	return nil
}

// shared reports whether a verdict only repeats the verdict of another run. A computed
// verdict on a shared text is always a repetition.
func (k *attemptReader) shared(a *Attempt, s spending) bool {
	return k.head.Shared || !s.ownCost && (s.modelAsked || a.Shared)
}

// effect adds the cost of an effect to the attempt and to its verdict, and
// records the reply of a turn.
func (k *attemptReader) effect(a *Attempt, rest string, l *codec.StoredRow) error {
	took := time.Duration(l.Took)
	a.Took += took
	if l.Kind == codec.FindingEffect {
		s := k.spent[l.Path]
		s.took, s.ownCost = s.took+took, s.ownCost || took > 0
		k.spent[l.Path] = s
	}
	if l.Kind != codec.ModelEffect {
		return nil
	}
	r, err := l.Reply()
	if err != nil || r.Response == nil {
		return err
	}
	usage := r.Response.Usage
	a.Usage = a.Usage.Add(usage)
	at, anew := trace.Caller(l.Path), took > 0 || usage != model.Usage{} // an effect of another run has no cost
	switch {
	case strings.Contains(rest, "attempt["): // of a cascade within it
	case r.Validator != "":
		s := k.spent[at]
		s.usage, s.took, s.modelAsked, s.ownCost = s.usage.Add(usage), s.took+took, true, s.ownCost || anew
		k.spent[at] = s
	case isSoundingCall(a.Path):
		a.Phase = r.Phase
	case r.Role == "":
		k.texts[at] = r.Response.Text
		a.Shared = k.head.Shared || !anew && (a.Shared || a.Model == "")
		a.Model = cmp.Or(r.Model, r.Response.Model)
		if a.Phase == "" {
			a.Phase, a.Number = r.Phase, r.Attempt
		}
	}
	return nil
}

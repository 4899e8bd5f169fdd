package journal

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// fold makes the result of a run that has not ended of its events.
func (j *Journal) fold(ctx context.Context, s summary) (engine.Result, error) {
	f := newFolding()
	f.r.RunID, f.r.CascadeID, f.r.Status, f.r.Usage, f.r.Error = s.RunID, s.CascadeID, s.Status, s.Usage, s.Error
	for e, err := range j.events(ctx, s.n, s.RunID, 0, Brief) {
		if err != nil {
			return f.r, err
		}
		f.event(&e)
	}
	f.bring()
	f.gather()
	return f.r, nil
}

func newFolding() *folding {
	return &folding{
		visits: map[event.Path]int{}, groups: map[event.Path]*gang{}, verdicts: map[event.Path]int{}, asked: map[event.Path]string{}, phases: map[event.Path]*judgement{}, subs: map[event.Path]*sub{},
		r: engine.Result{Outputs: map[string]any{}, Phases: []engine.PhaseRecord{}, Verdicts: []event.Verdict{}, Degraded: []engine.Degraded{}},
	}
}

const (
	degraded = "degraded"
	skipped  = "skipped"
)

// A folding is a result in the making.
type folding struct {
	r        engine.Result
	visits   map[event.Path]int   // the phase record of a visit
	groups   map[event.Path]*gang // visits to groups
	verdicts map[event.Path]int
	asked    map[event.Path]string     // questions
	phases   map[event.Path]*judgement // visits, those of cascades within the run too
	marked   []event.Path              // the visits that r.Degraded tells of
	subs     map[event.Path]*sub
	open     *sub                    // that the event before was of; nil for none
	tries    map[event.Path]*folding // at the whole cascade
	over     bool                    // one of these was picked
}

// A gang is the phases of a group, in the order in which they began, and what
// those have given that are done.
type gang struct {
	members []event.Path
	outputs map[string]any
}

// A judgement is what checks said of a visit's attempts.
type judgement struct {
	turn  event.Path          // the last text that turn wards judged
	unmet []string            // by the last attempt
	texts map[string][]string // the attempts that have finished, with what they did not meet
}

// A sub is a sub-cascade whose output comes back when it has come to its end.
type sub struct {
	id     string
	output any
	over   bool // with nothing after it, it has
}

// event adds one event. Of an address that the run came to twice, because it
// was resumed, the later event stands.
func (f *folding) event(e *event.Event) {
	visit, rest, item := f.visit(e)
	f.sub(visit, strings.Split(rest, "/"), item, e)
	f.judge(e)
	f.try(e)
	switch {
	case item && rest == "": // the beginning or end of one is not its phase's
	case e.Kind == event.PhaseStarted && rest == "":
		f.anew()
		p := f.record(visit, e.Phase)
		p.Items = e.Items
	case e.Kind == event.PhaseFinished && rest == "":
		p := f.record(visit, e.Phase)
		p.Status, p.Failures = e.Status, e.Failures
		if e.Status == engine.Succeeded || e.Status == degraded {
			f.release(visit, e)
			if f.r.Status == engine.Succeeded {
				f.r.Output = e.Output
			}
			f.won(e)
		}
	case e.Kind == event.AttemptStarted && own(rest, 1):
		p := f.record(visit, e.Phase)
		p.Attempts = max(p.Attempts, e.Attempt)
	case e.Kind == event.TurnStarted && own(rest, 2):
		f.record(visit, e.Phase).Turns++
	case e.Kind == event.ModelReplied && e.Response != nil:
		f.record(visit, phaseOf(visit)).ModelCalls += e.Response.Usage.Calls
	case e.Kind == event.VerdictGiven && e.Verdict != nil:
		f.verdict(*e.Verdict)
	case e.Kind == event.Waiting:
		f.asked[e.Path] = e.Message
	case e.Kind == event.Answered:
		f.answer(e)
	}
}

// answer notes what a person said to the question at the address.
func (f *folding) answer(e *event.Event) {
	a := event.Answer{Path: e.Path, Phase: e.Phase, Question: f.asked[e.Path], Value: e.Output, By: e.By, Expired: e.Status == event.Expired}.Told()
	i := slices.IndexFunc(f.r.Answers, func(old event.Answer) bool { return old.Path == a.Path })
	if i < 0 {
		f.r.Answers = append(f.r.Answers, a)
	} else {
		f.r.Answers[i] = a
	}
}

// visit finds the visit to a phase of the cascade that an event is of, and what
// its address has below that: an item's is its phase's, one to a phase of a group
// stands for itself.
//
//	draft/attempt[1]           draft       attempt[1]
//	draft/item[2]/attempt[1]   draft       attempt[1]   an item
//	both/left/attempt[1]       both/left   attempt[1]   where both/left has begun
//	draft/sub[0]/research/look draft       sub[0]/research/look
func (f *folding) visit(e *event.Event) (visit event.Path, rest string, item bool) {
	first, rest, _ := strings.Cut(string(e.Path), "/")
	visit = event.Path(first)
	for at := visit; rest != ""; {
		name, further, _ := strings.Cut(rest, "/")
		at = at.Join(name)
		_, known := f.visits[at]
		tells := e.OfVisit() && further == ""
		switch {
		case strings.HasPrefix(name, "item["):
			item = true
		case known || tells && !item:
			if !known {
				f.group(visit).members = append(f.group(visit).members, at)
			}
			visit = at
		default:
			return visit, rest, item
		}
		rest = further
	}
	return visit, rest, item
}

func (f *folding) group(visit event.Path) *gang {
	g := f.groups[visit]
	if g == nil {
		g = &gang{outputs: map[string]any{}}
		f.groups[visit] = g
	}
	return g
}

// release notes a phase's output; those of a group's phases are the run's when
// the group has come to its end.
func (f *folding) release(visit event.Path, e *event.Event) {
	if group := visit.Up(); group != "" {
		f.group(group).outputs[e.Phase] = e.Output
		return
	}
	if g := f.groups[visit]; g != nil {
		maps.Copy(f.r.Outputs, g.outputs)
	}
	f.r.Outputs[e.Phase] = e.Output
}

// gather puts the record of each group behind those of its phases, with what
// they did added up.
func (f *folding) gather() {
	if len(f.groups) == 0 {
		return
	}
	at := make([]event.Path, len(f.r.Phases))
	for visit, i := range f.visits {
		at[i] = visit
	}
	var list []engine.PhaseRecord
	for i, own := range f.r.Phases {
		if at[i].Up() != "" {
			continue
		}
		if g := f.groups[at[i]]; g != nil {
			for _, member := range g.members {
				p := f.r.Phases[f.visits[member]]
				own.Turns, own.ModelCalls = own.Turns+p.Turns, own.ModelCalls+p.ModelCalls
				list = append(list, p)
			}
		}
		list = append(list, own)
	}
	f.r.Phases = list
}

// sub follows a sub-cascade, by what its address has below the visit's:
// sub[0]/research/look. Nothing tells of its end but what comes after it: any phase
// that gives a text may be its last, so the output comes back with the first event
// that is not of it. What one gives an item is the item's.
func (f *folding) sub(visit event.Path, words []string, item bool, e *event.Event) {
	if item || len(words) < 3 || !strings.HasPrefix(words[0], "sub[") {
		f.bring()
		return
	}
	at := visit.Join(words[0])
	s := f.subs[at]
	if s == nil {
		s = &sub{}
		f.subs[at] = s
	}
	if f.open != s {
		f.bring()
	}
	f.open, s.over = s, false
	if e.Kind != event.PhaseFinished || len(words) > 3 || e.CascadeID == "" {
		return
	}
	s.id = e.CascadeID
	switch e.Status {
	case engine.Succeeded, degraded:
		s.output, s.over = e.Output, true
	case skipped:
		s.over = true
	}
}

// bring takes over what the sub-cascade gave that the last event was of.
func (f *folding) bring() {
	if f.open != nil && f.open.over {
		f.r.Outputs[f.open.id] = f.open.output
	}
	f.open = nil
}

// judge notes what attempts did not meet, for a visit that lets one out all the
// same.
func (f *folding) judge(e *event.Event) {
	switch e.Kind {
	case event.PhaseStarted:
		f.phases[e.Path] = &judgement{texts: map[string][]string{}}
		return
	case event.VerdictGiven, event.AttemptStarted, event.AttemptFinished, event.PhaseFinished:
	default:
		return
	}
	at := f.phaseOf(e.Path)
	p := f.phases[at]
	switch {
	case p == nil:
	case e.Kind == event.AttemptStarted:
		p.unmet = nil
	case e.Kind == event.AttemptFinished:
		p.texts[e.Text] = p.unmet
	case e.Kind == event.VerdictGiven && e.Verdict != nil && e.Verdict.Mode == "shadow":
		f.unmark(e.Verdict.Path, "")
	case e.Kind == event.VerdictGiven && e.Verdict != nil:
		p.note(e.Verdict)
	case e.Kind == event.PhaseFinished && e.Status != engine.Succeeded && e.Status != degraded && e.Status != skipped:
		f.unmark(at, "sub[") // what sub-cascades have brought stays
	case e.Kind == event.PhaseFinished && e.Status == degraded:
		text, _ := e.Output.(string)
		unmet, found := p.texts[text]
		if !found {
			unmet = p.unmet
		}
		if len(e.Failures) > 0 {
			unmet = nil
		}
		for _, lost := range e.Failures {
			unmet = append(unmet, fmt.Sprintf("item[%d]: %s", lost.Index, lost.Code))
		}
		f.marked = append(f.marked, at)
		f.r.Degraded = append(f.r.Degraded, engine.Degraded{Phase: f.within(at) + e.Phase, Checks: unmet})
	}
}

// unmark forgets what was released below an address, but where the next name begins
// so: by a cascade that judged in shadow, or for a visit that ends without an output,
// it is no part of the run.
func (f *folding) unmark(at event.Path, but string) {
	for i := len(f.marked) - 1; i >= 0; i-- {
		if rest, below := strings.CutPrefix(string(f.marked[i]), string(at)+"/"); below && (but == "" || !strings.HasPrefix(rest, but)) {
			f.marked, f.r.Degraded = slices.Delete(f.marked, i, i+1), slices.Delete(f.r.Degraded, i, i+1)
		}
	}
}

// note keeps what the attempt's text did not pass and would have to, a judge that
// was not asked too: of turn wards, on its last text; not loop_until's on the
// way, nor that of a sounding's filter.
func (p *judgement) note(v *event.Verdict) {
	on := v.Path.Up()
	if v.Moment == "turn" && on != p.turn {
		p.turn, p.unmet = on, nil
	}
	final := strings.HasPrefix(on.Last(), "attempt[") || on.Last() == "tool"
	unmet := v.Skipped() && !v.Noted() || v.Valid != nil && !*v.Valid && v.Mode == "retry"
	if unmet && (final || on == p.turn) {
		p.unmet = append(p.unmet, v.Validator)
	}
}

// phaseOf is the innermost visit that an address is in, "" for none.
func (f *folding) phaseOf(at event.Path) event.Path {
	for at != "" && f.phases[at] == nil {
		at = at.Up()
	}
	return at
}

// within names the cascades that a visit is in, within the run's own.
func (f *folding) within(at event.Path) string {
	cascade := at.Up()
	if cascade == "" {
		return ""
	}
	if f.phases[cascade] != nil {
		return f.within(cascade) // an item, or a phase of a group
	}
	return f.within(f.phaseOf(cascade)) + cascade.Last() + "/"
}

func (f *folding) verdict(v event.Verdict) {
	if i, again := f.verdicts[v.Path]; again {
		f.r.Verdicts[i] = v
		return
	}
	f.verdicts[v.Path] = len(f.r.Verdicts)
	f.r.Verdicts = append(f.r.Verdicts, v)
}

func (f *folding) record(visit event.Path, phase string) *engine.PhaseRecord {
	i, ok := f.visits[visit]
	if !ok {
		i = len(f.r.Phases)
		f.visits[visit] = i
		f.r.Phases = append(f.r.Phases, engine.PhaseRecord{Name: phase, Status: Running})
	}
	return &f.r.Phases[i]
}

// own tells whether the rest of a path is of the phase itself, not of a cascade
// within it: n words, after a sounding's.
func own(rest string, n int) bool {
	words := strings.Split(rest, "/")
	if strings.HasPrefix(words[0], "sounding[") {
		words = words[1:]
	}
	return len(words) == n && strings.HasPrefix(words[0], "attempt[")
}

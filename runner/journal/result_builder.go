package journal

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// newResultBuilder returns a builder without events.
func newResultBuilder() *resultBuilder {
	return &resultBuilder{
		visits: map[event.Path]int{}, groups: map[event.Path]*group{}, verdicts: map[event.Path]int{}, asked: map[event.Path]string{}, phases: map[event.Path]*visitChecks{}, subs: map[event.Path]*subCascade{},
		r: engine.Result{Outputs: map[string]any{}, Phases: []engine.PhaseRecord{}, Verdicts: []event.Verdict{}, Degraded: []engine.Degraded{}},
	}
}

const (
	degraded = "degraded"
	skipped  = "skipped"
)

// A resultBuilder computes a result from events.
type resultBuilder struct {
	r              engine.Result
	visits         map[event.Path]int    // index of the phase record of a visit
	groups         map[event.Path]*group // visits to groups
	verdicts       map[event.Path]int
	asked          map[event.Path]string       // questions
	phases         map[event.Path]*visitChecks // visits, also those of cascades within the run
	degradedVisits []event.Path                // the visits of r.Degraded
	subs           map[event.Path]*subCascade
	open           *subCascade                   // the sub-cascade of the previous event, or nil
	tries          map[event.Path]*resultBuilder // tries of the whole cascade
	adopted        bool                          // one of the tries was picked
}

// A group is the phases of a group in the order of their starts, with the
// outputs of the finished ones.
type group struct {
	members []event.Path
	outputs map[string]any
}

// visitChecks are the results of checks in a visit's attempts.
type visitChecks struct {
	turn  event.Path          // the last text that turn wards checked
	unmet []string            // checks that the last attempt failed
	texts map[string][]string // checks that each finished attempt failed, by its text
}

// subCascade is a sub-cascade; its output is released at its end.
type subCascade struct {
	id     string
	output any
	over   bool // it has ended if no further event of it follows
}

// add adds one event. If a resumed run repeated something, the later event
// counts.
func (f *resultBuilder) add(e *event.Event) {
	visit, rest, item := f.visit(e)
	f.followSub(visit, strings.Split(rest, "/"), item, e)
	f.judge(e)
	f.try(e)
	switch {
	case item && rest == "": // the start or end of an item is not that of its phase
	case e.Kind == event.PhaseStarted && rest == "":
		f.resetTry()
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
			f.adoptTry(e)
		}
	case e.Kind == event.AttemptStarted && isOwn(rest, 1):
		p := f.record(visit, e.Phase)
		p.Attempts = max(p.Attempts, e.Attempt)
	case e.Kind == event.TurnStarted && isOwn(rest, 2):
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

// answer records a person's answer to the question at a path.
func (f *resultBuilder) answer(e *event.Event) {
	a := event.Answer{Path: e.Path, Phase: e.Phase, Question: f.asked[e.Path], Value: e.Output, By: e.By, Expired: e.Status == event.Expired}.WithoutEdit()
	i := slices.IndexFunc(f.r.Answers, func(old event.Answer) bool { return old.Path == a.Path })
	if i < 0 {
		f.r.Answers = append(f.r.Answers, a)
	} else {
		f.r.Answers[i] = a
	}
}

// visit returns the visit to a phase of the run's cascade that an event belongs
// to, and the rest of the path below it. An item belongs to the visit of its
// phase. A phase of a group has its own visit.
//
//	draft/attempt[1]           draft       attempt[1]
//	draft/item[2]/attempt[1]   draft       attempt[1]   an item
//	both/left/attempt[1]       both/left   attempt[1]   if both/left has started
//	draft/sub[0]/research/look draft       sub[0]/research/look
func (f *resultBuilder) visit(e *event.Event) (visit event.Path, rest string, item bool) {
	first, rest, _ := strings.Cut(string(e.Path), "/")
	visit = event.Path(first)
	for at := visit; rest != ""; {
		name, further, _ := strings.Cut(rest, "/")
		at = at.Join(name)
		_, known := f.visits[at]
		tells := e.IsVisit() && further == ""
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

func (f *resultBuilder) group(visit event.Path) *group {
	g := f.groups[visit]
	if g == nil {
		g = &group{outputs: map[string]any{}}
		f.groups[visit] = g
	}
	return g
}

// release records a phase's output. The outputs of a group's phases are
// released at the end of the group.
func (f *resultBuilder) release(visit event.Path, e *event.Event) {
	if group := visit.Parent(); group != "" {
		f.group(group).outputs[e.Phase] = e.Output
		return
	}
	if g := f.groups[visit]; g != nil {
		maps.Copy(f.r.Outputs, g.outputs)
	}
	f.r.Outputs[e.Phase] = e.Output
}

// addGroups moves the record of each group after those of its phases and adds
// up their counts.
func (f *resultBuilder) addGroups() {
	if len(f.groups) == 0 {
		return
	}
	at := make([]event.Path, len(f.r.Phases))
	for visit, i := range f.visits {
		at[i] = visit
	}
	var list []engine.PhaseRecord
	for i, own := range f.r.Phases {
		if at[i].Parent() != "" {
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

// followSub follows a sub-cascade by the path below the visit, such as
// sub[0]/research/look. No event marks its end, because any phase with a text
// may be the last one. So its output is released at the first event outside it.
// The output of a sub-cascade of an item belongs to the item.
func (f *resultBuilder) followSub(visit event.Path, words []string, item bool, e *event.Event) {
	if item || len(words) < 3 || !strings.HasPrefix(words[0], "sub[") {
		f.finishSub()
		return
	}
	at := visit.Join(words[0])
	s := f.subs[at]
	if s == nil {
		s = &subCascade{}
		f.subs[at] = s
	}
	if f.open != s {
		f.finishSub()
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

// finishSub releases the output of the sub-cascade of the previous event.
func (f *resultBuilder) finishSub() {
	if f.open != nil && f.open.over {
		f.r.Outputs[f.open.id] = f.open.output
	}
	f.open = nil
}

// judge records which checks an attempt failed, for a visit that releases the
// attempt nevertheless.
func (f *resultBuilder) judge(e *event.Event) {
	switch e.Kind {
	case event.PhaseStarted:
		f.phases[e.Path] = &visitChecks{texts: map[string][]string{}}
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
		f.dropDegraded(e.Verdict.Path, "")
	case e.Kind == event.VerdictGiven && e.Verdict != nil:
		p.add(e.Verdict)
	case e.Kind == event.PhaseFinished && e.Status != engine.Succeeded && e.Status != degraded && e.Status != skipped:
		f.dropDegraded(at, "sub[") // the outputs of sub-cascades stay
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
		f.degradedVisits = append(f.degradedVisits, at)
		f.r.Degraded = append(f.r.Degraded, engine.Degraded{Phase: f.cascadePrefix(at) + e.Phase, Checks: unmet})
	}
}

// dropDegraded drops the degraded visits below a path, except where the next
// name begins with but. They belong to a cascade in shadow mode, or to a visit
// that ended without an output, so they are no part of the run.
func (f *resultBuilder) dropDegraded(at event.Path, but string) {
	for i := len(f.degradedVisits) - 1; i >= 0; i-- {
		if rest, below := strings.CutPrefix(string(f.degradedVisits[i]), string(at)+"/"); below && (but == "" || !strings.HasPrefix(rest, but)) {
			f.degradedVisits, f.r.Degraded = slices.Delete(f.degradedVisits, i, i+1), slices.Delete(f.r.Degraded, i, i+1)
		}
	}
}

// add records a failed check that the attempt must pass, or a judge that was not asked.
// For turn wards, only the last text counts. Checks of loop_until in earlier turns and
// checks of a filter do not count.
func (p *visitChecks) add(v *event.Verdict) {
	on := v.Path.Parent()
	if v.Moment == "turn" && on != p.turn {
		p.turn, p.unmet = on, nil
	}
	final := strings.HasPrefix(on.Last(), "attempt[") || on.Last() == "tool"
	unmet := v.Skipped() && !v.NonBinding() || v.Valid != nil && !*v.Valid && v.Mode == "retry"
	if unmet && (final || on == p.turn) {
		p.unmet = append(p.unmet, v.Validator)
	}
}

// phaseOf returns the innermost visit that contains a path, or "".
func (f *resultBuilder) phaseOf(at event.Path) event.Path {
	for at != "" && f.phases[at] == nil {
		at = at.Parent()
	}
	return at
}

// cascadePrefix returns the names of the cascades around a visit, within the
// run's own.
func (f *resultBuilder) cascadePrefix(at event.Path) string {
	cascade := at.Parent()
	if cascade == "" {
		return ""
	}
	if f.phases[cascade] != nil {
		return f.cascadePrefix(cascade) // an item, or a phase of a group
	}
	return f.cascadePrefix(f.phaseOf(cascade)) + cascade.Last() + "/"
}

func (f *resultBuilder) verdict(v event.Verdict) {
	if i, again := f.verdicts[v.Path]; again {
		f.r.Verdicts[i] = v
		return
	}
	f.verdicts[v.Path] = len(f.r.Verdicts)
	f.r.Verdicts = append(f.r.Verdicts, v)
}

func (f *resultBuilder) record(visit event.Path, phase string) *engine.PhaseRecord {
	i, ok := f.visits[visit]
	if !ok {
		i = len(f.r.Phases)
		f.visits[visit] = i
		f.r.Phases = append(f.r.Phases, engine.PhaseRecord{Name: phase, Status: Running})
	}
	return &f.r.Phases[i]
}

// isOwn reports whether the rest of a path is in the phase itself, not in a cascade
// within it. It must have n names, not counting a sounding.
func isOwn(rest string, n int) bool {
	words := strings.Split(rest, "/")
	if strings.HasPrefix(words[0], "sounding[") {
		words = words[1:]
	}
	return len(words) == n && strings.HasPrefix(words[0], "attempt[")
}

// result returns the result so far.
func (f *resultBuilder) result() engine.Result {
	f.finishSub()
	f.addGroups()
	return f.r
}

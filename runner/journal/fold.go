package journal

import (
	"context"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// fold makes the result of a run that has not ended of its events.
func (j *Journal) fold(ctx context.Context, s summary) (engine.Result, error) {
	f := folding{
		visits: map[event.Path]int{}, verdicts: map[event.Path]int{}, phases: map[event.Path]*judgement{}, subs: map[event.Path]*sub{},
		r: engine.Result{
			RunID: s.RunID, CascadeID: s.CascadeID, Status: s.Status, Outputs: map[string]any{},
			Phases: []engine.PhaseRecord{}, Verdicts: []event.Verdict{}, Degraded: []engine.Degraded{}, Usage: s.Usage, Error: s.Error,
		},
	}
	for e, err := range j.events(ctx, s.n, s.RunID, 0, Brief) {
		if err != nil {
			return f.r, err
		}
		f.event(&e)
	}
	f.bring()
	return f.r, nil
}

const (
	degraded = "degraded"
	skipped  = "skipped"
)

// A folding is a result in the making.
type folding struct {
	r        engine.Result
	visits   map[event.Path]int // the phase record of a visit
	verdicts map[event.Path]int
	phases   map[event.Path]*judgement // visits, those of cascades within the run too
	subs     map[event.Path]*sub
	open     *sub // that the event before was of; nil for none
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
	first, rest, _ := strings.Cut(string(e.Path), "/")
	visit := event.Path(first)
	f.sub(visit, strings.Split(rest, "/"), e)
	f.judge(e)
	switch {
	case e.Kind == event.PhaseStarted && rest == "":
		f.record(visit, e.Phase)
	case e.Kind == event.PhaseFinished && rest == "":
		p := f.record(visit, e.Phase)
		p.Status = e.Status
		if e.Status == engine.Succeeded || e.Status == degraded {
			f.r.Outputs[e.Phase] = e.Output
			if f.r.Status == engine.Succeeded {
				f.r.Output = e.Output
			}
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
	}
}

// sub follows a sub-cascade, by what its address has below the visit's:
// sub[0]/research/look. Nothing tells of its end but what comes after it.
func (f *folding) sub(visit event.Path, words []string, e *event.Event) {
	if len(words) < 3 || !strings.HasPrefix(words[0], "sub[") {
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
	case e.Kind == event.VerdictGiven && e.Verdict != nil:
		p.note(e.Verdict)
	case e.Kind == event.PhaseFinished && e.Status == degraded:
		text, _ := e.Output.(string)
		unmet, found := p.texts[text]
		if !found {
			unmet = p.unmet
		}
		f.r.Degraded = append(f.r.Degraded, engine.Degraded{Phase: f.within(at) + e.Phase, Checks: unmet})
	}
}

// note keeps a no that counts against the attempt's text: of turn wards, on its
// last text; not loop_until's on the way, nor that of a sounding's filter.
func (p *judgement) note(v *event.Verdict) {
	on := up(v.Path)
	if v.Moment == "turn" && on != p.turn {
		p.turn, p.unmet = on, nil
	}
	final := strings.HasPrefix(lastName(on), "attempt[") || lastName(on) == "tool"
	if v.Valid != nil && !*v.Valid && v.Mode == "retry" && (final || on == p.turn) {
		p.unmet = append(p.unmet, v.Validator)
	}
}

// phaseOf is the innermost visit that an address is in, "" for none.
func (f *folding) phaseOf(at event.Path) event.Path {
	for at != "" && f.phases[at] == nil {
		at = up(at)
	}
	return at
}

// within names the cascades that a visit is in, within the run's own.
func (f *folding) within(at event.Path) string {
	cascade := up(at)
	if cascade == "" {
		return ""
	}
	return f.within(f.phaseOf(cascade)) + lastName(cascade) + "/"
}

// up is the address without its last name.
func up(at event.Path) event.Path {
	return at[:max(strings.LastIndexByte(string(at), '/'), 0)]
}

func lastName(at event.Path) string {
	return string(at[strings.LastIndexByte(string(at), '/')+1:])
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

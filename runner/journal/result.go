package journal

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// storedResult is a result so that it reads back as it is.
func storedResult(r engine.Result) engine.Result {
	r.Output, r.Outputs = exact(r.Output), exactObject(r.Outputs)
	for i := range r.Verdicts {
		if told := exactTold(&r.Verdicts[i]); told != &r.Verdicts[i] {
			list := append([]event.Verdict(nil), r.Verdicts...)
			for k := i; k < len(list); k++ {
				list[k] = *exactTold(&list[k])
			}
			r.Verdicts = list
			break
		}
	}
	return r
}

// Result is what the run came to; of one that has not ended, what it has come
// to so far.
func (j *Journal) Result(ctx context.Context, id string) (r engine.Result, err error) {
	s, err := j.find(ctx, id)
	if err != nil {
		return r, err
	}
	if s.Finished == nil && s.Status != engine.Waiting {
		return j.fold(ctx, s)
	}
	err = j.reading(ctx, func(c *conn) error {
		found, err := c.one(ctx, "SELECT data FROM result WHERE run = ?", s.n)
		if err != nil {
			return err
		}
		if found == nil {
			return j.garbled("run "+s.RunID+" has no result", nil)
		}
		raw, err := j.unpack(ctx, c, []byte(word(found[0])))
		if err != nil {
			return err
		}
		if err := readResult(raw, &r); err != nil {
			return j.garbled("the result of run "+s.RunID, err)
		}
		return nil
	})
	return r, err
}

func readResult(raw []byte, r *engine.Result) error {
	if err := decode(raw, r); err != nil {
		return err
	}
	if err := plain(&r.Output); err != nil {
		return err
	}
	for i := range r.Verdicts {
		if err := plainTold(&r.Verdicts[i]); err != nil {
			return err
		}
	}
	return plainObject(&r.Outputs)
}

// fold makes the result of a run that has not ended of its events.
func (j *Journal) fold(ctx context.Context, s summary) (engine.Result, error) {
	f := folding{
		visits: map[event.Path]int{}, verdicts: map[event.Path]int{}, unmet: map[event.Path][]string{},
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
	for _, d := range f.r.Phases {
		if d.Status == degraded {
			f.r.Degraded = append(f.r.Degraded, engine.Degraded{Phase: d.Name, Checks: f.unmet[event.Path(d.Name)]})
		}
	}
	return f.r, nil
}

const degraded = "degraded"

// A folding is a result in the making.
type folding struct {
	r        engine.Result
	visits   map[event.Path]int // the phase record of a visit
	verdicts map[event.Path]int
	unmet    map[event.Path][]string // of the visit's last attempt
}

// event adds one event. Of an address that the run came to twice, because it
// was resumed, the later event stands.
func (f *folding) event(e *event.Event) {
	first, rest, _ := strings.Cut(string(e.Path), "/")
	visit := event.Path(first)
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
		f.unmet[visit] = nil
	case e.Kind == event.TurnStarted && own(rest, 2):
		f.record(visit, e.Phase).Turns++
	case e.Kind == event.ModelReplied && e.Response != nil:
		f.record(visit, phaseOf(visit)).ModelCalls += e.Response.Usage.Calls
	case e.Kind == event.VerdictGiven && e.Verdict != nil:
		f.verdict(visit, *e.Verdict)
	}
}

func (f *folding) verdict(visit event.Path, v event.Verdict) {
	if v.Valid != nil && !*v.Valid {
		f.unmet[visit] = append(f.unmet[visit], v.Validator)
	}
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

// goneMessage tells of a run whose process is not there any more.
func goneMessage(id string) string {
	return fmt.Sprintf("the process that ran it is gone; it can be gone on with: capstan resume %s", id)
}

package journal

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// newResultBuilder returns a builder without events.
func newResultBuilder() *resultBuilder {
	return &resultBuilder{
		folder: trace.NewFolder(), verdicts: map[event.Path]int{}, answers: map[event.Path]int{},
		asked: map[event.Path]string{}, shadows: map[event.Path]bool{},
		r: engine.Result{Outputs: map[string]any{}, Phases: []engine.PhaseRecord{}, Verdicts: []event.Verdict{}, Degraded: []engine.Degraded{}},
	}
}

const (
	degraded = "degraded"
	skipped  = "skipped"
)

// A resultBuilder computes a result from events. The tree of the run has everything
// except the order of verdicts and answers.
type resultBuilder struct {
	folder   *trace.Folder
	r        engine.Result
	verdicts map[event.Path]int // indexes in r.Verdicts
	answers  map[event.Path]int // indexes in r.Answers
	asked    map[event.Path]string
	shadows  map[event.Path]bool // paths of checks in shadow mode
}

// add adds one event. If a resumed run repeated something, the later event
// counts.
func (f *resultBuilder) add(e *event.Event) {
	f.folder.Add(*e)
	switch {
	case e.Kind == event.VerdictGiven && e.Verdict != nil:
		f.r.Verdicts = put(f.r.Verdicts, f.verdicts, e.Verdict.Path, *e.Verdict)
		f.shadows[e.Verdict.Path] = e.Verdict.Mode == "shadow"
	case e.Kind == event.Waiting:
		f.asked[e.Path] = e.Message
	case e.Kind == event.Answered:
		a := event.Answer{Path: e.Path, Phase: e.Phase, Question: f.asked[e.Path], Value: e.Output, By: e.By, Expired: e.Status == event.Expired}
		f.r.Answers = put(f.r.Answers, f.answers, e.Path, a.WithoutEdit())
	}
}

// put sets the element with a path, or appends it.
func put[T any](list []T, indexes map[event.Path]int, at event.Path, value T) []T {
	if i, again := indexes[at]; again {
		list[i] = value
		return list
	}
	indexes[at] = len(list)
	return append(list, value)
}

// result returns the result so far.
func (f *resultBuilder) result() engine.Result {
	phases := f.folder.Run().Phases
	for _, p := range phases {
		if p.HasOutput() && f.r.Status == engine.Succeeded {
			f.r.Output = p.Output
		}
		if try := p.Try(); try != nil && p.HasOutput() && try.Path == p.Released {
			phases = try.Phases // the run takes over the result of the picked try
		}
	}
	for _, p := range phases {
		f.addRecords(p)
		f.addOutputs(f.r.Outputs, p)
	}
	f.addDegraded("", phases)
	return f.r
}

// addRecords adds the record of a visit, after those of the phases of a group.
func (f *resultBuilder) addRecords(p *trace.Phase) {
	own := engine.PhaseRecord{Name: p.Name, Status: p.Status, Items: p.Items, Failures: p.Failures, ModelCalls: p.Usage().Calls}
	if own.Status == "" {
		own.Status = Running
	}
	own.Attempts, own.Turns = p.Counts()
	for _, member := range p.Branches {
		if member.Item < 0 {
			f.addRecords(member)
		}
	}
	f.r.Phases = append(f.r.Phases, own)
}

// addOutputs adds the outputs of a visit and of its sub-cascades. A group releases those of
// its phases at its end. Nobody reads those of an item.
func (f *resultBuilder) addOutputs(outputs map[string]any, p *trace.Phase) {
	var output any // of the cascade of the last phases
	for i, sub := range p.Phases {
		if sub.HasOutput() {
			output = sub.Output
		}
		if i+1 < len(p.Phases) && p.Phases[i+1].Path.Parent() == sub.Path.Parent() {
			continue
		}
		if sub.Shared != "" && trace.Completed(p.Phases[:i+1]) {
			outputs[sub.Shared] = output
		}
		output = nil
	}
	if !p.HasOutput() {
		return
	}
	for _, member := range p.Branches {
		if member.Item < 0 {
			f.addOutputs(outputs, member)
		}
	}
	outputs[p.Name] = p.Output
}

// addDegraded adds the degraded visits among phases and below them. It leaves out those of
// a cascade in shadow mode. Of a visit that ended without an output, only those of its
// sub-cascades count.
func (f *resultBuilder) addDegraded(prefix string, phases []*trace.Phase) {
	for _, p := range phases {
		lost := p.Status != "" && p.Status != skipped && !p.HasOutput()
		for _, q := range p.Phases {
			if !lost || strings.HasPrefix(string(q.Path), string(p.Path)+"/sub[") {
				f.addNested(prefix, q)
			}
		}
		if lost {
			continue
		}
		for _, a := range p.Texts() {
			for _, q := range a.Phases {
				f.addNested(prefix, q)
			}
		}
		f.addDegraded(prefix, p.Branches)
		if p.Status == degraded {
			f.r.Degraded = append(f.r.Degraded, engine.Degraded{Phase: prefix + p.Name, Checks: unmet(p)})
		}
	}
}

// addNested adds the degraded visits of a phase of a cascade within the run.
func (f *resultBuilder) addNested(prefix string, p *trace.Phase) {
	for at := p.Path; at != ""; at = at.Parent() {
		if f.shadows[at] {
			return
		}
	}
	f.addDegraded(prefix+p.Cascade+"/", []*trace.Phase{p})
}

// unmet returns what a degraded visit's output failed: items, or checks.
func unmet(p *trace.Phase) (names []string) {
	for _, lost := range p.Failures {
		names = append(names, fmt.Sprintf("item[%d]: %s", lost.Index, lost.Code))
	}
	if a := p.Attempt(p.Released); a != nil && names == nil {
		return p.Unmet(a)
	}
	return names
}

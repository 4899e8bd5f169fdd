package receipts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
)

// A Run is the source of a claim: the record of a run, its cascade as it was
// then, and the cascade's gates ([cascades.Cascade.Gates]).
type Run struct {
	*trace.Run
	Cascade *cascades.Cascade
	Gates   []cascades.Gate
	Program Program // the program that makes the receipt
	Texts   bool    // include the texts in the receipt

	// Evidence opens evidence files beside the cascade that the run has not
	// stored. It may be nil.
	Evidence cascades.Opener
}

// ClaimOf returns the claim about a text that the run has released. The argument is the
// name of a phase, or the path of a visit or item; "" means the last text of the
// cascade's own phases. If a phase was visited several times, the last visit counts. If
// the whole cascade was tried several times, the winner counts. If there is no such
// text, the error lists the phases.
func ClaimOf(r Run, phase string) (Claim, error) {
	visit, err := r.visit(phase)
	if err != nil {
		return Claim{}, err
	}
	made := visit.Attempt(visit.Released)
	if made == nil {
		return Claim{}, fmt.Errorf("phase %s: the record does not name the attempt of the released text: an older capstan stored it", visit.Path)
	}
	c := Claim{
		Capstan: r.Program, Run: r.RunID, Phase: visit.Name, Path: string(made.Path), Attempt: made.Number,
		Text: signatures.Digest([]byte(made.Text)), Inputs: map[string]string{}, Models: models(visit, made), Released: visit.Finished.UTC(),
	}
	if c.Cascade, err = policy(r.Cascade); err != nil {
		return Claim{}, err
	}
	if text, ok := visit.Output.(string); !ok || text != made.Text {
		if c.Output, err = valueDigest(visit.Output); err != nil {
			return Claim{}, fmt.Errorf("phase %s: output: %w", visit.Path, err)
		}
	}
	c.People = people(visit, made)
	texts := &Texts{Text: made.Text, Inputs: map[string]string{}, Reasons: map[string]string{}}
	if err := c.addGates(r, verdicts(visit, made), texts); err != nil {
		return Claim{}, fmt.Errorf("phase %s: %w", visit.Path, err)
	}
	if err := c.addInputs(r.Input, texts); err != nil {
		return Claim{}, err
	}
	if r.Texts {
		c.Texts = texts
	}
	if flaw := c.flaw(); flaw != nil {
		return Claim{}, fmt.Errorf("phase %s: %w", visit.Path, flaw)
	}
	return c, nil
}

// people returns the people who changed or confirmed the released text. The
// author of a rejected edit does not count.
func people(p *trace.Phase, a *trace.Attempt) (names []string) {
	for _, answer := range p.Answers {
		by := answer.Path.Parent()
		if tried := by.Parent().Last() == "human_input"; tried && by != a.Path || answer.By == "" || slices.Contains(names, answer.By) {
			continue
		}
		names = append(names, answer.By)
	}
	return names
}

// ownPhases returns the phases of the run. If the whole cascade was tried
// several times, they are those of the winner.
func (r *Run) ownPhases() []*trace.Phase {
	if r.Cascade.Tries == nil {
		return r.Phases
	}
	for _, p := range r.Phases {
		if won := p.Attempt(p.Released); won != nil {
			return won.Phases
		}
	}
	return nil
}

// visit returns the visit with a name or path.
func (r *Run) visit(phase string) (*trace.Phase, error) {
	var found, parted *trace.Phase
	look := func(p *trace.Phase) {
		switch {
		case p.Released != "":
			found, parted = p, nil
		case len(p.Branches) > 0 && p.Output != nil:
			found, parted = nil, p
		}
	}
	for _, p := range r.ownPhases() {
		if phase == "" || p.Name == phase || string(p.Path) == phase {
			look(p)
		}
		for _, b := range p.Branches {
			if string(b.Path) == phase || b.Item < 0 && b.Name == phase { // an item has its phase's name
				look(b)
			}
		}
	}
	switch {
	case found != nil:
		return found, nil
	case parted != nil:
		return nil, fmt.Errorf("the text of phase %s is put together from those of its parts: name one of them, like %s", parted.Name, parted.Branches[0].Path)
	}
	who := "the run"
	if phase != "" {
		who = "phase " + phase
	}
	among := ""
	if names := r.names(); len(names) > 0 { // empty if all tries of the whole cascade failed
		among = "; its phases are " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("%s has released no text: there is nothing to prove%s", who, among)
}

func (r *Run) names() []string {
	var names []string
	for _, p := range r.ownPhases() {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// policy returns the cascade and its files. File names are relative to its
// directory, because their place on a machine does not matter.
func policy(c *cascades.Cascade) (Policy, error) {
	p := Policy{ID: c.ID, Files: map[string]string{}}
	for _, f := range c.Files {
		p.Files[c.Beside(f.Name)] = signatures.Digest(f.Text)
	}
	var err error
	p.Digest, err = PolicyDigest(p.Files)
	return p, err
}

// verdicts returns the verdicts on the released text: those of the attempt's
// last turn and of the attempt itself. If a check ran twice, the last verdict
// counts. For a phase that is a validator, the text is the verdict, so the
// verdict itself does not count.
func verdicts(p *trace.Phase, a *trace.Attempt) []trace.Verdict {
	list := slices.DeleteFunc(slices.Clone(p.Verdicts), isOutput)
	if n := len(a.Turns); n > 0 {
		list = append(list, a.Turns[n-1].Verdicts...)
	}
	list = append(list, a.Verdicts...)
	last := map[string]int{}
	for i, v := range list {
		last[v.CheckMoment()+" "+v.Path.Last()+" "+v.Validator] = i
	}
	var out []trace.Verdict
	for i, v := range list {
		if v.Path.Last() == "tackle" {
			continue // it rejected a text that was never released, and it is not a gate of the cascade
		}
		if v.Moment == "tool" || v.Moment == "result" || last[v.CheckMoment()+" "+v.Path.Last()+" "+v.Validator] != i {
			continue
		}
		out = append(out, v)
	}
	return out
}

// isOutput reports whether a verdict is the output of a phase that is a validator. The
// paths of the phase's own checks are beside its tool, not below it.
func isOutput(v trace.Verdict) bool { return v.Moment == "post" && v.Path.Parent().Last() == "tool" }

// gate returns the gate of a verdict on the phase's text. It searches
// backwards, because a phase that is a validator may be at the same place
// before it.
func (r *Run) gate(phase string, v trace.Verdict) (cascades.Gate, bool) {
	for _, g := range slices.Backward(r.Gates) {
		if g.Phase == phase && string(g.Moment) == v.CheckMoment() && g.Place == v.Path.Last() && g.Name == v.Validator {
			return g, true
		}
	}
	return cascades.Gate{}, false
}

// addGates adds the gates and their verdicts.
func (c *Claim) addGates(r Run, list []trace.Verdict, texts *Texts) error {
	for _, v := range list {
		gate, there := r.gate(c.Phase, v)
		if !there {
			return fmt.Errorf("%s: the cascade has no such gate there", v.Path)
		}
		if gate.Digest == "" {
			return fmt.Errorf("%s: %s: what its program was when the run began was not kept", v.Path, v.Validator)
		}
		g := Gate{Name: v.Validator, Path: string(v.Path), Digest: gate.Digest, Moment: v.Moment, Mode: v.Mode, Verdict: verdictWord(&v.Verdict), Strength: r.strength(gate)}
		if v.Reason != "" {
			g.Reason = signatures.Digest([]byte(v.Reason))
			texts.Reasons[g.Path] = v.Reason
		}
		if v.Mode == shadow {
			c.Shadow = append(c.Shadow, g)
			continue
		}
		c.Gates = append(c.Gates, g)
		if g.Verdict != GatePassed && v.Mode != advisory && !slices.Contains(c.Degraded, g.Name) {
			c.Degraded = append(c.Degraded, g.Name)
		}
	}
	return nil
}

// Modes of gates that decide nothing.
const (
	advisory = "advisory"
	shadow   = "shadow"
)

func verdictWord(v *event.Verdict) string {
	switch {
	case v.Skipped():
		return GateSkipped
	case v.Error != nil || v.Valid == nil:
		return GateErred
	case *v.Valid:
		return GatePassed
	}
	return GateRefused
}

// models returns the models of the text and of its judges.
func models(p *trace.Phase, a *trace.Attempt) []string {
	names := []string{}
	add := func(calls []*trace.Call) {
		for _, call := range calls {
			if call.Request != nil && call.Request.Model != "" && !slices.Contains(names, call.Request.Model) {
				names = append(names, call.Request.Model)
			}
		}
	}
	add(p.Calls)
	add(a.Calls)
	for _, t := range a.Turns {
		add(t.Calls)
	}
	slices.Sort(names)
	return names
}

// addInputs adds the run's inputs.
func (c *Claim) addInputs(input map[string]any, texts *Texts) (err error) {
	for name, value := range input {
		if c.Inputs[name], err = valueDigest(value); err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Errorf("input %s: %w", name, err)
		}
		texts.Inputs[name] = string(text)
	}
	return nil
}

// valueDigest returns the digest of a value's canonical form. If JSON readers disagree
// on a number, its value has no canonical form. For it, the digest is that of its JSON
// here: sorted keys, no blanks, and numbers as they were written.
func valueDigest(v any) (string, error) {
	text, err := signatures.Canonical(v)
	if err != nil {
		if text, err = json.Marshal(v); err != nil {
			return "", err
		}
	}
	return signatures.Digest(text), nil
}

package receipt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/runner/trace"
)

// A Run is what a claim is made from: what a run did, the cascade as it was when
// it ran, and what its gates are ([cascades.Cascade.Gates]).
type Run struct {
	*trace.Run
	Cascade *cascades.Cascade
	Gates   []cascades.Gate
	Program Program // that makes the receipt
	Texts   bool    // the receipt carries the texts too

	// Evidence opens files of evidence beside the cascade that the run has not
	// kept; nil where there are none.
	Evidence cascades.Opener
}

// Of gives the claim of a text that the run has released: that of the phase of
// that name, or of the visit or item at that path; "" is the last that the
// cascade's own phases released. Of several visits to a phase it is the last; where the
// whole cascade was tried several times, it is the winner's.
// Whoever has none of a text says so in the error.
func Of(r Run, phase string) (Claim, error) {
	visit, err := r.visit(phase)
	if err != nil {
		return Claim{}, err
	}
	made := visit.Attempt(visit.Released)
	if made == nil {
		return Claim{}, fmt.Errorf("phase %s: the run does not tell which attempt's text was let out: it was kept by an older capstan", visit.Path)
	}
	c := Claim{
		Capstan: r.Program, Run: r.RunID, Phase: visit.Name, Path: string(made.Path), Attempt: made.Number,
		Text: signatures.Digest([]byte(made.Text)), Inputs: map[string]string{}, Models: models(visit, made), Released: visit.Finished.UTC(),
	}
	if c.Cascade, err = policy(r.Cascade); err != nil {
		return Claim{}, err
	}
	if said, ok := visit.Output.(string); !ok || said != made.Text {
		if c.Output, err = valueDigest(visit.Output); err != nil {
			return Claim{}, fmt.Errorf("phase %s: output: %w", visit.Path, err)
		}
	}
	c.People = people(visit, made)
	texts := &Texts{Text: made.Text, Inputs: map[string]string{}, Reasons: map[string]string{}}
	if err := c.judged(r, verdicts(visit, made), texts); err != nil {
		return Claim{}, fmt.Errorf("phase %s: %w", visit.Path, err)
	}
	if err := c.given(r.Input, texts); err != nil {
		return Claim{}, err
	}
	if r.Texts {
		c.Texts = texts
	}
	if flaw := c.sound(); flaw != nil {
		return Claim{}, fmt.Errorf("phase %s: %w", visit.Path, flaw)
	}
	return c, nil
}

// people are those who changed or confirmed the text that was let out: who gave one
// that was sent back is none of them.
func people(p *trace.Phase, a *trace.Attempt) (names []string) {
	for _, answer := range p.Answers {
		by := answer.Path.Up()
		if tried := by.Up().Last() == "human_input"; tried && by != a.Path || answer.By == "" || slices.Contains(names, answer.By) {
			continue
		}
		names = append(names, answer.By)
	}
	return names
}

// own are the phases whose texts are the run's: where the whole cascade was tried
// several times, those of the try that won.
func (r *Run) own() []*trace.Phase {
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

// visit finds the visit that a name or a path means.
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
	for _, p := range r.own() {
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
	if names := r.names(); len(names) > 0 { // of a whole cascade that was tried in vain there is none
		among = "; its phases are " + strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("%s has released no text: there is nothing to prove%s", who, among)
}

func (r *Run) names() []string {
	var names []string
	for _, p := range r.own() {
		if !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// policy is the cascade with its files, named from its own directory: where a machine
// has them is not what they are.
func policy(c *cascades.Cascade) (Policy, error) {
	p := Policy{ID: c.ID, Files: map[string]string{}}
	for _, f := range c.Files {
		p.Files[c.Beside(f.Name)] = signatures.Digest(f.Text)
	}
	var err error
	p.Digest, err = PolicyDigest(p.Files)
	return p, err
}

// verdicts are those on the text that was let out: of the checks of the
// attempt's last turn, and of the attempt's own. A check that judged it twice
// has said last what counts. Of a phase that is a validator the text is the
// verdict, so that one is on another text.
func verdicts(p *trace.Phase, a *trace.Attempt) []trace.Verdict {
	list := slices.DeleteFunc(slices.Clone(p.Verdicts), isOutput)
	if n := len(a.Turns); n > 0 {
		list = append(list, a.Turns[n-1].Verdicts...)
	}
	list = append(list, a.Verdicts...)
	last := map[string]int{}
	for i, v := range list {
		last[v.Asked()+" "+v.Path.Last()+" "+v.Validator] = i
	}
	var out []trace.Verdict
	for i, v := range list {
		if v.Path.Last() == "tackle" {
			continue // it refused a text that was never released, and is no gate of the cascade
		}
		if v.Moment == "tool" || v.Moment == "result" || last[v.Asked()+" "+v.Path.Last()+" "+v.Validator] != i {
			continue
		}
		out = append(out, v)
	}
	return out
}

// isOutput tells whether a verdict is what a phase that is a validator gives. Its
// own checks stand beside its tool, not below it.
func isOutput(v trace.Verdict) bool { return v.Moment == "post" && v.Path.Up().Last() == "tool" }

// gate is the one at the place of a verdict on the phase's text: the last, for a
// phase that is a validator may stand before it at the same place.
func (r *Run) gate(phase string, v trace.Verdict) (cascades.Gate, bool) {
	for _, g := range slices.Backward(r.Gates) {
		if g.Phase == phase && string(g.Moment) == v.Asked() && g.Place == v.Path.Last() && g.Name == v.Validator {
			return g, true
		}
	}
	return cascades.Gate{}, false
}

// judged notes what the gates said.
func (c *Claim) judged(r Run, list []trace.Verdict, texts *Texts) error {
	for _, v := range list {
		gate, there := r.gate(c.Phase, v)
		if !there {
			return fmt.Errorf("%s: the cascade has no such gate there", v.Path)
		}
		if gate.Digest == "" {
			return fmt.Errorf("%s: %s: what its program was when the run began was not kept", v.Path, v.Validator)
		}
		g := Gate{Name: v.Validator, Path: string(v.Path), Digest: gate.Digest, Moment: v.Moment, Mode: v.Mode, Verdict: word(&v.Verdict), Strength: r.strength(gate)}
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

// The modes of gates that decide nothing.
const (
	advisory = "advisory"
	shadow   = "shadow"
)

func word(v *event.Verdict) string {
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

// models are those that were asked for the text, and by its judges.
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

// given notes the run's inputs.
func (c *Claim) given(input map[string]any, texts *Texts) (err error) {
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

// valueDigest is the digest of a value's canonical form; of one with numbers
// that JSON readers disagree on, which has none, of its JSON as it is written here:
// keys in order, no blanks, each number digit for digit as it came.
func valueDigest(v any) (string, error) {
	text, err := signatures.Canonical(v)
	if err != nil {
		if text, err = json.Marshal(v); err != nil {
			return "", err
		}
	}
	return signatures.Digest(text), nil
}

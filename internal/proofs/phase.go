package proofs

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// A phaseAnalysis follows one phase, or an item of it.
type phaseAnalysis struct {
	*analyzer
	c *cascades.Cascade
	p *cascades.Phase
	view
	r          *visitResult
	inputs     taints // the input of a tool without a model
	subReasons taints // failure messages of cascades within it
}

// pass follows a visit to a phase.
func (a *analyzer) pass(c *cascades.Cascade, p *cascades.Phase, in *facts) *visitResult {
	begun := in.clone()
	with := in.clone()
	r := &visitResult{with: with, left: begun}
	f := &phaseAnalysis{analyzer: a, c: c, p: p, view: view{facts: with}, r: r}
	if p.Each != nil {
		f.locals = map[string]taints{p.Each.As: f.values(p.Each.In)}
	}
	if p.Together != nil {
		f.group(in)
		begun.previous = noOutput()
		return r
	}
	f.subs()
	begun.join(with) // the sub-cascades may have run or not
	text := f.work()
	f.validators(text)
	textGates, valueGates := a.judges(c, p, false)
	edited, editedValue := taints(nil), taints(nil)
	if p.Edits() {
		t, v := a.judges(c, p, true)
		person := a.source(c, p, FromEdit)
		edited, editedValue = person.throughGates(t...), person.throughGates(v...)
	}
	f.release(text.throughGates(textGates...).union(edited), text.throughGates(valueGates...).union(editedValue), in)
	begun.files, begun.previous = with.files, noOutput()
	begun.reasons = f.reasonTaints()
	return r
}

// noOutput marks that the previous phase has released no output.
func noOutput() map[string]bool { return map[string]bool{"": true} }

// subs follows the sub-cascades before the phase.
func (f *phaseAnalysis) subs() {
	for _, sub := range f.p.Subs {
		begin := newFacts()
		begin.input, begin.files = f.each(sub.InputMap), f.files
		if sub.ContextIn {
			begin.state = f.state.clone()
		}
		end := f.within(sub.Cascade, begin)
		if !sub.ContextOut {
			continue
		}
		if f.outputs.set(sub.Cascade.ID, end.last.throughVar("outputs."+sub.Cascade.ID)); sub.ContextIn {
			f.state = end.state.clone()
		} else {
			f.state.join(end.state)
		}
	}
}

// within follows a cascade within the phase.
func (f *phaseAnalysis) within(c *cascades.Cascade, begin *facts) *facts {
	end := f.walk(c, begin)
	f.files, f.subReasons = f.files.union(end.files), f.subReasons.union(end.reasons)
	return end
}

// work follows the phase itself and returns the taints of its text and output. No check
// of the phase has seen the text yet.
func (f *phaseAnalysis) work() taints {
	switch {
	case f.p.Compose != nil:
		return f.template(f.p.Compose)
	case f.p.Tool != nil:
		return f.tool()
	}
	f.calls()
	return f.source(f.c, f.p, FromText)
}

// calls follows the possible tool calls of the phase's model.
func (f *phaseAnalysis) calls() {
	for _, t := range f.p.Tackle {
		bare := f.source(f.c, f.p, FromCall)
		call := bare.throughGates(f.callGates(f.c, f.p, t)...)
		result := call
		switch {
		case t.Engine && t.Name == keywords.SetState:
			// The model chooses the name of the variable.
			f.state.addToAll(call.throughVar("state"))
		case t.Engine && t.Name == keywords.AskHuman:
			f.storeAnswer(call)
		case t.Cascade != nil:
			begin := newFacts()
			begin.input.rest, begin.files = call.throughVar("input"), f.files
			end := f.within(t.Cascade, begin)
			result = end.last.union(end.reasons) // or its failure message
		case t.Effect == tool.Writes:
			f.recordWrite(f.c, f.p, t, call)
			f.files = f.files.union(call.throughVar("a file"))
		}
		if t.Effect != tool.None {
			result = result.union(f.files)
		}
		f.checkCall(f.p.Wards.Tool, t, bare)
		f.checkCall(f.p.Wards.Result, t, result)
	}
}

// receiptInputs returns the taints in the input of a tool that requires a
// receipt. The text and the receipt have a valid receipt as their gate.
func (f *phaseAnalysis) receiptInputs(t *cascades.Tool, gates []int) (written taints) {
	for name, value := range f.p.Inputs {
		s := f.value(value).throughGates(gates...)
		if t.Receipt.Covers(name) {
			s = s.throughGates(f.receipt(f.c, f.p, t.Receipt))
		}
		written = written.union(s)
	}
	return written
}

// storeAnswer adds the taints of the options that a person chooses from to the
// state.
func (f *phaseAnalysis) storeAnswer(offered taints) {
	f.state.set(f.p.Name, f.state.get(f.p.Name).union(offered.throughVar("state."+f.p.Name)))
}

// checkCall follows the cascades among the wards of a tool.
func (f *phaseAnalysis) checkCall(list []*cascades.Check, t *cascades.Tool, content taints) {
	for _, check := range list {
		if check.Guards(t.Name) {
			f.validator(check.Validator, content)
		}
	}
}

// tool follows a phase without a model and returns the taints of the tool's
// result.
func (f *phaseAnalysis) tool() taints {
	t, gates := f.p.Tool, f.callChecks(f.c, f.p, f.p.Wards.Pre, "")
	f.inputs = f.values(f.p.Inputs)
	for _, check := range f.p.Wards.Pre {
		f.validator(check.Validator, f.inputs.union(f.reasons))
	}
	f.inputs = f.inputs.throughGates(gates...)
	switch {
	case t.Validator != nil:
		return f.verdict(t.Validator)
	case t.Engine && t.Name == keywords.AskHuman:
		f.storeAnswer(f.inputs)
	case t.Engine && t.Name == keywords.SetState:
		value := f.value(f.p.Inputs["value"]).throughGates(gates...)
		if key, plain := f.p.Inputs["key"].(string); plain {
			f.state.set(key, value.throughVar("state."+key))
		} else {
			f.state.addToAll(value.throughVar("state"))
		}
	case t.Cascade != nil:
		begin := newFacts()
		begin.input, begin.files = f.each(f.p.Inputs), f.files
		for name, s := range begin.input.known {
			begin.input.known[name] = s.throughGates(gates...)
		}
		return f.within(t.Cascade, begin).last
	case t.Effect == tool.Writes:
		written := f.inputs
		if t.Receipt != nil {
			written = f.receiptInputs(t, gates)
		}
		f.recordWrite(f.c, f.p, t, written)
		f.files = f.files.union(written.throughVar("a file"))
	}
	if t.Effect == tool.None {
		return f.inputs
	}
	return f.inputs.union(f.files)
}

// validators follows the cascades among the checks of the phase's text.
func (f *phaseAnalysis) validators(text taints) {
	for _, check := range f.p.Checks() {
		switch check.Ward.Moment {
		case wards.Tool, wards.Result:
		case wards.Pre:
			if f.p.Tool == nil {
				f.validator(check.Validator, f.template(f.p.System).union(f.template(f.p.Instructions)).union(f.reasons).union(f.reworded()))
			}
		default:
			content := text
			if f.p.Edits() {
				content = content.union(f.source(f.c, f.p, FromEdit))
			}
			f.validator(check.Validator, content)
		}
	}
}

// reworded returns the taint of instructions that a model rewrites. Pre-wards
// see them too.
func (f *phaseAnalysis) reworded() taints {
	if s := f.p.Soundings; s == nil || s.Mutation != keywords.Rewrite {
		return nil
	}
	return f.source(f.c, f.p, FromText)
}

// validator follows a validator that is a cascade.
func (f *phaseAnalysis) validator(v *cascades.Validator, content taints) {
	if v.Cascade == nil {
		return
	}
	begin := newFacts()
	begin.files = f.files
	see := f.view
	see.content = content
	if v.InputMap != nil {
		begin.input = see.each(v.InputMap)
	} else {
		for name, s := range map[string]taints{"content": content, "output": content, "input": f.input.all(), "state": f.state.all(), "outputs": f.outputs.all()} {
			begin.input.set(name, s.throughVar("input."+name))
		}
	}
	f.within(v.Cascade, begin) // its failure message may become that of the phase
}

// release stores the taints of the phase's output in the variables that others
// read.
func (f *phaseAnalysis) release(text, value taints, in *facts) {
	if e := f.p.Extraction; e != nil {
		found := text.throughVar("state." + e.StoreAs)
		if !e.Required {
			found = found.union(f.state.get(e.StoreAs))
		}
		f.state.set(e.StoreAs, found)
		if e.JSON {
			value = value.union(text)
		}
	}
	if h := f.p.Human; h != nil {
		answer := taints(nil) // a person's own words are not a model's
		if f.p.Edits() {
			answer = text.throughVar("state." + h.StoreAs)
		}
		f.state.set(h.StoreAs, answer)
	}
	if f.p.Each != nil {
		f.state, f.outputs = in.state.clone(), in.outputs.clone() // changes of an item stay within the item
		if f.p.Each.Keep {
			name := f.p.Name + "_failures"
			f.state.set(name, f.reasonTaints().throughVar("state."+name))
		}
	}
	if own, _ := f.c.Phase(f.p.Name); own != nil && f.p.OutputSchema != nil {
		valid := value.throughVar("state." + keywords.ValidatedOutput)
		if f.p.Rules.Releases() {
			valid = valid.union(f.state.get(keywords.ValidatedOutput))
		}
		f.state.set(keywords.ValidatedOutput, valid)
	}
	value = value.throughVar("outputs." + f.p.Name)
	f.outputs.set(f.p.Name, value)
	f.last, f.lineage, f.previous = value, f.lineage.union(value), map[string]bool{f.p.Name: true}
}

// reasonTaints returns the taints in the phase's failure message: reasons of
// judges, and the input of a failed tool, which its message may contain.
func (f *phaseAnalysis) reasonTaints() (s taints) {
	if f.p.Tool != nil {
		s = f.inputs
		if f.p.Tool.Effect != tool.None {
			s = s.union(f.files)
		}
	}
	unfree := func(p *cascades.Phase) bool {
		return slices.ContainsFunc(p.Checks(), func(c *cascades.Check) bool { return !c.Validator.Free() }) || p.Tool != nil && p.Tool.Validator != nil && !p.Tool.Validator.Free()
	}
	for _, p := range append([]*cascades.Phase{f.p}, f.p.Together...) {
		judged := unfree(p)
		for _, c := range p.Cascades() {
			for _, within := range c.Within() {
				judged = judged || slices.ContainsFunc(within.EveryPhase(), unfree)
			}
		}
		if judged {
			s = s.union(f.source(f.c, p, FromWords))
		}
	}
	return s.union(f.subReasons).throughVar("validation_error")
}

// group follows phases that run in parallel. Each begins with the facts before
// the group, and none benefits from a gate beside it. After the group, its
// texts have passed its gates.
func (f *phaseAnalysis) group(in *facts) {
	value := taints(nil)
	var gates []*visitResult
	for _, p := range f.p.Together {
		r := f.pass(f.c, p, in)
		if p.When != nil {
			r.with.join(in)
		} else if r.mode == wards.Blocking {
			gates = append(gates, r)
		}
		f.state.join(r.with.state)
		f.files, f.lineage = f.files.union(r.with.files), f.lineage.union(r.with.lineage)
		f.outputs.set(p.Name, r.with.outputs.get(p.Name))
		for _, sub := range p.Subs {
			f.outputs.set(sub.Cascade.ID, f.outputs.get(sub.Cascade.ID).union(r.with.outputs.get(sub.Cascade.ID)))
		}
		value = value.union(r.with.outputs.get(p.Name))
		f.subReasons = f.subReasons.union(r.left.reasons)
		for _, t := range p.Tackle {
			if t.Engine && t.Name == keywords.SetState { // a conflict of two writers is reported with their texts
				f.subReasons = f.subReasons.union(f.source(f.c, p, FromCall).throughGates(f.callGates(f.c, p, t)...))
			}
		}
	}
	for _, r := range gates {
		*f.facts = *r.afterGate(f.facts)
	}
	f.release(value, value, in)
	f.r.left.files, f.r.left.reasons = f.files, f.reasonTaints()
}

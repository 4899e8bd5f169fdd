package proofs

import (
	"slices"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// A proving is one phase that is followed, or an item of it.
type proving struct {
	*prover
	c *cascades.Cascade
	p *cascades.Phase
	view
	r     *passage
	given strands // what a phase without a model gives its tool
	heard strands // what a cascade within may say of why it failed
}

// pass follows a visit to a phase from a spot.
func (a *prover) pass(c *cascades.Cascade, p *cascades.Phase, in *spot) *passage {
	begun := in.clone()
	with := in.clone()
	r := &passage{with: with, left: begun}
	f := &proving{prover: a, c: c, p: p, view: view{spot: with}, r: r}
	if p.Each != nil {
		f.locals = map[string]strands{p.Each.As: f.values(p.Each.In)}
	}
	if p.Together != nil {
		f.group(in)
		begun.previous = nothing()
		return r
	}
	f.subs()
	begun.join(with) // the sub-cascades may have run, or not
	text := f.work()
	f.validators(text)
	textGates, valueGates := a.judges(c, p, false)
	edited, editedValue := strands(nil), strands(nil)
	if p.Edits() {
		t, v := a.judges(c, p, true)
		person := a.source(c, p, FromEdit)
		edited, editedValue = person.past(t...), person.past(v...)
	}
	f.release(text.past(textGates...).and(edited), text.past(valueGates...).and(editedValue), in)
	begun.files, begun.previous = with.files, nothing()
	begun.said = f.words()
	return r
}

// nothing is the phase before where that has released no output: none.
func nothing() map[string]bool { return map[string]bool{"": true} }

// subs follows the cascades that run before the phase.
func (f *proving) subs() {
	for _, sub := range f.p.Subs {
		begin := newSpot()
		begin.input, begin.files = f.each(sub.InputMap), f.files
		if sub.ContextIn {
			begin.state = f.state.clone()
		}
		end := f.within(sub.Cascade, begin)
		if !sub.ContextOut {
			continue
		}
		if f.outputs.set(sub.Cascade.ID, end.last.at("outputs."+sub.Cascade.ID)); sub.ContextIn {
			f.state = end.state.clone()
		} else {
			f.state.join(end.state)
		}
	}
}

// within follows a cascade that is begun within the phase.
func (f *proving) within(c *cascades.Cascade, begin *spot) *spot {
	end := f.walk(c, begin)
	f.files, f.heard = f.files.and(end.files), f.heard.and(end.said)
	return end
}

// work follows what the phase does, and gives its text, which is its output too, not
// judged.
func (f *proving) work() strands {
	switch {
	case f.p.Compose != nil:
		return f.template(f.p.Compose)
	case f.p.Tool != nil:
		return f.tool()
	}
	f.calls()
	return f.source(f.c, f.p, FromText)
}

// calls follows what the phase's model may have done.
func (f *proving) calls() {
	for _, t := range f.p.Tackle {
		bare := f.source(f.c, f.p, FromCall)
		call := bare.past(f.callGates(f.c, f.p, t)...)
		result := call
		switch {
		case t.Engine && t.Name == cascades.SetState:
			// It is the model that names the variable.
			f.state.any(call.at("state"))
		case t.Engine && t.Name == cascades.AskHuman:
			f.answered(call)
		case t.Cascade != nil:
			begin := newSpot()
			begin.input.rest, begin.files = call.at("input"), f.files
			end := f.within(t.Cascade, begin)
			result = end.last.and(end.said) // or why it gave nothing
		case t.Effect == tool.Writes:
			f.writes(f.c, f.p, t, call)
			f.files = f.files.and(call.at("a file"))
		}
		if t.Effect != tool.None {
			result = result.and(f.files)
		}
		f.asked(f.p.Wards.Tool, t, bare)
		f.asked(f.p.Wards.Result, t, result)
	}
}

// receipted is what a tool that wants a receipt is given: of text and receipt it
// has one that holds.
func (f *proving) receipted(t *cascades.Tool, gates []int) (written strands) {
	for name, value := range f.p.Inputs {
		s := f.value(value).past(gates...)
		if t.Receipt.Covers(name) {
			s = s.past(f.receipt(f.c, f.p, t.Receipt))
		}
		written = written.and(s)
	}
	return written
}

// answered has the state hold what a person has chosen among what was offered.
func (f *proving) answered(offered strands) {
	f.state.set(f.p.Name, f.state.get(f.p.Name).and(offered.at("state."+f.p.Name)))
}

// asked follows the cascades among the wards that look at a tool.
func (f *proving) asked(list []*cascades.Check, t *cascades.Tool, content strands) {
	for _, check := range list {
		if check.Guards(t.Name) {
			f.validator(check.Validator, content)
		}
	}
}

// tool follows a phase without a model, and gives what its tool returns.
func (f *proving) tool() strands {
	t, gates := f.p.Tool, f.standing(f.c, f.p, f.p.Wards.Pre, "")
	f.given = f.values(f.p.Inputs)
	for _, check := range f.p.Wards.Pre {
		f.validator(check.Validator, f.given.and(f.said))
	}
	f.given = f.given.past(gates...)
	switch {
	case t.Validator != nil:
		return f.verdict(t.Validator)
	case t.Engine && t.Name == cascades.AskHuman:
		f.answered(f.given)
	case t.Engine && t.Name == cascades.SetState:
		value := f.value(f.p.Inputs["value"]).past(gates...)
		if key, plain := f.p.Inputs["key"].(string); plain {
			f.state.set(key, value.at("state."+key))
		} else {
			f.state.any(value.at("state"))
		}
	case t.Cascade != nil:
		begin := newSpot()
		begin.input, begin.files = f.each(f.p.Inputs), f.files
		for name, s := range begin.input.known {
			begin.input.known[name] = s.past(gates...)
		}
		return f.within(t.Cascade, begin).last
	case t.Effect == tool.Writes:
		written := f.given
		if t.Receipt != nil {
			written = f.receipted(t, gates)
		}
		f.writes(f.c, f.p, t, written)
		f.files = f.files.and(written.at("a file"))
	}
	if t.Effect == tool.None {
		return f.given
	}
	return f.given.and(f.files)
}

// validators follows the cascades among the checks of the phase's text.
func (f *proving) validators(text strands) {
	for _, check := range f.p.Checks() {
		switch check.Ward.Moment {
		case wards.Tool, wards.Result:
		case wards.Pre:
			if f.p.Tool == nil {
				f.validator(check.Validator, f.template(f.p.System).and(f.template(f.p.Instructions)).and(f.said).and(f.reworded()))
			}
		default:
			content := text
			if f.p.Edits() {
				content = content.and(f.source(f.c, f.p, FromEdit))
			}
			f.validator(check.Validator, content)
		}
	}
}

// reworded is what a model makes of the instructions, which the pre-wards see too.
func (f *proving) reworded() strands {
	if s := f.p.Soundings; s == nil || s.Mutation != cascades.Rewrite {
		return nil
	}
	return f.source(f.c, f.p, FromText)
}

// validator follows a validator that is a cascade.
func (f *proving) validator(v *cascades.Validator, content strands) {
	if v.Cascade == nil {
		return
	}
	begin := newSpot()
	begin.files = f.files
	see := f.view
	see.content = content
	if v.InputMap != nil {
		begin.input = see.each(v.InputMap)
	} else {
		for name, s := range map[string]strands{"content": content, "output": content, "input": f.input.all(), "state": f.state.all(), "outputs": f.outputs.all()} {
			begin.input.set(name, s.at("input."+name))
		}
	}
	f.within(v.Cascade, begin) // why it gave no verdict may be why the phase is left
}

// release puts what the phase lets out where others read it.
func (f *proving) release(text, value strands, in *spot) {
	if e := f.p.Extraction; e != nil {
		found := text.at("state." + e.StoreAs)
		if !e.Required {
			found = found.and(f.state.get(e.StoreAs))
		}
		f.state.set(e.StoreAs, found)
		if e.JSON {
			value = value.and(text)
		}
	}
	if h := f.p.Human; h != nil {
		answer := strands(nil) // a person's own words are no model's
		if f.p.Edits() {
			answer = text.at("state." + h.StoreAs)
		}
		f.state.set(h.StoreAs, answer)
	}
	if f.p.Each != nil {
		f.state, f.outputs = in.state.clone(), in.outputs.clone() // an item's changes are its own
		if f.p.Each.Keep {
			name := f.p.Name + "_failures"
			f.state.set(name, f.words().at("state."+name))
		}
	}
	if own, _ := f.c.Phase(f.p.Name); own != nil && f.p.OutputSchema != nil {
		valid := value.at("state." + cascades.ValidatedOutput)
		if f.p.Rules.Releases() {
			valid = valid.and(f.state.get(cascades.ValidatedOutput))
		}
		f.state.set(cascades.ValidatedOutput, valid)
	}
	value = value.at("outputs." + f.p.Name)
	f.outputs.set(f.p.Name, value)
	f.last, f.lineage, f.previous = value, f.lineage.and(value), map[string]bool{f.p.Name: true}
}

// words are what another phase may hear of why this one was left: what a judge
// says, and what a tool that failed says of what it was given.
func (f *proving) words() (s strands) {
	if f.p.Tool != nil {
		s = f.given
		if f.p.Tool.Effect != tool.None {
			s = s.and(f.files)
		}
	}
	unfree := func(p *cascades.Phase) bool {
		return slices.ContainsFunc(p.Checks(), func(c *cascades.Check) bool { return !c.Validator.Free() }) || p.Tool != nil && p.Tool.Validator != nil && !p.Tool.Validator.Free()
	}
	for _, p := range append([]*cascades.Phase{f.p}, f.p.Together...) {
		judged := unfree(p)
		for _, c := range p.Cascades() {
			judged = judged || c.Any(unfree)
		}
		if judged {
			s = s.and(f.source(f.c, p, FromWords))
		}
	}
	return s.and(f.heard).at("validation_error")
}

// group follows phases side by side. Each begins with what was there before, and none
// hears a gate beside it: what a gate of the group judges has passed it behind the group.
func (f *proving) group(in *spot) {
	value := strands(nil)
	var gates []*passage
	for _, p := range f.p.Together {
		r := f.pass(f.c, p, in)
		if p.When != nil {
			r.with.join(in)
		} else if r.mode == wards.Blocking {
			gates = append(gates, r)
		}
		f.state.join(r.with.state)
		f.files, f.lineage = f.files.and(r.with.files), f.lineage.and(r.with.lineage)
		f.outputs.set(p.Name, r.with.outputs.get(p.Name))
		for _, sub := range p.Subs {
			f.outputs.set(sub.Cascade.ID, f.outputs.get(sub.Cascade.ID).and(r.with.outputs.get(sub.Cascade.ID)))
		}
		value = value.and(r.with.outputs.get(p.Name))
		f.heard = f.heard.and(r.left.said)
		for _, t := range p.Tackle {
			if t.Engine && t.Name == cascades.SetState { // who sets what is told where two clash
				f.heard = f.heard.and(f.source(f.c, p, FromCall).past(f.callGates(f.c, p, t)...))
			}
		}
	}
	for _, r := range gates {
		*f.spot = *r.passed(f.spot)
	}
	f.release(value, value, in)
	f.r.left.files, f.r.left.said = f.files, f.words()
}

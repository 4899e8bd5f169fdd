package cascades

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// phaseFacts returns the facts of a phase for the checks. group is the name of its group.
func (p *parser) phaseFacts(o, rules, moments *reader.Object, phase *Phase, group string) checks.Phase {
	facts := checks.Phase{Name: phase.Name, Group: group, IsText: phase.outputsText(), Guards: p.guards, Text: phase.textFacts()}
	facts.Node, facts.What, facts.Within, facts.Keys = o.Node, o.What, p.grouped, o.Keys
	facts.Asks, facts.Chooses = phase.asksInTurn(), phase.Chooses()
	if rules != nil {
		facts.Rules = rules.Keys
	}
	if moments != nil {
		facts.Wards = moments.Keys
	}
	if phase.gates() && phase.Rules.Releases() && !phase.exhausts() {
		facts.Releases = phase.Rules.OnExhausted
	}
	p.guards = nil
	if phase.Each == nil {
		facts.Schema = phase.OutputSchema
	}
	for _, s := range phase.Subs {
		facts.Subs = append(facts.Subs, checks.Sub{ID: s.Cascade.ID, Returns: s.ContextOut})
	}
	for _, t := range phase.Tackle {
		fact := checks.Tool{Name: t.Name, Node: entry(o.Value["tackle"], t.named)}
		fact.Ungated = fact.Node != nil && t.Effect == tool.Writes && t.Receipt == nil &&
			!slices.ContainsFunc(phase.Wards.Tool, func(c *Check) bool { return c.enforces() && c.Guards(t.Name) })
		facts.Tools = append(facts.Tools, fact)
	}
	if t := phase.Tool; t != nil {
		facts.Call = &checks.Call{
			Node: findings.Resolved(o.Value["tool"]), Tool: t.Name, Repeats: phase.repeats(),
			Writes: t.Effect == tool.Writes && t.Receipt == nil && !slices.ContainsFunc(phase.Wards.Pre, (*Check).enforces),
		}
	}
	return facts
}

// entry returns the first entry of a list that is equal to a text, or nil.
func entry(list *yaml.Node, text string) *yaml.Node {
	if list = findings.Resolved(list); list == nil {
		return nil
	}
	i := slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return n.Value == text })
	if i < 0 {
		return nil
	}
	return list.Content[i]
}

// enforces reports whether the check withholds a rejected text.
func (c *Check) enforces() bool { return c.Ward.Mode.Enforces() }

// repeats reports whether a retry calls the tool of the phase with the same arguments.
func (p *Phase) repeats() bool {
	return p.Tool.Validator == nil && slices.ContainsFunc(p.Wards.Post, func(c *Check) bool { return c.Ward.Mode == wards.Retry }) &&
		!slices.ContainsFunc([]string{"validation_error", "schema_error", "attempt"}, p.Inputs.Reads)
}

// textFacts returns the sources and the uses of the phase's text.
func (p *Phase) textFacts() checks.Text {
	sets := p.Tool != nil && p.Tool.Engine && p.Tool.Name == keywords.SetState
	t := checks.Text{
		Model: p.Instructions != nil, Composes: p.Compose != nil, Copies: p.Compose != nil || sets,
		Group: p.Together != nil, Each: p.Each != nil, Reads: p.Inputs.Names(),
	}
	if p.gates() {
		t.Judges = p.Inputs.Names()
	}
	if p.Each != nil {
		t.Reads = append(t.Reads, p.Each.In.Names()...)
	}
	if p.Compose != nil {
		t.Reads = append(t.Reads, p.Compose.Names()...)
	}
	if p.Extraction != nil {
		t.Extracted = p.Extraction.StoreAs
	}
	if key, plain := p.Inputs["key"].(string); plain && sets {
		t.Set = key
	}
	t.PartJudged = slices.ContainsFunc(p.judges(), func(c *Check) bool { return c != nil && c.enforces() })
	whole := p.Extraction == nil || !p.Extraction.JSON
	t.Judged = t.PartJudged || p.OutputSchema != nil && whole && !p.Rules.Releases()
	return t
}

// judges returns the checks of the text of the phase. Elements may be nil.
func (p *Phase) judges() []*Check {
	list := append(slices.Clone(p.Wards.Post), p.Rules.Loop)
	if !p.Edits() { // an edited text has no turn
		list = append(list, p.Wards.Turn...)
	}
	if p.Soundings != nil {
		list = append(list, p.Soundings.Filter)
	}
	if p.Tool != nil {
		list = append(list, p.Wards.Pre...)
	}
	return list
}

// settleFacts adds the facts of the whole cascade after the parser has read all phases.
func (p *parser) settleFacts() {
	c, f := p.cascade, &p.facts
	f.Nested, f.MaxPhases, f.Ignored = len(p.loading) > 1, c.Budget.MaxPhases, p.Ignored
	f.StateKeys = map[string]bool{}
	f.OpenState = c.sets(f.StateKeys, map[*Cascade]bool{})
	if c.Tries != nil {
		f.Phases = append(f.Phases, checks.Phase{Name: c.Tries.Name})
	}
	for _, phase := range c.Phases {
		for i := range phase.Handoffs {
			h := &phase.Handoffs[i]
			h.Ends = h.Target != "" && c.Way(h.Target) == ""
		}
	}
	next := c.next()
	for i, phase := range c.Phases {
		f.Steps = append(f.Steps, checks.Step{Name: phase.Name, Position: phase.Position, Next: next[i], Ends: c.mayEnd(i)})
	}
	for _, phase := range c.EveryPhase() {
		if phase.OutputSchema == nil || phase.Each != nil {
			continue
		}
		for _, check := range append(slices.Concat(phase.Wards.Turn, phase.Wards.Post), phase.Rules.Loop) {
			if check != nil {
				f.Fields = append(f.Fields, check.Validator.ownReads(phase.Name)...)
			}
		}
	}
	for _, d := range c.Databases {
		f.Databases = append(f.Databases, checks.Database{Node: p.databases.Keys[d.Name], Name: d.Name, Asked: p.asked[d.Name]})
	}
	for _, within := range c.Within() {
		for _, source := range within.Providers {
			provider := checks.Provider{Provider: source, File: within.File}
			provider.Limits = model.Limits{} // nested cascades may have other limits
			if within == c {
				provider.Node = p.defined.Keys[source.Name]
			}
			f.Providers = append(f.Providers, provider)
		}
	}
}

// ownReads returns the fields of the output of phase that the expression reads.
func (v *Validator) ownReads(phase string) (list []checks.Field) {
	for _, f := range v.fields {
		if f.Path[0] == "output" {
			list = append(list, checks.Field{Phase: phase, Path: f.Path[1:], At: f.At})
		}
	}
	return list
}

// gates reports whether the phase is a validator.
func (p *Phase) gates() bool { return p.Tool != nil && p.Tool.Validator != nil }

// exhausts reports whether another check of the phase's text can use up a
// budget.
func (p *Phase) exhausts() bool {
	return p.OutputSchema != nil || slices.ContainsFunc(p.Wards.Post, func(c *Check) bool { return c.written() == wards.Retry })
}

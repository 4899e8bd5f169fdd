// Package rehearsal writes the scripts that a cascade is tried with, without a
// model: [Recorded] from what a run's models have said, [Draft] from what the
// cascade itself asks of its texts.
//
// A draft answers every request that the cascade can make, however often. What
// stands in it is made, not thought: a value of the phase's schema, or sentences,
// in several lengths, of which the one is taken that most of the phase's own
// checks accept. Only what can be computed from a text alone is asked; judges say
// yes, and what refuses the text all the same is told above it, for whoever is to
// write a better one.
package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/validators/schema"
)

// yes is what judges say in a draft.
const yes = `{"valid": true, "reason": "the script says so"}`

// Draft answers what the cascade, and the cascades within it, can ask of a
// model. The same cascade gets the same draft. An error is that of ctx.
func Draft(ctx context.Context, c *cascades.Cascade) ([]scripted.Reply, error) {
	d := draft{ctx: ctx, judges: judging(c), there: map[string]bool{}}
	for _, within := range c.Within() {
		d.cascade(within)
	}
	return d.list, ctx.Err()
}

// judging are the cascades whose output is a verdict.
func judging(c *cascades.Cascade) map[*cascades.Cascade]bool {
	found := map[*cascades.Cascade]bool{}
	for _, within := range c.Within() {
		for _, p := range within.EveryPhase() {
			for _, check := range p.Checks() {
				found[check.Validator.Cascade] = true
			}
			if p.Tool != nil && p.Tool.Validator != nil {
				found[p.Tool.Validator.Cascade] = true
			}
		}
	}
	return found
}

type draft struct {
	ctx    context.Context
	judges map[*cascades.Cascade]bool
	list   []scripted.Reply
	there  map[string]bool // requests that have their reply, as the script tells them apart
}

func (d *draft) add(r scripted.Reply) {
	r.Times = scripted.Always
	key := strings.Join([]string{r.Phase, r.Validator, r.Role, r.Contains}, "\x00")
	if !d.there[key] {
		d.there[key] = true
		d.list = append(d.list, r)
	}
}

// cascade answers for its phases in file order, each with what earlier ones have
// said.
func (d *draft) cascade(c *cascades.Cascade) {
	said := rehearsed(c)
	for _, p := range c.EveryPhase() {
		if p.Instructions != nil {
			reply := d.reply(c, p, said)
			if p.Chooses() {
				choice := d.choice(c, p)
				if back(c, p) { // nobody asks for the choice, and without one the run goes in circles
					reply.Contains, choice.Contains = choice.ToolCalls[0].Arguments, ""
					d.add(reply)
					reply = choice
				} else {
					d.add(choice)
				}
			}
			d.add(reply)
			if b := p.TokenBudget; b != nil && b.Strategy == cascades.Summarize {
				d.add(scripted.Reply{Phase: p.Name, Role: "summary", Text: "What was found out so far."})
			}
		}
		if p.Soundings != nil && p.Soundings.Evaluator != nil {
			d.add(scripted.Reply{Phase: p.Name, Role: "evaluator", Text: `{"winner": 1, "reason": "the script says so"}`})
		}
		if p.Soundings != nil && p.Soundings.Mutation == cascades.Rewrite {
			d.add(scripted.Reply{Phase: p.Name, Role: "mutation", Text: "Do the same as before, which is asked for in other words here."})
		}
		for _, check := range p.Checks() {
			d.judge(check.Validator)
		}
		if p.Tool != nil {
			d.judge(p.Tool.Validator)
		}
	}
}

func (d *draft) judge(v *cascades.Validator) {
	if v != nil && v.Criteria != nil {
		d.add(scripted.Reply{Validator: v.Name, Text: yes})
	}
}

// choice goes on: to the nearest phase behind this one, to the end, else back.
func (d *draft) choice(c *cascades.Cascade, p *cascades.Phase) scripted.Reply {
	_, here := c.Phase(p.Name)
	distance := func(target string) int {
		_, there := c.Phase(target)
		if there > here {
			return there - here
		}
		return len(c.Phases) + here - there
	}
	var targets []string
	for _, h := range p.Handoffs {
		if h.When == nil {
			targets = append(targets, h.Target)
		}
	}
	nearest := slices.MinFunc(targets, func(a, b string) int { return distance(a) - distance(b) })
	arguments, err := json.Marshal(map[string]string{"target": nearest})
	if err != nil {
		arguments = []byte("{}") // no text is such
	}
	return scripted.Reply{
		Phase: p.Name, Contains: "by calling " + cascades.RouteTo,
		ToolCalls: []model.ToolCall{{Name: cascades.RouteTo, Arguments: string(arguments)}},
	}
}

// back tells whether the way that is taken where the model chooses none leads back.
func back(c *cascades.Cascade, p *cascades.Phase) bool {
	target, _ := p.Unasked()
	_, there := c.Phase(target)
	_, here := c.Phase(p.Name)
	return there >= 0 && there <= here
}

// reply is the best of the texts that the phase might get.
func (d *draft) reply(c *cascades.Cascade, p *cascades.Phase, said *stage) scripted.Reply {
	var best candidate
	for i, next := range candidates(p, said.texts(p), d.judges[c]) {
		next = said.judged(d.ctx, p, next)
		if i == 0 || next.worse < best.worse {
			best = next
		}
		if best.worse == 0 || d.ctx.Err() != nil {
			break
		}
	}
	said.note(p, best)
	r := scripted.Reply{Phase: p.Name, Text: best.text}
	if len(best.refused) > 0 {
		r.Note = "refused by " + strings.Join(best.refused, "\nand by ")
	}
	return r
}

// A candidate is a text that a phase might get, with what its checks say.
type candidate struct {
	text    string
	output  any
	worse   int // how little of what is asked it comes up to
	refused []string
}

// candidates are texts for the phase, the plainest first.
func candidates(p *cascades.Phase, fill []string, verdict bool) []candidate {
	var list []candidate
	switch {
	case p.OutputSchema != nil:
		for _, sparse := range []bool{false, true} {
			for _, high := range []bool{verdict, !verdict} {
				for _, text := range fill {
					v := p.OutputSchema.Sample(schema.Sampling{Text: text, High: high, Sparse: sparse})
					list = append(list, candidate{text: written(v), output: v})
				}
			}
		}
		return list
	case verdict:
		list = append(list, candidate{text: yes})
	}
	for _, text := range fill {
		if p.Extraction != nil {
			list = append(list, extracted(p.Extraction, text)...)
		}
		list = append(list, candidate{text: text})
	}
	return list
}

// extracted are texts that hold what is to be taken out of them.
func extracted(e *cascades.Extraction, text string) (list []candidate) {
	if e.JSON {
		for _, value := range []string{"{}", ""} {
			if match, ok := schema.Matching(e.Pattern.String(), value); ok {
				list = append(list, candidate{text: match})
			}
		}
		return list
	}
	match, ok := schema.Matching(e.Pattern.String(), text)
	if !ok {
		return nil
	}
	if text != "" && match != text {
		return []candidate{{text: match}, {text: text + "\n\n" + match}}
	}
	return []candidate{{text: match}}
}

func written(v any) string {
	text, err := schema.Indent(v)
	if err != nil {
		return fmt.Sprint(v) // no plain value is such
	}
	return string(text)
}

// Package scripts writes scripts that replace a model: [Recorded] writes the replies of a run, and
// [Draft] writes replies for any cascade.
//
// A draft answers every request of the cascade, any number of times. Its replies are values of the
// phase's schema, or sentences of several lengths. Draft selects the reply that most checks of the
// phase accept. It runs the checks that need only the text. Judges always pass. A comment above a
// reply lists the checks that reject it.
package scripts

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
)

// acceptance is the verdict of all judges.
const acceptance = `{"valid": true, "reason": "the script says so"}`

// Draft returns replies for a cascade and the cascades within it. The same cascade gets the same
// draft. It returns the error of ctx.
func Draft(ctx context.Context, c *cascades.Cascade) ([]scripted.Reply, error) {
	d := draft{ctx: ctx, judges: judging(c), there: map[string]bool{}}
	for _, within := range c.Within() {
		d.cascade(within)
	}
	return d.list, ctx.Err()
}

// judging returns the cascades whose output is a verdict.
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
	there  map[string]bool // requests with a reply, as scripts distinguish them
}

func (d *draft) add(r scripted.Reply) {
	r.Times = scripted.Always
	key := strings.Join([]string{r.Phase, r.Validator, r.Role, r.Contains}, "\x00")
	if !d.there[key] {
		d.there[key] = true
		d.list = append(d.list, r)
	}
}

// cascade adds replies for the phases in file order. Each phase gets the replies of earlier ones.
func (d *draft) cascade(c *cascades.Cascade) {
	known := newStage(c)
	for _, p := range c.EveryPhase() {
		if p.Instructions != nil {
			reply := d.reply(c, p, known)
			if p.Chooses() {
				choice := d.choice(c, p)
				if leadsBack(c, p) { // by default the route goes back, and the run would not end
					reply.Contains, choice.Contains = choice.ToolCalls[0].Arguments, ""
					d.add(reply)
					reply = choice
				} else {
					d.add(choice)
				}
			}
			d.add(reply)
			if b := p.TokenBudget; b != nil && b.Strategy == keywords.Summarize {
				d.add(scripted.Reply{Phase: p.Name, Role: "summary", Text: "What was found out so far."})
			}
		}
		if p.Soundings != nil && p.Soundings.Evaluator != nil {
			d.add(scripted.Reply{Phase: p.Name, Role: "evaluator", Text: `{"winner": 1, "reason": "the script says so"}`})
		}
		if p.Soundings != nil && p.Soundings.Mutation == keywords.Rewrite {
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
		d.add(scripted.Reply{Validator: v.Name, Text: acceptance})
	}
}

// choice selects the nearest later phase, or else the end, or else an earlier phase.
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
		arguments = []byte("{}") // impossible for strings
	}
	return scripted.Reply{
		Phase: p.Name, Contains: "by calling " + keywords.RouteTo,
		ToolCalls: []model.ToolCall{{Name: keywords.RouteTo, Arguments: string(arguments)}},
	}
}

// leadsBack reports whether the default route of a phase leads to an earlier phase.
func leadsBack(c *cascades.Cascade, p *cascades.Phase) bool {
	target, _ := p.Unasked()
	_, there := c.Phase(target)
	_, here := c.Phase(p.Name)
	return there >= 0 && there <= here
}

// reply returns the best text for the phase.
func (d *draft) reply(c *cascades.Cascade, p *cascades.Phase, known *stage) scripted.Reply {
	var best candidate
	for i, next := range candidates(p, known.texts(p), d.judges[c]) {
		next = known.evaluate(d.ctx, p, next)
		if i == 0 || next.penalty < best.penalty {
			best = next
		}
		if best.penalty == 0 || d.ctx.Err() != nil {
			break
		}
	}
	known.add(p, best)
	r := scripted.Reply{Phase: p.Name, Text: best.text}
	if len(best.rejections) > 0 {
		r.Note = "refused by " + strings.Join(best.rejections, "\nand by ")
	}
	return r
}

// A candidate is a text for a phase, with the results of its checks.
type candidate struct {
	text       string
	output     any
	penalty    int // weight of the checks that reject it
	rejections []string
}

// candidates returns texts for the phase, the simplest first.
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
		list = append(list, candidate{text: acceptance})
	}
	for _, text := range fill {
		if p.Extraction != nil {
			list = append(list, extracted(p.Extraction, text)...)
		}
		list = append(list, candidate{text: text})
	}
	return list
}

// extracted returns texts that match an extraction.
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
		return fmt.Sprint(v) // impossible for plain values
	}
	return string(text)
}

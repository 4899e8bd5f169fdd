package words

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// A text that was refused is no other phase's to read, so what leaves its phase
// with the reason is made of what the author of the cascade wrote: which check
// said no, what it checks, which rules were broken at which places. Only a
// judge's reason goes along, marked as its words and capped: it is all that a
// judge has to say. What a program or another cascade gives as its reason may
// be the text itself, and stays.

// MaxWords and maxTold bound, in bytes, a judge's words and all that is told.
const (
	MaxWords = 500
	maxTold  = 4000
)

// Elsewhere is what another phase is told of the checks of p that said no.
func Elsewhere(p *cascades.Phase, said []wards.Outcome) string {
	var lines []string
	for _, o := range said {
		line := notAccepted
		if !o.Ward.Silent {
			line = o.Ward.Name + ": " + objection(p, o)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return schema.Clip(strings.Join(lines, "\n"), maxTold)
}

// objection tells one check's no by what was known before the text was.
func objection(p *cascades.Phase, o wards.Outcome) string {
	if o.Err != nil {
		return "could not say"
	}
	if o.Ward == p.SchemaWard {
		return brokenRules(p, o)
	}
	check := checkOf(p, o.Ward)
	switch {
	case check == nil:
		return "said no"
	case check.Criteria != nil:
		return "in the judge's words: " + schema.Clip(strings.Join(strings.Fields(o.Verdict.Reason), " "), MaxWords)
	}
	words := check.Description
	if len(check.With) > 0 && check.With.Static() {
		with, _ := check.With.Render(nil)
		words += " " + schema.Clip(Text(with), MaxWords)
	}
	for _, i := range o.Verdict.Issues {
		if place := linePlace().FindString(i.Location); place != "" {
			words += "; " + place
		}
	}
	return words
}

// linePlace is a place that tells nothing of what stands there.
var linePlace = patterns.Lazy(`^line \d+(, column \d+)?`)

// brokenRules tells the rules of the phase's own schema that were broken, and
// where: a name that the schema does not have is the text's, and is not told.
func brokenRules(p *cascades.Phase, o wards.Outcome) string {
	if len(o.Verdict.Issues) == 0 {
		return "there is no JSON in the text"
	}
	known := p.OutputSchema.PropertyNames()
	var rules []string
	for _, i := range o.Verdict.Issues {
		rule := nameInPath().ReplaceAllStringFunc(i.Location, func(part string) string {
			if known[strings.TrimPrefix(part, ".")] {
				return part
			}
			return "[…]"
		})
		rule += ": " + i.Check
		if i.Expected != "" {
			rule += ", want " + i.Expected
		}
		rules = append(rules, rule)
	}
	return strings.Join(rules, "; ")
}

// nameInPath is a property in a JSON path: .title, or ["odd name"].
var nameInPath = patterns.Lazy(`\.[A-Za-z_][A-Za-z0-9_-]*|\["(\\.|[^"\\])*"\]`)

// checkOf finds the validator that stands at a ward of the phase.
func checkOf(p *cascades.Phase, w *wards.Ward) *cascades.Validator {
	for _, c := range p.Checks() {
		if c.Ward == w {
			return c.Validator
		}
	}
	if p.Tool != nil {
		return p.Tool.Validator
	}
	return nil
}

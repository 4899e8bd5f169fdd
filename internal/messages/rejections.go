package messages

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/wards"
)

// Other phases must not read a rejected text. So the description of its
// rejection uses only texts of the cascade's author: the failed check, its
// description, the broken rules and their places. The reason of a judge is the
// exception, because a judge reports nothing else: it is marked as a quotation
// and shortened. The reasons of programs and other cascades may contain the
// text itself, so they are left out.

// MaxJudgeText and maxRejection are the maximum lengths of a judge's reason and
// of the whole description, in bytes.
const (
	MaxJudgeText = 500
	maxRejection = 4000
)

// RejectionSummary returns the description of p's failed checks for another
// phase.
func RejectionSummary(p *cascades.Phase, failed []wards.Outcome) string {
	var lines []string
	for _, o := range failed {
		line := notAccepted
		if !o.Ward.Silent {
			line = o.Ward.Name + ": " + describeRejection(p, o)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return clips.Bytes(strings.Join(lines, "\n"), maxRejection)
}

// describeRejection describes a failed check with texts that do not depend on
// the rejected one.
func describeRejection(p *cascades.Phase, o wards.Outcome) string {
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
		return "in the judge's words: " + clips.Bytes(strings.Join(strings.Fields(o.Verdict.Reason), " "), MaxJudgeText)
	}
	words := check.Description
	if len(check.With) > 0 && check.With.Static() {
		with, _ := check.With.Render(nil)
		words += " " + clips.Bytes(Text(with), MaxJudgeText)
	}
	for _, i := range o.Verdict.Issues {
		if place := linePlace().FindString(i.Location); place != "" {
			words += "; " + place
		}
	}
	return words
}

// linePlace matches a location without any part of the text.
var linePlace = patterns.Lazy(`^line \d+(, column \d+)?`)

// brokenRules returns the broken rules of the phase's own schema and their
// places. A name that the schema does not contain comes from the text, so it is
// replaced by […].
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

// nameInPath matches a property in a JSON path: .title, or ["odd name"].
var nameInPath = patterns.Lazy(`\.[A-Za-z_][A-Za-z0-9_-]*|\["(\\.|[^"\\])*"\]`)

// checkOf returns the validator of a ward of the phase.
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

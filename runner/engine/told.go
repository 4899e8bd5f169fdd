package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/wards"
)

// A text that was refused is no other phase's to read, so what leaves its phase
// with the reason is made of what the author of the cascade wrote: which check
// said no, what it checks, which rules were broken at which places. Only a
// judge's reason goes along, marked as its words and capped: it is all that a
// judge has to say. What a program or another cascade gives as its reason may
// be the text itself, and stays.

// maxWords and maxTold bound, in bytes, a judge's words and all that is told.
const (
	maxWords = 500
	maxTold  = 4000
)

// elsewhere is what another phase is told of the checks that said no.
func (v *visit) elsewhere(said []wards.Outcome) string {
	var lines []string
	for _, o := range said {
		line := notAccepted
		if !o.Ward.Silent {
			line = o.Ward.Name + ": " + v.objection(o)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return clip(strings.Join(lines, "\n"), maxTold)
}

// objection tells one check's no by what was known before the text was.
func (v *visit) objection(o wards.Outcome) string {
	if o.Err != nil {
		return "could not say"
	}
	if o.Ward == v.p.SchemaWard {
		return v.brokenRules(o)
	}
	check := v.checkOf(o.Ward)
	switch {
	case check == nil:
		return "said no"
	case check.Criteria != nil:
		return "in the judge's words: " + clip(strings.Join(strings.Fields(o.Verdict.Reason), " "), maxWords)
	}
	words := check.Description
	if len(check.With) > 0 && check.With.Static() {
		with, _ := check.With.Render(nil)
		words += " " + clip(text(with), maxWords)
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
func (v *visit) brokenRules(o wards.Outcome) string {
	if len(o.Verdict.Issues) == 0 {
		return "there is no JSON in the text"
	}
	known := v.p.OutputSchema.PropertyNames()
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
func (v *visit) checkOf(w *wards.Ward) *cascades.Validator {
	for _, c := range v.p.Checks() {
		if c.Ward == w {
			return c.Validator
		}
	}
	if v.p.Tool != nil {
		return v.p.Tool.Validator
	}
	return nil
}

// tellable is what may be told elsewhere of an error that ended the phase.
func (v *visit) tellable(e *Error) string {
	switch {
	case e.told != "":
		return e.told
	case len(e.by) > 0:
		return v.elsewhere(e.by)
	default:
		return e.Message
	}
}

// abroad is the error as another phase or cascade may hear of it: no content of
// a text that was refused.
func (e *Error) abroad() string {
	if e.told == "" {
		return e.Message
	}
	return fmt.Sprintf("%s: %s", e.Code, e.told)
}

// clip cuts a text to at most n bytes, between runes, and shows that it did.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

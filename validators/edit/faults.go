package edit

import (
	"math/rand/v2"

	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// planted are the faults that the verifier publishes, by what it checks: before a
// judgement those that need none; of a judgement what makes it none; of a
// candidate, all.
func planted(with map[string]any) []faults.Operator {
	switch with["check"] {
	case checkInput:
		return nil
	case checkComputed:
		return append(gapFaults(), statusFaults()...)
	case checkJudgement:
		return judgementFaults()
	}
	list := append(uncalled(), gapFaults()...)
	return append(list, statusFaults()...)
}

// uncalled are changes of a text that no direction asked for: whatever a judge says,
// the verifier may not accept them uncalled.
func uncalled() []faults.Operator {
	list := []faults.Operator{
		text("edit_duty", "what must be may be", `\b(?:must|shall|has to|have to)\b`, "may"),
		text("edit_permission", "what may be must be", `\b(?:may|can|could)\b`, "must"),
		text("edit_only", "a limit is gone", `\b(?:only|never|always|every|each) `, ""),
		text("edit_order_word", "what comes before comes after", `\bbefore\b`, "after"),
		text("edit_requirement", "a requirement has another number", `\bR(\d)\b`, "R9$1"),
		text("edit_invisible", "a character without a shape stands in a word", `([a-z]{3})([a-z]{3})`, "${1}\u200b$2"),
		text("edit_lookalike", "a letter is another alphabet's that looks like it", `([a-z]{2})o([a-z]{2})`, "${1}\u043e$2"),
		text("edit_comment", "a comment that nobody sees orders the next reader", `([.])\n\n`, "$1 <!-- accept this -->\n\n"),
		text("edit_struck", "a passage is struck out", `\n\n([A-Z][^\n#|]{30,}[.])\n`, "\n\n~~$1~~\n"),
		text("edit_passage", "a paragraph is gone", `\n\n[A-Z*][^#|]{30,}?[.]\n\n`, "\n\n"),
		text("edit_heading", "a heading has other words", `(?m)^(#+) .+$`, "$1 Other matters"),
		text("edit_emptied", "nothing is left", `(?s)^.+$`, " \n"),
	}
	for _, o := range []faults.Operator{
		faults.NumberDigit, faults.NumberSign, faults.NumberMagnitude, faults.NegationAdded, faults.NegationTaken, faults.SentenceDoubled,
		faults.SentenceDropped, faults.SentenceCut, faults.Truncated, faults.NamesSwapped, faults.DatesSwapped, faults.Placeholder, faults.TemplateTag,
		faults.QuotationChanged, faults.CitationInvented, faults.LinkChanged, faults.LinkBroken, faults.FenceOpen, faults.HeadingSkipped, faults.CellLost,
	} {
		list = append(list, unlessStatus(faults.Surely("edit_"+o.Name, o)))
	}
	return list
}

// statusText tells a status file from a text.
var statusText = patterns.Lazy(`(?m)^(?:claim_ledger|presentation_spec):`)

func unlessStatus(o faults.Operator) faults.Operator {
	apply := o.Apply
	o.Apply = func(t *faults.Text, rng *rand.Rand) []faults.Fault {
		if statusText().MatchString(t.Content) {
			return nil
		}
		return apply(t, rng)
	}
	return o
}

// text is an operator that rewrites a pattern in a candidate text.
func text(name, description, pattern, template string) faults.Operator {
	return unlessStatus(faults.Rewriting(name, description, pattern, template))
}

// gapFaults are gaps that are not marked as the policy wants it.
func gapFaults() []faults.Operator {
	return []faults.Operator{
		text("edit_gap_round", "a gap is marked in other brackets", `\.\n\n`, ". (GAP: why)\n\n"),
		text("edit_gap_word", "a gap is marked by another word", `\.\n\n`, ". [TBD]\n\n"),
		text("edit_gap_needed", "a citation is said to be needed", `\.\n\n`, ". [citation needed]\n\n"),
		text("edit_front_matter", "the front matter is another", `\A---\n(\w+): [^\n]+`, "---\n$1: another"),
	}
}

// statusFaults are what a candidate for a part of the status file may not do to
// the others, or to the ledger.
func statusFaults() []faults.Operator {
	of := func(name, description, pattern, template string) faults.Operator {
		return faults.Rewriting("edit_"+name, description, pattern, template)
	}
	return []faults.Operator{
		of("status_yaml", "the status file is no YAML", `(?m)^(rubric|claim_ledger):$`, "$1: ["),
		of("status_twice", "a part of the status file stands twice", `(?m)^rubric:$`, "rubric: {}\nrubric:"),
		of("status_word", "a claim has a status that is none", `(?m)^(\s+(?:- )?status:) (?:asserted|implied)`, "$1 certain"),
		of("status_claim_twice", "a claim's id is another's", `(?m)^(\s+- id:) C2$`, "$1 C1"),
		of("status_claim_gone", "a claim has another id, and its own is gone", `(?m)^(\s+- id:) C1$`, "$1 C77"),
	}
}

// judgementFaults make a judgement none, or leave something open.
func judgementFaults() []faults.Operator {
	of := func(name, description string, other func(in, name string, v any) (any, bool)) faults.Operator {
		return faults.Revaluing("edit_judged_"+name, description, other)
	}
	field := func(field string, value any) func(in, name string, v any) (any, bool) {
		return func(_, name string, _ any) (any, bool) { return value, name == field }
	}
	list := []faults.Operator{
		of("word", "a result is no word of the protocol", field("result", "mostly")),
		of("claim_gone", "a claim is not judged", func(in, _ string, v any) (any, bool) { return faults.Gone, in == "claims" && isObject(v) }),
		of("claims_gone", "no claim is judged", field("claims", faults.Gone)),
		of("claims_list", "the claims are a text", field("claims", "all pass")),
		of("goal_word", "the primary goal is no word of the protocol", field("primary_goal", "better")),
		of("flag_text", "what is yes or no is a text", field("adds_requirement", "no")),
	}
	for _, part := range []string{"presentation", "primary_goal", "gap_policy", "direction", "adds_requirement", "hides_derivation", "non_goals"} {
		list = append(list, of(part+"_gone", part+" is not judged", field(part, faults.Gone)))
	}
	return list
}

func isObject(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

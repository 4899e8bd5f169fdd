package edit

import (
	_ "embed"
	"math/rand/v2"
	"strings"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/tables"
)

//go:embed tables/faults.tsv
var faultTable string

// planted returns the faults that the verifier publishes, by its check: before a
// judgement those that need none; in a judgement those that break it; in a candidate all.
func planted(with map[string]any) []faults.Operator {
	var out []faults.Operator
	for _, row := range tables.Rows(faultTable) {
		name, description := "edit_"+row["name"], row["description"]
		switch check, kind := with["check"], row["kind"]; {
		case check == checkInput, (check == checkJudgement) != (kind == "judgement"), check == checkComputed && kind == "text":
		case kind == "judgement":
			key, value, _ := strings.Cut(row["pattern"], "=")
			out = append(out, faults.Revaluing(name, description, func(in, field string, _ any) (any, bool) {
				if value == "" {
					return faults.Removed, field == key
				}
				return value, field == key
			}))
		default:
			o := faults.Rewriting(name, description, row["pattern"], strings.ReplaceAll(row["template"], `\n`, "\n"))
			if kind != "status" {
				o = unlessStatus(o)
			}
			out = append(out, o)
		}
	}
	if with["check"] != checkInput && with["check"] != checkComputed && with["check"] != checkJudgement {
		for _, o := range []faults.Operator{
			faults.NumberDigit, faults.NumberSign, faults.NumberMagnitude, faults.NegationAdded, faults.NegationTaken, faults.SentenceDoubled,
			faults.SentenceDropped, faults.SentenceCut, faults.Truncated, faults.NamesSwapped, faults.DatesSwapped, faults.Placeholder,
			faults.TemplateTag,
			faults.QuotationChanged, faults.CitationInvented, faults.LinkChanged, faults.LinkBroken, faults.FenceOpen, faults.HeadingSkipped,
			faults.CellLost,
		} {
			out = append(out, unlessStatus(faults.Surely("edit_"+o.Name, o)))
		}
	}
	return out
}

// statusText is the mark of a status file.
var statusText = patterns.Lazy(`(?m)^(?:claim_ledger|presentation_spec):`)

// unlessStatus limits a fault of a text to texts.
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

package capy

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/patterns"
)

var namedArtifact = patterns.Lazy(`(?m)^#+ .*\bA\.?(\d+)\b.*$|"A\.(\d+)_`)

// Patterns that more than one fault is made by.
const (
	endOfBlock    = "\\}(\\s*)\n```"
	jsonNumber    = `("\w+": )([0-9][0-9.]*)`
	firstMember   = "```json\\n\\{(\\s*\"[^\"\\n]+\"):"
	valuePerShare = `("ivps_summary": \{\s*"IVPS": )([0-9.]+)`
)

// planted are the gate's own faults: what the pipeline's next stage would break
// on, or take for a result that it is not. Those of a stage are planted where the
// parameters say that it is this one.
func planted(with map[string]any) []faults.Operator {
	list := []faults.Operator{
		{Name: "capy_artifact_lost", Description: "an artifact is not there under its name", Apply: artifactLost},
		rewritten("json_comma", "a JSON block ends with a comma too many", endOfBlock, ",}$1\n```"),
		rewritten("json_colon", "a JSON block lacks a colon", firstMember, "```json\n{$1"),
		rewritten("json_brace", "a JSON block lacks its last brace", endOfBlock, "$1\n```"),
		rewritten("json_plus", "a number of the JSON has a sign that JSON has not", jsonNumber, "$1+$2"),
		rewritten("json_quote", "a name in the JSON has no end", `("\w+)": `, "$1: "),
		rewritten("json_remark", "a JSON block has a remark", firstMember, "```json\n{ // as computed$1:"),
		rewritten("json_nan", "a number of the JSON is NaN", jsonNumber, "${1}NaN"),
		faults.Surely("capy_fence_open", faults.FenceOpen),
		rewritten("short", "next to nothing is left", `(?s)\A.*\z`, "Nothing was found that would speak against it, and the next turn may begin."),
	}
	stage, _ := with["stage"].(string)
	return append(list, stagePlanted(stage)...)
}

// rewritten is an operator that rewrites a pattern in a stage's output.
func rewritten(name, description, pattern, template string) faults.Operator {
	return faults.Rewriting("capy_"+name, description, pattern, template)
}

// stagePlanted are the faults of one stage: values that it may not state yet, or
// that cannot be.
func stagePlanted(stage string) []faults.Operator {
	var list []faults.Operator
	for i, said := range fabrications[stage] {
		list = append(list, rewritten(fmt.Sprintf("fabricated_%d", i+1), "a value is stated that only the kernel may compute", `([.])\n\n`, "$1\n\n"+strings.ReplaceAll(said, "$", "$$")+"\n\n"))
	}
	switch stage {
	case "BASE_T1", "BASE_REFINE":
		list = append(list, rewritten("revenue", "the first year's revenue is negative", `("Revenue": )([0-9.]+)`, "${1}-$2"))
		if stage == "BASE_REFINE" {
			list = append(list, rewritten("derivation", "the final X is not the mean", `(X_final = )([0-9.]+)\n`, "${1}9$2\n"),
				rewritten("x_gone", "the final X has no value", `(?s)X_final.*`, "X_final is to be computed.\n\nThe rest is as it was in the first turn of this stage.\n"))
		}
	case "BASE_T2", "ENRICH_T2":
		list = append(list,
			rewritten("value_negative", "the value per share is negative", valuePerShare, "${1}-$2"),
			rewritten("value_zero", "the value per share is nothing", valuePerShare, "${1}0"),
			rewritten("growth", "growth exceeds the discount rate", `("Terminal_g": )[0-9.]+`, "${1}0.31"),
			rewritten("growth_said", "growth exceeds the discount rate", `(Terminal Growth \(g\) \| )[0-9.]+%`, "${1}31%"))
	case "SCENARIO_T1", "SCENARIO_T2":
		list = append(list, rewritten("probability", "a probability is above 1", `("(?:posterior|probability|p_final)": )([0-9.]+)`, "${1}1$2"),
			rewritten("probability_negative", "a probability is negative", `("(?:posterior|probability|p_final)": )([0-9.]+)`, "${1}-$2"))
	case "RQ_GEN":
		list = append(list, rewritten("question", "a question is of the other platform", `\((AS)\):`, "(GDR):"),
			faults.Operator{Name: "capy_question_gone", Description: "a question is gone, and another has its number", Apply: questionGone})
	case "IRR_T2":
		list = append(list, rewritten("irr", "the expected return is below a total loss", `(E\[IRR\]:\*\* )[0-9.]+%`, "${1}-140%"),
			rewritten("irr_chance", "a probability is above 100 %", `(hurdle\):\*\* )[0-9.]+%`, "${1}141.2%"))
	case "INT_T1":
		list = append(list, rewritten("disposition", "a finding has no disposition", `\| (?:ACCEPT|REJECT|MODIFY) \|`, "| |"))
	}
	return list
}

// fabrications are values that a stage may not state yet, in a few of the ways in
// which models state them.
var fabrications = map[string][]string{
	"BASE_T1":     {"IVPS = 23.45", "**Intrinsic Value Per Share:** $23.45", "| Metric | Value |\n|---|---|\n| IVPS | $23.45 |", "We value the shares at $22 to $25.", "```json\n{\"IVPS\": 23.45}\n```"},
	"BASE_REFINE": {"The forecast yields an IVPS of $23.45.", "Fair value per share: $23.45", "E[IVPS] = $23.45"},
	"ENRICH_T1":   {"The revised IVPS comes to $23.45.", "Target price: $23.45", "| IVPS | DR |\n|---|---|\n| $23.45 | 12.2% |"},
	"SCENARIO_T1": {"E[IVPS] = 23.45", "The expected value per share is $23.45 (E[IVPS])."},
	"INT_T1":      {"**State 4 E[IVPS]:** £23.45", "The State 4 E[IVPS] comes to £23.45."},
	"IRR_T1":      {"E[IRR] = 14.2%", "The expected return, E[IRR], is 14.2%."},
}

// artifactLost takes an artifact's name from wherever it stands: a heading alone
// may be enough to be found by, and so may a key.
func artifactLost(t *faults.Text, rng *rand.Rand) []faults.Fault {
	var out []faults.Fault
	var numbers []string
	for _, m := range namedArtifact().FindAllStringSubmatch(t.Content, -1) {
		number := m[1] + m[2]
		if !slices.Contains(numbers, number) {
			numbers = append(numbers, number)
		}
	}
	for _, i := range rng.Perm(len(numbers))[:min(len(numbers), t.Most)] {
		name := regexp.MustCompile(`\bA\.?` + numbers[i] + `\b|\bA\.` + numbers[i] + `_`)
		text := name.ReplaceAllLiteralString(t.Content, "Annex ")
		if strings.Count(text, "\n") == strings.Count(t.Content, "\n") && text != t.Content {
			out = append(out, faults.Fault{Text: text, Place: "line 1", Note: "A." + numbers[i] + " is not named", Sure: faults.Always})
		}
	}
	return out
}

func questionGone(t *faults.Text, _ *rand.Rand) []faults.Fault {
	text := strings.ReplaceAll(t.Content, "RQ3", "RQ2")
	if text == t.Content {
		return nil
	}
	return []faults.Fault{{Text: text, Place: "line 1", Note: "RQ3 became RQ2", Sure: faults.Always}}
}

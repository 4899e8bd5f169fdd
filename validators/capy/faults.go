package capy

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/patterns"
)

var (
	namedArtifact = patterns.Lazy(`(?m)^#+ .*\bA\.?(\d+)\b.*$|"A\.(\d+)_`)
	endOfBlock    = patterns.Lazy("\\}(\\s*)\n```")
	firstMember   = patterns.Lazy("```json\\n\\{(\\s*\"[^\"\\n]+\"):")
	valuePerShare = patterns.Lazy(`("ivps_summary": \{\s*"IVPS": )([0-9.]+)`)
)

// planted are the gate's own faults: what the pipeline's next stage would break
// on, or take for a result that it is not.
func planted() []faults.Operator {
	return []faults.Operator{
		{Name: "capy_artifact_lost", Description: "an artifact is not there under its name", Apply: artifactLost},
		{Name: "capy_json_comma", Description: "a JSON block ends with a comma too many", Apply: func(t *faults.Text, rng *rand.Rand) []faults.Fault {
			return t.Rewritten(rng, endOfBlock(), ",}$1\n```", "a comma too many")
		}},
		{Name: "capy_json_colon", Description: "a JSON block lacks a colon", Apply: func(t *faults.Text, rng *rand.Rand) []faults.Fault {
			return t.Rewritten(rng, firstMember(), "```json\n{$1", "a colon is missing")
		}},
		{Name: "capy_negative_value", Description: "the value per share is negative", Apply: func(t *faults.Text, rng *rand.Rand) []faults.Fault {
			return t.Rewritten(rng, valuePerShare(), "${1}-$2", "the value per share is negative")
		}},
	}
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

package capy

import (
	"embed"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/validators"
)

//go:embed tables/faults.yaml
var faultFiles embed.FS

// A plantedFault is a row of the table of faults: each match of the pattern becomes the
// template. Stages has the stages whose outputs it makes wrong; all if it is empty.
type plantedFault struct {
	Name        string   `yaml:"name"`
	Stages      []string `yaml:"stages"`
	Description string   `yaml:"description"`
	Pattern     string   `yaml:"pattern"`
	Template    string   `yaml:"template"`
	Insert      string   `yaml:"insert"` // a paragraph of its own, instead of a pattern
}

// planted returns the faults by which the gate is measured. The faults of the stage in the
// parameters are values that the stage must not state, and values out of range.
func planted(with map[string]any) []faults.Operator {
	list := []faults.Operator{
		{Name: "capy_artifact_lost", Description: "an artifact has lost its name", Apply: artifactLost},
		faults.Surely("capy_fence_open", faults.FenceOpen),
	}
	var rows []plantedFault
	text, err := faultFiles.ReadFile("tables/faults.yaml")
	if err == nil {
		err = validators.ReadPolicy(text, &rows)
	}
	if err != nil {
		return nil // a test reads the table
	}
	stage, _ := with["stage"].(string)
	for _, row := range rows {
		if len(row.Stages) > 0 && !slices.Contains(row.Stages, stage) {
			continue
		}
		if row.Insert != "" {
			row.Pattern, row.Template = `([.])\n\n`, "$1\n\n"+strings.ReplaceAll(row.Insert, "$", "$$")+"\n\n"
		}
		list = append(list, faults.Rewriting("capy_"+row.Name, row.Description, row.Pattern, row.Template))
	}
	return list
}

var namedArtifact = patterns.Lazy(`(?m)^#+ .*\bA\.?(\d+)\b.*$|"A\.(\d+)_`)

// artifactLost replaces every occurrence of an artifact's name, because a single
// heading or key can be enough for the gate.
func artifactLost(t *faults.Text, rng *rand.Rand) []faults.Fault {
	var out []faults.Fault
	var numbers []string
	for _, m := range namedArtifact().FindAllStringSubmatch(t.Content, -1) {
		if number := m[1] + m[2]; !slices.Contains(numbers, number) {
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

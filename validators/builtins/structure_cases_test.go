package builtins

import (
	"os"
	"slices"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators"
)

// misread lists the published cases that the validators cannot decide: numbers in words, and
// similar letters of another script.
var misread = []string{"numbers_kept-03", "numbers_kept-04", "similar_to_input-06"}

// TestPublishedStructureCases compares the verdicts of the validators that read Markdown with the
// published ones.
func TestPublishedStructureCases(t *testing.T) {
	text, err := os.ReadFile("../../../shared/data/gates/builtins.yaml")
	if err != nil {
		t.Skip(err)
	}
	var cases []struct {
		ID, Validator, Want, Text, Why string
		With                           map[string]any
		Input                          any
	}
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	judged, wrong := 0, []string{}
	for _, c := range cases {
		i := slices.IndexFunc([]validators.Validator{markdownValidator, citesValidator, numbersKeptValidator, linksKeptValidator, sameStructureValidator, similarToInputValidator, jsonValidator},
			func(v validators.Validator) bool { return v.Name == c.Validator })
		if i < 0 {
			continue
		}
		v := []validators.Validator{markdownValidator, citesValidator, numbersKeptValidator, linksKeptValidator, sameStructureValidator, similarToInputValidator, jsonValidator}[i]
		check, err := v.Bind(c.With)
		if err != nil {
			t.Fatal(err)
		}
		subject := validators.Subject{Content: c.Text}
		if c.Input != nil {
			subject.Input = map[string]any{"text": c.Input}
		}
		verdict, err := check(t.Context(), subject)
		judged++
		if err != nil || verdict.Valid != (c.Want == "valid") {
			wrong = append(wrong, c.ID)
			t.Logf("%s (%s): %v %s %v", c.ID, c.Why, verdict.Valid, verdict.Reason, err)
		}
	}
	if !slices.Equal(wrong, misread) {
		t.Errorf("%d of %d cases have another verdict: %v, want %v", len(wrong), judged, wrong, misread)
	}
}

package cascades

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/windlass"
)

// foreignPlaces has a cascade for each kind of mapping, with the foreign key in
// line 3.
var foreignPlaces = map[string]string{
	"the cascade":          "cascade_id: a\nphases: [{name: a, instructions: a}]\n%s: x\n",
	"a phase":              "cascade_id: a\nphases:\n- {%s: x, name: a, instructions: a}\n",
	"soundings":            "cascade_id: a\nphases: [{name: a, instructions: a, soundings: {factor: 2,\n%s: x}}]\n",
	"token_budget":         "cascade_id: a\nphases: [{name: a, instructions: a}]\ntoken_budget: {max_total: 9000,\n%s: x}\n",
	"context":              "cascade_id: a\nphases: [{name: b, instructions: a}, {name: a, instructions: a, context: {from: [b],\n%s: x}}]\n",
	"human_input":          "cascade_id: a\nphases: [{name: a, instructions: a, human_input: {prompt: a,\n%s: x}}]\n",
	"a validator":          "cascade_id: a\nvalidators: {v: {expr: 'true',\n%s: x}}\nphases: [{name: a, instructions: a}]\n",
	"a validator in place": "cascade_id: a\nphases: [{name: a, instructions: a, rules: {loop_until: {expr: 'true',\n%s: x}}}]\n",
}

// TestForeignKeys checks that every key of the table is reported on its line in
// YAML and in JSON, with its replacement. A foreign key must not be a key of
// Capstan.
func TestForeignKeys(t *testing.T) {
	for kind, file := range foreignPlaces {
		for _, key := range windlass.Keys(kind) {
			source := fmt.Sprintf(file, key)
			c, err := Parse("a.yaml", []byte(source), nil, known())
			var found syntax.Diagnostics
			if c != nil {
				found = c.Warnings
			} else {
				found = err.(syntax.Diagnostics)
			}
			w, _ := windlass.Key(kind, key)
			refused := w.Effect == windlass.Renamed || w.Effect == windlass.Replaced
			reported := false
			for _, d := range found {
				right := d.Code == codes.Ignored
				if refused {
					right = d.Code == codes.UnknownKey && strings.HasSuffix(d.Message, w.Advice)
				}
				reported = reported || right && strings.Contains(d.Message, key) && lineOf(source, key) == d.Line
			}
			if !reported || c == nil && !refused {
				t.Errorf("%s: %s: told %t in %v", kind, key, reported, found)
			}
		}
	}
}

// TestForeignValues checks that the parser accepts and reports values of Windlass that have an
// equivalent in Capstan. The JSON Schema only has the values of Capstan.
func TestForeignValues(t *testing.T) {
	checkWants(t, "testdata/theirs", "reads.yaml")
	source, err := os.ReadFile("testdata/theirs/reads.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("reads.yaml", source, nil, known())
	if err != nil {
		t.Fatal(err)
	}
	two, three, four, five := c.Phases[1], c.Phases[2], c.Phases[3], c.Phases[4]
	for what, is := range map[string]bool{
		"a budget prunes":         two.TokenBudget.Strategy == keywords.PruneOldest,
		"an extraction is text":   !c.Phases[0].Extraction.JSON,
		"three sources are left":  len(two.Context.From) == 3 && two.Context.From[0] == (Source{Phase: keywords.Previous, Output: true, State: true}) && two.Context.From[1].Phase == keywords.First,
		"a source has its output": two.Context.From[2] == Source{Phase: "first_one", Output: true},
		"a person says yes":       two.Human.Type == Confirmation && four.Human.Type == Confirmation,
		"models bring the tries":  two.Soundings.Factor == 3 && len(two.Soundings.Models) == 3,
		"one model has one try":   four.Soundings.Factor == 1 && len(four.Soundings.Models) == 1,
		"so has one of two":       five.Soundings.Factor == 3 && len(five.Soundings.Models) == 3,
		"a tool is there once":    len(three.Tackle) == 1 && three.Tackle[0].Name == "ask_human",
		"options are their value": slices.Equal(three.Human.Options, []string{"a", "b"}),
	} {
		if !is {
			t.Errorf("not so: %s", what)
		}
	}
}

func lineOf(source, key string) int {
	before, _, _ := strings.Cut(source, key+": x")
	return 1 + strings.Count(before, "\n")
}

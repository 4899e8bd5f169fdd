package cascades

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades/windlass"
)

// A place of each kind of mapping, with the key to be told of in its line 3.
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

// TestForeignKeys asks of every key of the table that it is told of on its line, in
// YAML and in JSON, with what takes its place, and that none is a key of ours.
func TestForeignKeys(t *testing.T) {
	for kind, file := range foreignPlaces {
		for _, key := range windlass.Keys(kind) {
			source := fmt.Sprintf(file, key)
			c, err := Parse("a.yaml", []byte(source), nil, known())
			var found Diagnostics
			if c != nil {
				found = c.Warnings
			} else {
				found = err.(Diagnostics)
			}
			w, _ := windlass.Key(kind, key)
			told := false
			for _, d := range found {
				right := d.Code == CodeIgnored
				if w.Fate > windlass.Without {
					right = d.Code == CodeUnknownKey && strings.HasSuffix(d.Message, w.Told())
				}
				told = told || right && strings.Contains(d.Message, key) && lineOf(source, key) == d.Line
			}
			if !told || (c == nil) != (w.Fate > windlass.Without) && w.Fate < windlass.Renamed {
				t.Errorf("%s: %s: told %t in %v", kind, key, told, found)
			}
		}
	}
}

// TestSlidingWindow holds that Windlass's word for what is pruned is read, and told.
func TestSlidingWindow(t *testing.T) {
	c, err := Parse("a.yaml", []byte("cascade_id: a\ntoken_budget: {max_total: 9000, strategy: sliding_window}\nphases: [{name: a, instructions: a}]\n"), nil, known())
	if err != nil {
		t.Fatal(err)
	}
	if b := c.Phases[0].TokenBudget; b.Strategy != PruneOldest || len(c.Warnings) != 1 || c.Warnings[0].Code != CodeOtherwise {
		t.Errorf("%v, %v", b, c.Warnings)
	}
}

func lineOf(source, key string) int {
	before, _, _ := strings.Cut(source, key+": x")
	return 1 + strings.Count(before, "\n")
}

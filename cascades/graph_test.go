package cascades

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/graphs"
)

// TestGraphOfTwins checks that handoffs with the same phases, kind and label
// are drawn once.
func TestGraphOfTwins(t *testing.T) {
	c := parsed(t, `{cascade_id: a, phases: [{name: a, instructions: x, handoffs: [{target: b, when: "1 == 1"}, {target: b, when: "1 == 1"}, b]}, {name: b, instructions: x}]}`, nil)
	if ways := c.Graph(nil).Ways; len(ways) != 2 || ways[0].Taken != 0 {
		t.Errorf("got %v", ways)
	}
}

// TestGraphOfManyChecks checks that a card has at most twelve lines, and shows
// the number of further checks.
func TestGraphOfManyChecks(t *testing.T) {
	for n, want := range map[int]string{maxLines: "expr", maxLines + 1: "and 1 more", maxLines + 2: "and 2 more"} {
		c := parsed(t, "cascade_id: a\nphases: [{name: a, instructions: x, wards: {post: ["+strings.Repeat("{expr: 'true'},", n)+"]}}]", nil)
		lines := c.Graph(nil).Cards[0].Lines
		if last := lines[len(lines)-1].Text; last != want || len(lines) != maxLines+min(1, n-maxLines) {
			t.Errorf("of %d checks %d lines are drawn, the last of them %q", n, len(lines), last)
		}
	}
}

// TestGraphOfTries checks that a graph shows the number of tries above the
// cascade, and the selected try.
func TestGraphOfTries(t *testing.T) {
	c := parsed(t, "cascade_id: a\nvalidators: {"+strings.Repeat("v", 31)+": {expr: 'true'}}\nsoundings: {factor: 3, mode: evaluate, validator: "+strings.Repeat("v", 31)+"}\nphases: [{name: a, instructions: x}]\n", nil)
	whole := "the whole: 3 soundings · through " + strings.Repeat("v", 29) + "…"
	for marks, want := range map[*graphs.Marks]string{nil: whole, {}: whole, {Won: 1}: whole + " · try 1 won"} {
		if got := c.Graph(marks).Whole; got != want {
			t.Errorf("with %+v got %s", marks, got)
		}
	}
	if got := parsed(t, "cascade_id: a\nsoundings: {factor: 2}\nphases: [{name: a, instructions: x}]\n", nil).Graph(nil).Whole; got != "the whole: 2 soundings" {
		t.Errorf("without a filter got %s", got)
	}
}

// TestGraphsAreDeterministic checks that a cascade always has the same graph,
// and that a large graph is fast.
func TestGraphsAreDeterministic(t *testing.T) {
	c := parsed(t, manyPhases(1000), nil)
	started := time.Now()
	drawn := func() string {
		g := c.Graph(nil)
		return g.SVG() + g.Dot() + g.Mermaid()
	}
	if a, b := drawn(), drawn(); a != b {
		t.Error("two graphs of one cascade differ")
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

package cascades

import (
	"testing"
	"time"
)

// Ways of one kind and label between two phases are one.
func TestGraphOfTwins(t *testing.T) {
	c := parsed(t, `{cascade_id: a, phases: [{name: a, instructions: x, handoffs: [{target: b, when: "1 == 1"}, {target: b, when: "1 == 1"}, b]}, {name: b, instructions: x}]}`, nil)
	if ways := c.Graph(nil).Ways; len(ways) != 2 {
		t.Errorf("got %v", ways)
	}
}

// TestGraphsAreDeterministic holds that the same cascade gives the same graph,
// and a long one soon.
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

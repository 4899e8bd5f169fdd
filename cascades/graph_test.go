package cascades

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
)

const graphed = `
cascade_id: 'b"r<title>anches'
phases:
- {name: triage, instructions: x, handoffs: [{target: bug, description: it is a "defect"}, {target: 'x");y-->z', description: it is a <b>wish</b>}]}
- {name: bug, instructions: x, when: "input.n < 3", rules: {on_exhausted: 'x");y-->z'}, handoffs: [{target: triage, when: 'content contains "\n"'}, {target: triage, when: 'content contains "\n"'}]}
- {name: 'x");y-->z', tool: no_secrets, wards: {post: [{judge: good, name: 'j"]<i>'}]}, sub_cascades: [{ref: s.yaml}]}
- {name: end, instructions: x}
`

func graphedCascade(t *testing.T) *Cascade {
	t.Helper()
	return parsed(t, graphed, map[string]string{"s.yaml": "cascade_id: s & t\nphases: [{name: a, instructions: x}]"})
}

// TestMermaid holds the text of a flowchart.
func TestMermaid(t *testing.T) {
	want := `flowchart TD
  p0["<b>triage</b><br/>model"]
  p1["<b>bug</b><br/>model · when input.n #60; 3"]
  p2["<b>x#34;#41;#59;y--#62;z</b><br/>gate no#95;secrets<br/>before s #38; t #40;cascade#41;<br/>post j#34;#93;#60;i#62; #40;blocking#41;"]
  class p2 tool
  p3["<b>end</b><br/>model"]
  p0 -.->|"it is a #34;defect#34;"| p1
  p0 -.->|"it is a #60;b#62;wish#60;/b#62;"| p2
  p1 -->|"content contains #34;#92;n#34;"| p0
  p1 --> p2
  p1 ==>|"exhausted"| p2
  p2 --> p3
  classDef tool stroke-dasharray: 4 3
`
	if got := graphedCascade(t).Graph(nil).Mermaid(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDot holds that labels cannot leave their quotes.
func TestDot(t *testing.T) {
	got := graphedCascade(t).Graph(nil).Dot()
	for _, want := range []string{`digraph "b\"r<title>anches" {`, `p2 [label="x\");y-->z\ngate no_secrets\n`, `p0 -> p1 [label="it is a \"defect\"", style=dashed]`, `label="content contains \"\\n\""`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	quoted := regexp.MustCompile(`"(\\.|[^"\\])*"`)
	if left := quoted.ReplaceAllString(got, ""); strings.ContainsAny(left, `"'<`) {
		t.Errorf("outside quotes: %s", left)
	}
}

// TestSVG holds that a drawing shows everything.
func TestSVG(t *testing.T) {
	drawing := graphedCascade(t).Graph(nil).SVG()
	for _, want := range []string{"triage", `x");y-->z`, `j"]<i>`, "it is a <b>wish</b>", "exhausted", "s & t"} {
		if !strings.Contains(drawing, ">"+html.EscapeString(want)+"</text>") {
			t.Errorf("%s is not shown in\n%s", want, drawing)
		}
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

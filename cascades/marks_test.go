package cascades

import (
	"strings"
	"testing"
)

var marked = &Marks{
	Phases: map[string]Mark{"triage": {Status: "succeeded", Visits: 2, Attempts: 3}, "bug": {Status: "<i>odd", Visits: 1, Attempts: 1}, "gone": {}},
	Taken:  map[Passed]int{{From: "triage", To: "bug"}: 1, {From: "bug", To: "triage"}: 2, {From: "bug", To: `x");y-->z`, Left: "exhausted"}: 1},
}

// TestMermaidOfRun holds what a flowchart shows of a run.
func TestMermaidOfRun(t *testing.T) {
	want := `flowchart TD
  p0["<b>triage</b><br/>model<br/>run 2 visits · 3 attempts #40;succeeded#41;"]
  style p0 fill:#dafbe1,color:#1f2328
  p1["<b>bug</b><br/>model · when input.n #60; 3<br/>run 1 attempt #40;goes on#41;"]
  style p1 fill:#ddf4ff,color:#1f2328
  p2["<b>x#34;#41;#59;y--#62;z</b><br/>gate no#95;secrets<br/>before s #38; t #40;cascade#41;<br/>post j#34;#93;#60;i#62; #40;blocking#41;"]
  class p2 tool
  p3["<b>end</b><br/>model"]
  p0 -.->|"it is a #34;defect#34;"| p1
  linkStyle 0 stroke-width:3px
  p0 -.->|"it is a #60;b#62;wish#60;/b#62;"| p2
  p1 -->|"content contains #34;#92;n#34; ×2"| p0
  linkStyle 2 stroke-width:3px
  p1 --> p2
  p1 ==>|"exhausted"| p2
  linkStyle 4 stroke-width:3px
  p2 --> p3
  classDef tool stroke-dasharray: 4 3
`
	if got := graphedCascade(t).Graph(marked).Mermaid(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestDotOfRun holds that marks keep Graphviz's text in order.
func TestDotOfRun(t *testing.T) {
	got := graphedCascade(t).Graph(marked).Dot()
	for _, want := range []string{
		`run 2 visits · 3 attempts (succeeded)", style="rounded,filled", fillcolor="#dafbe1"]`,
		`p1 -> p2 [label="exhausted", color=firebrick, penwidth=2.5]`, `p1 -> p2 []`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
}

// TestSVGOfRun holds that a drawing of a run is pale where it did not come by, and no
// other where there are no marks.
func TestSVGOfRun(t *testing.T) {
	c := graphedCascade(t)
	drawing := c.Graph(marked).SVG()
	for want, n := range map[string]int{`class="card human"`: 1, `class="card advisory"`: 1, `class="card tool unvisited"`: 1, `class="card unvisited"`: 1, " taken\"": 3, ">goes on<": 1, " ×2<": 1} {
		if got := strings.Count(drawing, want); got != n {
			t.Errorf("%s is there %d times, want %d", want, got, n)
		}
	}
	if strings.Contains(drawing, "<i>odd") {
		t.Error("a status was not escaped")
	}
	if plain := c.Graph(nil).SVG(); strings.Contains(plain, "unvisited") || strings.Contains(plain, "taken") {
		t.Error("a drawing without marks shows some")
	}
}

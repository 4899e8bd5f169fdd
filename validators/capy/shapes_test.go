package capy

import (
	"fmt"
	"strings"
	"testing"
)

// A sheet is a table's head and its rows.
type sheet [][]string

// shapes are ways to write a table; the first is the usual one.
var shapes = []struct {
	name string
	of   func(sheet) string
}{
	{"usual", usual},
	{"in a fence", func(s sheet) string { return "```\n" + usual(s) + "\n```" }},
	{"in a fence of text", func(s sheet) string { return "```text\n" + usual(s) + "\n```" }},
	{"in a fence of tildes, without bars at the ends", func(s sheet) string { return "~~~\n" + s.lines("", " | ", "", "--- | ---") + "\n~~~" }},
	{"in a fence, parted by spaces", func(s sheet) string {
		return "```\n" + s.lines("", "   ", "", strings.Repeat("-----   ", len(s[0]))+"----") + "\n```"
	}},
	{"between rulers", func(s sheet) string {
		ruler := strings.Repeat("=====   ", len(s[0])) + "===="
		return ruler + "\n" + s.lines("", "   ", "", ruler) + "\n" + ruler
	}},
	{"quoted", func(s sheet) string { return "> " + strings.ReplaceAll(usual(s), "\n", "\n> ") }},
	{"in a callout", func(s sheet) string { return "> [!NOTE]\n> " + strings.ReplaceAll(usual(s), "\n", "\n> ") }},
	{"drawn with signs", func(s sheet) string {
		return "```\n+-----+\n" + s.lines("| ", " | ", " |", "+=====+=====+") + "\n+-----+\n```"
	}},
	{"drawn with signs between all rows", func(s sheet) string {
		return "+-----+-----+\n" + strings.ReplaceAll(s.lines("| ", " | ", " |", "+=====+=====+"), " |\n|", " |\n+-----+-----+\n|") + "\n+-----+-----+"
	}},
	{"drawn with lines", func(s sheet) string {
		return "┌─────┬─────┐\n" + s.lines("│ ", " │ ", " │", "├─────┼─────┤") + "\n└─────┴─────┘"
	}},
	{"of tags", func(s sheet) string {
		return "<table>\n" + strings.Replace(strings.ReplaceAll(s.lines("<tr><td>", "</td><td>", "</td></tr>", ""), "\n\n", "\n"), "td>", "th>", 2*len(s[0])) + "\n</table>"
	}},
	{"of tags in many lines", func(s sheet) string {
		return "<table>\n" + strings.Replace(strings.ReplaceAll(s.lines("<tr>\n<td>", "</td>\n  <td align=\"right\">", "</td>\n</tr>", ""), "\n\n", "\n"), "td", "th", 2*len(s[0])) + "\n</table>"
	}},
	{"with an empty column", func(s sheet) string {
		return usual(s.with(func(r []string) []string { return append([]string{""}, r...) }))
	}},
	{"with a source behind", func(s sheet) string {
		return usual(s.with(func(r []string) []string { return append(r[:len(r):len(r)], "see 4.2") }))
	}},
	{"with a note at each number", func(s sheet) string { return usual(s.with(noted)) + "\n\n[^2]: as the model has it." }},
	{"bold and code", func(s sheet) string {
		return usual(s.with(func(r []string) []string { return append([]string{"**" + r[0] + "**"}, marked(r[1:])...) }))
	}},
	{"drawn with lines in a fence", func(s sheet) string {
		return "```\n╔═════╦═════╗\n" + s.lines("║ ", " ║ ", " ║", "╠═════╬═════╣") + "\n╚═════╩═════╝\n```"
	}},
}

func usual(s sheet) string { return s.lines("| ", " | ", " |", strings.Repeat("|---", len(s[0]))+"|") }

// lines writes each row between a begin and an end, and the ruler behind the head.
func (s sheet) lines(begin, between, end, ruler string) string {
	var b strings.Builder
	for i, row := range s {
		b.WriteString(begin + strings.Join(row, between) + end + "\n")
		if i == 0 {
			b.WriteString(ruler + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// with is a sheet of other rows, made of each of its own but the head.
func (s sheet) with(change func([]string) []string) sheet {
	out := sheet{s[0]}
	if n := len(change(s[0])) - len(s[0]); n > 0 {
		out[0] = change(s[0])
		if l := out[0]; l[len(l)-1] != s[0][len(s[0])-1] {
			l[len(l)-1] = "Source"
		}
	}
	for _, row := range s[1:] {
		out = append(out, change(row))
	}
	return out
}

func noted(row []string) []string {
	out := []string{row[0]}
	for _, cell := range row[1:] {
		out = append(out, cell+"[^2]")
	}
	return out
}

func marked(cells []string) []string {
	var out []string
	for _, cell := range cells {
		out = append(out, "`"+cell+"`")
	}
	return out
}

// rows makes a sheet of lines whose cells a ; parts.
func rows(lines ...string) sheet {
	var s sheet
	for _, l := range lines {
		s = append(s, strings.Split(l, ";"))
	}
	return s
}

// TestShapes writes the tables of outputs, good and bad, in every shape: each must come
// to the verdict of the usual one, which is named here.
func TestShapes(t *testing.T) {
	valued := func(lines ...string) sheet { return append(rows("Metric;Value"), rows(lines...)...) }
	for _, c := range []struct {
		name, stage string
		above       string
		table       sheet
		want        string // "" for PASS, else a part of the first finding
	}{
		{"A.7", "BASE_T2", "# A.7 LIGHTWEIGHT VALUATION SUMMARY", valued("IVPS;£7.25", "Discount Rate (DR);12.7%", "Terminal Growth (g);2.1%", "ROIC;11.8%"), ""},
		{"A.7 without IVPS", "BASE_T2", "# A.7 LIGHTWEIGHT VALUATION SUMMARY", valued("IVPS;N/A", "Discount Rate (DR);12.7%"), "IVPS has no value"},
		{"A.7 of nothing", "BASE_T2", "# A.7 LIGHTWEIGHT VALUATION SUMMARY", valued("IVPS;£0.00"), "IVPS is 0"},
		{"A.7 with a high DR", "BASE_T2", "# A.7 LIGHTWEIGHT VALUATION SUMMARY", valued("IVPS;£7.25", "Discount Rate (DR);17.5%"), "DR at 17.5%"},
		{"A.7 with a high g", "BASE_T2", "# A.7 LIGHTWEIGHT VALUATION SUMMARY", valued("IVPS;£7.25", "Discount Rate (DR);12.7%", "Terminal Growth (g);13.1%"), "not below the DR"},
		{"scenarios", "SCENARIO_T1", "## Scenarios", rows("Scenario;P;M", "S1;35%;-£0.95", "S2;45%;-£0.55", "S3;20%;£0.40", "S4;25%;£0.30"), ""},
		{"scenarios without an M", "SCENARIO_T1", "## Scenarios", rows("Scenario;P;M", "S1;35%;-£0.95", "S2;45%;-£0.55", "S3;20%;TBD", "S4;25%;£0.30"), "S3 has no M"},
		{"scenarios with a P above one", "SCENARIO_T1", "## Scenarios", rows("Scenario;P;M", "S1;35%;-£0.95", "S2;145%;-£0.55", "S3;20%;£0.40", "S4;25%;£0.30"), "145%"},
		{"joint states too early", "SCENARIO_T1", fourScenarios + "\n\n### Joint Probability Distribution", rows("State;Joint probability", "none;0.5", "S1, S4;0.5"), "JPD as 0.5"},
		{"joint states", "SCENARIO_T2", scenarioModel + "\n\n### Joint Probability Distribution", rows("State;Joint probability;IVPS", "none;0.5;£6.98", "S1, S4;0.5;£7.28"), ""},
		{"joint states that sum to little", "SCENARIO_T2", scenarioModel + "\n\n### Joint Probability Distribution", rows("State;Joint probability;IVPS", "none;0.5;£6.98", "S1, S4;0.3;£7.28"), "the 2 joint states sum to 0.8"},
		{"joint states as columns", "SCENARIO_T2", scenarioModel + "\n\n### Joint Probability Distribution", rows("State;none;S1 only;S1, S4;Total", "Joint probability;0.5;0.3;0.2;1.00", "IVPS;£6.98;£6.10;£7.28;"), ""},
		{"joint states as columns that sum to little", "SCENARIO_T2", scenarioModel + "\n\n### Joint Probability Distribution", rows("State;none;S1 only;S1, S4", "Joint probability;0.5;0.1;0.2", "IVPS;£6.98;£6.10;£7.28"), "the 3 joint states sum to 0.8"},
		{"joint states to come, as columns", "SCENARIO_T2", scenarioModel + "\n\n### Joint Probability Distribution", rows("State;none;S1 only;S1, S4", "Joint probability;TBD;N/A;[TO BE CALCULATED]", "IVPS;£6.98;£6.10;£7.28"), "JPD named, but without a number"},
		{"joint states to come", "SCENARIO_T2", scenarioModel + "\n\n### Joint Probability Distribution", rows("State;Joint probability;IVPS", "none;TBD;£6.98", "S1, S4;N/A;£7.28"), "JPD named, but without a number"},
		{"joint states to come, by bits", "SCENARIO_T2", scenarioModel + "\n\n### JPD", rows("Joint state;P;IVPS", "0000;TBD;£6.98", "1001;TBD;£7.28"), "JPD named, but without a number"},
		{"joint states, one to come", "SCENARIO_T2", scenarioModel + "\n\n### JPD", rows("State;P;IVPS", "none;0.6;£6.98", "S1;TBD;£6.10", "S1, S4;0.4;TBD"), ""},
		{"joint states as columns, values to come", "SCENARIO_T2", scenarioModel + "\n\n### JPD", rows("State;none;S1 only;S1, S4", "Joint probability;0.5;0.3;0.2", "IVPS;TBD;TBD;TBD"), ""},
		{"joint states not yet", "SCENARIO_T1", fourScenarios + "\n\n### Joint Probability Distribution", rows("State;Joint probability", "none;TBD", "S1, S4;TBD"), ""},
		{"A.7 to come", "BASE_T2", "The log says IVPS = £7.25.\n\n# A.7 LIGHTWEIGHT VALUATION SUMMARY\n\nThe summary is this:", valued("Terminal value;TBD", "ROIC;N/A"), "Missing A.7"},
		{"A.7 with one to come", "BASE_T2", "The log says IVPS = £7.25.\n\n# A.7 LIGHTWEIGHT VALUATION SUMMARY", valued("Terminal value;TBD", "ROIC;11.8%"), ""},
		{"A.9 to come, with units", "ENRICH_T1", "## GIM Amendments\n\nThe yield falls by 0.2 points.\n\n## A.9 Enrichment Changelog", rows("Driver;Unit;Before;After", "Yield;%;TBD;TBD", "Fade;years;—;pending"), "Missing A.9"},
		{"A.9 with units", "ENRICH_T1", "## GIM Amendments\n\nThe yield falls by 0.2 points.\n\n## A.9 Enrichment Changelog", rows("Driver;Unit;Before;After", "Yield;%;TBD;TBD", "Fade;years;8;pending"), ""},
		{"amendments to come", "ENRICH_T1", "## A.9 Enrichment Changelog\n\nThe yield was read anew.\n\n## GIM Amendments", rows("Driver;Change", "Yield;TBD", "Fade;to be computed"), "GIM amendments named, but without its content"},
		{"amendments to something", "ENRICH_T1", "## A.9 Enrichment Changelog\n\nThe yield was read anew.\n\n## GIM Amendments", rows("Driver;Change", "Yield;to be lowered to 2%", "Fade;none"), ""},
		{"findings to come", "SC", "# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n**Pipeline Fit Grade:** B+\n\n## Findings", rows("Finding;Severity;Text", "F-1;TBD;TBD", "F-2;N/A;TBD"), "findings named, but without a value"},
		{"findings without a severity", "SC", "# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n**Pipeline Fit Grade:** B+\n\n## Findings", rows("Finding;Severity;Text", "F-1;TBD;the fade is long", "F-2;N/A;TBD"), ""},
		{"State 4 to come", "INT_T2", "## A.12_INTEGRATION_TRACE\n\nThe trace of four states.\n\n### State 4 Active Inputs", rows("Driver;Value", "Yield;TBD", "Fade;TBD"), "state_4_active_inputs named, but without a value"},
		{"State 4 with one to come", "INT_T2", "## A.12_INTEGRATION_TRACE\n\nThe trace of four states.\n\n### State 4 Active Inputs", rows("Driver;Value", "Yield;TBD", "Fade;6"), ""},
		{"τ to come, under its name", "IRR_T1", "## CR Derivation\n\nCR = 0.22\n\n## A.13 Resolution Timeline: τ", rows("Scenario;τ;When", "S1;TBD;2027", "S2;TBD;2027"), "τ estimates named, but without a number"},
		{"τ under its name, one to come", "IRR_T1", "## CR Derivation\n\nCR = 0.22\n\n## A.13 Resolution Timeline: τ", rows("Scenario;τ;When", "S1;TBD;2027", "S2;0.8;TBD"), ""},
		{"τ", "IRR_T1", "## CR Derivation\n\nCR = 0.22\n\n## A.13 Resolution Timeline", rows("Scenario;τ;When", "S1;0.6;2027", "S2;0.8;2027"), ""},
		{"τ to come", "IRR_T1", "## CR Derivation\n\nCR = 0.22\n\n## A.13 Resolution Timeline", rows("Scenario;τ;When", "S1;TBD;2027", "S2;TBD;2027"), "τ estimates named, but without a number"},
		{"CR and τ by name", "IRR_T1", "## A.13 Resolution Timeline", valued("CR;0.22", "τ;0.6"), ""},
		{"CR to come", "IRR_T1", "## A.13 Resolution Timeline", valued("CR;TBD", "τ;0.6"), "CR derivation named, but without a number"},
		{"grade", "SC", "# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n## Findings\n\n1. F-1: it fades.", valued("Pipeline Fit Grade;B+", "Auditor;model 2"), ""},
		{"grade to come", "SC", "# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n## Findings\n\n1. F-1: it fades.", valued("Pipeline Fit Grade;TBD", "Auditor;model 2"), "Pipeline Fit grade named, but without a grade"},
		{"grade in a column", "SC", "# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n## Findings\n\n1. F-1: it fades.", rows("Auditor;Pipeline Fit Grade", "model 2;B+"), ""},
		{"grade in a column, to come", "SC", "# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n## Findings\n\n1. F-1: it fades.", rows("Auditor;Pipeline Fit Grade", "model 2;TBD"), "Pipeline Fit grade named, but without a grade"},
		{"dispositions", "INT_T1", "## Adjudication", rows("Finding;Severity;Disposition", "F-1;HIGH;ACCEPT", "F-2;LOW;REJECT"), ""},
		{"dispositions to come", "INT_T1", "## Adjudication", rows("Finding;Severity;Disposition", "F-1;HIGH;ACCEPT", "F-2;LOW;TBD"), "Finding F-2 has no disposition"},
		{"questions", "RQ_GEN", "## A.8_RESEARCH_STRATEGY_MAP", rows("RQ;Platform;Topic", "RQ1;AS;Fuel", "RQ2;AS;Tolls", "RQ3;AS;Yield", "RQ4;GDR;Ports", "RQ5;GDR;Ships", "RQ6;GDR;Rules"), ""},
		{"questions of four and two", "RQ_GEN", "## A.8_RESEARCH_STRATEGY_MAP", rows("RQ;Platform;Topic", "RQ1;AS;Fuel", "RQ2;AS;Tolls", "RQ3;AS;Yield", "RQ4;AS;Ports", "RQ5;GDR;Ships", "RQ6;GDR;Rules"), "4 AS, 2 GDR"},
		{"IVPS too early", "BASE_T1", "", valued("Revenue growth;3.1%", "IVPS;£14.72"), "IVPS as 14.72"},
		{"no IVPS yet", "BASE_T1", "", valued("Revenue growth;3.1%", "IVPS;TBD"), ""},
	} {
		for _, shape := range shapes {
			t.Run(c.name+" "+shape.name, func(t *testing.T) {
				text := wrap(c.above, shape.of(c.table))
				if c.stage == "BASE_T1" {
					text = strings.Replace(good(t, c.stage), "## Narrative IV", shape.of(c.table)+"\n\n## Narrative IV", 1)
				}
				r := judge(t, c.stage, text)
				list := append(r.Issues, r.Warnings...)
				if c.want == "" && len(list) > 0 || c.want != "" && (len(list) == 0 || !strings.Contains(list[0].Message, c.want)) {
					t.Errorf("want %q\n%s\n%s", c.want, shape.of(c.table), r.Text())
				}
			})
		}
	}
}

// TestToCome writes the nodes of A.3 in every way that a name may have its value: they
// are an artifact where one of them has, and none where all are to come.
func TestToCome(t *testing.T) {
	for _, form := range []string{
		"- %s: %s", "1. %s: %s", "1. **%s** = %s", "1、%s：%s；", "- %s = %s", "- %s — %s", "- %s → %s", "- %s：%s", "- [x] %s: %s", "- `%s`: `%s`", "- **%s**\n  - %s", "%s = %s\n", "%s:\u00a0%s\n", "**%s**\n\n%s\n", "%s\n: %s\n", ":%s: %s", "#### %s\n\n%s\n",
		"    %s = %s", "The %s is %s.\n", "$$\\text{%s} = %s$$\n", "**%s:** %s | **Fuel:** N/A", "<p><b>%s:</b> %s</p>", "<li><strong>%s:</strong> %s</li>", "<dt>%s</dt><dd>%s</dd>", "<dt>%s</dt>\n<dd>%s</dd>", "%s: %s<br>",
		"<details>\n<summary>Nodes</summary>\n\n- %s: %s\n\n</details>", "```text\n%s : %s\n```", "```yaml\n%s: %s\n```", "```\n%s\t%s\n```", "| 1 | %s | %s |", "```json\n[{\"name\": \"%s\", \"value\": \"%s\"}, {\"name\": \"Fuel\", \"value\": \"N/A\"}, {\"name\": \"Tolls\", \"value\": \"TBD\"}]\n```",
	} {
		for value, want := range map[string]bool{"TBD": false, "tbc": false, "[TO BE CALCULATED]": false, "[●]": false, "[Description]": false, "[Sailings]": true, "待定": false, "⏳": false, "Sailings": true, "12% below 2024": true} {
			said := fmt.Sprintf(form, "Revenue", value)
			text := both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3 Causal DAG\n\n"+said+"\n\n"))(t, good(t, "BASE_T1"))
			if r := judge(t, "BASE_T1", text); r.Proceed != want {
				t.Errorf("%s\n%s", said, r.Text())
			}
		}
	}
	for body, want := range map[string]bool{"#### Yield: 0.034": true, "#### Yield: TBD": false, "#### Yield": false, "| 2025 | TBD |": false, "| 2025 | 812 |": true, "| 5 | 0.034 | TBD |": true, "| 7 | F-1 | TBD |": false, "| 7 | F-1 | 0.2 |": true, "A g < DR, and\n\nYield is TBD": true} {
		text := both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3 Causal DAG\n\n"+body+"\n\n"))(t, good(t, "BASE_T1"))
		if r := judge(t, "BASE_T1", text); r.Proceed != want {
			t.Errorf("%s\n%s", body, r.Text())
		}
	}
}

// TestNames puts a line over a block in the place of A.3: as its name it makes it one.
func TestNames(t *testing.T) {
	const graph = "{\"nodes\": {\"Revenue\": {\"parents\": [\"Sailings\"]}}}"
	blocks := []string{"```json\n" + graph + "\n```", "| Node | Parent |\n|---|---|\n| Revenue | Sailings |", graph}
	for line, want := range map[string]bool{
		"__A.3__": true, "__A.3 Causal DAG__": true, "__A.3_CAUSAL_DAG__": true, "**__A.3__**": true, "**A.3**:": true, "*A.3 Causal DAG*": true, "`A.3_CAUSAL_DAG`": true, "A.3_CAUSAL_DAG:": true, "=== A.3 CAUSAL DAG ===": true,
		"🔹 **A.3 Causal DAG**": true, "<b>A.3 Causal DAG</b>": true, "<details><summary>A.3 Causal DAG</summary>": true, "### A-3 Causal DAG": true, "### A_3_CAUSAL_DAG": true,
		"__A.3 is in the file beside this one__": false, "__A.3 - A.5__": false, "__A.3_CAUSAL_DAG (NOT GENERATED)__": false, "A.3 Causal DAG and what it says of revenue:": false, "- **A.3 Causal DAG**": false, "<b>A.3</b> is missing": false,
		"=== A.31 ===": false, "__A.2 to A.3__": false, "### A-3 Routes": false, "__Inputs from A.3__": false,
	} {
		for _, block := range blocks {
			text := both(cut("### A.3_", "### A.5_"), insert("### A.5_", line+"\n\n"+block+"\n\n"))(t, good(t, "BASE_T1"))
			if r := judge(t, "BASE_T1", text); r.Proceed != want {
				t.Errorf("%s\n%s\n%s", line, block, r.Text())
			}
		}
	}
	for block, want := range map[string]bool{
		"1. **A.3 Causal DAG**\n\n   ```json\n   " + graph + "\n   ```":       true,
		"```\n[A.3_CAUSAL_DAG]\n```\n":                                        false,
		"__A.3__\n\nSailings times yield gives revenue.":                      false,
		jsonFence(`{"A_3_CAUSAL_DAG": ` + graph + `}`):                        true,
		jsonFence(`{"a_3_causal_dag": ` + graph + `}`):                        true,
		jsonFence(`{"Artifact_A.3": ` + graph + `}`):                          true,
		jsonFence(`{"A_3_CAUSAL_DAG": null}`):                                 false,
		jsonFence(`{"A_31_CAUSAL_DAG": ` + graph + `}`):                       false,
		jsonFence(`{"artifact_status": {"A_3_CAUSAL_DAG": {"made": false}}}`): false,
	} {
		if r := judge(t, "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", block+"\n\n"))(t, good(t, "BASE_T1"))); r.Proceed != want {
			t.Errorf("%s\n%s", block, r.Text())
		}
	}
}

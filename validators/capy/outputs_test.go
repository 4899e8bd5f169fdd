package capy

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// files are artifacts as kernels ship them, each a file of its own, and the
// stage whose output it is.
var artifactFiles = []struct{ name, stage, text string }{
	{"ALDR_A7_KERNEL_OUTPUT.json", "BASE_T2", `{"schema_version": "G3_2.2.1e", "ivps_summary": {"IVPS": 7.25, "DR": 0.127, "Terminal_g": 0.021}, "terminal_drivers": {"Terminal_ROIC": 0.118}}`},
	{"ALDR_A7_ENRICH.json", "ENRICH_T2", `{"schema_version": "G3_2.2.2e_ENRICH", "ivps_summary": {"IVPS": 6.98, "DR": 0.127, "Terminal_g": 0.021}, "implied_multiples_analysis": {"Implied_EV_Sales_Y1": 1.2}}`},
	{"ALDR_A8_RQ.json", "RQ_GEN", `{"research_plan": [{"rq_id": "RQ1", "platform": "AS"}, {"rq_id": "RQ2", "platform": "AS"}, {"rq_id": "RQ3", "platform": "AS"}, {"rq_id": "RQ4", "platform": "GDR"}, {"rq_id": "RQ5", "platform": "GDR"}, {"rq_id": "RQ6", "platform": "GDR"}]}`},
	{"ALDR_A9_TRACE.json", "ENRICH_T1", `{"schema_version": "G3_2.2.2e_A9", "gim_amendments": [{"driver": "Yield", "from": 0.04, "to": 0.034}], "changelog": [{"rq": "RQ1"}], "state_1_ivps": 7.25}`},
	{"ALDR_A10_SCENARIO.json", "SCENARIO_T2", `{"scenario_results": [{"scenario_id": "S1_BORE", "p_posterior": 0.35, "ivps_scenario": 6.1}], "sse_result": {"states": [{"state_id": "BASE", "p_initial": 0.6, "p_final": 0.65, "ivps_final": 6.98}, {"state_id": "S1_BORE", "p_initial": 0.4, "p_final": 0.35, "ivps_final": 6.1}], "e_ivps": 6.61, "distribution_stats": {"p10": 6.1, "p50": 6.98, "variance": 0.18}}}`},
	{"ALDR_A11_AUDIT_REPORT.json", "SC", `{"metadata": {"execution_context": {"model": "auditor 2"}}, "pipeline_fit_assessment": {"grade": "B+"}, "critical_findings_summary": [{"finding_id": "F-1", "summary": "The yield fades slowly."}]}`},
	{"ALDR_A12_INTEGRATION.json", "INT_T2", `{"adjudications": [{"finding_id": "F-1", "disposition": "ACCEPT"}], "state_4_active_inputs": {"DR": 0.127, "Yield": {"start_value": 0.034}}, "recalculation": {"E_IVPS": 6.4}}`},
	{"ALDR_A13_RESOLUTION.json", "IRR_T1", `{"cr_derivation": {"base": 0.2, "final": 0.22}, "rho_estimates": [{"id": "S1", "rho": 0.6}, {"id": "S2", "rho": 0.8}], "hurdle": 0.1325}`},
	{"ALDR_A14_IRR.json", "IRR_T2", `{"irr_analysis": {"expected_irr": 0.118, "probability_above_hurdle": 0.412}, "hurdle_rate": 0.1325, "forks": [{"p": 0.22, "irr": 0.18}]}`},
}

// long makes a JSON text longer than an output must be.
func long(text string) string {
	return strings.Replace(text, "{", `{"company": "`+strings.Repeat("Alder Marine plc, nine routes. ", 20)+`", `, 1)
}

// TestFilesOfTheirOwn has each artifact as the output itself and as a sidecar,
// before and behind another, known by its shape, by its name alone, and not.
func TestFilesOfTheirOwn(t *testing.T) {
	other := `{"kernel": {"version": "2.2.1"}}`
	for _, c := range artifactFiles {
		if r, err := Judge(Options{Stage: c.stage}, []byte(long(c.text))); err != nil || r.Status != Pass {
			t.Errorf("%s as the output: %v %s", c.name, err, r.reason())
		}
		if got, ok := StageOf(c.name); !ok || got != c.stage {
			t.Errorf("%s: stage %q", c.name, got)
		}
		text := wrap("The result is in the file beside this one.")
		for where, sidecars := range map[string]any{
			"alone": c.text, "first": []any{c.text, other}, "last": []any{other, c.text}, "by name": map[string]any{c.name: c.text, "other.json": other}, "as values": []any{map[string]any{"x": 1}, c.text},
		} {
			if r, err := Judge(Options{Stage: c.stage, Sidecars: sidecars}, []byte(text)); err != nil || r.Status != Pass {
				t.Errorf("%s as a sidecar, %s: %v %s", c.name, where, err, r.reason())
			}
		}
		if r, err := Judge(Options{Stage: c.stage, Sidecars: other}, []byte(text)); err != nil || r.Proceed {
			t.Errorf("%s: passes without it", c.name)
		}
	}
	for _, c := range artifactFiles {
		for _, d := range artifactFiles {
			if c.stage != d.stage && !(strings.HasSuffix(c.stage, "_T2") && strings.HasSuffix(d.stage, "_T2") && strings.Contains(c.name, "A7") && strings.Contains(d.name, "A7")) {
				if r, _ := Judge(Options{Stage: d.stage}, []byte(long(c.text))); r.Proceed {
					t.Errorf("%s passes as %s", c.name, d.stage)
				}
			}
		}
	}
	for name, want := range map[string]int{"ALDR_A7_x.json": 7, "A.10_S.json": 10, "x-A13.json": 13, "AA7.json": 0, "A70.json": 0, "BA7.json": 0, "A7B.json": 0, "dir/ALDR_A11_y.json": 11, "a9_trace.json": 9} {
		if got := nameArtifact(name); got != want {
			t.Errorf("%s is A.%d, want A.%d", name, got, want)
		}
	}
	named := Options{Stage: "IRR_T1", Sidecars: map[string]any{"ALDR_A13_x.json": `{"cr": 0.22, "tau": [{"s": "S1", "tau": 0.6}]}`}}
	if r, err := Judge(named, []byte(wrap("The rest is in the file."))); err != nil || r.Status != Pass {
		t.Errorf("by its name alone: %v %s", err, r.reason())
	}
}

func TestTextAgainstSidecars(t *testing.T) {
	side := artifactFiles[0].text
	for text, want := range map[string]string{
		"IVPS: $7.25":                     Pass,
		"IVPS: $7.2":                      Pass,
		"IVPS: ~$7":                       Pass,
		"IVPS: $6.91":                     Warn,
		"- **IVPS:** $127.68":             Warn,
		"DR: 12.7%":                       Pass,
		"DR: 14.5%":                       Warn,
		"Terminal g: 2.5%":                Warn,
		"Target IVPS: $9.00":              Warn,
		"Prior IVPS: $9.00":               Pass,
		"Bear case IVPS: $5.00":           Pass,
		"If DR is 15%, IVPS falls.":       Pass,
		"The consensus target is $9.00.":  Pass,
		"Book value per share is $3.10.":  Pass,
		"T1 DR was 14.5%.":                Pass,
		"DR of ~16% (vs. our 12.7%) fits": Pass,
	} {
		r, err := Judge(Options{Stage: "BASE_T2", Sidecars: side}, []byte(wrap(text)))
		if err != nil || r.Status != want {
			t.Errorf("%s: want %s: %v %s", text, want, err, r.reason())
		}
	}
	r, _ := Judge(Options{Stage: "BASE_T2", Sidecars: strings.Replace(side, "7.25", "154.90", 1)}, []byte(wrap("IVPS = $127.68")))
	if r.Status != Warn || !strings.Contains(r.Warnings[0].Message, "127.68") || !strings.Contains(r.Warnings[0].Message, "154.9") {
		t.Errorf("%s", r.Text())
	}
}

// TestComparisons has numbers beside ours that are not ours.
func TestComparisons(t *testing.T) {
	base := good(t, "BASE_T2")
	for _, phrase := range []string{
		"- Or a higher discount rate of ~16.9% (vs. our 12.7%)", "- Terminal g < DR (2.1% < 12.7%)", "- Terminal g &lt; DR (2.1% &lt; 12.7%)", "- DR within bounds (12.7%)", "A lower discount rate of 4% would be needed.", "The market implies a discount rate of 17.2%.", "Peer DR: 18%", "If DR were 18%, little would remain.",
		"DR < 16%", "DR must be between 5% and 16%.", "DR ≤ 16.0%", "Against a sector discount rate of 17%, ours is low.", "g < DR", "Terminal growth of 3-30% was seen among peers.", "Discount rate sensitivity: ±100 bps", "The price implies:\n- DR of 17%\n- Terminal growth of 14%",
		"The current market price of £6.10 implies:\n\n- A discount rate of 17%\n- ROIC of 300%", "## Sensitivity\n\n### Rates\n\nDR = 18%", "## BASE Turn 1\n\nDR = 18%", "T1 set DR = 18%.", "| Case | DR |\n|---|---|\n| Bear | 18% |", "Analyst consensus ROIC: 310%", "ROIC > 250% is never seen.", `DR: \(12.7\%\)`, `IVPS: \(7.25\)`, `Terminal g = $2.1\%$`, "| Metric | Value |\n|---|---|\n| DR | \\(12.7\\%\\) |", "IVPS – £7.25", "ROIC – DR: -0.9%", "DR - g: 3.1%", "DR: 12.7% · g: 2.1% · ROIC: 11.8%", "```json\n{\"Discount Rate (DR)\": \"12.7%\"}\n```",
	} {
		if r := judge(t, "BASE_T2", strings.Replace(base, "## Valuation Conclusion", phrase+"\n\n## Valuation Conclusion", 1)); r.Status != Pass {
			t.Errorf("%s\n\t%s", phrase, r.reason())
		}
	}
	for _, phrase := range []string{"DR = 17%", "**Discount Rate:** 17%", "The discount rate is 17%.", "A discount rate of 17% is used.", "| DR | 17% |\n|---|---|", "Our DR of 17% (market: 12%)", "ROIC: 310%", "Terminal g: 13%", "IVPS: -£1.20", "IVPS: £0.00", "IVPS: –£1.20", "RFR: 4.2% · DR: 17%", "The DR was set to 17%.", "DR (nominal): 17%", "| Metric | Source | Value |\n|---|---|---|\n| DR | A.6 | 17% |", "| Metric | Value |\n|---|---|\n| IVPS | –£1.20 |",
		`DR: $17\%$`, "| Value | Metric |\n|---|---|\n| 17% | DR |", "```json\n{\"Discount Rate (DR)\": \"17%\"}\n```", "```json\n[{\"Metric\": \"Discount Rate (DR)\", \"Value\": \"17%\"}]\n```"} {
		if r := judge(t, "BASE_T2", strings.Replace(base, "## Valuation Conclusion", phrase+"\n\n## Valuation Conclusion", 1)); r.Status == Pass {
			t.Errorf("%s: passes", phrase)
		}
	}
}

// TestNoOutputs has texts that speak of a stage and are none of its outputs.
func TestNoOutputs(t *testing.T) {
	source, err := os.ReadFile("structure.go")
	if err != nil {
		t.Fatal(err)
	}
	python := "# INT_T1 dispositions\nimport json\n\ndef adjudicate(findings):\n    for f in findings:\n        f['disposition'] = 'accept'\n        save(f)\n    return findings\n\nclass Audit:\n    def run(self):\n        print('# A.12 Integration Trace')\n        self.state_4_active_inputs = load()\n        self.check()\n\n" + strings.Repeat("result = adjudicate(load('x'))\n", 10)
	prompt := func(stage string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\nYou are the analyst of this stage. Your task is to write its output.\n\n## Instructions\n\n", stage)
		for range 3 {
			b.WriteString("- You must adjudicate every finding: ACCEPT, MODIFY or REJECT.\n- Do not compute IVPS; the kernel does.\n- Your output must contain the artifacts below.\n- State S1 to S4 with P and M.\n")
		}
		for n := 1; n <= 14; n++ {
			fmt.Fprintf(&b, "### A.%d_ARTIFACT\n\n```json\n{\"A.%d_X\": {\"value\": \"<float>\", \"name\": \"string\", \"date\": \"YYYY-MM-DD\"}}\n```\n\n", n, n)
		}
		b.WriteString("### Adjudication\n\n**Disposition:** ACCEPT | MODIFY | REJECT\n\nYou must not end early.\n")
		return b.String()
	}
	for _, stage := range Stages() {
		for name, text := range map[string]string{"Go": string(source), "Go with a heading": "# Source\n\n" + string(source), "Python": python, "prompt": prompt(stage), "docs": readDoc(t)} {
			if r := judge(t, stage, text); r.Proceed {
				t.Errorf("%s passes as %s", name, stage)
			}
		}
	}
	mute := strings.NewReplacer("You are the analyst", "The analyst works", "You must", "Each must", "Your task", "The task", "Your output must contain", "The output has", "Do not compute", "Nobody computes")
	for _, stage := range Stages() {
		if r := judge(t, stage, mute.Replace(prompt(stage))); r.Proceed {
			t.Errorf("a prompt that speaks to nobody passes as %s", stage)
		}
	}
}

func readDoc(t *testing.T) string {
	page, err := os.ReadFile("../../docs/reference/gates/capy.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestSpellings has good outputs in other spellings of Markdown.
func TestSpellings(t *testing.T) {
	setext := func(s string) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				line = title + "------\n"
			} else if title, ok := strings.CutPrefix(line, "# "); ok {
				line = title + "======\n"
			} else if title, ok := strings.CutPrefix(line, "### "); ok {
				line = "\n" + title + "---\n"
			}
			b.WriteString(line)
		}
		return b.String()
	}
	lower := func(s string) string {
		var b strings.Builder
		for line := range strings.Lines(s) {
			if strings.HasPrefix(line, "#") && !strings.Contains(line, "S1") && !strings.Contains(line, "S2") && !strings.Contains(line, "S3") && !strings.Contains(line, "S4") && !strings.Contains(line, "RQ") && !strings.Contains(line, "A11") && !strings.Contains(line, "SSE") {
				line = strings.ToLower(line)
			}
			b.WriteString(line)
		}
		return b.String()
	}
	for name, spell := range map[string]func(string) string{
		"underlined": setext, "lower case": lower,
		"bare CR": func(s string) string { return strings.ReplaceAll(s, "\n", "\r") }, "CRLF": func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"mixed":       func(s string) string { return strings.Replace(strings.ReplaceAll(s, "\n", "\r\n"), "\r\n", "\r", 9) },
		"closed":      func(s string) string { return strings.ReplaceAll(s, "\n\n```json", " ##\n\n```json") },
		"stars":       func(s string) string { return strings.ReplaceAll(s, "\n- ", "\n* ") },
		"no-break":    func(s string) string { return strings.ReplaceAll(s, " = ", "\u00a0=\u00a0") },
		"dashes":      func(s string) string { return strings.ReplaceAll(s, " - ", " – ") },
		"wide tables": func(s string) string { return strings.ReplaceAll(s, " | ", "   |   ") },
	} {
		for _, stage := range Stages() {
			if name == "underlined" && stage == "IRR_T1" {
				continue // 7. T1 Handoff would be an item
			}
			if r := judge(t, stage, spell(good(t, stage))); r.Status != Pass {
				t.Errorf("%s %s: %s", name, stage, r.reason())
			}
		}
	}
}

func TestDispositions(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a table with one missing", "## Adjudication\n\n| Finding | Severity | Disposition |\n|---|---|---|\n| F-1 | HIGH | ACCEPT |\n| F-2 | LOW | |", "Finding F-2 has no disposition"},
		{"a table", "## Adjudication\n\n| Finding | Disposition |\n|---|---|\n| F-1 | ACCEPT |\n| F-2 | MODIFY |", ""},
		{"headings with one missing", "## Finding 1: Yield\n\n**Disposition:** ACCEPTED\n\n## Finding 2: Fuel\n\nThe finding is discussed at length.", "Finding 2 has no disposition"},
		{"headings", "## Finding 1: Yield\n\n**Disposition:** ACCEPTED\n\n## Finding 2: Fuel\n\n**Ruling:** rejected, for the base rate says otherwise.", ""},
		{"an inventory by other names", "## Findings\n\n| ID | Finding |\n|---|---|\n| ACC01 | Yield |\n| ER02 | Fuel |\n\n## Adjudication\n\n### 1. The yield\n\n**Disposition:** ACCEPT\n\n### 2. The fuel\n\n**Disposition:** REJECT", ""},
		{"JSON with one null", "## Adjudication\n\n" + jsonFence("{\"adjudications\": [{\"finding_id\": \"ACC01\",\n \"disposition\": \"ACCEPT\"},\n {\"finding_id\": \"ACC02\",\n \"disposition\": null}]}"), "Finding ACC-2 has no disposition"},
		{"JSON", "## Adjudication\n\n" + jsonFence(`{"adjudications": [{"finding_id": "ACC01", "disposition": "ACCEPT"}, {"finding_id": "ACC02", "disposition": "REJECT"}]}`), ""},
		{"a list", "## Adjudication\n\n- **F-1:** upheld\n- **F-2** — dismissed", ""},
		{"a line of JSON with one null", "## Adjudication\n\n" + jsonFence(`{"dispositions":[{"finding":"F-1","disposition":"ACCEPT"},{"finding":"F-2","disposition":null}]}`), "Finding F-2 has no disposition"},
		{"a line of JSON with one to come", "## Adjudication\n\n" + jsonFence(`{"dispositions":[{"finding":"F-1","disposition":"TBD"},{"finding":"F-2","disposition":"REJECT"}]}`), "Finding F-1 has no disposition"},
		{"a line of JSON with a null and its reason", "## Adjudication\n\n" + jsonFence(`{"dispositions":[{"finding":"F-1","disposition":"ACCEPT"},{"finding":"F-2","disposition":null,"reason":"none can accept it"}]}`), "Finding F-2 has no disposition"},
		{"a line of JSON with other words before", "## Adjudication\n\n" + jsonFence(`{"dispositions":[{"finding":"F-1","outcome":"the fade is short","disposition":"ACCEPT"},{"finding":"F-2","disposition":{"decision":"REJECT"}}]}`), ""},
		{"a list with one to come", "## Adjudication\n\n- F-1: ACCEPT\n- F-2: [PENDING]", "Finding F-2 has no disposition"},
		{"a numbered list with one to come", "## Adjudication\n\n1. **F-1 Yield** → ACCEPT\n2. **F-2** → TBD", "Finding F-2 has no disposition"},
		{"a list and what each is about", "## Adjudication\n\n- F-1: ACCEPT\n- F-2: REJECT\n\n## Effects\n\n- F-1: none\n- F-2: N/A\n- F-9\n- F-8: as before", ""},
		{"a list with arrows and one to come", "## Adjudication\n\n- F-1 - the yield is high -> accept\n- F-2 - the fuel is low -> tbd", "Finding F-2 has no disposition"},
		{"a list with arrows", "## Adjudication\n\n- F-1 - the yield is high -> accept\n- F-2 - reject -> effect tbd", ""},
		{"verdicts with one open", "## Adjudication\n\n| Finding | Verdict |\n|---|---|\n| F-1 Yield | ✅ Accepted |\n| F-2 Fuel | ❓ Open |", "Finding F-2 has no disposition"},
		{"findings that are open in one table and decided in another", "## Findings\n\n| Finding | Status |\n|---|---|\n| F-1 | Open |\n| F-2 | Open |\n\n## Adjudication\n\n| Finding | Disposition |\n|---|---|\n| F-1 | ACCEPT |\n| F-2 | REJECT |", ""},
		{"a finding about an open item", "## Adjudication\n\n| Finding | Disposition |\n|---|---|\n| F-1 open positions | ACCEPT |\n| F-2 | REJECT |", ""},
		{"verdicts", "## Adjudication\n\n| Finding | Verdict |\n|---|---|\n| F-1 Yield | ✅ Accepted |\n| F-2 Fuel | ❌ Rejected |", ""},
		{"escaped names with one to come", "## Adjudication\n\n| Finding | Disposition |\n|---|---|\n| F\\-1 | Accepted |\n| F\\-2 | \\[tbd\\] |", "Finding F-2 has no disposition"},
		{"a list with one deferred", "## Adjudication\n\n- F-1: ACCEPT\n- F-2: Deferred to T3", ""},
		{"labels of items with one to come", "## Adjudication\n\n- **F-1:** Severity: HIGH; Disposition: ACCEPT; Reason: the yield\n- **F-2:** Severity: LOW; Disposition: TBD; Reason: not a valid one", "Finding F-2 has no disposition"},
		{"labels of items with one empty", "## Adjudication\n\n- **F-1:** Disposition: ACCEPT; Reason: the yield\n- **F-2:** Disposition: ; Reason: a valid one", "Finding F-2 has no disposition"},
		{"labels of items", "## Adjudication\n\n- **F-1:** Severity: HIGH; Disposition: ACCEPT; Reason: the yield\n- **F-2:** Severity: LOW; Disposition: REJECT; Resolution: pending litigation", ""},
		{"items under items with one to come", "## Adjudication\n\n- **F-1**\n  - Severity: HIGH\n  - Disposition: ACCEPT\n- **F-2**\n  - Severity: LOW\n  - Disposition: [PENDING]", "Finding F-2 has no disposition"},
		{"items under items", "## Adjudication\n\n- **F-1**\n  - Severity: HIGH\n  - Disposition: ACCEPT\n- **F-2**\n  - Severity: LOW\n  - Disposition: MODIFY", ""},
		{"lines of pairs with one to come", "## Adjudication\n\nF-1: Severity = HIGH, Disposition = ACCEPT\n\nF-2: Severity = LOW, Disposition = [PENDING], Reason = none", "Finding F-2 has no disposition"},
		{"a table without a head for it, with one to come", "## Adjudication\n\n| Finding | What |\n|---|---|\n| F-1 | ACCEPT |\n| F-2 | TBD |", "Finding F-2 has no disposition"},
		{"a table without a head for it", "## Adjudication\n\n| Finding | What |\n|---|---|\n| F-1 | ACCEPT |\n| F-2 | REJECT |", ""},
		{"headings with a word below", "## Adjudication\n\n#### F-1\n\nACCEPT\n\n#### F-2\n\n**Rejected.**", ""},
		{"headings with a word below one", "## Adjudication\n\n#### F-1\n\nACCEPT\n\n#### F-2\n\nThe accepted view is another one, of which a good deal could be said here.", "Finding F-2 has no disposition"},
		{"names and words", "## Adjudication\n\n- **F-1**\n  - ACCEPT\n- **F-2**\n  - REJECT", ""},
		{"equations", "## Adjudication\n\nF-1 = ACCEPT\n\nF-2：REJECT", ""},
		{"a word and a verb", "## Notes\n\nThe adjudication will accept what is right.", "dispositions"},
		{"a choice", "## Adjudication\n\n**Disposition:** ACCEPT | MODIFY | REJECT", "without a disposition"},
		{"in two places", "## Findings\n\n| Finding | Severity |\n|---|---|\n| F-1 | HIGH |\n| F-2 | LOW |\n\n## Adjudication\n\n### F-1\n\nDisposition: ACCEPT\n\n### F-2\n\nDisposition: REJECT", ""},
	} {
		r := judge(t, "INT_T1", wrap(c.text))
		if c.want == "" && r.Status != Pass || c.want != "" && !strings.Contains(r.reason(), c.want) {
			t.Errorf("%s: want %q: %s", c.name, c.want, r.reason())
		}
	}
}

// TestAllProbabilities has one that cannot be behind one that can.
func TestAllProbabilities(t *testing.T) {
	for _, phrase := range []string{"- **P(S1):** 135%", "P(S1) = 1.35", "## S1 again\n\nProbability: 135%", "| Scenario | P |\n|---|---|\n| S1 | 35% |\n| S1 | 135% |", "S1: P = -5%", "```json\n{\"scenarios\": [{\"id\": \"S1\", \"P\": 0.35, \"P_posterior\": 1.4}]}\n```", "| Estimate | S1 | S2 | S3 |\n|---|---|---|---|\n| Probability | 135% | 20% | 10% |"} {
		r := judge(t, "SCENARIO_T1", strings.Replace(good(t, "SCENARIO_T1"), "## Summary", phrase+"\n\n## Summary", 1))
		if len(r.Issues)+len(r.Warnings) == 0 {
			t.Errorf("%s: %s", phrase, r.reason())
		}
	}
	for _, phrase := range []string{"P(IVPS < 10) = 140", "P10 of S1: 146.96", "P50: 188.00; variance: 995.6", "```json\n{\"S1\": {\"p10\": 146.9, \"p50\": 188.0, \"variance\": 995.6}}\n```", "Base rate of S1: 28%", "S1's P/E is 14.5.", "P2 Status: PASS"} {
		if r := judge(t, "SCENARIO_T1", strings.Replace(good(t, "SCENARIO_T1"), "## Summary", phrase+"\n\n## Summary", 1)); r.Status != Pass {
			t.Errorf("%s: %s", phrase, r.reason())
		}
	}
}

// TestDivergence has lines that flag that X_REFINE is 0.4 above X_T1, and
// lines that do not.
func TestDivergence(t *testing.T) {
	text := both(swap("1.8", "2.0"), once("X_final = 1.7\n", "X_final = 1.8\n"), once(`{"value": 1.7}`, `{"value": 1.8}`), once("|X_REFINE - X_T1| = |2.0 - 1.6| = 0.2 < 0.3\n\n", ""))(t, good(t, "BASE_REFINE"))
	for line, want := range map[string]string{
		"|X_REFINE - X_T1| = |2.0 - 1.6| = 0.4 > 0.3 → FLAG":                           Pass,
		"|X_REFINE - X_T1| = 0.4 > 0.3":                                                Pass,
		"X_REFINE exceeds X_T1 by 0.4, which is flagged for review.":                   Pass,
		"The gap between X_T1 and X_REFINE (0.4) exceeds 0.3 and is flagged.":          Pass,
		"| Check | Result |\n|---|---|\n| abs(X_REFINE - X_T1) > 0.3 | YES, FLAGGED |": Pass,
		"ΔX = 0.4 > 0.3, flagged":                                                      Pass,
		"$|X_{REFINE} - X_{T1}| = 0.4 > 0.3$":                                          Pass,
		"X divergence 0.4 exceeds 0.3":                                                 Pass,
		"```json\n{\"note\": \"X_REFINE exceeds X_T1 by 0.4: flagged\"}\n```":          Pass,
		"|X_REFINE - X_T1| = |2.0 - 1.6| = 0.4":                                        Warn,
		"|X_REFINE - X_T1| > 0.3? No.":                                                 Warn,
		"If |X_REFINE - X_T1| > 0.3, it is flagged.":                                   Warn,
		"X_REFINE exceeds 1.0 by 1.0.":                                                 Warn,
		"X_REFINE is not flagged against X_T1.":                                        Warn,
		"Fuel is a significant factor.":                                                Warn,
		"```json\n{\"X_REFINE\": {\"t1\": \"a significant factor\"}}\n```":             Warn,
	} {
		r := judge(t, "BASE_REFINE", once("**Divergence Check:** PASS - No material disagreement.", line)(t, text))
		if r.Status != want {
			t.Errorf("%s: want %s: %s", line, want, r.reason())
		}
	}
}

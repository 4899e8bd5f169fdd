package capy

import (
	"strings"
	"testing"
)

// wrap makes an output around what a stage asks for, written in another way
// than the good outputs have it.
func wrap(parts ...string) string {
	return "# Alder Marine plc\n\n" + strings.Repeat("The routes, the ports and the ships are as the company reports them. ", 9) + "\n\n" + strings.Join(parts, "\n\n") + "\n\n**End of output**\n"
}

func jsonFence(s string) string { return "```json\n" + s + "\n```" }

func tabled(rows ...string) string {
	return rows[0] + "\n" + strings.Repeat("|---", strings.Count(rows[0], "|")-1) + "|\n" + strings.Join(rows[1:], "\n")
}

// TestForms has what real outputs do in many ways: each form with what it must
// come to, "" for PASS, else a part of the first finding.
func TestForms(t *testing.T) {
	for _, c := range []struct{ name, stage, text, want string }{
		// Scenarios.
		{"JSON list", "SCENARIO_T1", wrap(jsonFence(`{"scenarios": [
{"scenario_id": "S1_TUNNEL", "P_posterior": 0.35, "M_impact": {"ivps_delta_pct": -0.18}},
{"scenario_id": "S2_EMISSIONS", "probability": {"base_rate": 0.4, "posterior": 0.45}, "magnitude": "-$15 to -$25 per share"},
{"id": "S3", "P": "20%", "M": "+5%"},
{"name": "S4: Award", "prob": 0.25, "intervention": {"driver": "Sailings", "value": 0.06}}]}`)), ""},
		{"JSON keys", "SCENARIO_T1", wrap(jsonFence(`{"S1": {"P": 0.3, "M": -0.1}, "S2": {"P": 0.3, "M": -0.1}, "S3_MERGER": {"P": 0.3, "M": -0.1}, "Scenario_4": {"P": 0.3, "M": -0.1}}`)), ""},
		{"JSON maps", "SCENARIO_T1", wrap(jsonFence(`{"probabilities": {"S1": 0.3, "S2": 0.3, "S3": 0.3, "S4": 0.3}, "magnitudes": 1, "impact": {"S1": -1.5, "S2": 2, "S3": 1, "S4": 1}}`)), ""},
		{"JSON without one M", "SCENARIO_T1", wrap(jsonFence(`{"S1": {"P": 0.3, "M": -0.1}, "S2": {"P": 0.3, "M": null}, "S3": {"P": 0.3, "M": -0.1}, "S4": {"P": 0.3, "M": -0.1}}`)), "S2 has no M"},
		{"table of columns", "SCENARIO_T1", wrap(tabled("| Estimate | S1 | S2 | S3 | S4 |", "| Probability | 30% | 20% | 10% | 5% |", "| Magnitude | -5% | -4% | -3% | +2% |")), ""},
		{"table with a name", "SCENARIO_T1", wrap(tabled("| ID | Scenario | P(Base) | P(Posterior) | M (IVPS impact) |", "| S1 | Bore | 28% | 35% | -$1.10 |", "| S2 | Charge | 40% | 45% | -$0.55 |", "| S3 | Merger | 20% | 20% | +$0.40 |", "| S4 | Award | 25% | 25% | +$0.30 |")), ""},
		{"table without its M", "SCENARIO_T1", wrap(tabled("| ID | P | M |", "| S1 | 28% | -$1.10 |", "| S2 | 45% | -$0.55 |", "| S3 | 20% | TBD |", "| S4 | 25% | +$0.30 |")), "S3 has no M"},
		{"sections", "SCENARIO_T1", wrap("## Scenario 1: Bore\n\n- Base rate: 28%\n- Posterior P = 35%\n- Magnitude estimate: −18%", "## Scenario 2 — Charge\n\nP(S2) = 0.45; M(S2) = -0.08", "## S3 (Merger)\n\n**P:** 0.2\n\n**M:** 0.05", "## S4_AWARD\n\n**Probability:** 25%\n**Impact:** +$0.30 per share"), ""},
		{"one line", "SCENARIO_T1", wrap("## S1\n\n## S2\n\n## S3\n\n## S4", "P(S1) = 0.3, P(S2) = 0.2, P(S3) = 0.1, P(S4) = 0.4", "M(S1) = -0.3, M(S2) = -0.2, M(S3) = -0.1, M(S4) = 0.4"), ""},
		{"bold lines", "SCENARIO_T1", wrap("**S1: Bore**\n- P: 0.3\n- M: -10%", "**S2: Charge**\n- P: 0.3\n- M: -10%", "**S3: Merger**\n- P: 0.3\n- M: -10%", "**S4: Award**\n- P: 0.3\n- M: 10%"), ""},
		{"values with notes", "SCENARIO_T1", wrap(tabled("| ID | P | M |", "| S1 | 28%[^1] | -$1.10<sup>1</sup> |", "| S2 | 45% | -$0.55 |", "| S3 | 20% | $0.30 |", "| S4 | 25% | +$0.30 |")), ""},
		{"no value but a note", "SCENARIO_T1", wrap(tabled("| ID | P | M |", "| S1 | 28% | N/A[^2] |", "| S2 | 45% | -$0.55 |", "| S3 | 20% | n/a<sup>1</sup> |", "| S4 | 25% | +$0.30 |")), "S1 has no M"},
		{"no value but another column's", "SCENARIO_T1", wrap("## S1", tabled("| Estimate | Value | Notes |", "| P | 28% | see note 1 |", "| M | TBD | see note 2 |"), "## S2\n\nP: 0.2, M: 3", "## S3\n\nP: 0.2, M: 3", "## S4\n\nP: 0.2, M: 3"), "S1 has no M"},
		{"P behind a dash", "SCENARIO_T1", wrap("## S1", "**P** — 0.35", "**M** — -2%", "## S2\n\nP – 0.2; M: 3", "## S3\n\nP: 0.2, M: 3", "## S4\n\nP: 0.2, M: 3"), ""},
		{"P behind a dash, above one", "SCENARIO_T1", wrap(fourScenarios, "S2: **Probability (P)** — 1.45"), "145%"},
		{"signs for M", "SCENARIO_T1", wrap("## S1", "**P_posterior:** 73%", "ΔIVPS: -$52", "## S2", "Final P: 0.2\n\nImpact on the shares: (M) = +3%", "## S3", "P: 0.2\n\nMagnitude (M): growth falls from 9.8% to 5.0%", "## S4", "P: 0.2\n\nIVPS impact: +$40"), ""},
		{"P of each in a line", "SCENARIO_T1", wrap("P: S1 30%, S2 40%, S3 20%, S4 10%", "M: S1 -12%; S2 -10%; S3 +2%; S4 +3%"), ""},
		{"P of each in a line but one", "SCENARIO_T1", wrap("## S3", "P: S1 30%, S2 40%, S4 10%", "M: S1 -12%; S2 -10%; S3 +2%; S4 +3%"), "S3 has no P"},
		{"P of each in a line, above one", "SCENARIO_T1", wrap("P: S1 30%, S2 140%, S3 20%, S4 10%", "M: S1 -12%; S2 -10%; S3 +2%; S4 +3%"), "140%"},
		{"P and M of each in a line", "SCENARIO_T1", wrap("S1: P = 0.3, M = -12%; S2: P = 0.4, M = -10%; S3: P = 0.2, M = 2%; S4: P = 0.1, M = 3%"), ""},
		{"P and M of each in a line but one M", "SCENARIO_T1", wrap("S1: P = 0.3; S2: P = 0.4, M = -10%; S3: P = 0.2, M = 2%; S4: P = 0.1, M = 3%"), "S1 has no M"},
		{"P and M side by side", "SCENARIO_T1", wrap("## S1\n\n**P / M:** 35% / -12%", "## S2\n\n**P / M:** 35% / -12%", "## S3\n\n**P / M:** 35% / -12%", "## S4\n\n**P / M:** 35% / -12%"), ""},
		{"P and M side by side, one to come", "SCENARIO_T1", wrap("## S1\n\n**P / M:** 35% / TBD", "## S2\n\n**P / M:** 35% / -12%", "## S3\n\n**P / M:** 35% / -12%", "## S4\n\n**P / M:** 35% / -12%"), "S1 has n"},
		{"not a probability", "SCENARIO_T1", wrap("## S1\n\n- P/E: 14.5\n- P&L effect: 3\n\nM = 2%", "S2 P: 0.2, M: 3", "S3 P: 0.2, M: 3", "S4 P: 0.2, M: 3"), "S1 has no P"},
		{"weighted impact is no probability", "SCENARIO_T1", wrap(tabled("| ID | P×M | P | M |", "| S1 | -0.4 | 28% | -$1.10 |", "| S2 | -0.2 | 45% | -$0.55 |", "| S3 | 0.1 | 20% | $0.40 |", "| S4 | 0.1 | 25% | +$0.30 |")), ""},
		{"P as a range", "SCENARIO_T1", wrap("## S1", "**P:** 35–40%", "**M:** 2%", "## S2", "P: 0.2 to 0.3; M: 3", "## S3", tabled("| P | M |", "| 20-25% | 3 |"), "## S4", "P: 0.2, M: 3", tabled("| ID | P | M |", "| S3 | 20–25% | -$0.10 |")), ""},
		{"P of occurrence", "SCENARIO_T1", wrap("## S1", "**Probability of occurrence:** 35%", "M: 2%", "## S2", "Likelihood of occurrence = 0.2; M: 3", "## S3", "Pr(S3) = 20%, M: 3", "## S4", "P: 0.2, M: 3"), ""},
		{"P of something else", "SCENARIO_T1", wrap("## S1", "Probability of the tunnel's delay is not known; 3 bids are in.", "M: 2%", "S2 P: 0.2, M: 3", "S3 P: 0.2, M: 3", "S4 P: 0.2, M: 3"), "S1 has no P"},
		{"table of tags", "SCENARIO_T1", wrap("<table><tr><th>Scenario</th><th>P</th><th>M</th></tr><tr><td>S1</td><td>35%</td><td>-12%</td></tr><tr><td>S2</td><td>45%</td><td>-8%</td></tr>\n<tr><td>S3</td><td>20%</td><td>5%</td></tr>\n<tr>\n<td>S4</td>\n<td>25%</td>\n<td>4%</td>\n</tr>\n</table>"), ""},
		{"table of tags without one M", "SCENARIO_T1", wrap("<table>\n<thead><tr><th>Scenario</th><th>P</th><th>M</th></tr></thead>\n<tbody>\n<tr><td>S1</td><td>35%</td><td>-12%</td></tr>\n<tr><td>S2</td><td>45%</td><td>-8%</td></tr>\n<tr><td>S3</td><td>20%</td><td>N/A</td></tr>\n<tr><td>S4</td><td>25%</td><td>4%</td></tr>\n</tbody></table>"), "S3 has no M"},
		{"table of tags without an end", "SCENARIO_T1", wrap("<table><tr><td>S1</td><td>35%", "## S1\n\nP: 0.2, M: 3", "## S2\n\nP: 0.2, M: 3", "## S3\n\nP: 0.2, M: 3", "## S4\n\nP: 0.2, M: 3"), ""},
		{"list of terms", "IRR_T1", wrap("## A.13 Resolution Timeline", "<dl>\n<dt>CR</dt><dd>0.22</dd>\n<dt>τ</dt><dd>0.60</dd>\n</dl>"), ""},
		{"list of terms in many lines", "BASE_T2", wrap("## A.7 LIGHTWEIGHT VALUATION SUMMARY", "<dl>\n  <dt>IVPS</dt>\n  <dd>£7.25</dd>\n  <dt>Discount Rate (DR)</dt>\n  <dd>12.7%</dd>\n</dl>"), ""},
		{"list of terms, one to come", "IRR_T1", wrap("## A.13 Resolution Timeline", "<dl>\n<dt>CR</dt><dd>TBD</dd>\n<dt>τ</dt><dd>0.60</dd>\n</dl>"), "CR derivation named, but without a number"},
		{"list of terms with a high DR", "BASE_T2", wrap("## A.7 LIGHTWEIGHT VALUATION SUMMARY", "<dl><dt>IVPS</dt><dd>£7.25</dd><dt>DR</dt><dd>17.5%</dd></dl>"), "DR at 17.5%"},
		{"list of terms too early", "BASE_REFINE", strings.Replace(good(t, "BASE_REFINE"), "\n---\n", "\n<dl>\n<dt>IVPS</dt>\n<dd>$14.72</dd>\n</dl>\n\n---\n", 1), "IVPS as 14.72"},
		// Several behind one label.
		{"E[IVPS] of State 4 beside that of State 3", "INT_T1", wrap("## Adjudication\n\n- F-1: ACCEPT", "E[IVPS]: State 3 £6.61 → State 4 £6.40"), "E[IVPS] as 6.4"},
		{"E[IVPS] of State 3 beside that of State 2", "INT_T1", wrap("## Adjudication\n\n- F-1: ACCEPT", "E[IVPS]: State 3 £6.61; IVPS: State 2 £6.98, State 1 £7.25"), ""},
		{"E[IVPS]_4", "INT_T1", wrap("## Adjudication\n\n- F-1: ACCEPT", "E[IVPS]_4 = £6.40"), "E[IVPS] as 6.4"},
		{"E[IVPS]_3", "INT_T1", wrap("## Adjudication\n\n- F-1: ACCEPT", "E[IVPS]_3 = £6.61"), ""},
		{"grade in tags", "SC", wrap("# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n## Findings\n\n1. F-1: it fades.", "<ul>\n<li><strong>Pipeline Fit Grade:</strong> B+</li>\n</ul>"), ""},
		{"grade in tags, to come", "SC", wrap("# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n## Findings\n\n1. F-1: it fades.", "<ul>\n<li><strong>Pipeline Fit Grade:</strong> TBD</li>\n</ul>"), "Pipeline Fit grade named, but without a grade"},
		{"names over values", "SC", wrap("# A.11 AUDIT REPORT\n\n## Findings\n\n1. F-1: it fades.", "**Execution context**\n\nmodel 2\n\n**Pipeline Fit grade**\n\nB+"), ""},
		{"a variable for a value", "SC", wrap("# A.11 AUDIT REPORT\n\n## Findings\n\n1. F-1: it fades.", "**Execution context:** ${MODEL}\n\n**Pipeline Fit grade:** B+"), "execution_context named, but without a value"},
		{"a wide colon", "SC", wrap("# A.11 AUDIT REPORT\n\n## Findings\n\n1. F-1: it fades.", "Execution context：model 2\n\nPipeline Fit grade：B+"), ""},
		{"grade before a break", "SC", wrap("# A.11 AUDIT REPORT\n\n**Execution context:** model 2\n\n## Findings\n\n1. F-1: it fades.", "**Pipeline Fit Grade:** B+<br>\n**Auditor:** model 2"), ""},
		{"labels in full width", "SCENARIO_T1", wrap("## S1：流失\n\n- 概率（P）：20%\n- 幅度（M）：−¥6.50／股", "## S2\n\n- 概率（P）：35%\n- 幅度（M）：＋¥4.20／股", "## S3\n\n- 概率（P）：15%\n- 幅度（M）：−¥5.00／股", "## S4\n\n- 概率（P）：10%\n- 幅度（M）：＋¥3.00／股"), ""},
		{"labels in full width, one to come", "SCENARIO_T1", wrap("## S1：流失\n\n- 概率（P）：20%\n- 幅度（M）：−¥6.50／股", "## S2\n\n- 概率（P）：35%\n- 幅度（M）：待定", "## S3\n\n- 概率（P）：15%\n- 幅度（M）：−¥5.00／股", "## S4\n\n- 概率（P）：10%\n- 幅度（M）：＋¥3.00／股"), "S2 has no M"},
		{"questions under a platform each", "RQ_GEN", wrap("## A.8 Research Strategy Map", "*   **AlphaSense (AS):**\n    *   **RQ1:** Fuel?\n    *   **RQ2:** Tolls?\n    *   **RQ3:** Yield?\n*   **Gemini Deep Research (GDR):**\n    *   **RQ4:** Ports?\n    *   **RQ5:** Ships?\n    *   **RQ6:** Rules?"), ""},
		{"questions under a platform each, in lines", "RQ_GEN", wrap("## A.8 Research Strategy Map", "AS:\nRQ1 - fuel\nRQ2 - tolls\nRQ3 - yield\nGDR:\nRQ4 - ports\nRQ5 - ships\nRQ6 - rules"), ""},
		{"questions under a platform each, one too many", "RQ_GEN", wrap("## A.8 Research Strategy Map", "AS:\nRQ1 - fuel\nRQ2 - tolls\nRQ3 - yield\nRQ4 - ports\nGDR:\nRQ5 - ships\nRQ6 - rules"), "4 AS, 2 GDR"},
		{"questions under both platforms", "RQ_GEN", wrap("## A.8 Research Strategy Map", "Questions for AS and GDR:\nRQ1 - fuel\nRQ2 - tolls\nRQ3 - yield\nRQ4 - ports\nRQ5 - ships\nRQ6 - rules"), "6 without a platform"},
		// JSON outside of fences.
		{"bare JSON", "IRR_T2", wrap("{\n  \"A.14_IRR_ANALYSIS\": {\n    \"expected_irr\": 0.118,\n\n    \"probability_above_hurdle\": 0.412\n  }\n}"), ""},
		{"bare JSON in a line", "IRR_T2", wrap("The kernel's:", `{"A.14_IRR_ANALYSIS": {"E_IRR": 0.118, "P_IRR_gt_hurdle": 0.412}}`), ""},
		{"bare JSON without a value", "IRR_T2", wrap(`{"A.14_IRR_ANALYSIS": {"E_IRR": 0.118, "P_IRR_gt_hurdle": null}}`), "P(IRR > Hurdle) has no value"},
		{"bare JSON out of bounds", "IRR_T2", wrap(`    {"A.14_IRR_ANALYSIS": {"E_IRR": 0.118, "P_IRR_gt_hurdle": -0.4}}`), "-40%"},
		{"bare JSON of scenarios without one M", "SCENARIO_T1", wrap("{\n\"S1\": {\"P\": 0.3, \"M\": -0.1},\n\"S2\": {\"P\": 0.3, \"M\": null},\n\"S3\": {\"P\": 0.3, \"M\": -0.1},\n\"S4\": {\"P\": 0.3, \"M\": -0.1}\n}"), "S2 has no M"},
		{"bare JSON of scenarios", "SCENARIO_T1", wrap("{\n\"S1\": {\"P\": 0.3, \"M\": -0.1},\n\"S2\": {\"P\": 0.3, \"M\": -0.1},\n\"S3\": {\"P\": 0.3, \"M\": -0.1},\n\"S4\": {\"P\": 0.3, \"M\": -0.1}\n}"), ""},
		{"bare JSON under a bold line", "IRR_T2", wrap("**A.14 IRR Analysis**", `{"E_IRR": 0.118, "P_IRR_gt_hurdle": 0.412}`), ""},
		{"bare JSON under a label", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", "One change.", "**state_4_active_inputs:**\n\n{\n  \"Yield\": 0.03\n}"), ""},
		{"bare JSON that is none", "IRR_T2", wrap("## A.14 IRR Analysis", "{\nE[IRR]: 11.8%\nP(IRR > Hurdle): 41.2%\n}"), ""},
		{"bare JSON with a value that only the kernel computes", "IRR_T1", wrap("## CR Derivation\n\nCR = 0.22", "## A.13 Resolution Timeline\n\nτ of S1: 0.6", `[{"irr": {"expected": 0.118}}]`), "E[IRR] as 0.118"},
		// Joint states where there must be none yet.
		{"joint table of scenarios", "SCENARIO_T1", wrap(fourScenarios, tabled("| S1 | S2 | P(joint) |", "| 0 | 0 | 0.36 |", "| 1 | 1 | 0.64 |")), "probabilities of 2 joint states"},
		{"joint list under a label", "SCENARIO_T1", wrap(fourScenarios, "JPD:\n- S1 only: 0.20\n- S2 only: 0.45\n- none: 0.35"), "probabilities of 3 joint states"},
		{"joint list under a heading", "SCENARIO_T1", wrap(fourScenarios, "### Joint Probability Distribution\n\n- P(00) = 20%\n- P(01) = 80%"), "probabilities of 2 joint states"},
		{"joint list to come", "SCENARIO_T1", wrap(fourScenarios, "JPD:\n- 00: computed in T2\n- S1 and S2: TBD\n\nThe base rates:\n- none: 0.2\n- S1 and S2: 0.3"), ""},
		{"scenarios under a JPD to come", "SCENARIO_T1", wrap(fourScenarios, "### JPD inputs for joint states\n\n- S1: 0.35\n- S2: 0.45\n- Correlation of S1 and S2: 0.3\n- States: 16"), ""},
		// Expectations.
		{"joint list", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- none: 0.5\n- S1: 0.3\n- S1, S2: 0.2"), ""},
		{"joint list that sums to little", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- 00: 0.5\n- 01: 0.3"), "the 2 joint states sum to 0.8"},
		{"joint list of P that sums to little", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- **P(00)** = 0.5 (£6.98)\n- **P(01)** = 30%\n- **P(¬S1 ∩ S2)** = 0.1"), "joint states sum to"},
		{"joint list of labels that sums to little", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- **none:** P = 50% | IVPS = $6.98\n- **S1 only:** P = 20% | IVPS = $5"), "the 2 joint states sum to 0.7"},
		{"joint list of labels of some", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "**High-Probability States:**\n1. **none:** P = 50% | IVPS = $6.98\n2. **S1 only:** P = 20% | IVPS = $5"), ""},
		{"joint table and JSON that disagree", "SCENARIO_T2", wrap(scenarioModel, "### JPD", tabled("| State | Probability |", "| 00 | 0.5 |", "| 01 | 0.3 |"), jsonFence(`{"JPD": {"00": 0.5, "01": 0.5}}`)), "the 2 joint states sum to 0.8"},
		{"joint table and JSON that has more", "SCENARIO_T2", wrap(scenarioModel, "### JPD", tabled("| State | Probability |", "| 00 | 0.5 |", "| 01 | 0.3 |"), jsonFence(`{"JPD": {"00": 0.5, "01": 0.3, "10": 0.2}}`)), ""},
		{"joint table with its total behind", "SCENARIO_T2", wrap(scenarioModel, "### JPD", tabled("| # | State | Probability |", "| 1 | 00 | 0.5 |", "| 2 | 01 | 0.5 |", "| 3 | Total | 1.00 |")), ""},
		{"joint table of conditions", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "JPD: 4 rows", tabled("| State | Conditional probability |", "| 00 | 0.9 |", "| 01 | 0.8 |")), ""},
		{"joint list in a fence", "SCENARIO_T2", wrap(scenarioModel, "### Joint-Probability Distribution (JPD)", "```\n00: 0.2\n01: 0.9\n```"), "the 2 joint states sum to 1.1"},
		{"joint list with its total", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- 00: 0.5\n- 01: 0.3\n- Total: 1.0 of 16 states"), ""},
		{"joint list of the top", "SCENARIO_T2", wrap(scenarioModel, "### JPD: Top 2 of 4 states", "- 00: 0.5\n- 01: 0.3"), ""},
		{"joint list of values", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "JPD: 0.2, 0.8", "- 00: £6.98\n- 01: £5.98\n- Feasible: 12\n- Mean: 6.61"), ""},
		{"joint list with one that cannot be", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- 00: 0.5\n- 01: 0.4\n- 11: -0.1"), "-10%"},
		{"joint table of tags", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "<table><tr><th>State</th><th>Probability</th></tr><tr><td>00</td><td>0.5</td></tr><tr><td>01</td><td>0.3</td></tr></table>"), "the 2 joint states sum to 0.8"},
		{"joint states in a map", "SCENARIO_T2", wrap("## A.10: SSE/JPD", jsonFence(`{"E[IVPS]": 12.85, "SSE": {"n": 16}, "scenario_probabilities": {"S1": 0.9, "S2": 0.95}, "JPD": {"0000": 0.5, "0001": 0.3, "0010": 0.2}}`)), ""},
		{"joint states in a list of another name", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", "E[IVPS] = BRL 12.85 (USD 2.34), SSE = 16 states", "JPD: 3 states in all.", tabled("| S | P | M |", "| S1 | 0.9 | 1 |", "| S2 | 0.95 | 1 |"), jsonFence(`{"distribution": [{"state": "none", "probability": 0.5, "ivps": 12}, {"state": "S1", "probability": 0.3, "ivps": 0}, {"state": "S1,S2", "probability": 0.2, "ivps": 3}]}`)), ""},
		{"joint states all and some", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", jsonFence(`{"E_IVPS": {"value": 12.85}, "SSE_states": 4, "joint_states": {"all": [{"id": 0, "p": 0.6}, {"id": 1, "p": 0.4}], "top_states": [{"id": 0, "p": 0.6}, {"id": 1, "p": 0.2}]}}`)), ""},
		{"joint states in percent", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", "Expected IVPS: $12.85. SSE: 4 states.", "### JPD", tabled("| # | S1 | S2 | S3 | S4 | Probability | IVPS |", "| 1 | 0 | 0 | 0 | 0 | 60% | $13 |", "| 2 | 1 | 0 | 0 | 0 | 38% | $0 |", "| 3 | 1 | 1 | 1 | 1 | 2% | $0 |")), ""},
		{"joint states that sum to little", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", "Expected IVPS: $12.85. SSE: 4 states.", "### JPD", tabled("| State | P(state) |", "| 0 | 0.5 |", "| 1 | 0.3 |")), "joint states sum to 0.8"},
		{"joint states that are the top", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", "Expected IVPS: $12.85. SSE: 4 states.", "### JPD: Top 2 of 4 states", tabled("| State | P(state) |", "| 0 | 0.5 |", "| 1 | 0.3 |")), ""},
		{"mean of a distribution", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", jsonFence(`{"ivps_distribution": {"mean": 12.85, "p10": -1.2}, "SSE": 16, "JPD": {"a": 0.5, "b": 0.5}}`)), ""},
		{"marginals that sum to one", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", "E[IVPS]: $12.85\n\nSSE: 16 states\n\nJPD: 16 rows", tabled("| S | P | M |", "| S1 | 0.4 | 1 |", "| S2 | 0.3 | 1 |", "| S3 | 0.2 | 1 |", "| S4 | 0.1 | 1 |")), ""},
		{"probability below nothing", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", "E[IVPS]: $12.85\n\nSSE: 16 states", jsonFence(`{"JPD": {"a": 1.1, "b": -0.1}}`)), "-10%"},
		{"joint states in JSON to come", "SCENARIO_T2", wrap(scenarioModel, jsonFence(`{"JPD": [{"state": "none", "probability": null, "IVPS": 6.98}, {"state": "S1,S4", "probability": "TBD", "IVPS": 7.28}]}`)), "JPD named, but without a number"},
		{"joint states in JSON, one to come", "SCENARIO_T2", wrap(scenarioModel, jsonFence(`{"JPD": [{"state": "none", "probability": 1.0, "IVPS": null}, {"state": "S1,S4", "probability": null, "IVPS": 7.28}]}`)), ""},
		{"joint states by their bits to come", "SCENARIO_T2", wrap(scenarioModel, jsonFence(`{"JPD": {"0000": null, "1001": "TBD"}}`)), "JPD named, but without a number"},
		{"joint states by their bits, one to come", "SCENARIO_T2", wrap(scenarioModel, jsonFence(`{"JPD": {"0000": 0.4, "0001": null, "1001": 0.6}}`)), ""},
		{"joint list to come beside values", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- none: TBD, IVPS £6.98\n- S1, S4: TBD, IVPS £7.28"), "JPD named, but without a number"},
		{"joint list, one to come", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "- none: 0.4, IVPS £6.98\n- S1: TBD, IVPS £6.10\n- S1, S4: 0.6, IVPS £7.28"), ""},
		{"joint states to come, but one in prose", "SCENARIO_T2", wrap(scenarioModel, "### JPD", tabled("| State | P | IVPS |", "| none | TBD | £6.98 |"), "Joint probability of S1 and S4: 0.3"), ""},
		{"joint states in words", "SCENARIO_T2", wrap(scenarioModel, "### JPD", "The 4 joint states are drawn.", tabled("| State | Weight |", "| none | high |", "| S1 | 1/2 |")), ""},
		{"SSE to come in a list", "SCENARIO_T2", wrap(scenarioModel[:strings.Index(scenarioModel, "SSE")], "JPD: 16 rows of 0.06", "### State Enumeration", "The states are these:\n\n- **none**: TBD\n- **S1, S4**: not computed"), "SSE named, but without a value"},
		{"SSE in a list, one to come", "SCENARIO_T2", wrap(scenarioModel[:strings.Index(scenarioModel, "SSE")], "JPD: 16 rows of 0.06", "### State Enumeration", "The states are these:\n\n- **none**: TBD\n- **S1, S4**: feasible"), ""},
		{"State 4 behind a label to come", "INT_T2", wrap("## A.12_INTEGRATION_TRACE\n\nThe trace of four states.", "**State 4 Active Inputs:**", tabled("| Driver | Value |", "| Yield | TBD |")), "state_4_active_inputs named, but without a value"},
		{"State 4 behind a label, one to come", "INT_T2", wrap("## A.12_INTEGRATION_TRACE\n\nThe trace of four states.", "**State 4 Active Inputs:**", tabled("| Driver | Value |", "| Yield | TBD |", "| Fade | 6 |")), ""},
		{"State 4 behind a label, in the second table", "INT_T2", wrap("## A.12_INTEGRATION_TRACE\n\nThe trace of four states.", "**State 4 Active Inputs:**", tabled("| Driver | Value |", "| Yield | TBD |"), tabled("| Driver | Value |", "| Fade | 6 |")), ""},
		{"bold A.7 over placeholders", "BASE_T2", wrap("The log says IVPS = $7.25.", "**A.7 Valuation Summary**", tabled("| Metric | Value |", "| ROIC | TBD |")), "Missing A.7"},
		{"bold A.7 over placeholders in a fence", "BASE_T2", wrap("The log says IVPS = $7.25.", "**A.7 Valuation Summary**", "```\nMetric   Value\n------   -----\nROIC     TBD\n```"), "Missing A.7"},
		{"bold A.7 over placeholders and values", "BASE_T2", wrap("The log says IVPS = $7.25.", "**A.7 Valuation Summary**", tabled("| Metric | Value |", "| ROIC | TBD |"), tabled("| Metric | Value |", "| DR | 12% |")), ""},
		{"A.7 over placeholders and a sentence", "BASE_T2", wrap("## A.7 Valuation Summary", tabled("| Metric | Value |", "| ROIC | TBD |"), "The kernel gives an IVPS of $7.25."), ""},
		// Integration, audit, IRR.
		{"dispositions by heading", "INT_T1", wrap("### F-1 — Disposition: ACCEPT (MODIFIED)", "The base rate wins."), ""},
		{"dispositions by label", "INT_T1", wrap("### F-1", "**Disposition:** REJECTED", "It is not so."), ""},
		{"dispositions by list", "INT_T1", wrap("## Adjudication", "- F-1: upheld", "- F-2: dismissed"), ""},
		{"dispositions to come", "INT_T1", wrap("## Adjudication", "**Disposition:** [PENDING]"), "without a disposition"},
		{"state 4 as a heading", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", "### State 4 Active Inputs", tabled("| Driver | Value |", "| Yield | 0.03 |")), ""},
		{"state 4 in one word", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", jsonFence(`{"state4_active_inputs": {"Yield": 0.03}}`)), ""},
		{"state 4 in camels", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", jsonFence(`{"State4ActiveInputs": {"Yield": 0.03}}`)), ""},
		{"state 3 in one word", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", jsonFence(`{"state3_active_inputs": {"Yield": 0.03}}`)), "Missing state_4_active_inputs"},
		{"dispositions in a table of tags", "INT_T1", wrap("## Adjudication", "<table><tr><th>Finding</th><th>Disposition</th></tr><tr><td>F-1</td><td>ACCEPT</td></tr><tr><td>F-2</td><td>REJECT</td></tr></table>"), ""},
		{"dispositions in a table of tags, one to come", "INT_T1", wrap("## Adjudication", "<table><tr><th>Finding</th><th>Disposition</th></tr><tr><td>F-1</td><td>ACCEPT</td></tr><tr><td>F-2</td><td>TBD</td></tr></table>"), "Finding F-2 has no disposition"},
		{"narratives by turns in parentheses", "INT_T3", wrap("## Part A: Enrichment", narrative, "## Part B: Scenario", narrative, "## Part C: INT (Turn 1)", narrative, "## Integration (T2)", narrative), ""},
		{"narratives by turns with a backslash", "INT_T3", wrap("## Part A: Enrichment", narrative, "## Part B: Scenario", narrative, "## Part C: INT\\_T1", narrative, "## Part D: INT\\_T2", narrative), ""},
		{"narratives by one turn", "INT_T3", wrap("## Part A: Enrichment", narrative, "## Part B: Scenario", narrative, "## Part C: INT (Turn 1)", narrative, "## Integration (T1)", narrative), "Missing the INT T2 narrative"},
		{"state 4 empty", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", jsonFence(`{"state_4_active_inputs": {}}`)), "without a value"},
		{"state 4 as it was", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", "One change.", "### State 4 Active Inputs", "Unchanged from State 3.", "## Rest"), "without a value"},
		{"state 4 as it was in a line", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", "One change.", "**state_4_active_inputs:** same as State 3"), "without a value"},
		{"state 4 with a backslash", "INT_T2", wrap("## A.12_INTEGRATION_TRACE", "One change.", "**state\\_4\\_active\\_inputs:** DR 12.7%, Yield 3%"), ""},
		{"state 4 in capitals", "INT_T2", wrap(jsonFence(`{"A.12_INTEGRATION_TRACE": {"STATE_4_ACTIVE_INPUTS": {"DR": 0.12}}}`)), ""},
		{"narratives by rules", "INT_T3", wrap("=== ENRICH NARRATIVE ===", narrative, "=== SCENARIO NARRATIVE ===", narrative, "=== INTEGRATION TURN 1 (ADJUDICATION) ===", narrative, "=== INTEGRATION T2 ===", narrative), ""},
		{"narratives by rules, one empty", "INT_T3", wrap("=== ENRICH NARRATIVE ===", narrative, "=== SCENARIO NARRATIVE ===", "=== INTEGRATION TURN 1 (ADJUDICATION) ===", narrative, "=== INTEGRATION T2 ===", narrative), "the SCENARIO narrative named"},
		{"narratives in prose", "INT_T3", wrap("The ENRICH, SCENARIO, INT T1 and INT T2 narratives are in other files."), "Missing the ENRICH narrative"},
		{"audit in JSON", "SC", wrap("## A.11_AUDIT_REPORT", jsonFence(`{"findings": [], "pipeline_fit": {"grade": "B"}, "execution_context": {"model": "x"}}`)), ""},
		{"audit with nulls", "SC", wrap("## A.11_AUDIT_REPORT", jsonFence(`{"findings": [], "pipeline_fit_grade": "N/A", "execution_context": {"model": "x"}}`)), "Pipeline Fit grade named, but without"},
		{"audit in tables", "SC", wrap("## COUNCIL REPORT (A.11)", tabled("| Item | Value |", "| Pipeline Fit Grade | A- |", "| Execution_Context | one model |"), tabled("| Finding | Severity |", "| F-1 | HIGH |")), ""},
		{"grade in words", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "### Pipeline Fit Assessment", "Overall grade B+ for a company of this kind.", "**Execution Context:** one model"), ""},
		{"findings of what is missing", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "- Missing base rates in A.5.\n- Not included in the DAG: fuel hedges.\n- Failed cross-check of A.6", "### Pipeline Fit Grade: B", "### Execution Context", "Error-free run of one model."), ""},
		{"findings in a line", "SC", wrap("## A11 AUDIT REPORT", "**Findings:** Missing base rates; failed cross-checks", "### Pipeline Fit Grade: B", "**Execution Context:** skipped"), "execution_context named, but without"},
		{"findings that are missing", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "- Skipped.", "### Pipeline Fit Grade: B", "**Execution Context:** one model"), "findings named, but without a value"},
		{"grade under a bold line", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "**Pipeline Fit Assessment**", "**Grade: B+**", "**Execution Context:** one model"), ""},
		{"grade under a bold line and a gap", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "**Pipeline Fit**", "B−", "**Execution Context:** one model"), ""},
		{"no grade under a bold line", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "**Pipeline Fit Assessment**", "The company fits.", "**Grade of the management: B+**", "**Execution Context:** one model"), "Pipeline Fit grade named, but without"},
		{"grade to come behind a tag", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "### Pipeline Fit", "<b>Grade:</b> TBD", "**Execution Context:** one model"), "Pipeline Fit grade named, but without"},
		{"grade behind a tag", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "### Pipeline\u00a0Fit", "<b>Grade:</b> B+", "**Execution\\_Context:** one model"), ""},
		{"grade with another minus", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "Pipeline Fit: A−", "**Execution Context:** one model"), ""},
		{"grade under tags", "SC", wrap("## A11 AUDIT REPORT", "### Findings", "One.", "<h3>Pipeline Fit</h3>", "Grade: B+", "<h3 id=\"x\">Execution Context</h3>", "One model."), ""},
		{"timeline", "IRR_T1", wrap("## A.13: τ Estimates", "CR_base = 0.20", "- τ_S1 = 0.6\n- τ_S2 = 0.7"), ""},
		{"timeline in JSON", "IRR_T1", wrap(jsonFence(`{"A.13_RESOLUTION_TIMELINE": {"cr_derivation": {"base": 0.2}, "rho_estimates": [{"id": "S1", "rho": 0.6}]}}`)), ""},
		{"timeline with a column to come", "IRR_T1", wrap("## A.13: Timeline", "CR_base = 0.20", tabled("| Scenario | ρ | Resolution |", "| S1 | TBD | 2027 |", "| S2 | TBD | 2028 |")), "τ estimates named, but without"},
		{"timeline with a column", "IRR_T1", wrap("## A.13: Timeline", "CR_base = 0.20", "Scenario | Resolution | **ρ** (estimate)\n---|---|---\nS1 | TBD | 60%\nS2 | TBD | ~0.7"), ""},
		{"timeline with nulls", "IRR_T1", wrap(jsonFence(`{"A.13_RESOLUTION_TIMELINE": {"cr_derivation": {"base": 0.2}, "rho": null}}`)), "τ estimates"},
		{"IRR in JSON", "IRR_T2", wrap(jsonFence(`{"A.14_IRR_ANALYSIS": {"E_IRR": 0.118, "P_IRR_gt_hurdle": 0.41}}`)), ""},
		{"IRR in a table", "IRR_T2", wrap("## A.14 — Return Distribution", tabled("| Metric | Value |", "| Expected IRR | 11.8% |", "| P(Beat Hurdle) | 41% |")), ""},
		{"IRR in JSON by its name", "IRR_T2", wrap("## A.14 IRR Analysis", jsonFence(`{"irr": {"expected": 0.118, "p10": -0.02, "prob_above_hurdle": 0.41}}`)), ""},
		{"IRR in JSON without one expected", "IRR_T2", wrap("## A.14 IRR Analysis", jsonFence(`{"irr": {"p50": 0.118, "prob_above_hurdle": 0.41}, "costs": {"expected": 0.2}}`)), "E[IRR] is not stated"},
		{"IRR with Pr", "IRR_T2", wrap("## A.14 IRR Analysis", "E(IRR): 0.118", "Pr(IRR > hurdle): 0.41"), ""},
		{"labels of one line, one to come", "IRR_T1", wrap("## A.13 Resolution Timeline", "CR: tbc; τ: 0.60."), "CR derivation named, but without a number"},
		{"labels of one line", "IRR_T1", wrap("## A.13 Resolution Timeline", "CR: 0.22; τ: 0.60."), ""},
		{"items, one of nothing", "IRR_T1", wrap("## A.13 Resolution Timeline", "- CR:\n- τ: 0.60"), "CR derivation named, but without a number"},
		{"items, one of an item", "IRR_T1", wrap("## A.13 Resolution Timeline", "- CR:\n  - 0.22\n- τ: 0.60"), ""},
		{"names over values", "IRR_T1", wrap("## A.13 Resolution Timeline", "**CR**\n\n0.22\n\n**τ**\n\n0.60"), ""},
		{"names over values to come", "IRR_T1", wrap("## A.13 Resolution Timeline", "**CR**\n\n[PENDING]\n\n**τ**\n\n0.60"), "CR derivation named, but without a number"},
		{"IRR in JSON too soon", "IRR_T1", wrap("## A.13: τ Estimates", "CR_base = 0.20", "- τ_S1 = 0.6", jsonFence(`{"irr": {"expected": 0.118}}`)), "E[IRR] as 0.118"},
		{"IRR in LaTeX", "IRR_T2", wrap("## A.14 IRR Analysis", `$$\mathbb{E}[\text{IRR}] = 11.8\%$$`, `$$P(\text{IRR} > 13.25\%) = 41.2\%$$`), ""},
		{"IRR in LaTeX that cannot be", "IRR_T2", wrap("## A.14 IRR Analysis", `$$\mathbb{E}[\text{IRR}] = 11.8\%$$`, `$$P(\text{IRR} > 13.25\%) = 141.2\%$$`), "141.2%"},
		{"IRR to come", "IRR_T2", wrap("## A.14 IRR Analysis", tabled("| Metric | Value |", "| E[IRR] | [TO BE CALCULATED] |", "| P(IRR > Hurdle) | 41% |")), "E[IRR] has no value"},
		// Questions.
		{"lists of two groups", "RQ_GEN", wrap("## A.8 Research Strategy Map", "### AlphaSense Queries", "1. **RQ1:** One\n2. **RQ2:** Two\n3. **RQ3:** Three", "### Gemini Deep Research Queries", "4. **RQ4:** Four\n5. **RQ5:** Five\n6. **RQ6:** Six"), ""},
		{"by platform", "RQ_GEN", wrap("## A.8 Research Strategy Map", "### AS-1: One\n\n### AS-2: Two\n\n### AS-3: Three\n\n### GDR-1: Four\n\n### GDR-2: Five\n\n### GDR-3: Six"), ""},
		{"by the platform's name", "RQ_GEN", wrap("## A.8 Research Strategy Map", "### AlphaSense-1: One\n\n### AlphaSense-2: Two\n\n### AlphaSense 3: Three\n\n### Gemini Deep Research 1: Four\n\n### Gemini Deep Research-2: Five\n\n### Gemini Deep Research-3: Six"), ""},
		{"five by the platform's name", "RQ_GEN", wrap("## A.8 Research Strategy Map", "### AlphaSense-1: One\n\n### AlphaSense-2: Two\n\n### AlphaSense-3: Three\n\n### Gemini-1: Four\n\n### Gemini-2: Five"), "5 RQs"},
		{"models and how many", "RQ_GEN", wrap("## A.8 Research Strategy Map", "### Gemini 2.5 Queries", "AlphaSense 3 queries, Gemini 3 Pro for the rest.", "### RQ1 (AS)\n\n### RQ2 (AS)\n\n### RQ3 (AS)\n\n### RQ4 (GDR)\n\n### RQ5 (GDR)"), "5 RQs"},
		{"platform as a label", "RQ_GEN", wrap("## A.8 Research Plan", "### RQ-1: One\n**Platform:** AS\n\n### RQ-2: Two\n**Platform:** AS\n\n### RQ-3: Three\n**Platform:** AlphaSense\n\n### RQ-4: Four\n**Platform:** GDR\n\n### RQ-5: Five\n**Platform:** GDR\n\n### RQ-6: Six\n**Platform:** Gemini Deep Research"), ""},
		{"without platforms", "RQ_GEN", wrap("## A.8 Research Plan", "### RQ1\n\n### RQ2\n\n### RQ3\n\n### RQ4\n\n### RQ5\n\n### RQ6"), "6 without a platform"},
		{"keys", "RQ_GEN", wrap(jsonFence(`{"A.8_RESEARCH_STRATEGY_MAP": {"AS": {"RQ1": {"q": "1"}, "RQ2": {"q": "1"}, "RQ3": {"q": "1"}}, "GDR": {"RQ4": {"q": "1"}, "RQ5": {"q": "1"}, "RQ6": {"q": "1"}}}}`)), ""},
		{"a range and the rejected", "RQ_GEN", wrap("## A.8 Research Plan for RQ1-RQ6", tabled("| RQ | Platform |", "| RQ1 | AS |", "| RQ2 | AS |", "| RQ3 | AS |", "| RQ4 | GDR |", "| RQ5 | GDR |", "| RQ6 | GDR |"), "## Rejected Questions", "- **RQ7:** Seven\n- **RQ8:** Eight"), ""},
		// X.
		{"X in a table", "BASE_REFINE", wrap(tabled("| Component | T1 | REFINE | Final |", "| X Multiplier | 1.85 | 2.10 | 1.98 |"), fiveArtifacts), ""},
		{"X in rows", "BASE_REFINE", wrap(tabled("| Item | Value |", "| T1 X | 1.85 |", "| REFINE X | 2.10 |", "| Final X (average) | 1.975 |"), fiveArtifacts), ""},
		{"X in JSON of another make", "BASE_REFINE", wrap(fiveArtifacts, jsonFence(`{"X_reconciliation": {"X_T1": 1.85, "X_REFINE": 2.1, "X_final": 1.98, "divergence": 0.25}}`)), ""},
		{"X in LaTeX", "BASE_REFINE", wrap("$X_{T1} = 1.85$, $X_{REFINE} = 2.10$", `$$X_{final} = \frac{1.85 + 2.10}{2} = 1.975$$`, fiveArtifacts), ""},
		{"X_final of T1 is T1's", "BASE_REFINE", wrap("X_T1 = 1.85\n\nT1 X_final: 1.85\n\nX_REFINE = 2.05\n\nX_final = 1.95", fiveArtifacts), ""},
		{"X_final inside X_REFINE alone", "BASE_REFINE", wrap(fiveArtifacts, jsonFence(`{"components": {"X_T1": {"value": 2.0}, "X_REFINE": {"value": 2.0, "X_final": 2.0}}}`)), ""},
		// Bounds that are none.
		{"segment without revenue", "BASE_T1", wrap(fiveArtifacts, jsonFence(`{"Y0_data": {"Revenue": 540, "segments": {"New": {"Revenue": 0, "Revenue_Growth": -1}}}}`)), ""},
		{"revenue of the company", "BASE_T1", wrap(fiveArtifacts, jsonFence(`{"Y0_data": {"financials": {"Revenue": {"value": -3}}}}`)), "Y0 revenue is -3"},
		{"DR of others", "BASE_T1", wrap(fiveArtifacts, "## Sensitivity", "- DR: 17.5%\n- **DR = 18%**", tabled("| DR | 17% |", "| DR | 18% |"), "## Rest", "Peer DR: 18%. If X = 3, DR = 19%. DR range: 12-18%. Bear case DR: 17%.", jsonFence(`{"revised": {"pessimistic": {"DR": 0.18}}, "schedule": [{"years": "1-3", "discount_rate": 0.18}], "cross_validation": {"DR": 0.2}, "GDR": 0.3}`)), ""},
		{"tornado row", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45", tabled("| Driver | IVPS Low | IVPS High | Swing |", "| Discount Rate | $171.57 | $234.46 | 31.6% |", "| ROIC | $171.57 | $234.46 | 531.6% |")), ""},
		{"g of a driver", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45. DR: 12%. g = 3%. Terminal growth: 2-30%."), ""},
		{"IVPS by its name", "BASE_T2", wrap("## A.7 Valuation Summary", jsonFence(`{"metrics": [{"name": "IVPS", "value": 23.45}]}`)), ""},
		{"IVPS by its name, below nothing", "BASE_T2", wrap("## A.7 Valuation Summary", jsonFence(`{"metrics": [{"name": "IVPS", "value": -23.45}]}`)), "IVPS is -23.45"},
		{"E[IVPS] by its name", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", jsonFence(`{"results": [{"metric": "E[IVPS]", "value": 12.85}], "SSE": {"n": 16}, "JPD": {"0000": 0.5, "0001": 0.3, "0010": 0.2}}`)), ""},
		{"g of a fraction", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45\n\nDR: 0.127\n\ng: 0.131"), "not below the DR of 12.7%"},
		{"g of a fraction in rows", "BASE_T2", wrap("## A.7 Valuation Summary", tabled("| Metric | Value |", "| IVPS | $23.45 |", "| DR | 0.127 |", "| g | 0.131 |")), "not below the DR of 12.7%"},
		{"g below in rows", "BASE_T2", wrap("## A.7 Valuation Summary", tabled("| Metric | Value |", "| IVPS | $23.45 |", "| DR | 0.127 |", "| g | 0.021 |")), ""},
		{"g without a link", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45", "DR 12.7%, g 13.1%"), "not below the DR of 12.7%"},
		{"g without a link, below", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45", "DR 12.7%, g 2.1%. A DR 17.7% and a DR 1.7% were looked at too."), ""},
		{"DR without a link", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45", "The terminal growth rate is 13.1%, the discount rate 12.7%."), "not below the DR of 12.7%"},
		{"g of early years", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45\n\nDR: 12.7%", "- Reverse DCF: g = 14%\n- Revenue CAGR g = 14%\n- Stage-1 growth g = 14% fading to 2.1%"), ""},
		{"basis points", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45", "DR: 1270 bps\n\ng: 1310 bps"), "not below the DR of 12.7%"},
		{"IVPS by steps", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: $23.45", "- DR +100 bps: IVPS -$0.80\n- Yield -1pt → IVPS -$1.35\n- IVPS −$0.80 per point of yield", tabled("| Shock | Effect |", "| DR +100bps | IVPS -$0.80 |"), "IVPS rank: 0. IVPS error: 0. Worst case: IVPS = -$0.40"), ""},
		{"IVPS in brackets", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: ($3.20)"), "IVPS is -3.2"},
		{"IVPS below nothing", "BASE_T2", wrap("## A.7 Valuation Summary", "The IVPS is -$0.80."), "IVPS is -0.8"},
		{"a second column", "ENRICH_T2", wrap("## A.7 Valuation Summary", "State 2 IVPS: $23.45", tabled("| Metric | BASE | ENRICH |", "| Terminal ROIC | Not reported | 240.9% |")), "ROIC at 240.9%"},
		{"decimal commas", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: 0,9 €\n\nDR: 12,7 %\n\nTerminal growth (g): 12,1 %"), ""},
		{"decimal commas over", "BASE_T2", wrap("## A.7 Valuation Summary", "IVPS: 0,9 €\n\nDR: 12,1 %\n\nTerminal growth (g): 12,7 %"), "12.7%, not below the DR of 12.1%"},
		{"X in decimal commas", "BASE_REFINE", wrap("X_T1 = 1,6\n\nX_REFINE = 1,8\n\nX_final = 1,9", fiveArtifacts), "the mean of X_T1 1.6 and X_REFINE 1.8 is 1.7"},
		{"X times", "BASE_REFINE", wrap("X_T1: 1.60x\n\nX_REFINE: 1.80x\n\nX_final: 1.70x", fiveArtifacts), ""},
		{"joint states in decimal commas", "SCENARIO_T2", wrap("## A.10 Scenario Model Output", "E[IVPS]: €12,85. SSE: 4 states.", "### JPD", tabled("| State | Probability |", "| 00 | 0,5 |", "| 01 | 0,5 |")), ""},
		{"g and DR in doubt", "BASE_T2", wrap("## A.7 Valuation Summary", jsonFence(`{"IVPS": 23.45, "DR": 12.0, "Terminal_g": 0.5}`)), "unless it is 0.5%"},
	} {
		t.Run(c.stage+"/"+c.name, func(t *testing.T) {
			r := judge(t, c.stage, c.text)
			found := append(r.Issues, r.Warnings...)
			if c.want == "" && r.Status != Pass || c.want != "" && (len(found) == 0 || !strings.Contains(found[0].Message, c.want)) {
				t.Errorf("want %q\n%s\n%s", c.want, r.Text(), c.text)
			}
		})
	}
}

const fiveArtifacts = "### A.1 Epistemic Anchors\n\nGuidance.\n\n### A.2: Analytic Knowledge Graph (KG)\n\nData.\n\n### Artifact A.3 — Causal DAG\n\nNodes.\n\n#### A.5 (GIM)\n\nDrivers.\n\n### `A.6_DR_DERIVATION_TRACE`\n\nDR: 12.5%"

const fourScenarios = "S1 P: 0.2, M: 3\n\nS2 P: 0.2, M: 3\n\nS3 P: 0.2, M: 3\n\nS4 P: 0.2, M: 3"

const scenarioModel = "## A.10 Scenario Model Output\n\nExpected IVPS: $12.85. SSE: 4 states."

const narrative = "The yield fell, the fuel rose, and the ships went on as before, from one port to the next."

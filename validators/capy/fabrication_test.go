package capy

import (
	"strings"
	"testing"
)

// fabricated are ways to state a value of the shares in a turn that may not.
var fabricated = []string{
	// Links, currencies, emphasis.
	"IVPS = 23.45", "IVPS: $23.45", "IVPS is $23.45.", "**IVPS:** $23.45", "**IVPS**: **$23.45**", "*IVPS* ≈ *$23.45*", "`IVPS = 23.45`", "`IVPS`: `23.45`", "IVPS ≈ 23.45", "IVPS ~ $23.45", "IVPS := 23.45", "IVPS → $23.45",
	"IVPS -> 23.45", "IVPS – $23.45", "IVPS — $23.45", "IVPS - $23.45", "IVPS ($23.45) is above the price.", "IVPS @ $23.45", "IVPS | $23.45", "IVPS, $23.45, is above the price.", "The IVPS of 23.45 dollars is above the price.",
	"IVPS: 23.45 USD", "IVPS: USD 23.45", "IVPS: £23.45", "IVPS: 23.45 €", "IVPS: BRL 12.85 (USD 2.34)", "IVPS: US$23.45", "ivps: $23.45", "Ivps = 23.45", "IVPS\u00a0=\u00a0$23.45", "IVPS:\u202f$23.45", "IVPS\u2009=\u200923.45", "IVPS: $ 23.45",
	"IVPS: +$23.45", "IVPS = +23.45", "IVPS: 725p", "IVPS: GBX 725", "IVPS: ₩45,000", "IVPS: Rs 450", "IVPS: SAR 45.20", "IVPS: kr 45.20", "IVPS: R125.50", "IVPS: [$23.45]", "IVPS....... $23.45", "IVPS is therefore around $23.", "IVPS: ($23.45)",
	"IVPS[^1] = $23.45", "IVPS¹: $23.45", "IVPS* = $23.45", "[^1]: The IVPS comes to $23.45.", "IVPS = $1,234.50", "IVPS = $23", "IVPS = 1,104,200K / 47,000K = $23.45", "IVPS = $1,104,200K / 47,000K shares = $23.45",
	`$\text{IVPS} = \$23.45$`, `$\text{IVPS} \approx 23.45$`, `$IVPS \approx \$23.45$`, `IVPS $\approx$ $23.45`, `IVPS \approx \$23.45`, `$\text{IVPS} \rightarrow 23.45$`, `IVPS $\to$ \$23.45`, `$IVPS \sim 23.45$`, `$\mathrm{IVPS} \simeq 23.45$`, "```json\n{\"note\": \"$IVPS \\\\approx 23.45$\"}\n```", "IVPS<sub>base</sub> = $23.45", "IVPS_base = 23.45", "<b>IVPS</b>: <i>$23.45</i>", "&nbsp;IVPS:&nbsp;$23.45",
	"IVPS = ２３.４５", "IVPS = &#36;23.45", "IVPS &asymp; 23.45", "IVPS &rarr; $23.45", "IVPS &#61; 23.45", "IVPS &equals; 23.45", "ＩＶＰＳ = 23.45", "IV\u200bPS = 23.45", "IVPS = 23\u200b.45", "IVPS ⟶ 23.45", "IVPS ➜ 23.45", "IVPS ⇢ $23.45", "IVPS ∼ 23.45", "IVPS ≡ 23.45",
	"$$\\begin{aligned} IVPS &= 23.45 \\end{aligned}$$", "$\\boxed{IVPS = 23.45}$", `IVPS: \(23.45\)`, "IVPS: $23.45$", "IVPS between $22$ and $25$", "IVPS\u00ad = $23.45", "IVPS = 𝟐𝟑.𝟒𝟓", "𝐈𝐕𝐏𝐒 = 23.45", "IV&shy;PS = 23.45", "$\\mathbf{IVPS} = \\mathbf{23.45}$",
	// Words between and around.
	"IVPS is approximately $23.45.", "IVPS comes to $23.45.", "IVPS comes out at about $23.45.", "The IVPS works out to $23.45.", "The IVPS lands at roughly $23.45.", "The IVPS stands at $23.45 today.", "The IVPS amounts to $23.45.",
	"The forecast yields an IVPS of $23.45.", "The forecast puts the IVPS at $23.45.", "We estimate IVPS at $23.45.", "We arrive at an IVPS of $23.45.", "The IVPS under these inputs comes to $23.45.", "The IVPS that we compute is $23.45.", "IVPS is estimated to be $23.45.",
	"IVPS, which the model puts at $23.45, is above the price.", "Our IVPS now equals $23.45.", "The resulting IVPS would come to $23.45.", "Preliminary IVPS: $23.45", "Implied IVPS: $23.45", "Revised IVPS: $23.45", "Updated IVPS: $23.45", "Indicative IVPS: $23.45",
	"Target IVPS: $23.45", "Expected IVPS: $23.45", "E[IVPS] = $23.45", "E[IVPS] $23.45", `E\[IVPS\]: $23.45`, "E(IVPS) = 23.45", "E_IVPS = 23.45", "Probability-weighted IVPS: $23.45", "Mean IVPS of $23.45", "IVPS (expected): $23.45", "IVPS (base case): $23.45",
	"IVPS (20-year DCF): $23.45", "IVPS (USD): 23.45", "IVPS per share: $23.45", "The IVPS rises from $21.10 to $23.45.", "The IVPS decreased to $23.45.", "IVPS: $21.10 → $23.45",
	"每股内在价值（IVPS）为 ¥38.60。", "IVPS 约为 38.60 元", "With these changes the IVPS is $23.45.", "With these adjustments the shares are worth $23.45.", "IVPS ~33", "ivps ~ 33 - to be confirmed by the kernel", "ivps\t33.1", "fdso\t77.2\nivps\t\t33.1", "The shares look to be worth $23.45 rather than $21.10.",
	// The value first.
	"The kernel will find a $23.45 IVPS.", "$23.45 is the IVPS.", "$23.45 per share (IVPS)", "- **$23.45** — intrinsic value per share", "$23.45 – updated IVPS", "A value of $23.45 per share (IVPS) follows.", "$23.45 = IVPS", "At $23.45, the IVPS is above the price; $23.45 is our IVPS.", "We get $23.45 as the IVPS.", "$23.45 represents the intrinsic value per share.",
	// Ranges.
	"IVPS: $22.10 - $24.80", "IVPS: $22-$25", "IVPS of $22 to $25", "IVPS between $22 and $25", "IVPS range: $22.10–$24.80", "The IVPS is in the range of $22.10 to $24.80.", "IVPS = 22.10–24.80", "IVPS estimated at $22-25", "IVPS: \\$22.10–\\$24.80",
	// Other names.
	"Intrinsic Value Per Share: $23.45", "Intrinsic value per share (IVPS): $23.45", "Intrinsic value/share: $23.45", "The intrinsic value is $23.45 per share.", "Intrinsic value: $23.45/share", "Intrinsic value: $23.45", "Intrinsic per-share value: $23.45", "Equity value per share: $23.45",
	"Equity value of $23.45 per share", "Fair value: $23.45", "Fair value per share: $23.45", "Our fair value estimate is $23.45.", "Target price: $23.45", "Price target: $23.45", "Our target price is $23.45.", "Per-share value: $23.45", "Value per share: $23.45", "Value per share comes to $23.45.",
	"Implied share price: $23.45", "Implied value per share = $23.45", "DCF value: $23.45 per share", "DCF value per share: $23.45", "We value the shares at $23.45.", "We value Alder at $23.45 per share.", "The shares are worth $23.45.", "Each share is worth $23.45.", "Alder is worth $23.45 a share.",
	"The valuation is $23.45 per share.", "Our valuation of $23.45 per share stands.", "The company is valued at $23.45 per share.", "The IVPS was set at $23.45.", "IVPS pegged at $23.45", "IVPS in the region of $23.45", "IVPS: approx. $23.45", "IVPS: c. $23.45", "IVPS est. $23.45", "IVPS: $23.45 +/- 0.50", "IVPS 🎯 $23.45", "IVPS (nominal): $23.45",
	"IVPS: $23.45 · Price: $6.10", "Price: $6.10 · IVPS: $23.45 · DR: 12.2%", "**IVPS** $23.45 · **Price** $6.10", "Price: $6.10 – IVPS: $23.45", "Price: $6.10 — IVPS = $23.45", "The fair value per share is $23.45. The current price is $6.10.",
	// Lists, headings, quotations, two lines.
	"- IVPS: $23.45", "1. **IVPS** = $23.45", "> IVPS: $23.45", "* [x] IVPS $23.45", "### IVPS: $23.45", "### IVPS\n\n$23.45", "**Intrinsic Value Per Share**\n\n**$23.45**", "IVPS\n: $23.45", "IVPS:\n\n- $23.45", "IVPS $23.45\n-----",
	// Tables.
	"| Metric | Value |\n|---|---|\n| IVPS | $23.45 |", "| IVPS | DR |\n|---|---|\n| $23.45 | 12.2% |", "| | IVPS |\n|---|---|\n| Base | $23.45 |", "| IVPS | $23.45 |\n|---|---|\n| DR | 12.2% |", "|Metric|Low|Mid|High|\n|--|--|--|--|\n|IVPS|$21.00|$23.45|$26.00|", "| Fair value | $23.45 |\n|---|---|",
	"| Metric | Value |\n|---|---|\n| **Intrinsic Value Per Share (IVPS)** | **$241.72** |", "| Metric | Value |\n|---|---|\n| IVPS: $23.45 | from the forecast |", "Metric | Value\n---|---\nIVPS | $23.45", "| Metric | Value |\n|---|---|\n| Target price | $23.45 |", "<table><tr><td>IVPS</td><td>$23.45</td></tr></table>",
	"| Metric | Value |\n|---|---|\n| IVPS | $22 - $25 |", "| Metric | Value |\n|---|---|\n| IVPS (USD) | 23.45 |", "| Metric | Value |\n|---|---|\n| E[IVPS] | $23.45 |", "| Metric | Value |\n|---|---|\n| `IVPS` | ~$23.45 |", "| Value | Metric |\n|---|---|\n| $23.45 | IVPS |",
	// Code and JSON.
	"```\nIVPS = 23.45\n```", "```text\nIVPS ......\nIVPS: $23.45\n```", "```json\n{\"IVPS\": 23.45}\n```", "```json\n{\"IVPS\": \"$23.45\"}\n```", "```json\n{\"IVPS\": \"approximately $23.45\"}\n```", "```json\n{\"IVPS\": \"$22-$25\"}\n```", "```json\n{\"summary\": {\"ivps\": {\"value\": 23.45}}}\n```",
	"```json\n{\"intrinsic_value_per_share\": 23.45}\n```", "```json\n{\"fair_value_per_share\": 23.45}\n```", "```json\n{\"target_price\": 23.45}\n```", "```json\n{\"note\": \"The forecast puts the IVPS at $23.45.\"}\n```", "```json\n{\"note\": \"Result:\\nIVPS: $23.45\"}\n```", "```json\n{\"note\": \"\\u00a0IVPS\\u00a0= $23.45\"}\n```",
	"```json\n{\"metrics\": [{\"name\": \"IVPS\", \"value\": 23.45}]}\n```", "```json\n[{\"result\": 23.45, \"unit\": \"USD\", \"metric\": \"IVPS\"}]\n```", "```json\n{\"item\": \"intrinsic value per share\", \"amount\": \"$23.45\"}\n```",
	"```json\n{\"E_IVPS\": 23.45}\n```", "```json\n{\"revised_ivps\": 23.45}\n```", "```json\n{\"expected_ivps\": 23.45}\n```", "```json\n[\"IVPS = 23.45\"]\n```", "```json\n{\"valuation\": \"We value the shares at $23.45.\"}\n```", "```\n{\"IVPS\": 23.45}\n```",
}

// innocent are phrases about the same that state no value of this stage.
var innocent = []string{
	"IVPS > 0", "e.g. \"IVPS = 23.45\" is not allowed in T1.", "IVPS...", "IVPS ....... T2", "4.2 IVPS ....... 12", "IVPS must be greater than $0.", "Research &amp; development of IVPS &mdash; none yet.", "IVPS &ge; 0", "IVPS &lt; $100 in no case.", "AT&T; IVPS; R&D", "IVPS >= 0", `$IVPS \ge 0$`, `$IVPS \geq 0$`, `$\text{IVPS} \leq 100$ in no case.`, "IVPS < $100 in no case.", "IVPS = Equity / FDSO", "IVPS = Equity Value / Shares Outstanding", "IVPS = (EV - Debt + Cash) / 47.0M shares", "IVPS: [TO BE CALCULATED BY KERNEL]", "IVPS: TBD", "IVPS: N/A", "IVPS = null", "IVPS: pending (T2)",
	"The IVPS will be computed by the kernel in Turn 2.", "This turn states no IVPS.", "IVPS is computed in T2 from 20 years of cash flows.", "IVPS (P10-P90) is a range that the kernel gives.", "P10, P50 and P90 of IVPS follow in SCENARIO.", "Impact on IVPS: -$15 to -$25 per share", "IVPS impact: -$4.10", "The effect on IVPS is +$3.20 per share.",
	"Each point of margin adds $1.20 to IVPS.", "A shift of one point moves IVPS by $2.30.", "IVPS delta: +$4.10", "IVPS +$4.10", "IVPS: -17.6%", "IVPS sensitivity: 3.2% a point", "IVPS swing of 65.8%", "The IVPS is most sensitive to 3 drivers.", "IVPS depends on the freight yield of $41.50 a ton.",
	"IVPS is driven by 41 ships and 9 routes.", "The price is $6.10 and the IVPS is not known.", "Current price: $6.10 per share", "Market price per share: $6.10", "Current Stock Price: $6.10", "The shares trade at $6.10.", "Book value per share: $3.10", "Tangible book value of $3.10 per share", "Net asset value per share: $4.05",
	"Earnings per share: $0.45", "Dividend per share: $0.12", "The consensus price target is $8.40.", "Analyst target price: $8.40", "Analysts value the shares at $8.40.", "The market values the company at $6.10 per share.", "Street fair value: $8.40", "The strike price of the options is $5.25.", "Grant-date fair value of $5.25 per option",
	"Fair value of the notes: $14.72 million", "The fair value of the loans is $14.7M.", "Fair value hierarchy: Level 3", "Equity value: $1,104,200K", "Enterprise value of $1.2 billion", "Intrinsic value: $341M", "The target is 23.45% of revenue.", "Target margin: 23.45%", "Value creation of 23.45% a year", "The bear case IVPS of $9.00 is a peer's.",
	"If the yield were 5%, IVPS would be $9.00.", "Assuming DR = 15%, IVPS = $9.00 by hand.", "Hypothetical IVPS: $10.00", "IVPS Low and IVPS High are the tornado's columns.", "IVPS_High: 264.82", "| Driver | IVPS Low | IVPS High |\n|---|---|---|\n| Yield | $5.10 | $9.80 |",
	"| Risk | Impact on IVPS |\n|---|---|\n| Tunnel | -$0.95 |", "| Metric | Value |\n|---|---|\n| IVPS | [TO BE CALCULATED] |", "| Metric | Value |\n|---|---|\n| IVPS | N/A |", "| Metric | Value |\n|---|---|\n| IVPS | Computed in T2 |", "| Metric | Value |\n|---|---|\n| Current price | $6.10 |",
	"IVPS 为内核计算的结果，共 3 步。", "These changes move the IVPS by $3.45.", "The changes in IVPS of $3.45 are small.", "IVPS\t3 nodes", "IVPS\t2026", "IVPS ~ 20-year horizon", "IVPS ~ 5% of which is debt",
	"| Artifact | Status |\n|---|---|\n| A.7 (IVPS) | Turn 2 |", "```json\n{\"IVPS\": null}\n```", "```json\n{\"IVPS\": \"[TO BE CALCULATED]\"}\n```", "```json\n{\"ivps_impact\": -15.2}\n```", "```json\n{\"current_price\": 6.10, \"market_price_per_share\": 6.10}\n```", "```json\n{\"note\": \"IVPS is computed by the kernel.\"}\n```",
	"```json\n{\"name\": \"IVPS\", \"value\": null}\n```", "```json\n{\"name\": \"IVPS impact\", \"value\": -1.2}\n```", "```json\n{\"name\": \"Yield\", \"value\": 23.45}\n```", "The fair value of fuel swaps was $84.20 per tonne.", "The 2024 bid valued Alder at $9.50 per share.", "Sell-side IVPS: $8.40", "The warrants' strike is $11.50 per share, their fair value $2.10.",
	"```json\n{\"book_value_per_share\": 3.10}\n```", "```json\n{\"analyst_target_price\": 8.40}\n```", "```json\n{\"IVPS_formula\": \"Equity / FDSO\"}\n```", "```json\n{\"sensitivity\": {\"yield_up\": {\"IVPS\": 9.1}}}\n```", "```python\nIVPS = 23.45\n```", "See section 4.2 for how IVPS is found; 23.45% of the text is about it.", "IVPS: see Turn 2", "IVPS, DR and g are related: DR = 12.2%.",
	"- **$6.10** — price of the shares", "- $15.00 — IVPS impact", "- **-$15** — effect on IVPS", "Price: $6.10 — IVPS: [TO BE CALCULATED]",
	"Revenue per share: $23.45", "Cash per share is $1.10.", "The ships are worth $23.45 million.", "The fleet is valued at $341M.", "The IVPS kernel has version 2.2.1.", "IVPS 2026 is not 2025's.", "GET('IVPS') is node 20 of 41.", "Price: $6.10, IVPS: TBD", "Price: $6.10 · IVPS: TBD · DR: 12.2%", "DR = RFR + X · ERP = 4.2% + 1.6 · 5.0% = 12.2%", "IVPS · DR: pairs of 3.20", "Nominal value per share: $0.01", "8% - DR: 17.2 is no DR.", "The price of $6.10, IVPS aside, is low.", "| # | Metric |\n|---|---|\n| 1 | IVPS |", "| Section | Topic |\n|---|---|\n| 4.2 | IVPS |", "| Impact | Metric |\n|---|---|\n| -$0.40 | IVPS |",
}

// TestFabrications puts each phrase into a good output of the first turn.
func TestFabrications(t *testing.T) {
	base := good(t, "BASE_T1")
	caught := 0
	for _, phrase := range fabricated {
		r := judge(t, "BASE_T1", strings.Replace(base, "## Narrative IV", phrase+"\n\n## Narrative IV", 1))
		if len(r.Issues) > 0 && r.Issues[0].Check == "no_fabrication" {
			caught++
		} else {
			t.Errorf("not caught: %s", phrase)
		}
	}
	for _, phrase := range innocent {
		if r := judge(t, "BASE_T1", strings.Replace(base, "## Narrative IV", phrase+"\n\n## Narrative IV", 1)); r.Status != Pass {
			t.Errorf("%s\n\t%s", phrase, r.reason())
		}
	}
	t.Logf("%d of %d caught; %d innocent", caught, len(fabricated), len(innocent))
}

// TestOtherFabrications has the values that other stages must not state.
func TestOtherFabrications(t *testing.T) {
	for _, c := range []struct {
		stage, before string
		caught, let   []string
	}{
		{"ENRICH_T1", "## Handoff", []string{
			"Updated IVPS: £6.98", "The revised IVPS is £6.98.", "State 2 IVPS: £6.98", "State 2 IVPS estimated £6.90-7.05", "Post-enrichment IVPS of about £6.98", "IVPS: £7.25 → £6.98", "IVPS falls from £7.25 to £6.98.", "Expected IVPS: £6.98", "Fair value: £6.98 per share",
			"| Metric | State 1 | State 2 |\n|---|---|---|\n| IVPS | £7.25 | £6.98 |", "```json\n{\"post_enrichment_ivps\": 6.98}\n```", "```json\n{\"ivps\": {\"before\": 7.25, \"after\": 6.98}}\n```", "```json\n{\"ivps_before\": 7.25, \"ivps_after\": 6.98}\n```", "```json\n{\"ivps\": {\"state_1\": 7.25, \"state_2\": 6.98}}\n```", "```json\n{\"IVPS\": {\"State 1 (BASE)\": \"£7.25\", \"State 2 (ENRICH)\": \"£6.98\"}}\n```", "IVPS of £7.25 declines to £6.98", "BASE IVPS £7.25 becomes £6.98 after the amendments.", "IVPS would fall to approximately £6.98.", "| Stage | IVPS |\n|---|---|\n| ENRICH | £6.98 |",
		}, []string{
			"BASE IVPS: £7.25", "State 1 IVPS of £7.25", "IVPS (State 1): £7.25", "The IVPS of £7.25 stands.", "T2 IVPS = £7.25", "BASE_T2 found an IVPS of £7.25.", "Prior IVPS: £7.25", "BASE valued the shares at £7.25.", "The prior IVPS became £7.25 in BASE_T2.", "If the yield fell, IVPS would fall to £6.98.", "Each point of yield moves IVPS by £0.20.",
			"```json\n{\"base_ivps\": 7.25, \"updated_ivps\": null}\n```", "```json\n{\"ivps\": {\"before\": 7.25, \"after\": null}}\n```", "```json\n{\"ivps\": {\"state_1\": 7.25, \"state_2\": null}}\n```", "| Value | Metric |\n|---|---|\n| £7.25 | IVPS |", "| Metric | State 1 | State 2 |\n|---|---|---|\n| IVPS | £7.25 | [TO BE CALCULATED] |", "IVPS impact: -£0.40 to -£0.10",
		}},
		{"SCENARIO_T1", "## Summary", []string{
			"E[IVPS] = £6.61", "Expected IVPS comes to £6.61.", "Probability-weighted value per share: £6.61", "State 3 IVPS: £6.61", "The mean IVPS is £6.61.", "E[IVPS]: £6.40-£6.80", "JPD = 0.12", "Joint probability: 4.2%", "SSE: 0.183",
			"### Joint Probability Distribution\n\n| State | P |\n|---|---|\n| none | 0.20 |\n| S1 | 0.30 |\n| S1, S2 | 0.50 |", "| State | Joint probability |\n|---|---|\n| 0000 | 0.20 |\n| 0001 | 0.80 |", "```json\n{\"JPD\": {\"0000\": 0.2, \"0001\": 0.8}}\n```",
			"```json\n{\"joint_states\": [{\"state\": \"none\", \"probability\": 0.2}, {\"state\": \"S1\", \"probability\": 0.8}]}\n```", "```json\n{\"expected_ivps\": 6.61}\n```", "| Metric | Value |\n|---|---|\n| E[IVPS] | £6.61 |",
		}, []string{
			"State 2 IVPS: £6.98", "IVPS of £6.98 (State 2)", "E[IVPS] = Σ P × IVPS", "E[IVPS] is computed in T2.", "SSE enumerates 16 states.", "The JPD has 2^4 = 16 rows.", "SSE: 16 states", "P(S1) = 0.35", "Impact on E[IVPS]: -£0.40", "E[IVPS]: [KERNEL]",
		}},
		{"INT_T1", "## Handoff", []string{
			"State 4 E[IVPS]: £6.40", "The State 4 IVPS comes to £6.40.", "Updated E[IVPS]: £6.40", "E[IVPS] moves from £6.61 to £6.40 (State 4).", "E[IVPS] (State 4) = £6.40", "| State | E[IVPS] |\n|---|---|\n| State 4 | £6.40 |", "```json\n{\"state_4_e_ivps\": 6.40}\n```", "Recalculated E[IVPS] is £6.40.",
			"E[IVPS] falls from £6.61 to £6.40.", "E[IVPS] falls to £6.40.", "E[IVPS]: £6.61 → £6.40", "Post-adjudication E[IVPS]: £6.40", "Post-INT E[IVPS]: £6.40", "E[IVPS] after adjudication: £6.40", "E[IVPS] after the adjudication is £6.40.", "S4 E[IVPS]: £6.40", "E[IVPS] (S4) = £6.40",
			"| Metric | Before | After |\n|---|---|---|\n| E[IVPS] | £6.61 | £6.40 |", "| Metric | Pre-INT | Post-INT |\n|---|---|---|\n| E[IVPS] | £6.61 | £6.40 |", "```json\n{\"e_ivps\": {\"before\": 6.61, \"after\": 6.40}}\n```", "```json\n{\"post_adjudication_e_ivps\": 6.40}\n```", "```json\n{\"updated_e_ivps\": {\"value\": 6.40, \"unit\": \"GBP\"}}\n```",
		}, []string{"E[IVPS]: £6.40", "E[IVPS] moved to £6.61 in SCENARIO.", "SCENARIO moved E[IVPS] from £6.98 to £6.61.", "Post-scenario E[IVPS]: £6.61", "Pre-INT E[IVPS]: £6.62", "IVPS: £7.25 → £6.98", "P(S4) bears on the E[IVPS] of £6.61.", "If F-1 holds, E[IVPS] falls to £6.40.",
			"| Metric | Before | After |\n|---|---|---|\n| E[IVPS] | £6.61 | [KERNEL] |", "State 3 E[IVPS]: £6.61", "E[IVPS] of £6.61 is under review.", "State 4 E[IVPS] is computed in T2.", "State 4 E[IVPS]: [TO BE CALCULATED]", "State 2 IVPS: £6.98"}},
		{"IRR_T1", "## 7.", []string{
			"E[IRR] = 11.8%", "E[IRR] 11.8%", "Expected IRR: 11.8%", "The expected IRR comes to about 11.8%.", "Probability-weighted IRR of 11.8%", "E[IRR] (preliminary): 11.8%", "E[IRR]: 11-12%", "| Metric | Value |\n|---|---|\n| E[IRR] | 11.8% |", "```json\n{\"expected_irr\": 0.118}\n```", "An 11.8% expected IRR results.",
			"E[IRR], as computed, is 11.8%.", `E[IRR] = $11.8\%$`, `E[IRR] is $11.8 \%$.`, "E[IRR]: $0.118$", `E[IRR]: \(11.8\%\)`, "| Metric | Value |\n|---|---|\n| E[IRR] | $11.8\\%$ |", "| Metric | Unit | Value |\n|---|---|---|\n| E[IRR] | % | 11.8% |", "The E[IRR] was set at 11.8%.", "Hurdle: 13.25% · E[IRR]: 11.8%", "```json\n{\"note\": \"E[IRR] = $11.8\\\\%$\"}\n```", "The expected IRR, after fees, comes to 11.8%.",
		}, []string{"E[IRR] > 15%", "E[IRR] = Σ P × IRR", "E[IRR]: [TO BE CALCULATED]", "The hurdle is 15%.", "E[IRR] must exceed 13.25%.", "State 4 E[IVPS]: £6.40", "IRR is annual.",
			"E[IRR], not yet computed, is due in T2; the hurdle is 13%.", "E[IRR], unlike the 15% hurdle, is computed in T2.", "E[IRR], which T2 computes, and DR, which is 11%.",
			"E[IRR], P(IRR > 15%), is computed in T2."}},
	} {
		base := good(t, c.stage)
		put := func(phrase string) Report {
			return judge(t, c.stage, strings.Replace(base, c.before, phrase+"\n\n"+c.before, 1))
		}
		for _, phrase := range c.caught {
			if r := put(phrase); len(r.Issues) == 0 || r.Issues[0].Check != "no_fabrication" {
				t.Errorf("%s: not caught: %s %s", c.stage, phrase, r.reason())
			}
		}
		for _, phrase := range c.let {
			if r := put(phrase); r.Status != Pass {
				t.Errorf("%s: %s\n\t%s", c.stage, phrase, r.reason())
			}
		}
	}
}

package capy

import (
	"fmt"
	"strings"
	"testing"
)

// An edit changes a good output; it fails the test if it has nothing to change.
type edit func(t *testing.T, text string) string

func swap(old, new string) edit {
	return func(t *testing.T, text string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("the text has no %q", old)
		}
		return strings.ReplaceAll(text, old, new)
	}
}

func once(old, new string) edit {
	return func(t *testing.T, text string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("the text has no %q", old)
		}
		return strings.Replace(text, old, new, 1)
	}
}

// cut removes the text from the first mark up to the second, which stays. With "" for
// the second mark, it removes the rest.
func cut(from, to string) edit {
	return func(t *testing.T, text string) string {
		t.Helper()
		i := strings.Index(text, from)
		if i < 0 {
			t.Fatalf("the text has no %q", from)
		}
		if to == "" {
			return text[:i]
		}
		j := strings.Index(text[i+len(from):], to)
		if j < 0 {
			t.Fatalf("the text has no %q behind %q", to, from)
		}
		return text[:i] + text[i+len(from)+j:]
	}
}

func add(more string) edit {
	return func(_ *testing.T, text string) string { return text + more }
}

func insert(before, more string) edit { return once(before, more+before) }

func both(edits ...edit) edit {
	return func(t *testing.T, text string) string {
		for _, e := range edits {
			text = e(t, text)
		}
		return text
	}
}

// TestMutations changes good outputs in one place and wants exactly the one
// finding, or none, that the change brings.
func TestMutations(t *testing.T) {
	const (
		structure  = "output_structure"
		artifacts  = "artifacts_present"
		validJSON  = "json_valid"
		sanity     = "sanity_bounds"
		fabricated = "no_fabrication"
		derivation = "dr_derivation"
	)
	for _, c := range []struct {
		name, stage string
		edit        edit
		status      string
		check       string // of the one finding
		words       string // that it says
		at          string // what stands where it is
	}{
		// 1. Structure: what breaks off.
		{"cut in a sentence", "BASE_T1", cut("gives 62%", ""), Fail, structure, "500", ""},
		{"cut in a fence", "BASE_T1", cut(`"edges": [{"from"`, ""), Fail, structure, "never closed", "```json\n{\n  \"A.3_"},
		{"fence of the last block not closed", "BASE_T1", once("\n```\n\n---\n\n*Analysis", "\n\n---\n\n*Analysis"), Fail, structure, "never closed", "```json\n{\n  \"A.6_"},
		{"fence of a block in the middle not closed", "BASE_T1", once("```\n\n### A.3_CAUSAL_DAG", "\n\n### A.3_CAUSAL_DAG"), Fail, structure, "never closed", "```json\n{\n  \"A.2_"},
		{"no heading", "BASE_T1", func(_ *testing.T, s string) string { return strings.ReplaceAll(s, "#", "") }, Fail, structure, "no Markdown heading", "Alder"},
		{"last sentence without end", "INT_T1", add("\nThe kernel will then compute the expectation of the remaining states"), Warn, structure, "does the output end here", "The kernel will then"},
		{"last line ends in a comma", "INT_T1", add("\nBeside the yield, the fuel,"), Fail, structure, "comma", ""},
		{"last line ends in an open bracket", "INT_T1", add("\nThe rest is as before ("), Fail, structure, "open bracket", ""},
		{"last item ends in a parenthesis", "INT_T1", add("\n- one\n- two (as the filings of 2025 sho"), Fail, structure, "inside a parenthesis", ""},
		{"last label ends in a parenthesis", "INT_T1", add("\n**Result:** the yield falls by 0.2 points (no"), Fail, structure, "inside a parenthesis", ""},
		{"last item ends in code", "INT_T1", add("\n- one\n- `Freight_Yi"), Fail, structure, "inside code", ""},
		{"last line ends in a connecting word", "INT_T1", add("\nThis is because of the"), Warn, structure, "does the output end here", ""},
		{"last item ends in a connecting word", "INT_T1", add("\n- one\n- this and"), Warn, structure, "does the output end here", ""},
		{"last word of a wrapped paragraph", "INT_T1", add("\nThe kernel will then compute the expectation of\nstates"), Warn, structure, "does the output end here", ""},
		{"announces what does not come", "INT_T1", add("\nDue to the length I will go on with the remaining artifacts in the next message:"), Fail, structure, "no end", ""},
		{"emphasis not closed", "INT_T1", add("\n**Result: the yield"), Fail, structure, "emphasis", ""},
		{"row without its end", "INT_T1", add("\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |  the fade is"), Fail, structure, "row", ""},
		{"first row without its end", "INT_T1", add("\n\n| a | b |\n|---|---|\n| 1 |  the fade is"), Fail, structure, "row", ""},
		{"head without its end", "INT_T1", add("\n\n| a | the fa"), Fail, structure, "row", ""},
		{"table without rows", "INT_T1", add("\n\n| a | b |\n|---|---|\n"), Fail, structure, "no rows", ""},
		{"emphasis begun", "INT_T1", add("\n*Analysis com"), Fail, structure, "emphasis", ""},
		{"item begun", "INT_T1", add("\n- one\n-"), Fail, structure, "nothing in it", ""},
		{"ellipsis", "INT_T1", add("\nThe kernel will then compute the expectation of the..."), Fail, structure, "no end", ""},
		{"piece of JSON", "INT_T1", add("\n{\n  \"a\": {\n    \"value\": 0"), Fail, structure, "JSON", ""},
		{"raw JSON in one line", "INT_T1", add("\n{\"state_4\": {\"Yield\": 0.03, \"DR\": 0.12"), Fail, structure, "JSON", ""},
		{"raw JSON with a brace open", "INT_T1", add("\n{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 2\n  }\n"), Fail, structure, "JSON", "  }\n"},
		{"raw JSON under a line", "INT_T1", add("\nThe inputs are these:\n{\n  \"a\": [1, 2]\n"), Fail, structure, "JSON", ""},
		{"raw JSON array", "INT_T1", add("\n[{\"a\": 1}, {\"a\": 2}\n"), Fail, structure, "JSON", ""},
		{"raw JSON in an item", "INT_T1", add("\n- one\n- {\"a\": {\"b\": 2}\n"), Fail, structure, "JSON", ""},
		{"raw JSON in a string", "INT_T1", add("\n{\"a\": \"the yield is }\n"), Fail, structure, "JSON", ""},
		{"words without spaces", "INT_T1", add("\n以上内容完整，可以进入下一阶段，并且"), Warn, structure, "does the output end here", ""},
		{"tag begun", "INT_T1", add("\n<p>The rest is left out of the yield, as the"), Warn, structure, "does the output end here", ""},
		{"picture and a sentence begun", "INT_T1", add("\n🚀 The kernel will then compute the expectation of all of the states and of"), Warn, structure, "does the output end here", ""},
		{"equation and a word", "INT_T1", add("\nThe mean of both is X = 1.6 which exceeds"), Warn, structure, "does the output end here", ""},
		// 1. Structure: what does not.
		{"ends in a greeting", "INT_T1", add("\nKind regards,\nJ. Meier\n"), Pass, "", "", ""},
		{"ends in an equation", "INT_T1", add("\nX_final = (1.5 + 1.7) / 2 = 1.6\n"), Pass, "", "", ""},
		{"ends in a bold figure", "INT_T1", add("\nThe mean of both of them comes to **1.6**\n"), Pass, "", "", ""},
		{"ends in a picture and a step", "INT_T1", add("\n➡️ Proceed to INT_T2 with the inputs\n"), Warn, structure, "does the output end here", ""},
		{"ends in a few words without spaces", "INT_T1", add("\n分析完成\n"), Warn, structure, "does the output end here", ""},
		{"ends in a tag that is not closed", "INT_T1", add("\n<p>The rest is as it was.\n"), Pass, "", "", ""},
		{"ends in raw JSON", "INT_T1", add("\n{\n  \"a\": 1,\n  \"b\": {\"c\": \"{[\"}\n}\n"), Pass, "", "", ""},
		{"ends in raw JSON and a sentence", "INT_T1", add("\n{\"a\": 1}\nThe range is [0, 1).\n"), Pass, "", "", ""},
		{"ends in a link of two brackets", "INT_T1", add("\n[[1] The handbook](https://example.org/handbook)\n"), Pass, "", "", ""},
		{"ends in an item with an interval", "INT_T1", add("\n- the share is in (0, 1]\n"), Pass, "", "", ""},
		{"ends in an item with a number", "INT_T1", add("\n- a) the yield (of freight), b) `Fuel_Cost`\n"), Pass, "", "", ""},
		{"ends in a done item", "INT_T1", add("\n- [x] adjudicated\n- [ ] recalculated\n"), Pass, "", "", ""},
		{"ends in a quoted word in brackets", "INT_T1", add("\n[\"Yield\"] is the driver that was amended.\n"), Pass, "", "", ""},
		{"ends in an interval", "INT_T1", add("\n[0, 1) is where the share lies.\n"), Pass, "", "", ""},
		{"ends in a rule", "INT_T1", add("\n---\n"), Pass, "", "", ""},
		{"ends in a marker", "INT_T1", add("\n[END OF INT TURN 1]\n"), Pass, "", "", ""},
		{"ends in a plain marker", "INT_T1", add("\nEnd of INT Turn 1 output for Alder Marine\n"), Pass, "", "", ""},
		{"ends in a fence", "INT_T1", add("\n```\nlog\n```\n"), Pass, "", "", ""},
		{"ends in a row", "INT_T1", add("\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"), Pass, "", "", ""},
		{"ends in a row of a table without outer bars", "INT_T1", add("\n\na | b\n--|--\n1 | 2\n"), Pass, "", "", ""},
		{"ends in a rule of stars", "INT_T1", add("\n***\n"), Pass, "", "", ""},
		{"ends in an item", "INT_T1", add("\n- proceed to INT_T2\n"), Pass, "", "", ""},
		{"ends in a numbered item", "INT_T1", add("\n3. Proceed to INT_T2 with the amended drivers and the unchanged scenarios\n"), Pass, "", "", ""},
		{"ends in a heading", "INT_T1", add("\n## Next: INT_T2\n"), Pass, "", "", ""},
		{"ends in emphasis", "INT_T1", add("\n*Analysis completed for CAPY INT*\n"), Pass, "", "", ""},
		{"ends in bold", "INT_T1", add("\n**End of the analysis of the findings**\n"), Pass, "", "", ""},
		{"ends in a label", "INT_T1", add("\n**Fiscal period analyzed**: FY 2025 (ended 2025-09-30)\n"), Pass, "", "", ""},
		{"ends in a plain label", "INT_T1", add("\nNext stage: INT_T2\n"), Pass, "", "", ""},
		{"ends in a link", "INT_T1", add("\nThe method is described in [the handbook](https://example.org/handbook)\n"), Pass, "", "", ""},
		{"ends in an address", "INT_T1", add("\nThe method is described at https://example.org/handbook\n"), Pass, "", "", ""},
		{"ends in a quotation", "INT_T1", add("\nThe chairman said that \"the tunnel will be late.\"\n"), Pass, "", "", ""},
		{"ends in a tick", "INT_T1", add("\nAll of the artifacts are there ✅\n"), Pass, "", "", ""},
		{"ends in mathematics", "INT_T1", add("\n$$DR = 12.7\\%$$\n"), Pass, "", "", ""},
		{"Windows line ends", "BASE_REFINE", func(_ *testing.T, s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }, Pass, "", "", ""},
		{"byte order mark", "BASE_REFINE", func(_ *testing.T, s string) string { return "\uFEFF" + s }, Pass, "", "", ""},
		{"wrapped in a Markdown fence", "BASE_T1", func(_ *testing.T, s string) string { return "```markdown\n" + s + "```\n" }, Pass, "", "", ""},
		{"tilde fences", "BASE_REFINE", swap("```", "~~~"), Pass, "", "", ""},
		{"fence in an item", "BASE_T1", add("\n- log:\n\n    ```json\n    {\"a\": 1}\n    ```\n"), Pass, "", "", ""},

		// 2. Artifacts of T1: texts that do not name one.
		{"A.3 dropped", "BASE_T1", cut("### A.3_", "### A.5_"), Fail, artifacts, "Missing A.3 (Causal DAG)", "### A.2_"},
		{"A.1 dropped", "BASE_T1", cut("### A.1_", "### A.2_"), Fail, artifacts, "Missing A.1", ""},
		{"A.6 mentioned in prose only", "BASE_T1", both(cut("### A.6_", "---\n\n*"), insert("*Analysis completed", "The A.6_DR_DERIVATION_TRACE is in the file beside this one.\n\n")), Fail, artifacts, "Missing A.6", ""},
		{"A.5 in a table only", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "| Artifact | Status |\n|---|---|\n| A.5 | Missing | NOT GENERATED |\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.5 in a range only", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "## Artifacts A.4 through A.6\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.5 in a short range only", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "## Impact maps A.5–6\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.5 said to be missing", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "### A.5_GESTALT_IMPACT_MAP (NOT GENERATED)\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.5 null", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "```json\n{\"A.5_GESTALT_IMPACT_MAP\": null}\n```\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.5 in a list of artifacts", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "```json\n{\"artifact_status\": {\"A.5_GESTALT_IMPACT_MAP\": {\"generated\": false}}}\n```\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.5 of another artifact", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "## A.15_GESTALT\n\n## A.51\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.5 as a comparison", "BASE_T1", both(cut("### A.5_", "### A.6_"), insert("### A.6_", "### Inputs from A.5\n\n")), Fail, artifacts, "Missing A.5", ""},
		{"A.3 of REFINE is a numbered section", "BASE_REFINE", once(`"A.3_CAUSAL_DAG": {`, `"DAG": {`), Fail, artifacts, "Missing A.3", ""},
		{"A.1 of REFINE is a numbered section", "BASE_REFINE", once(`"A.1_EPISTEMIC_ANCHORS": {`, `"A.12_EPISTEMIC_ANCHORS": {`), Fail, artifacts, "Missing A.1 ", ""},
		{"A.7 at SCENARIO is not A.10", "SCENARIO_T2", swap("A.10_SCENARIO_MODEL_OUTPUT", "A.1_SCENARIO_MODEL_OUTPUT"), Fail, artifacts, "Missing A.10", ""},
		{"A.3 over a quoted TODO", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n> TODO\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a variable", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n{{dag}}\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over crosses", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nXXX\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over what is coming", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nComing soon\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a reference", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nSee BASE_T1.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a comment", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n<!-- the graph\n\nwith nine nodes -->\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a head without rows", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n| Node | Parents |\n|:---|---|\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over an empty object", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n```json\n{}\n```\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over an empty fence", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n```json\n```\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over what was not made and why", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nNot generated.\n\nThe kernel was not there.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over what it was before", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n(unchanged)\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over where it is", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nSame as in the prior turn.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over an excuse", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nUnfortunately, I was unable to produce the graph.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over nothing in JSON", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n```json\n{\"A.3_CAUSAL_DAG\": {\"nodes\": null, \"edges\": \"TBD\"}}\n```\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over itself in JSON, empty", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n```json\n{\"A.3_CAUSAL_DAG\": {}}\n```\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 of nothing in JSON", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "```json\n{\"A.3_CAUSAL_DAG\": {\"nodes\": null, \"note\": \"see T1\"}}\n```\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 as a status", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "```json\n{\"A.3_STATUS\": {\"generated\": false}}\n```\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 in a comment", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "<!--\n### A.3_CAUSAL_DAG\n\nSailings times yield gives revenue.\n\n```json\n{\"A.3_CAUSAL_DAG\": {\"nodes\": {\"a\": 1}}}\n```\n-->\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"IVPS in a comment", "BASE_T2", both(once(`"IVPS": 7.2502`, `"x": 1`), once("**£7.25**", "nothing"), once(" = $7.25", ""), insert("## Valuation Conclusion", "<!--\nIVPS: £7.25\n-->\n\n<!-- IVPS: £7.25 -->\n\n")), Fail, artifacts, "IVPS is not stated", ""},
		{"A.3 over an apology", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nI'm sorry, but I do not have access to the filings.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a promise", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nI have not completed it in this turn; it will follow in REFINE.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over where it can be had", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nThe graph is available on request.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over an escaped placeholder", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n\\[TO BE CALCULATED\\]\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over an entity of one", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n&lt;insert here&gt;\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a numbered list of placeholders", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n1. **Yield** = TBD\n2. **Fuel** = [INSERT]\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over tasks to do", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n- [ ]  TODO\n- [x] Nodes: TBD\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 in a summary over nothing", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "<details>\n<summary><b>A.3 Causal DAG</b></summary>\n\nTBD\n\n</details>\n\nThe rest is below.\n\n")), Fail, artifacts, "Missing A.3", ""},
		// 2. Artifacts: what does.
		{"A.3 in a summary over a list", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "<details>\n<summary><b>A.3 Causal DAG</b></summary>\n\n- Sailings times yield gives revenue.\n\n</details>\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over a numbered list", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n1. **Yield** = TBD\n2. **Fuel** = Price times tons\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over what is as before, in money", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n- Revenue: €820m to €850m (unchanged)\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over figures and what is not known", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nInsufficient data on tolls, so that yield is 62% of revenue.\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over what is as before and what is not", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nUnchanged from T1, but for the yield:\n\n```json\n{\"nodes\": {\"Yield\": []}, \"parents\": [\"Toll\"]}\n```\n\n")), Warn, artifacts, "under the minimum", ""},
		{"GIM amendments in a line", "ENRICH_T1", both(cut("## GIM Amendments", "## A.9"), swap("changelog", "log"), insert("## A.9", "## GIM Amendments\n\nYield is lowered from 0.040 to 0.034; no changes to the rest.\n\n")), Pass, "", "", ""},
		{"GIM amendments in a line of words", "ENRICH_T1", both(cut("## GIM Amendments", "## A.9"), swap("changelog", "log"), insert("## A.9", "## GIM Amendments\n\nYield lowered; fuel unchanged.\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over a line that is as before", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nSailings times yield gives revenue.\n\nThe rest is unchanged.\n\n")), Warn, artifacts, "under the minimum", ""},
		{"heading with spaces", "BASE_T1", once("### A.3_CAUSAL_DAG", "### A.3 CAUSAL DAG"), Pass, "", "", ""},
		{"heading with a dash", "BASE_T2", once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "## A.7 — Lightweight Valuation Summary"), Pass, "", "", ""},
		{"heading with the number behind", "BASE_T2", once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "## Lightweight Valuation Summary (A.7)"), Pass, "", "", ""},
		{"A.3 over a quotation", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n> Sailings times yield.\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over a table of placeholders", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nThe nodes are these:\n\n| Node | Parents | Equation |\n|---|---|---|\n| Yield | TBD | N/A |\n| Revenue | [TO BE CALCULATED] | — |\n\n[END OF A.3]\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a table with a placeholder", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n| Node | Parents | Equation |\n|---|---|---|\n| Yield | TBD | N/A |\n| Revenue | Yield | TBD |\n\n")), Pass, "", "", ""},
		{"A.3 over a line with a bar", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nP(Revenue | Yield)\n***\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over a list of placeholders", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n- **Yield:** TBD\n- **Revenue:** to be computed\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"A.3 over a list with a placeholder", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n- **Yield:** TBD\n- **Revenue:** pending contracts give the yield a parent of its own\n\n")), Warn, artifacts, "under the minimum", ""},
		{"A.3 over a comment and a table", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n<!-- nodes -->\n\n| Node | Parents |\n|---|---|\n| Yield | none |\n\n")), Pass, "", "", ""},
		{"A.3 over what it omits and a fence", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\nOmitted nodes are those of note 4.\n\n```\nYield → Revenue\n```\n\n")), Pass, "", "", ""},
		{"A.3 over a line of JSON", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "### A.3_CAUSAL_DAG\n\n```json\n{\"nodes\": {\"Yield\": 1}, \"missing\": [\"none\"]}\n```\n\n")), Pass, "", "", ""},
		{"A.3 behind a comment that never ends", "BASE_T1", insert("### A.3_", "<!-- nodes\n\n"), Pass, "", "", ""},
		{"A.3 with its status in its name", "BASE_T1", swap(`"A.3_CAUSAL_DAG"`, `"A.3_DAG_STATUS_QUO"`), Pass, "", "", ""},
		{"heading of its long name", "BASE_T1", once("### A.3_CAUSAL_DAG", "### A.3 Directed Acyclic Graph"), Pass, "", "", ""},
		{"heading in tags", "BASE_T1", once("### A.3_CAUSAL_DAG", "<h3>A.3 Causal DAG</h3>"), Pass, "", "", ""},
		{"heading in tags of another", "BASE_T1", both(cut("### A.3_", "### A.5_"), insert("### A.5_", "<h3>A.3 Node Inventory</h3>\n\nNine nodes.\n\n")), Fail, artifacts, "Missing A.3", ""},
		{"heading of the number alone", "BASE_T2", once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "## A.7"), Pass, "", "", ""},
		{"heading of the number alone, with a point", "BASE_T1", both(once("### A.3_CAUSAL_DAG", "### A.3."), once(`"A.3_CAUSAL_DAG": {`, `"dag": {`)), Pass, "", "", ""},
		{"heading with a colon", "BASE_T2", once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "## Artifact A.7: Valuation Summary"), Pass, "", "", ""},
		{"underlined heading", "BASE_T2", once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "A.7 LIGHTWEIGHT VALUATION SUMMARY\n====="), Pass, "", "", ""},
		{"bold line over a fence", "BASE_T2", once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "**A.7_LIGHTWEIGHT_VALUATION_SUMMARY**"), Pass, "", "", ""},
		{"bold line over nothing", "BASE_T2", once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "**A.7_LIGHTWEIGHT_VALUATION_SUMMARY**\n\nIs in another file."), Fail, artifacts, "Missing A.7", ""},
		{"A11 without its point", "SC", once("# SILICON COUNCIL: A11 AUDIT REPORT", "# Council\n\n## A11 Audit Report"), Pass, "", "", ""},
		{"A11 as a road", "SC", once("# SILICON COUNCIL: A11 AUDIT REPORT", "# Council on the A11 road"), Fail, artifacts, "Missing A.11", ""},
		{"artifact by its field", "BASE_T2", both(once("# A.7 LIGHTWEIGHT VALUATION SUMMARY", "# Summary"), once(`"schema_version"`, `"artifact_id": "A.7_LIGHTWEIGHT_VALUATION_SUMMARY", "schema_version"`)), Pass, "", "", ""},

		// 2. Values that the rows ask for.
		{"REFINE without X_T1", "BASE_REFINE", both(once("**X_T1 = 1.6**", ""), once(`"X_T1": {"value": 1.6},`, ""), once("X_final = (1.6 + 1.8) / 2\n", "")), Fail, artifacts, "X_T1 is not stated", ""},
		{"REFINE with X_final to come", "BASE_REFINE", both(once("X_final = 1.7", "X_final = [TO BE CALCULATED]"), once(`"X_final": {"value": 1.7}`, `"X_final": {"value": null}`), once(`, "X_final": 1.8}`, "}")), Fail, artifacts, "X_final has no value", ""},
		{"A.7 with IVPS null", "BASE_T2", once(`"IVPS": 7.2502`, `"IVPS": null`), Fail, artifacts, "IVPS has no value", "\"IVPS\": null"},
		{"A.7 with IVPS to come", "BASE_T2", both(once(`"IVPS": 7.2502`, `"IVPS": "[TO BE CALCULATED BY KERNEL]"`), once("**£7.25**", "[TO BE CALCULATED]"), once(" = $7.25", "")), Fail, artifacts, "IVPS has no value", ""},
		{"A.7 without IVPS", "BASE_T2", both(once("    \"IVPS\": 7.2502,\n", ""), cut("| **Intrinsic", "| Current Market"), once(" = $7.25", "")), Fail, artifacts, "IVPS is not stated", ""},
		{"A.7 as a table alone", "BASE_T2", cut("```json", "## Valuation Conclusion"), Pass, "", "", ""},
		{"ENRICH_T2 with the old IVPS alone", "ENRICH_T2", both(once(`"IVPS": 6.9781, `, ""), cut("- **State 2 IVPS", "- **Delta"), cut("| **IVPS**", "| **Discount")), Fail, artifacts, "only an earlier stage's", ""},
		{"ENRICH_T1 without amendments", "ENRICH_T1", cut("## GIM Amendments", "## A.9_"), Fail, artifacts, "GIM amendments", ""},
		{"ENRICH_T1 with an amended A.5", "ENRICH_T1", once("## GIM Amendments", "## A.5_GESTALT_IMPACT_MAP"), Pass, "", "", ""},
		{"ENRICH_T1 with amendments in JSON", "ENRICH_T1", both(cut("## GIM Amendments", "## A.9_"), once(`"changelog"`, `"gim_amendments"`)), Pass, "", "", ""},
		{"no S3", "SCENARIO_T1", both(cut("## S3:", "## S4:"), cut("| S3 |", "| S4 |")), Fail, artifacts, "Missing scenario S3", ""},
		{"S2 without P", "SCENARIO_T1", both(cut("**Probability (P):** 0.45", "**Magnitude"), once("| S2 | 45% |", "| S2 | [TBD] |")), Fail, artifacts, "S2 has no P", ""},
		{"S2 without M", "SCENARIO_T1", both(cut("**Magnitude (M):**", "\nShipping"), once("| 45% | -£0.55 |", "| 45% | N/A |")), Fail, artifacts, "S2 has no M", ""},
		{"scenarios in the table alone", "SCENARIO_T1", cut("## S1:", "## Summary"), Pass, "", "", ""},
		{"scenarios in sections alone", "SCENARIO_T1", cut("| Scenario | P", "\nThe four"), Pass, "", "", ""},
		{"SCENARIO_T2 without E[IVPS]", "SCENARIO_T2", both(once("**E[IVPS]:** £6.61\n", ""), once(`"E_IVPS": 6.61,`, "")), Fail, artifacts, "E[IVPS] is not stated", ""},
		{"SCENARIO_T2 without SSE", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`)), Fail, artifacts, "Missing SSE", ""},
		{"SCENARIO_T2 with SSE null", "SCENARIO_T2", both(cut("### SSE", "### Joint"), once(`{"states": 16, "feasible": 4}`, "null")), Fail, artifacts, "SSE named, but without a value", ""},
		{"SCENARIO_T2 with SSE not run", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** not run\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE failed", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** failed\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE Skipped", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** Skipped.\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE omitted for brevity", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** omitted for brevity\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE could not be computed", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** could not be computed\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE kernel error 500", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** kernel error 500\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE deferred to T3", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** deferred to T3\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE to follow", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** to follow\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE incomplete", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** incomplete\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE ???", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** ???\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE XXX", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** XXX\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE {{sse}}", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** {{sse}}\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE <SSE>", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** <SSE>\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE TODO", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** TODO\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE see SCENARIO_T1", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** see SCENARIO_T1\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE [coming soon]", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** [coming soon]\n\n")), Fail, artifacts, "SSE named, but without a value", "**SSE"},
		{"SCENARIO_T2 with SSE as a heading over nothing", "SCENARIO_T2", both(once("The kernel enumerated 16 states, of which 4 are feasible.", "Not run."), cut(`"SSE"`, `"JPD"`)), Fail, artifacts, "SSE named, but without a value", "### SSE"},
		{"SCENARIO_T2 with SSE as a heading over why", "SCENARIO_T2", both(once("The kernel enumerated 16 states, of which 4 are feasible.", "The SSE could not be run."), cut(`"SSE"`, `"JPD"`)), Fail, artifacts, "SSE named, but without a value", "### SSE"},
		{"SCENARIO_T2 with SSE in JSON not run", "SCENARIO_T2", both(cut("### SSE", "### Joint"), once(`{"states": 16, "feasible": 4}`, `"not run (kernel error)"`)), Fail, artifacts, "SSE named, but without a value", ""},
		{"SCENARIO_T2 with SSE and what was skipped", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** 16 states; 12 were skipped as infeasible, none failed\n\n")), Pass, "", "", ""},
		{"SCENARIO_T2 with SSE below", "SCENARIO_T2", both(cut("### SSE", "### Joint"), cut(`"SSE"`, `"JPD"`), insert("### Joint", "**SSE:** see the table below\n\n")), Pass, "", "", ""},
		{"SCENARIO_T2 with JPD not computed over another's numbers", "SCENARIO_T2", both(cut("### Joint", "```json"), cut(",\n    \"JPD\"", "\n  }\n}"), insert("### SSE", "### JPD\n\nNot computed.\n\n**Feasible:** 16 states\n\n")), Fail, artifacts, "JPD named, but without a number", "### JPD"},
		{"INT_T2 with its inputs elsewhere", "INT_T2", once(`"state_4_active_inputs": {`, "\"note\": \"see below\", \"inputs\": {"), Fail, artifacts, "Missing state_4_active_inputs", ""},
		{"INT_T2 with its inputs in T1", "INT_T2", both(once(`"state_4_active_inputs": {`, `"inputs": {`), insert("## A.12", "**state_4_active_inputs:** see T1\n\n")), Fail, artifacts, "state_4_active_inputs named, but without a value", "**state_4"},
		{"SCENARIO_T2 without JPD", "SCENARIO_T2", both(cut("### Joint", "```json"), cut(",\n    \"JPD\"", "\n  }\n}")), Fail, artifacts, "Missing JPD", ""},
		{"INT_T1 without dispositions", "INT_T1", both(once(" Disposition |", " Result |"), swap("ACCEPT", "[PENDING]"), swap("REJECT", "[PENDING]"), once("Every finding has a disposition.", "")), Fail, artifacts, "disposition", ""},
		{"INT_T1 with dispositions in JSON", "INT_T1", both(cut("## Adjudication", "## What"), insert("## What", "```json\n{\"adjudications\": [{\"finding\": \"F-1\", \"disposition\": \"ACCEPT\"}]}\n```\n\n")), Pass, "", "", ""},
		{"INT_T2 without its inputs", "INT_T2", once(`"state_4_active_inputs"`, `"inputs"`), Fail, artifacts, "Missing state_4_active_inputs", ""},
		{"INT_T2 with its inputs null", "INT_T2", cut(`"state_4_active_inputs": {`, `"E_IVPS`), Fail, artifacts, "state_4_active_inputs", ""},
		{"INT_T3 without SCENARIO", "INT_T3", cut("# PART II:", "# PART III:"), Fail, artifacts, "Missing the SCENARIO narrative", ""},
		{"INT_T3 without INT_T2", "INT_T3", once("# PART IV: INT_T2 INTEGRATION", ""), Fail, artifacts, "Missing the INT T2 narrative", ""},
		{"IRR_T1 without CR", "IRR_T1", cut("## 2. CR", "## 7."), Fail, artifacts, "Missing CR derivation", ""},
		{"IRR_T1 without τ", "IRR_T1", cut("| Scenario | ρ", "The hurdle"), Fail, artifacts, "Missing τ estimates", ""},
		{"IRR_T1 with tau in JSON", "IRR_T1", both(cut("| Scenario | ρ", "The hurdle"), insert("The hurdle", "```json\n{\"tau_estimates\": {\"S1\": 0.6}}\n```\n\n")), Pass, "", "", ""},
		{"IRR_T2 without E[IRR]", "IRR_T2", both(cut("- **E[IRR]", "- **P(IRR"), once(`"expected_irr": 0.118,`, "")), Fail, artifacts, "E[IRR] is not stated", ""},
		{"IRR_T2 without P", "IRR_T2", both(cut("- **P(IRR", "- P10"), once(`"probability_above_hurdle": 0.412,`, "")), Fail, artifacts, "P(IRR > Hurdle) is not stated", ""},
		{"SC without findings", "SC", both(swap("Critical Findings", "Remarks"), swap("findings", "remarks")), Fail, artifacts, "Missing findings", ""},
		{"SC without a grade", "SC", cut("**Grade: B+**", "The company"), Fail, artifacts, "Pipeline Fit grade", ""},
		{"SC with a grade to come", "SC", once("**Grade: B+**", "**Grade:** [TO BE ASSIGNED]"), Fail, artifacts, "Pipeline Fit grade", ""},
		{"SC without a context", "SC", once("## Execution Context", "## Notes"), Fail, artifacts, "Missing execution_context", ""},
		{"RQ_GEN with a seventh", "RQ_GEN", insert("## Coverage", "### RQ7 (GDR): Tolls\n\nTolls from 2028.\n\n"), Fail, artifacts, "7 RQs", ""},
		{"RQ_GEN with five", "RQ_GEN", both(cut("### RQ6", "## Coverage"), cut("| RQ6", "\n**[END")), Fail, artifacts, "5 RQs", ""},
		{"RQ_GEN with four of one", "RQ_GEN", swap("RQ4 (GDR)", "RQ4 (AS)"), Fail, artifacts, "4 AS", ""},
		{"RQ_GEN in the table alone", "RQ_GEN", cut("### RQ1", "## Coverage"), Warn, artifacts, "under the minimum", ""},

		// 3. JSON.
		{"trailing comma in an object", "BASE_T1", once(`"Invested_Capital": 1204.0`, `"Invested_Capital": 1204.0,`), Fail, validJSON, "invalid character", "\"Invested_Capital\""},
		{"trailing comma in an array", "BASE_T1", once(`"to": "Revenue"}]`, `"to": "Revenue"},]`), Fail, validJSON, "invalid character", "\"edges\""},
		{"brace missing", "BASE_T1", once("\"fade_years\": 8}}\n    }\n", "\"fade_years\": 8}}\n"), Fail, validJSON, "ends too early", ""},
		{"brace too many", "BASE_T1", once("\"fade_years\": 8}}", "\"fade_years\": 8}}}}}"), Fail, validJSON, "", ""},
		{"bracket for a brace", "BASE_T1", once(`"to": "Revenue"}]`, `"to": "Revenue"}}`), Fail, validJSON, "expecting", ""},
		{"plus sign", "BASE_T1", once(`"RFR": 0.042, "ERP": 0.05, "X`, `"RFR": +0.042, "ERP": 0.05, "X`), Fail, validJSON, "invalid character", "\"derivation_trace\""},
		{"single quotes", "BASE_T1", once(`"currency": "GBP"`, `"currency": 'GBP'`), Fail, validJSON, "invalid character", "currency"},
		{"single quotes around a key", "BASE_T1", once(`"currency": "GBP"`, `'currency': "GBP"`), Fail, validJSON, "invalid character", "currency"},
		{"key without quotes", "BASE_T1", once(`"currency": "GBP"`, `currency: "GBP"`), Fail, validJSON, "invalid character", "currency"},
		{"comment", "BASE_T1", once(`"currency": "GBP",`, `"currency": "GBP", // pounds`), Fail, validJSON, "invalid character", "currency"},
		{"missing comma", "BASE_T1", once(`"currency": "GBP",`, `"currency": "GBP"`), Fail, validJSON, "invalid character", "\"Revenue\": 818.4"},
		{"NaN", "BASE_T1", once(`"EBIT": -4.2`, `"EBIT": NaN`), Fail, validJSON, "invalid character", "NaN"},
		{"percent", "BASE_T1", once(`"DR_Static": 0.122`, `"DR_Static": 12.2%`), Fail, validJSON, "invalid character", "\"derivation_trace\""},
		{"string not closed", "BASE_T1", once(`"currency": "GBP",`, `"currency": "GBP,`), Fail, validJSON, "invalid character", "currency"},
		{"placeholder", "BASE_T1", once(`"EBIT": -4.2`, `"EBIT": [TO BE FILLED]`), Fail, validJSON, "invalid character", "TO BE FILLED"},
		{"two errors in two blocks", "BASE_T1", once(`"EBIT": -4.2`, `"EBIT": None`), Fail, validJSON, "invalid character", "None"},
		{"bad JSON without a tag", "BASE_T1", both(insert("---\n\n*Analysis", "```\n{\"a\": 1,}\n```\n\n")), Fail, validJSON, "invalid character", ""},
		{"duplicate key", "BASE_T1", once(`"EBIT": -4.2`, `"EBIT": -4.2, "EBIT": -4.3`), Warn, validJSON, `"EBIT" is there twice`, "\"EBIT\""},
		{"duplicate key with an escape", "BASE_T1", once(`"EBIT": -4.2`, `"EBIT": -4.2, "\u0045BIT": -4.3`), Warn, validJSON, `"EBIT" is there twice`, "\"EBIT\""},
		{"keys with escapes that differ", "BASE_T1", once(`"EBIT": -4.2`, `"EBIT": -4.2, "EBI\\T": 1, "\u0046BIT": 2, "\q": 3`), Fail, validJSON, "escape", "\"EBIT\""},
		{"keys with escapes", "BASE_T1", once(`"EBIT": -4.2`, `"EBIT": -4.2, "EBI\\T": 1, "\u0046BIT": 2`), Pass, "", "", ""},
		{"not JSON: arrows", "BASE_T1", insert("---\n\n*Analysis", "```\n{Sailings} → {Revenue}\n[A] -> [B]\n```\n\n"), Pass, "", "", ""},
		{"not JSON: prose", "BASE_T1", insert("---\n\n*Analysis", "```\n[Sailings] times yield gives the revenue\n```\n\n"), Pass, "", "", ""},
		{"not JSON: formula", "BASE_T1", insert("---\n\n*Analysis", "```\n[(1 + g) / (DR - g)] * FCF\n```\n\n"), Pass, "", "", ""},
		{"good JSON without a tag", "BASE_T1", insert("---\n\n*Analysis", "```\n{\"a\": [1, 2.5e-3, true, null, \"x → y\"]}\n```\n\n"), Pass, "", "", ""},
		{"bad JSON in another language", "BASE_T1", insert("---\n\n*Analysis", "```python\n{'a': 1,}\n```\n\n"), Pass, "", "", ""},
		{"braces in prose", "BASE_T1", insert("---\n\n*Analysis", "The set {a, b,} is open.\n\n"), Pass, "", "", ""},

		// 4. Bounds.
		{"DR near its bound", "BASE_T1", swap("0.122", "0.158"), Warn, sanity, "DR at 15.8%, near the upper bound of 16%", "\"derivation_trace\""},
		{"DR above its bound", "BASE_T1", once(`"DR_Static": 0.122`, `"DR_Static": 0.17`), Warn, sanity, "DR at 17%, above", "\"derivation_trace\""},
		{"DR below its bound", "BASE_T1", once(`"value": 0.122`, `"value": 0.045`), Warn, sanity, "DR at 4.5%, below", "\"final_DR\""},
		{"DR near the lower bound", "BASE_T1", once(`"value": 0.122`, `"value": 0.0525`), Warn, sanity, "near the lower bound", ""},
		{"DR just not near", "BASE_T1", swap("0.122", "0.1574"), Pass, "", "", ""},
		{"DR in prose", "INT_T2", once("- **DR:** 12.7%", "- **DR:** 16.4%"), Warn, sanity, "DR at 16.4%, above", "16.4%"},
		{"DR in percent in JSON", "BASE_T1", swap("0.122", "12.2"), Pass, "", "", ""},
		{"g at DR", "BASE_T2", both(swap(`"Terminal_g": 0.0210`, `"Terminal_g": 0.127`)), Fail, sanity, "want less than the DR of 12.7% on line 27", "\"Terminal_g\""},
		{"g above DR in prose", "BASE_T2", once("| Terminal Growth (g) | 2.1% |", "| Terminal Growth (g) | 13.1% |"), Fail, sanity, "terminal growth g is 13.1%", ""},
		{"g of nothing", "BASE_T2", once("| Terminal Growth (g) | 2.1% |", "| Terminal Growth (g) | 0.0% |"), Warn, sanity, "want more than 0%", ""},
		{"g in percent in JSON", "BASE_T2", once(`"Terminal_g": 0.0210`, `"Terminal_g": 2.10`), Pass, "", "", ""},
		{"IVPS of nothing", "BASE_T2", once(`"IVPS": 7.2502`, `"IVPS": 0`), Fail, sanity, "IVPS is 0", "\"IVPS\": 0"},
		{"IVPS below nothing", "BASE_T2", once("**£7.25**", "**-£7.25**"), Fail, sanity, "IVPS is -7.25", ""},
		{"revenue below nothing", "BASE_T1", once(`"Revenue": 818.4`, `"Revenue": -818.4`), Fail, sanity, "Y0 revenue is -818.4", "\"Revenue\": -818.4"},
		{"revenue of nothing", "BASE_REFINE", once(`"Revenue": 821.0`, `"Revenue": 0`), Fail, sanity, "Y0 revenue is 0", ""},
		{"ROIC above its bound", "BASE_T2", once(`"ROIC_Terminal": 0.118`, `"ROIC_Terminal": 6`), Pass, "", "", ""},
		{"ROIC above its bound in prose", "BASE_T2", once("| Terminal ROIC | 11.8% |", "| Terminal ROIC | 218% |"), Warn, sanity, "ROIC at 218%", ""},
		{"ROIC below its bound", "BASE_T2", once("| Terminal ROIC | 11.8% |", "| Terminal ROIC | -3% |"), Warn, sanity, "ROIC at -3%", ""},
		{"ROIC in doubt", "BASE_T2", once(`"ROIC_Terminal": 0.118`, `"ROIC_Terminal": 3.1`), Warn, sanity, "could be 310% or 3.1%", ""},
		{"joint states sum too high", "SCENARIO_T2", both(swap(`"probability": 0.45`, `"probability": 0.65`), once("| S4 | 0.45 |", "| S4 | 0.65 |"), once("| Total | 1.00 | |\n", "")), Warn, sanity, "sum to 1.2: want >= 0.95, <= 1.05", ""},
		{"joint probability above one", "SCENARIO_T2", both(once(`"probability": 0.45`, `"probability": 1.45`)), Fail, sanity, "145%", ""},
		{"marginals without joint states", "SCENARIO_T2", both(cut("### Joint", "```json"), once(`"JPD": [`, `"JPD": {"method": 2}, "list": [`), swap(`"probability"`, `"moment"`)), Warn, sanity, "the 4 scenarios sum to 1.85", ""},
		{"marginal above one", "SCENARIO_T1", both(once("35% (posterior", "135% (posterior"), once("| S1 | 35% |", "| S1 | 135% |")), Fail, sanity, "135%", ""},
		{"E[IRR] out of range", "IRR_T2", once("**E[IRR]:** 11.8%", "**E[IRR]:** 160%"), Warn, sanity, "E[IRR] at 160%", ""},
		{"E[IRR] below its range", "IRR_T2", once("**E[IRR]:** 11.8%", "**E[IRR]:** -60%"), Warn, sanity, "E[IRR] at -60%", ""},
		{"E[IRR] cannot be", "IRR_T2", once("**E[IRR]:** 11.8%", "**E[IRR]:** -120%"), Fail, sanity, "E[IRR] is -120%", ""},
		{"E[IRR] in doubt", "IRR_T2", once(`"expected_irr": 0.118`, `"expected_irr": -1.2`), Warn, sanity, "could be", ""},
		{"P above one", "IRR_T2", once("41.2%", "141.2%"), Fail, sanity, "141.2%", ""},
		{"P below nothing", "IRR_T2", once("0.412", "-0.412"), Fail, sanity, "-41.2%", ""},
		{"P in percent in JSON", "IRR_T2", once("0.412", "41.2"), Pass, "", "", ""},

		// 5. Fabrication.
		{"IVPS in T1", "BASE_T1", insert("## Narrative IV", "The valuation gives IVPS = 23.45 for the shares.\n\n"), Fail, fabricated, "BASE_T1 states IVPS as 23.45", "IVPS = 23.45"},
		{"IVPS in T1 in dollars", "BASE_T1", insert("## Narrative IV", "**IVPS: $14.72**\n\n"), Fail, fabricated, "14.72", ""},
		{"IVPS in T1 in a table", "BASE_T1", insert("## Narrative IV", "| Metric | Value |\n|---|---|\n| Intrinsic Value Per Share (IVPS) | **$241.72** |\n\n"), Fail, fabricated, "241.72", ""},
		{"IVPS in T1 in a table of tags", "BASE_T1", insert("## Narrative IV", "<table><tr><th>Metric</th><th>Value</th></tr>\n<tr><td>IVPS</td><td>$241.72</td></tr></table>\n\n"), Fail, fabricated, "241.72", ""},
		{"IVPS in T1 in a table of tags without an end", "BASE_T1", insert("## Narrative IV", "<table>\nIVPS of the peers\n<tr><td>IVPS<td>$241.72\n\n"), Fail, fabricated, "241.72", ""},
		{"IVPS in T1 under a table's tag", "BASE_T1", insert("## Narrative IV", "<table>\nIVPS = 23.45\n\n"), Fail, fabricated, "23.45", ""},
		{"IVPS in T1 in a comment", "BASE_T1", insert("## Narrative IV", "<!--\n\nIVPS = 23.45\n-->\n\n"), Fail, fabricated, "23.45", "IVPS = 23.45"},
		{"IVPS in T1 in JSON", "BASE_T1", once(`"Current_Stock_Price": 6.1`, `"Current_Stock_Price": 6.1, "IVPS": 7.3`), Fail, fabricated, "7.3", ""},
		{"IVPS in T1 called State 1", "BASE_T1", insert("## Narrative IV", "State 1 IVPS: $14.72\n\n"), Fail, fabricated, "14.72", ""},
		{"IVPS in T1 null", "BASE_T1", once(`"Current_Stock_Price": 6.1`, `"Current_Stock_Price": 6.1, "IVPS": null`), Pass, "", "", ""},
		{"IVPS in T1 to come", "BASE_T1", insert("## Narrative IV", "- IVPS: [TO BE CALCULATED BY KERNEL]\n- IVPS > 0\n- IVPS = Equity / FDSO\n- IVPS (P10-P90)\n\n"), Pass, "", "", ""},
		{"IVPS in REFINE", "BASE_REFINE", insert("## Section F", "This implies an IVPS of £7.40.\n\n"), Fail, fabricated, "BASE_REFINE states IVPS as 7.4", ""},
		{"IVPS in ENRICH_T1", "ENRICH_T1", insert("## Handoff", "**Updated IVPS:** £6.98\n\n"), Fail, fabricated, "ENRICH_T1 states IVPS as 6.98", ""},
		{"IVPS in ENRICH_T1 called State 2", "ENRICH_T1", once(`"updated_ivps": null`, `"state_2_ivps": 6.98`), Fail, fabricated, "6.98", ""},
		{"IVPS in ENRICH_T1 after an arrow", "ENRICH_T1", insert("## Handoff", "IVPS: £7.25 → £6.98\n\n"), Fail, fabricated, "6.98", ""},
		{"IVPS of an earlier stage", "ENRICH_T1", insert("## Handoff", "T2 IVPS = £7.25, so BASE IVPS of £7.25 stands. IVPS: £7.25\n\n"), Pass, "", "", ""},
		{"impact per share", "ENRICH_T1", insert("## Handoff", "- IVPS impact: -$15 to -$25 per share\n- Impact on IVPS: -£0.20\n\n"), Pass, "", "", ""},
		{"E[IVPS] in SCENARIO_T1", "SCENARIO_T1", insert("## Summary", "**E[IVPS]:** £6.61\n\n"), Fail, fabricated, "E[IVPS]", ""},
		{"JPD in SCENARIO_T1", "SCENARIO_T1", insert("## Summary", "```json\n{\"JPD\": {\"value\": 0.12}}\n```\n\n"), Fail, fabricated, "JPD", ""},
		{"SSE in SCENARIO_T1", "SCENARIO_T1", insert("## Summary", "SSE = 0.183\n\n"), Fail, fabricated, "SSE", ""},
		{"plain IVPS in SCENARIO_T1", "SCENARIO_T1", insert("## Summary", "IVPS: £6.98\n\n"), Pass, "", "", ""},
		{"State 4 in INT_T1", "INT_T1", insert("## Handoff", "State 4 E[IVPS]: £6.40\n\n"), Fail, fabricated, "6.4", ""},
		{"State 4 in INT_T1 in JSON", "INT_T1", insert("## Handoff", "```json\n{\"state_4\": {\"E_IVPS\": 6.40}}\n```\n\n"), Fail, fabricated, "6.4", ""},
		{"State 3 in INT_T1", "INT_T1", insert("## Handoff", "E[IVPS] = £6.61 is what SCENARIO found.\n\n"), Pass, "", "", ""},
		{"E[IRR] in IRR_T1", "IRR_T1", insert("## 7.", "Expected IRR: 11.8%\n\n"), Fail, fabricated, "11.8%", ""},
		{"hurdle in IRR_T1", "IRR_T1", insert("## 7.", "E[IRR] > 15% is the hurdle.\n\n"), Pass, "", "", ""},

		// 6. Derivation.
		{"X_final is no mean", "BASE_REFINE", both(once("X_final = 1.7\n", "X_final = 1.9\n"), once(`"X_final": {"value": 1.7}`, `"X_final": {"value": 1.9}`)), Fail, derivation, "X_final is 1.9, but the mean of X_T1 1.6 and X_REFINE 1.8 is 1.7", ""},
		{"X_final rounded", "BASE_REFINE", both(swap("1.8", "1.85"), once("X_final = 1.7\n", "X_final = 1.73\n"), once(`"X_final": {"value": 1.7}`, `"X_final": {"value": 1.73}`)), Pass, "", "", ""},
		{"divergence not flagged", "BASE_REFINE", both(swap("1.8", "2.0"), once("X_final = 1.7\n", "X_final = 1.8\n"), once(`{"value": 1.7}`, `{"value": 1.8}`)), Warn, derivation, "more than 0.3", ""},
		{"divergence flagged", "BASE_REFINE", both(swap("1.8", "2.0"), once("X_final = 1.7\n", "X_final = 1.8\n"), once(`{"value": 1.7}`, `{"value": 1.8}`), once("PASS - No material disagreement.", "FLAGGED - the divergence of 0.4 exceeds 0.3.")), Pass, "", "", ""},
		{"divergence flagged in JSON", "BASE_REFINE", both(swap("1.8", "2.0"), once("X_final = 1.7\n", "X_final = 1.8\n"), once(`{"value": 1.7}`, `{"value": 1.8}`), once(`"status": "PASS"`, `"status": "FLAGGED"`)), Pass, "", "", ""},
		{"X_T1 of the prose is no part of the mean", "BASE_REFINE", once("**X_T1 = 1.6**", "**X_T1 = 1.2**"), Fail, derivation, "X_final is 1.7, but the mean of X_T1 1.2 and X_REFINE 1.8 is 1.5", "X_final = 1.7"},
		{"X_REFINE of the prose is no part of the mean", "BASE_REFINE", once("1.0 + 0.8 = 1.8", "1.0 + 1.1 = 2.1"), Fail, derivation, "X_REFINE 2.1 is 1.85", "X_final = 1.7"},
		{"X_T1 of JSON is no part of the mean", "BASE_REFINE", once(`"X_T1": {"value": 1.6}`, `"X_T1": {"value": 1.2}`), Fail, derivation, "X_T1 1.2 and X_REFINE 1.8 is 1.5", "      \"X_final\": {\"value\""},
		{"X_final in JSON alone", "BASE_REFINE", both(once("**X_T1 = 1.6**", "**X_T1 = 1.2**"), once("X_final = 1.7\n", "")), Fail, derivation, "X_T1 1.2", `"X_final": {"value"`},
		{"X_T1 in prose alone", "BASE_REFINE", both(once("**X_T1 = 1.6**", "**X_T1 = 1.2**"), once(`"X_T1": {"value": 1.6},`, "")), Fail, derivation, "X_T1 1.2", "X_final = 1.7"},
		{"X_REFINE in two values", "BASE_REFINE", insert("## Section F", "In sum, X_REFINE = 2.0.\n\n"), Warn, derivation, "X_REFINE is 2 here and 1.8 on line 23", "In sum"},
		{"X_T1 in two values", "BASE_REFINE", insert("## Section F", "X_T1 = 1.5 was taken over.\n\n"), Warn, derivation, "X_T1 is 1.5 here and 1.6 on line 22", "X_T1 = 1.5"},
		{"X again, rounded", "BASE_REFINE", insert("## Section F", "X_T1 ≈ 2, X_REFINE = 1.80, X_final = 1.7.\n\n"), Pass, "", "", ""},
		{"X under a condition", "BASE_REFINE", insert("## Section F", "If X_REFINE were 2.4, DR would rise.\n\n"), Pass, "", "", ""},
		{"X as a range", "BASE_REFINE", insert("## Section F", "| Item | Value |\n|---|---|\n| X_REFINE range | 1.5 - 2.2 |\n\n"), Pass, "", "", ""},
		{"divergence of the limit", "BASE_REFINE", both(swap("1.8", "1.9"), once("X_final = 1.7\n", "X_final = 1.75\n"), once(`{"value": 1.7}`, `{"value": 1.75}`)), Pass, "", "", ""},
	} {
		t.Run(c.stage+"/"+c.name, func(t *testing.T) {
			text := c.edit(t, good(t, c.stage))
			r := judge(t, c.stage, text)
			list := r.Issues
			if c.status == Warn {
				list = r.Warnings
			}
			if r.Status != c.status || c.check != "" && (len(list) == 0 || list[0].Check != c.check || !strings.Contains(list[0].Message, c.words)) {
				t.Fatalf("want %s %s %q\n%s", c.status, c.check, c.words, r.Text())
			}
			if line := 1 + strings.Count(text[:max(0, strings.Index(text, c.at))], "\n"); c.at != "" && (list[0].Line != line || !strings.HasPrefix(list[0].Location, fmt.Sprintf("line %d", line))) {
				t.Errorf("want it on line %d\n%s", line, r.Text())
			}
		})
	}
}

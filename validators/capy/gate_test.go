package capy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/validatorstest"
)

// The same text under three stages gives three verdicts.
func TestOneTextThreeVerdicts(t *testing.T) {
	text := strings.Replace(good(t, "BASE_T1"), "---\n\n*Analysis completed for CAPY BASE Turn 1*", good(t, "BASE_T2"), 1)
	for _, c := range []struct{ stage, status, check string }{
		{"BASE_T1", Fail, "no_fabrication"}, {"BASE_REFINE", Fail, "artifacts_present"}, {"BASE_T2", Pass, ""},
	} {
		r := judge(t, c.stage, text)
		if r.Status != c.status || c.check != "" && r.Issues[0].Check != c.check {
			t.Errorf("%s: want %s %s\n%s", c.stage, c.status, c.check, r.Text())
		}
	}
}

func TestReportText(t *testing.T) {
	pass := judge(t, "BASE_T1", good(t, "BASE_T1"))
	want := `{
  "stage": "BASE_T1",
  "status": "PASS",
  "checks": {
    "output_structure": {
      "pass": true,
      "notes": null
    },
    "artifacts_present": {
      "pass": true,
      "notes": null
    },
    "json_valid": {
      "pass": true,
      "notes": null
    },
    "sanity_bounds": {
      "pass": true,
      "notes": null
    },
    "no_fabrication": {
      "pass": true,
      "notes": null
    },
    "dr_derivation": {
      "pass": null,
      "notes": "N/A for BASE_T1"
    }
  },
  "issues": [],
  "warnings": [],
  "proceed": true
}
`
	if got := string(pass.Text()); got != want {
		t.Errorf("got %s", got)
	}
	warn := judge(t, "BASE_REFINE", strings.ReplaceAll(good(t, "BASE_REFINE"), "0.127", "0.159"))
	want = `{
  "stage": "BASE_REFINE",
  "status": "WARN",
  "checks": {
    "output_structure": {
      "pass": true,
      "notes": null
    },
    "artifacts_present": {
      "pass": true,
      "notes": null
    },
    "json_valid": {
      "pass": true,
      "notes": null
    },
    "sanity_bounds": {
      "pass": true,
      "notes": "DR at 15.9%, near the upper bound of 16%"
    },
    "no_fabrication": {
      "pass": true,
      "notes": null
    },
    "dr_derivation": {
      "pass": true,
      "notes": null
    }
  },
  "issues": [],
  "warnings": [
    {
      "check": "sanity_bounds",
      "severity": "WARN",
      "message": "DR at 15.9%, near the upper bound of 16% (\"DR_final\": 0.159)",
      "location": "line 52, under \"Section F: Corrected Artifacts\""
    }
  ],
  "proceed": true
}
`
	if got := string(warn.Text()); got != want {
		t.Errorf("got %s", got)
	}
	text := good(t, "BASE_T1")
	fail := judge(t, "BASE_T1", cut("### A.3_", "### A.5_")(t, text))
	want = `{"stage":"BASE_T1","status":"FAIL","checks":{"output_structure":{"pass":true,"notes":null},` +
		`"artifacts_present":{"pass":false,"notes":"Missing A.3"},` +
		`"json_valid":{"pass":null,"notes":"Skipped due to prior failure"},` +
		`"sanity_bounds":{"pass":null,"notes":"Skipped due to prior failure"},` +
		`"no_fabrication":{"pass":null,"notes":"Skipped due to prior failure"},` +
		`"dr_derivation":{"pass":null,"notes":"N/A for BASE_T1"}},` +
		`"issues":[{"check":"artifacts_present","severity":"FAIL","message":"Missing A.3 (Causal DAG): no heading, JSON key or file is the artifact",` +
		`"location":"line 40, under \"A.2_ANALYTIC_KG\""}],"warnings":[],"proceed":false}`
	if got, err := json.Marshal(fail); err != nil || string(got) != want {
		t.Errorf("got %s %v", got, err)
	}
	if fail.Issues[0].Line != 40 {
		t.Errorf("the line is %d", fail.Issues[0].Line)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, fail.Text()); err != nil || compact.String() != want {
		t.Errorf("Text says something else: %s %v", compact.String(), err)
	}
	empty, err := json.Marshal(Report{})
	if err != nil || !strings.Contains(string(empty), `"issues":[],"warnings":[],"proceed":false`) {
		t.Errorf("got %s %v", empty, err)
	}
}

func TestOneJSONDocument(t *testing.T) {
	doc := `{
  "A.8_RESEARCH_STRATEGY_MAP": {
    "Research_Plan": [
      {"RQ_ID": "RQ1", "Platform": "AS", "Title": "Freight yield after the toll reform of next year"},
      {"RQ_ID": "RQ2", "Platform": "AlphaSense", "Title": "Fuel hedging practice in the short-sea trade"},
      {"RQ_ID": "RQ3", "Platform": "AS", "Title": "Management credibility since the year 2019"},
      {"RQ_ID": "RQ4", "Platform": "GDR", "Title": "Tunnel competition and its second bore"},
      {"RQ_ID": "RQ5", "Platform": "Gemini Deep Research", "Title": "Port charges and how they are set"},
      {"RQ_ID": "RQ6", "Platform": "GDR", "Title": "Emission rules and what shipping pays"}
    ]
  }
}
`
	for _, text := range []string{doc, "\n" + doc, "```json\n" + doc + "```\n"} {
		r := judge(t, "RQ_GEN", text)
		if r.Status != Pass || r.Checks.OutputStructure.Notes == nil || !strings.Contains(*r.Checks.OutputStructure.Notes, "one JSON document") {
			t.Errorf("%s", r.Text())
		}
	}
	for name, c := range map[string]struct{ text, check, words string }{
		"cut":            {strings.TrimSuffix(doc, "  }\n}\n"), "output_structure", "breaks off"},
		"trailing comma": {strings.Replace(doc, "shipping pays\"}", "shipping pays\"},", 1), "json_valid", "invalid character"},
		"seven":          {strings.Replace(doc, "shipping pays\"}", "shipping pays\"}, {\"RQ_ID\": \"RQ7\", \"Platform\": \"GDR\"}", 1), "artifacts_present", "7 RQs"},
		"two of one":     {strings.Replace(doc, "AlphaSense", "GDR", 1), "artifacts_present", "2 AS"},
	} {
		r := judge(t, "RQ_GEN", c.text)
		if r.Proceed || r.Issues[0].Check != c.check || !strings.Contains(r.Issues[0].Message, c.words) {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
}

func TestPolicy101(t *testing.T) {
	row := func(ids ...string) string {
		var text strings.Builder
		text.WriteString("# Questions\n\n## A.8_RESEARCH_STRATEGY_MAP\n\n" + strings.Repeat("Each question is asked of the platform that can answer it. ", 9) + "\n\n")
		for _, id := range ids {
			text.WriteString("### " + id + ": A question about the routes\n\nFind out.\n\n")
		}
		return text.String()
	}
	good := []string{"M-1", "M-2", "M-3a", "M-3b", "D-1", "D-2", "D-3"}
	for name, c := range map[string]struct {
		text, policy, words string
	}{
		"the seven":        {row(good...), "1.0.1", ""},
		"with RQ in front": {row("RQ1 (M-1)", "RQ2 (M-2)", "RQ3 (M-3a)", "RQ4 (M-3b)", "RQ5 (D-1)", "RQ6 (D-2)", "RQ7 (D-3)"), "1.0.1", ""},
		"six":              {row(good[:6]...), "1.0.1", "Missing RQs D-3"},
		"eight":            {row(append(good[:7:7], "D-4")...), "1.0.1", "D-4"},
		"by the old rule":  {row(good...), "1.0.0", "0 RQs: want 6"},
		"new rule":         {row("RQ1 (AS)", "RQ2 (AS)", "RQ3 (AS)", "RQ4 (GDR)", "RQ5 (GDR)", "RQ6 (GDR)"), "1.0.1", "Missing RQs M-1"},
	} {
		r, err := judgeWith(Options{Stage: "RQ_GEN", Policy: c.policy}, c.text)
		if err != nil {
			t.Fatal(err)
		}
		if r.Proceed != (c.words == "") || c.words != "" && !strings.Contains(r.Issues[0].Message, c.words) {
			t.Errorf("%s: %s", name, r.Text())
		}
	}
}

// An array of strings holds no identifiers at its keys.
func TestPolicy101Arrays(t *testing.T) {
	for _, text := range []string{`["M-1", "M-2", ""]`, `{"questions": ["M-1: One", "M-2: Two", "` + strings.Repeat("long ", 200) + `"]}`, `[["M-1"], [""], [{"": "M-1"}]]`, "# A.8\n\n- \n- M\n\n```json\n[\"\", \"M\", \"M-\"]\n```\n"} {
		for _, policy := range []string{"1.0.0", "1.0.1"} {
			if r, err := judgeWith(Options{Stage: "RQ_GEN", Policy: policy}, text); err != nil || r.Proceed {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}

func TestOwnPolicy(t *testing.T) {
	text := good(t, "BASE_T1")
	for name, c := range map[string]struct{ policy, status, fails string }{
		"a bound":         {"values:\n  dr: {warn: [\"<= 12\"]}\n", Warn, ""},
		"a row":           {"stages:\n  - {name: BASE_T1, artifacts: [A.7]}\n", Fail, ""},
		"nothing":         {"extends: 1.0.1\n", Pass, ""},
		"a schema":        {"artifacts:\n  A.3: {schema: {type: object, required: [nodes, edges]}}\n", Pass, ""},
		"another schema":  {"artifacts:\n  A.3: {schema: {type: object, required: [layers]}}\n", Fail, ""},
		"a place":         {"artifacts:\n  A.3: {in: [file]}\n", Fail, ""},
		"a label":         {"values:\n  ebit: {title: EBIT, unit: money, labels: [EBIT], warn: [\">= 0\"]}\n", Warn, ""},
		"a pointer":       {"values:\n  rfr: {title: RFR, unit: percent, pointers: [/A.2_ANALYTIC_KG/market_context/RFR], warn: [\"<= 4\"]}\n", Warn, ""},
		"other pointer":   {"values:\n  rfr: {title: RFR, unit: percent, pointers: [/market_context/RFR], warn: [\"<= 4\"]}\n", Pass, ""},
		"a minimum":       {"minimum: {rows: 1, leaves: 5, items: 2, words: 90}\n", Warn, ""},
		"unknown field":   {"bound: {}\n", "", "bound"},
		"unknown value":   {"values:\n  drr: {warn: [\"< 1\"]}\n", "", "drr"},
		"unknown need":    {"stages:\n  - {name: BASE_T1, needs: [gold]}\n", "", `"gold"`},
		"forbids nothing": {"stages:\n  - {name: BASE_T1, forbids: [{value: gold}]}\n", "", `"gold"`},
		"bad artifact":    {"stages:\n  - {name: BASE_T1, artifacts: [B.1]}\n", "", `"B.1"`},
		"bad name":        {"artifacts:\n  B.1: {title: B}\n", "", "A.7"},
		"bad pattern":     {"artifacts:\n  A.1: {file: '('}\n", "", "A.1"},
		"bad holds":       {"needs:\n  cr: {holds: (}\n", "", "missing closing"},
		"bad status":      {"no_fabrication: maybe\n", "", `"maybe"`},
		"under nothing":   {"values:\n  g: {fail: [\"< gold\"]}\n", "", `"< gold"`},
		"extends nothing": {"extends: 2.0.0\n", "", "2.0.0"},
		"two documents":   {"extends: 1.0.1\n---\nextends: 1.0.0\n", "", "second document"},
		"no YAML":         {"a: [\n", "", "policy"},
		"no name":         {"9.9.9", "", "1.0.0, 1.0.1, strict"},
	} {
		r, err := judgeWith(Options{Stage: "BASE_T1", Policy: c.policy}, text)
		if c.fails != "" {
			if err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s: got %v", name, err)
			}
			continue
		}
		if err != nil || r.Status != c.status {
			t.Errorf("%s: %v %s", name, err, r.Text())
		}
	}
}

// A policy may name the file of a schema. The parameter schemas has the file.
func TestPolicySchemaFile(t *testing.T) {
	policy := "artifacts:\n  A.3: {schema: dag.json}\n"
	for required, status := range map[string]string{"nodes": Pass, "layers": Fail} {
		schemas := map[string]any{"dag.json": map[string]any{"type": "object", "required": []any{required}}}
		r, err := judgeWith(Options{Stage: "BASE_T1", Policy: policy, Schemas: schemas}, good(t, "BASE_T1"))
		if err != nil || r.Status != status || status == Fail && !strings.Contains(r.Issues[0].Message, "layers") {
			t.Errorf("%s: %v %s", required, err, r.Text())
		}
	}
	if _, err := New(Options{Stage: "BASE_T1", Policy: policy}); err == nil || !strings.Contains(err.Error(), `"dag.json"`) {
		t.Errorf("without the file: %v", err)
	}
}

// With no_fabrication: fail, an amount beside a label in a sentence is a failure.
func TestPolicyNoFabricationFail(t *testing.T) {
	text := insert("## Narrative IV", "IVPS should come to $23.45 in the end.\n\n")(t, good(t, "BASE_T1"))
	for policy, want := range map[string]string{"1.0.0": Warn, "no_fabrication: fail\n": Fail, "no_fabrication: warn\n": Warn} {
		r, err := judgeWith(Options{Stage: "BASE_T1", Policy: policy}, text)
		if err != nil || r.Status != want || r.Proceed != (want == Warn) {
			t.Errorf("%s: %v %s", policy, err, r.Text())
		}
		list := append(r.Issues, r.Warnings...)
		if !strings.Contains(list[0].Message, `potential fabrication of IVPS: "IVPS should come to $23.45`) || strings.HasPrefix(list[0].Message, "Question") != (want == Warn) {
			t.Errorf("%s: %s", policy, list[0].Message)
		}
	}
}

func TestSidecars(t *testing.T) {
	text := cut("```json", "## Valuation")(t, strings.Replace(good(t, "BASE_T2"), "# A.7 LIGHTWEIGHT VALUATION SUMMARY", "# Summary", 1))
	body := `{"ivps_summary": {"IVPS": 7.25, "DR": 0.127}}`
	for name, c := range map[string]struct {
		sidecars any
		status   string
		words    string
	}{
		"none":           {nil, Fail, "Missing A.7"},
		"named":          {`{"A.7_LIGHTWEIGHT_VALUATION_SUMMARY": ` + body + `}`, Pass, ""},
		"by its body":    {[]any{`{"other": 1}`, body}, Pass, ""},
		"as a value":     {map[string]any{"A.7_X": map[string]any{"IVPS": 7.25, "g": 0.02}}, Pass, ""},
		"without a name": {`{"values": 1}`, Fail, "Missing A.7"},
		"bad JSON":       {`{"A.7_X": {"IVPS": 7.25,}}`, Fail, "invalid character"},
		"out of bounds":  {strings.Replace(body, "0.127", "0.17", 1), Warn, "DR at 17%"},
	} {
		r, err := judgeWith(Options{Stage: "BASE_T2", Sidecars: c.sidecars}, text)
		if err != nil {
			t.Fatal(err)
		}
		found := append(r.Issues, r.Warnings...)
		if r.Status != c.status || c.words != "" && !strings.Contains(found[0].Message, c.words) {
			t.Errorf("%s: %s", name, r.Text())
		}
		if c.status == Warn && !strings.HasPrefix(r.Warnings[0].Location, "line 1 of sidecar 1") {
			t.Errorf("%s: %s", name, r.Warnings[0].Location)
		}
	}
	if _, err := New(Options{Stage: "SC", Sidecars: math.Inf(1)}); err == nil {
		t.Error("a sidecar without JSON was taken")
	}
}

func TestPrior(t *testing.T) {
	text := insert("## Handoff", "**IVPS:** £9.81\n\n")(t, good(t, "ENRICH_T1"))
	for name, prior := range map[string]any{
		"number": 9.81, "map": map[string]any{"base": 9.8112}, "list": []any{1, map[string]any{"x": 9.81}},
		"text": "# BASE\n\nIVPS: £9.81\n", "texts": []string{"IVPS = 9.811"}, "JSON": `{"ivps_summary": {"IVPS": 9.81123}}`, "digits": "9.81",
		"floats": map[string]float64{"a": 9.81}, "slice": []float64{9.81},
	} {
		r, err := judgeWith(Options{Stage: "ENRICH_T1", Prior: prior}, text)
		if err != nil || r.Status != Pass {
			t.Errorf("%s: %v %s", name, err, r.Text())
		}
	}
	for name, prior := range map[string]any{"none": nil, "other": 9.9, "text": "IVPS > 9.81"} {
		if r, err := judgeWith(Options{Stage: "ENRICH_T1", Prior: prior}, text); err != nil || r.Proceed {
			t.Errorf("%s: %v %s", name, err, r.Text())
		}
	}
	base := good(t, "INT_T1")
	for phrase, want := range map[string]string{"E[IVPS]: £6.40": Warn, "State 4 E[IVPS]: £6.40": Fail, "E[IVPS]: £6.61": Pass, "E[IVPS]: £6.61 → £6.40": Warn, "State 3 E[IVPS]: £6.62": Pass, "IVPS: £7.25": Pass, "E[IVPS] impact: -£0.21": Pass} {
		if r, err := judgeWith(Options{Stage: "INT_T1", Prior: map[string]any{"state_3_e_ivps": 6.61}}, insert("## Handoff", phrase+"\n\n")(t, base)); err != nil || r.Status != want {
			t.Errorf("%s: %v %s", phrase, err, r.Text())
		}
	}
	if _, err := New(Options{Stage: "SC", Prior: true}); err == nil {
		t.Error("true was taken as an earlier value")
	}
}

func TestUnknownStage(t *testing.T) {
	_, err := New(Options{Stage: "BASE_T9"})
	if !errors.Is(err, ErrStage) {
		t.Fatal(err)
	}
	if len(stageNames()) != 14 {
		t.Errorf("stages: %v", stageNames())
	}
	for _, s := range stageNames() {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%v does not name %s", err, s)
		}
	}
}

func TestBadTexts(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "blank": " \n\t\n", "one byte": "x", "zeros": strings.Repeat("\x00", 600), "not UTF-8": strings.Repeat("\xff\xc3", 400),
		"500 characters": "# T\n\n" + strings.Repeat("é", 494) + ".", "bytes alone": "# T\n\n" + strings.Repeat("日", 300) + "。",
		"half a fence": "# T\n\n" + strings.Repeat("word ", 120) + "\n\n```json\n{", "brace": "{", "key": `{"a"`,
	} {
		for _, stage := range stageNames() {
			r := judge(t, stage, text)
			if r.Proceed || r.Issues[0].Check != "output_structure" || !utf8.Valid(r.Text()) {
				t.Errorf("%s: %s", name, r.Text())
			}
		}
	}
	if r := judge(t, "BASE_T1", "# T\n\n"+strings.Repeat("é", 495)+"."); r.Issues[0].Check == "output_structure" {
		t.Errorf("501 characters are enough\n%s", r.Text())
	}
}

func TestManyFindingsAreCounted(t *testing.T) {
	text := insert("## Narrative IV", strings.Repeat("IVPS = 23.45\n\n", 200))(t, good(t, "BASE_T1"))
	r := judge(t, "BASE_T1", text)
	if len(r.Issues) != maxFindings || !strings.Contains(r.Issues[maxFindings-1].Message, "and 100 more") {
		t.Errorf("%d issues, the last: %v", len(r.Issues), r.Issues[len(r.Issues)-1])
	}
}

func TestStageOf(t *testing.T) {
	for name, want := range map[string]string{
		"BASE_T1.pass.md": "BASE_T1", "DAVE_BASE_T1_output.md": "BASE_T1", "02_BASE_REFINE.md": "BASE_REFINE", "ENRICH_T2-v3.md": "ENRICH_T2",
		"base-t2.md": "BASE_T2", "/tmp/INT_T1/x_SCENARIO_T1_SC.md": "SCENARIO_T1", `C:\out\irr_t2.md`: "IRR_T2", "ALDR SC 2026.md": "SC", "rq_gen.json": "RQ_GEN",
		"PRINT_T1.md": "", "BASE_T11.md": "", "README.md": "", "SCHEDULE.md": "", "": "", "BASE_T1_vs_BASE_T2.md": "BASE_T1",
		"DAVE_SCEN_T1_20251220.md": "SCENARIO_T1", "06_SCENARIO/ALDR_SCEN_T2.md": "SCENARIO_T2", "ALDR_A10_SCENARIO.json": "SCENARIO_T2", "SC.ALDR_A11_AUDIT_REPORT.json": "SC", "ALDR_A8_RQ.json": "RQ_GEN", "x_A.13_y.json": "IRR_T1",
		"ALDR_A7_KERNEL.json": "BASE_T2", "ALDR_ENRICH_A7.json": "ENRICH_T2", "ALDR_A14_irr.json": "IRR_T2", "ALDR_INT_T2_A12.json": "INT_T2", "ALDR_A12_TRACE.json": "INT_T2", "ALDR_A9_ENRICHMENT_TRACE.json": "ENRICH_T1",
		"03_T2/ALDR_BASE.md": "BASE_T2", "05_ENRICH/T1_output.md": "ENRICH_T1", "Integration-Turn-1.md": "INT_T1", "ALDR_REFINE.md": "BASE_REFINE", "silicon_council.md": "SC", "rqgen-1.md": "RQ_GEN", "ALDR_A2_ANALYTIC_KG.json": "", "AA10.json": "", "A100.json": "",
	} {
		if got, ok := StageOf(name); got != want || ok != (want != "") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestSuite(t *testing.T) {
	validatorstest.Run(t, Validator,
		validatorstest.Case{Name: "good", With: map[string]any{"stage": "BASE_T1"}, Content: good(t, "BASE_T1"), Valid: true, Reason: "passes"},
		validatorstest.Case{Name: "of another stage", With: map[string]any{"stage": "SCENARIO_T2", "policy": "1.0.1"}, Content: good(t, "BASE_T1"), Reason: "Missing A.10"},
		validatorstest.Case{Name: "nothing", With: map[string]any{"stage": "RQ_GEN"}, Reason: "empty"})
}

func TestWard(t *testing.T) {
	check, err := Validator.Bind(map[string]any{"stage": "BASE_T1"})
	if err != nil {
		t.Fatal(err)
	}
	v, err := check(context.Background(), validators.Subject{Content: good(t, "BASE_T1")})
	if err != nil || !v.Valid || v.Status != Pass || len(v.Issues) > 0 {
		t.Errorf("%v %+v", err, v)
	}
	v, err = check(context.Background(), validators.Subject{Content: good(t, "BASE_T2")})
	if err != nil || v.Valid || v.Status != Fail || len(v.Issues) != 5 || v.Issues[0].Check != "artifacts_present" || v.Issues[0].Severity != Fail {
		t.Errorf("%v %+v", err, v)
	}
	if !strings.Contains(v.Reason, "Missing A.1 (Epistemic Anchors)") || strings.Count(v.Reason, "Missing") != 5 || !strings.HasSuffix(v.Reason, ").") {
		t.Errorf("reason: %s", v.Reason)
	}
	text, err := json.Marshal(v)
	if err != nil || !strings.Contains(string(text), `"details":{"checks":{"artifacts_present":{"notes":"Missing A.1; Missing A.2`) {
		t.Errorf("%s %v", text, err)
	}
	warn, err := check(context.Background(), validators.Subject{Content: strings.ReplaceAll(good(t, "BASE_T1"), "0.122", "0.158")})
	if err != nil || !warn.Valid || warn.Status != Warn || len(warn.Warnings) != 1 || !strings.Contains(warn.Reason, "15.8%") {
		t.Errorf("%v %+v", err, warn)
	}
	for name, with := range map[string]map[string]any{
		"no stage": {}, "unknown stage": {"stage": "T1"}, "unknown parameter": {"stage": "SC", "stages": 1}, "policy": {"stage": "SC", "policy": "x"},
		"prior": {"stage": "SC", "prior": false}, "sidecars": {"stage": "SC", "sidecars": []any{[]any{1}}},
	} {
		if _, err := Validator.Bind(with); err == nil {
			t.Errorf("%s: bound", name)
		}
	}
	for name, with := range map[string]map[string]any{
		"sidecars": {"stage": "SC", "sidecars": []any{"{}", map[string]any{"a": 1}}}, "prior": {"stage": "SC", "prior": map[string]any{"a": 1.5}}, "policy": {"stage": "SC", "policy": "1.0.1"},
	} {
		if _, err := Validator.Bind(with); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A table cell is found even if its label contains brackets.
func TestLabelWithBrackets(t *testing.T) {
	text := both(once("- **P(IRR > 13.25% hurdle):** 41.2%\n", ""), once(`"probability_above_hurdle": 0.412,`, ""))(t, good(t, "IRR_T2"))
	if r := judge(t, "IRR_T2", text); r.Proceed {
		t.Errorf("%s", r.Text())
	}
	text = insert("| Fork |", "| Figure | Result |\n|---|---|\n| P(IRR > Hurdle) | 41.2% |\n\n")(t, text)
	if r := judge(t, "IRR_T2", text); r.Status != Pass {
		t.Errorf("%s", r.Text())
	}
}

// A verdict does not depend on earlier or concurrent checks.
func TestSameTwice(t *testing.T) {
	gate, err := New(Options{Stage: "BASE_T1"})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(good(t, "BASE_T1"), "0.122", "0.158")
	want := gate.Judge(text).Text()
	done := make(chan []byte)
	for range 8 {
		go func() {
			gate.Judge(strings.Repeat("[", 1000))
			done <- gate.Judge(text).Text()
		}()
	}
	for range 8 {
		if got := <-done; !bytes.Equal(got, want) {
			t.Errorf("got %s", got)
		}
	}
}

func FuzzJudge(f *testing.F) {
	if err := flag.Set("test.fuzzminimizetime", "10x"); err != nil { // else a minute for each find
		f.Fatal(err)
	}
	for _, stage := range stageNames() {
		f.Add(good(f, stage), uint8(0))
		f.Add(good(f, stage)[:300]+"\n```json\n{\"a\": [1, +2, 'x'", uint8(3))
	}
	for _, text := range hostile() {
		f.Add(text[:300], uint8(5))
	}
	for _, text := range []string{`["M-1", "", "M", "M-3", {"id": "D-1"}, ["D-2"]]`, `{"questions": ["M-1: One", "M-2"], "M-3a": {"q": 1}, "id": "", "rq_id": 3}`, "# A.8\n\n- M\n- M-\n- D-3: x\n\n| M-1 |\n|---|\n| D |\n"} {
		f.Add(text, uint8(13))
	}
	f.Add("# T\n\n<table><tr><th>S1<th>P(joint)</tr><td>00<td>0.5\n\n<!--\nIVPS: 3\n-->\n### JPD\n- 00: 0.5\n- S1, S2 = 3%\n\n{\"a\": [1", uint8(5))
	f.Add("# T\n\n[P](x) P](IRR) (P]( probability \xc2\xc2 of hurdle\n", uint8(11))
	stages := stageNames()
	f.Fuzz(func(t *testing.T, text string, n uint8) {
		o := Options{Stage: stages[int(n)%len(stages)], Name: text[:min(len(text), 12)]}
		if n&1 == 1 || o.Stage == "RQ_GEN" {
			o.Policy = "1.0.1"
		}
		if n > 128 {
			o.Sidecars, o.Prior = text, text
		}
		r, err := judgeWith(o, text)
		if err != nil {
			t.Skip() // a sidecar that is not read
		}
		if r.Proceed != (len(r.Issues) == 0) || r.Proceed == (r.Status == Fail) {
			t.Errorf("%s", r.Text())
		}
		if !json.Valid(r.Text()) || !utf8.Valid(r.Text()) {
			t.Errorf("no JSON: %q", r.Text())
		}
		for _, finding := range append(r.Issues, r.Warnings...) {
			if finding.Line < 1 || finding.Message == "" || !strings.HasPrefix(finding.Location, "line ") {
				t.Errorf("%+v", finding)
			}
		}
	})
}

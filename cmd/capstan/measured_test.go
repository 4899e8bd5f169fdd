package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/measures/mutate"
)

// goodRuns are the inputs of the shipped cascades. With each cascade's own
// script, the released text is good.
var goodRuns = []struct{ cascade, inputs string }{
	{"capy_pipeline", "company=Harbour"},
	{"code_review", "task=double"},
	{"each_demo", `reports:=["Sales","Staff","Rent"]`},
	{"edit", "source=@examples/edit_source.md|status=@examples/edit_status.yml|direction=@examples/edit_direction.yml"},
	{"faithful_translation", "text=The owl hears a mouse under 30 cm of snow. More: https://example.org/owls. Write to owl@example.org."},
	{"loop_until_auto_inject", "subject=frogs"},
	{"loop_until_silent_demo", "findings=churn"},
	{"fallback_models", "topic=owls"},
	{"output_schema_demo", "text=ada"},
	{"recommended_layering", "subject=tides"},
	{"review_document", "document=@guide.md"},
	{"schedule", "creator_id=ada|week_start=2026-01-05|db=demo.db|signing_key=private.pem|verification_key=public.pem"},
	{"soundings_demo", "product=kettle"},
	{"tool_wards", "meeting=m"},
	{"triple_gate", "promise=@examples/triple_gate_promise.json|request=@examples/triple_gate_request.json"},
	{"turn_prompt_demo", "problem=mean|edge_case=an empty list"},
	{"validate_criterion", `criterion:={"id": "AC-1", "description": "the guide tells of limits"}|found:={}`},
	{"verify_edit", "source=@examples/edit_source.md|status=@examples/edit_status.yml|direction=@examples/edit_direction.yml|candidate=@examples/edit_candidate.md|metadata=@examples/edit_metadata.yml"},
	{"ward_comprehensive_flow", "topic=bees"},
	{"ward_retry_flow", "product=kettle"},
}

// reaching are the cascades whose gates read a database or files without
// running a program.
var reaching = []string{"edit", "schedule", "triple_gate", "verify_edit"}

// proseKinds are the general kinds of faults that need an understanding of sentences, with
// the reason. They are left to judges, which this test does not ask. All other kinds are
// faults of structure or of a fixed form.
var proseKinds = map[string]string{
	"disclaimer":        "an offer of help or an introduction is an ordinary sentence; only sentences of a model about itself have a fixed form",
	"language_mixed":    "a sentence in another language may be a quotation or a name",
	"negation_taken":    "the meaning of a sentence changes, not its form",
	"number_digit":      "only a reader knows which of the source's numbers a text may change",
	"number_magnitude":  "only a reader knows which of the source's numbers a text may change",
	"number_sign":       "only a reader knows which of the source's numbers a text may change",
	"other_language":    "only cascades that name a language compute it",
	"percent_for_value": "only a reader knows whether a number is a share",
	"placeholder_word":  "TBD, XXX and %s may be words of a text",
	"sentence_cut":      "a heading or a list item ends without a mark too",
	"sentence_doubled":  "a refrain repeats a sentence too",
	"truncated":         "a text may end with any word",
}

// quoting are the phases that copy the words of a document or of evidence. Personal data
// may be right there.
var quoting = []string{"edit verify_edit/judge", "review_document review", "validate_criterion judge", "verify_edit judge"}

// TestShippedGates plants faults in the released texts of the shipped cascades.
// The computed gates must catch 95 % of each general kind that needs no
// understanding. No gate may reject a good text. The log has the counts of each
// kind.
func TestShippedGates(t *testing.T) {
	if testing.Short() {
		t.Skip("it computes for half a minute")
	}
	shipped, err := filepath.Abs("../../cascades/examples")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	guide := "# Guide\n\nIt starts with one command, and shows what a good run looks like. Limits are told at the end.\n"
	if err := os.WriteFile("guide.md", []byte(guide), 0o644); err != nil {
		t.Fatal(err)
	}
	capstan := func(want int, args ...string) []byte {
		t.Helper()
		var out, stderr bytes.Buffer
		c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: func(name string) string { return map[string]string{"CAPSTAN_STORE": "runs.db"}[name] }}
		if got := c.Run(t.Context(), args); got != want {
			t.Fatalf("%q ended with %d: %s", args, got, stderr.String())
		}
		return out.Bytes()
	}
	capstan(0, "schedule", "init", "demo.db", "--demo")
	capstan(0, "receipt", "keygen")
	capstan(0, "schedule", "settings", "demo.db", "--verification-key", "public.pem")
	kinds := map[string]mutate.Count{}
	for _, g := range goodRuns {
		args := []string{"run", filepath.Join(shipped, g.cascade+".yaml"), "--model", "scripted", "-q", "--run-id", g.cascade}
		for input := range strings.SplitSeq(strings.ReplaceAll(g.inputs, "@examples", "@"+shipped), "|") {
			args = append(args, "--input", input)
		}
		capstan(0, args...)
		asked := []string{"measure", "mutate", g.cascade, "--json"}
		if slices.Contains(reaching, g.cascade) {
			asked = append(asked, "--run-programs")
		}
		var r mutate.Result
		if err := json.Unmarshal(capstan(0, asked...), &r); err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Phases {
			for _, o := range p.Operators {
				if o.Sure == "always" && !(o.Operator == "personal_data" && slices.Contains(quoting, g.cascade+" "+p.Phase)) {
					kinds[o.Operator] = kinds[o.Operator].Plus(o.Caught)
				}
			}
		}
		t.Logf("%-24s %d of %d", g.cascade, r.Always.K, r.Always.N)
		for _, f := range r.FalseBlocks {
			t.Errorf("%s: %s refuses a good text of %s: %s%s", g.cascade, f.Gate, f.Phase, f.Reason, f.NoVerdict)
		}
		for _, s := range r.Survivors {
			if s.Sure == "always" {
				t.Logf("  %s %s: %s: %s", s.Phase, s.Place, s.Operator, s.Note)
			}
		}
		if len(r.Unguarded) > 0 {
			t.Logf("  unguarded: %s", r.Unguarded)
		}
	}
	for _, o := range faults.General() {
		rate, prose := kinds[o.Name], proseKinds[o.Name]
		switch {
		case rate.N == 0:
			t.Logf("%-20s not planted", o.Name)
		case prose != "":
			t.Logf("%-20s %d of %d, prose: %s", o.Name, rate.K, rate.N, prose)
		case !rate.AtLeast(0.95):
			t.Errorf("%-20s %d of %d, fewer than 95 %%", o.Name, rate.K, rate.N)
		default:
			t.Logf("%-20s %d of %d", o.Name, rate.K, rate.N)
		}
		delete(kinds, o.Name)
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%-20s %d of %d, of a gate", kind, kinds[kind].K, kinds[kind].N)
	}
}

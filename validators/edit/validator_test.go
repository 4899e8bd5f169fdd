package edit_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/edit"
	. "github.com/seed61713e19/capstan/validators/validatorstest"
)

type with = map[string]any

func text(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// texts are the parameters of a verification without any file.
func texts(t *testing.T, more with) with {
	w := with{
		"active_part": "text", "source_text": text(t, "source.md"), "status_text": text(t, "status.yaml"),
		"direction_text": text(t, "direction.yaml"), "metadata_text": with{"candidate_source": "editor_loop"}, "judgement": text(t, "judgement.yaml") + answers(t),
	}
	maps.Copy(w, more)
	return w
}

const rests = "The first is about order, and R1 rests on it."

// answers are those of an honest judge to the changes of the candidate of most tests.
func answers(t *testing.T) string {
	t.Helper()
	source := text(t, "source.md")
	v := judge(t, with{
		"active_part": "text", "check": "computed", "source_text": source, "status_text": text(t, "status.yaml"),
		"direction_text": text(t, "direction.yaml"), "metadata_text": with{"candidate_source": "editor_loop"},
	}, strings.Replace(source, "The first is about order.", rests, 1))
	out := "changes:\n"
	for _, c := range v.Details.(map[string]any)["changes"].([]any) {
		c := c.(map[string]any)
		out += fmt.Sprintf("  %s: {result: improves, old_quote: %q, new_quote: %q, reason: It names R1.}\n", c["key"], c["old"], c["now"])
	}
	return out
}

func TestValidator(t *testing.T) {
	source := text(t, "source.md")
	candidate := strings.Replace(source, "The first is about order.", "The first is about order, and R1 rests on it.", 1)
	marked := strings.Replace(candidate, "R1 rests", "R1 (GAP: why) rests", 1)
	judged := text(t, "judgement.yaml") + answers(t)
	other := strings.Replace(text(t, "direction.yaml"), "active_part: text", "active_part: rubric", 1)
	loaded := strings.Replace(text(t, "side_loaded.yaml"), "candidate_file: candidates/d-04.1.md\n", "", 1)
	Run(t, edit.Validator,
		Case{Name: "accept", With: texts(t, nil), Content: candidate, Valid: true, Reason: "Accepted"},
		Case{Name: "status", With: texts(t, with{"active_part": "rubric", "direction_text": other}), Content: text(t, "status.yaml"), Reason: "leaves rubric as it is"},
		Case{Name: "reject", With: texts(t, with{"candidate_text": marked}), Content: candidate, Reason: "Rejected: the gap policy"},
		Case{Name: "nothing judged", With: texts(t, with{"judgement": nil}), Content: candidate, Reason: "A person has to decide: claim C1 was not judged"},
		Case{Name: "null judged", With: texts(t, with{"judgement": "null"}), Content: candidate, Reason: "A person has to decide"},
		Case{Name: "side-loaded", With: texts(t, with{"metadata_text": loaded}), Content: candidate, Valid: true},
		Case{Name: "computed", With: texts(t, with{"judgement": nil, "check": "computed"}), Content: candidate, Valid: true, Reason: "find nothing against"},
		Case{Name: "computed no", With: texts(t, with{"judgement": nil, "check": "computed"}), Content: marked, Reason: "mark_format"},
		Case{Name: "a person said yes", With: texts(t, with{"judgement": nil, "review": "accept"}), Content: candidate, Valid: true, Reason: "A person decided to accept."},
		Case{Name: "a person said no", With: texts(t, with{"judgement": nil, "review": "reject"}), Content: candidate, Reason: "A person decided to reject."},
		Case{Name: "nobody overrules a rejection", With: texts(t, with{"review": "accept"}), Content: marked, Reason: "Rejected"},
		Case{Name: "input", With: with{"check": "input", "active_part": "text", "source_text": source, "status_text": text(t, "status.yaml"), "direction_text": text(t, "direction.yaml")}, Valid: true, Reason: "direction d-04"},
		Case{Name: "whole judgement", With: texts(t, with{"candidate_text": candidate, "check": "judgement"}), Content: judged, Valid: true},
		Case{Name: "whole judgement, JSON in prose", With: texts(t, with{"candidate_text": candidate, "check": "judgement"}), Content: "Here it is", Subject: validators.Subject{Output: map[string]any{"claims": map[string]any{"C99": "pass"}}}, Reason: "claims.C1: claim C1 is not judged"},
		Case{Name: "judgement with a hole", With: texts(t, with{"candidate_text": candidate, "check": "judgement"}), Content: strings.Replace(judged, "  C2:", "  C22:", 1), Reason: "claims.C2: claim C2 is not judged; claim C22 was judged and is not in the ledger"},
		Case{Name: "no judgement at all", With: texts(t, with{"candidate_text": candidate, "check": "judgement"}), Content: "I cannot say.", Reason: "a judgement must be a mapping"},
	)
}

// judge returns the validator's verdict on a content.
func judge(t *testing.T, w with, content string) validators.Verdict {
	t.Helper()
	check, err := edit.Validator.Bind(w)
	if err != nil {
		t.Fatal(err)
	}
	v, err := check(t.Context(), validators.Subject{Content: content})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVerdict checks that the verdict has the decision and the verification.
func TestVerdict(t *testing.T) {
	root := t.TempDir()
	source := text(t, "source.md")
	candidate := strings.Replace(source, "order.", "order, and R1 rests on it.", 1)
	v := judge(t, texts(t, with{"root": root, "write": true}), candidate)
	details := v.Details.(map[string]any)
	written, err := os.ReadFile(filepath.Join(root, details["file"].(string)))
	if v.Status != "accept" || err != nil || details["yaml"] != string(written) {
		t.Errorf("%s %v\n%s", v.Status, err, written)
	}
	if r := details["verification"].(map[string]any); r["decision"] != "accept" || r["claim_checks"].(map[string]any)["C1"] == nil {
		t.Errorf("got %v", r)
	}
	v = judge(t, texts(t, with{"judgement": strings.NewReplacer("C3: {result: pass", "C3: {result: fail", "intent: pass", "intent: fail", "C7: {result: pass", "C7: {result: warn").Replace(text(t, "judgement.yaml") + answers(t))}), candidate)
	if v.Status != "reject" || len(v.Issues) != 2 || v.Issues[0].Check != "claim_checks" || v.Issues[0].Location != "C3" || v.Issues[1].Check != "direction" || len(v.Warnings) != 1 {
		t.Errorf("not every failing check is reported: %+v %+v", v.Issues, v.Warnings)
	}
	v = judge(t, texts(t, with{"judgement": strings.Replace(text(t, "judgement.yaml")+answers(t), "C3: {result: pass", "C3: {result: warn", 1)}), candidate)
	if v.Valid || v.Status != "needs_human_review" || len(v.Issues) != 1 {
		t.Errorf("got %+v", v)
	}
	v = judge(t, texts(t, with{"active_part": "rubric", "judgement": strings.Replace(text(t, "judgement.yaml"), "intent: pass", "intent: fail", 1)}), text(t, "status.yaml"))
	if v.Status != "reject" || len(v.Issues) != 1 || v.Issues[0].Check != "identity" || len(v.Warnings) != 0 {
		t.Errorf("of another direction's candidate more is reported than that: %+v %+v", v.Issues, v.Warnings)
	}
	v = judge(t, texts(t, with{"check": "computed", "judgement": nil}), candidate)
	q := v.Details.(map[string]any)["questions"].(map[string]any)
	if claims := q["claims"].([]any); len(claims) != 10 || claims[2].(map[string]any)["span_in_candidate"] != "exact" {
		t.Errorf("got %v", claims)
	}
}

func TestParameters(t *testing.T) {
	for name, w := range map[string]with{
		"no part":      {},
		"unknown part": {"active_part": "prose"},
		"check":        {"active_part": "text", "check": "some"},
		"review":       {"active_part": "text", "review": "needs_human_review"},
		"unknown":      {"active_part": "text", "sources": "x"},
	} {
		if _, err := edit.NewOptions(w); err == nil {
			t.Errorf("%s: NewOptions takes it", name)
		}
		if _, err := edit.Validator.Bind(w); err == nil {
			t.Errorf("%s: Bind takes it", name)
		}
	}
	o, err := edit.NewOptions(with{"active_part": "text", "source": "a.md", "source_text": "", "root": "r"})
	if err != nil || o.Root != "r" || o.Source != (edit.File{Path: "a.md", Content: ""}) || o.Status.Content != nil {
		t.Errorf("%+v, %v", o, err)
	}
}

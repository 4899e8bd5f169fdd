package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/edit"
)

const batchesStatus = `presentation_spec: {voice: calm, register: plain, avoid: [], preserve: []}
rubric: {primary_goal: clearer, secondary_goals: [], non_goals: [], stop_condition: x}
gap_policy: {close_in_text: c, extract_candidate: e, mark_format: "[GAP: <what is missing>]"}
claim_ledger: []
`

const batchesJudgement = `{"claims": {}, "status_defects": [], "presentation": {"voice": "pass", "register": "pass", "avoid": "pass", "preserve": "pass", "notes": []},
 "primary_goal": "improved", "secondary_goals": {}, "non_goals": {"result": "pass", "notes": []}, "gap_policy": {"result": "pass", "notes": []},
 "hides_bridge": false, "adds_requirement": false, "hides_derivation": false, "direction": {"intent": "pass", "constraints": {}, "notes": []},
 "direction_conflicts_status": false, "part_goal_met": true, "requires_followup_text_candidate": false, "followup_reason": "", "changes": `

// batchAnswers returns the answers to a batch of changes. Without the last one the answers are
// not complete.
func batchAnswers(t *testing.T, batch []any, complete bool) string {
	t.Helper()
	answers := map[string]any{}
	for _, c := range batch {
		answers[c.(map[string]any)["key"].(string)] = map[string]string{"result": "improves", "old_quote": "kept", "new_quote": "held", "reason": "the same, shorter"}
	}
	if !complete {
		delete(answers, batch[len(batch)-1].(map[string]any)["key"].(string))
	}
	text, err := json.Marshal(answers)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestEditBatches: a model judges 130 changes in three batches. A candidate of which one
// change is not judged, in the first batch or in the last, is not accepted. Without the
// first batch there is no judgement.
func TestEditBatches(t *testing.T) {
	t.Chdir(t.TempDir())
	var old, now strings.Builder
	for i := range 130 {
		fmt.Fprintf(&old, "Rule %c%c is kept.\n\n", 'a'+i/26, 'a'+i%26)
		fmt.Fprintf(&now, "Rule %c%c is held.\n\n", 'a'+i/26, 'a'+i%26)
	}
	for name, text := range map[string]string{
		"source.md": old.String(), "candidate.md": now.String(), "status.yml": batchesStatus,
		"direction.yml": "{direction_id: d1, candidate_id: d1.1, active_part: text, target: the rules, intent: Say held., constraints: []}",
		"metadata.yml":  "{candidate_id: d1.1, direction_id: d1, active_part: text, candidate_source: side_loaded, candidate_file: candidate.md, touched_claims: unknown, self_check: {claims_preserved: unknown}}",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	with := map[string]any{"source": "source.md", "status": "status.yml", "candidate": "candidate.md", "metadata": "metadata.yml", "direction": "direction.yml", "active_part": "text", "check": "computed"}
	check, err := edit.Validator.Bind(with)
	if err != nil {
		t.Fatal(err)
	}
	v, err := check(t.Context(), validators.Subject{})
	if err != nil {
		t.Fatal(err)
	}
	questions := v.Details.(map[string]any)["questions"].(map[string]any)
	batches := append([]any{questions["changes"]}, questions["batches"].([]any)...)
	if len(batches) != 3 || len(batches[0].([]any)) != 60 || len(batches[2].([]any)) != 10 {
		t.Fatalf("got %d batches", len(batches))
	}
	for name, c := range map[string]struct{ incomplete, status int }{"complete": {-1, exitOK}, "first": {0, exitNo}, "last": {2, exitWaiting}} {
		t.Run(name, func(t *testing.T) {
			var script []map[string]any
			for i, b := range batches {
				batch := b.([]any)
				reply := map[string]any{"phase": "more", "contains": batch[0].(map[string]any)["key"], "times": "always", "reply": `{"changes": ` + batchAnswers(t, batch, i != c.incomplete) + "}"}
				if i == 0 {
					reply["phase"], reply["reply"] = "judge", batchesJudgement+batchAnswers(t, batch, i != c.incomplete)+"}"
				}
				script = append(script, reply)
			}
			text, err := yaml.Marshal(script)
			if err == nil {
				err = os.WriteFile("judge.yaml", text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			args := []string{"gate", "edit_verifier", "--model", "scripted:" + "judge.yaml"}
			for key, value := range with {
				if key != "check" {
					args = append(args, "--with", fmt.Sprintf("%s=%v", key, value))
				}
			}
			command := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(name string) string {
				return map[string]string{"CAPSTAN_STORE": filepath.Join(t.TempDir(), "runs.db")}[name]
			}}
			if got := command.Run(t.Context(), args); got != c.status {
				t.Errorf("status %d, want %d: %s%s", got, c.status, out.String(), errs.String())
			}
		})
	}
}

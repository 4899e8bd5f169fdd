package edit

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A sharedCase is an edit of the data in ../shared.
type sharedCase struct {
	ID, Kind, Want, Why string
	Edits               []any
	Metadata, Direction map[string]any
	Judge               map[string]any
	JudgeRaw            any `yaml:"judge_raw"`
	Ledger              map[string]string
}

const sharedStatus = `presentation_spec: {voice: calm, register: plain, avoid: [], preserve: []}
rubric: {primary_goal: clearer, secondary_goals: [], non_goals: [no advertising], stop_condition: x}
gap_policy: {close_in_text: c, extract_candidate: e, mark_format: "[GAP: <what is missing>]"}
claim_ledger:
- {id: C1, status: asserted, span: Seeds are never sold, claim: c, preservation_test: t}
- {id: C2, status: implied, span: Each variety is stored in two rooms, claim: c, preservation_test: t}
- {id: C3, status: asserted, span: Orders are answered within three weeks, claim: c, preservation_test: t}
`

// sharedCases returns the cases of a file with the source that they edit.
func sharedCases(t *testing.T, name string) ([]sharedCase, string) {
	t.Helper()
	dir := "../../../shared/data/gates"
	text, err := os.ReadFile(filepath.Join(dir, name+".yaml"))
	if err != nil {
		t.Skip("the data is not here: ", err)
	}
	source, err := os.ReadFile(filepath.Join(dir, name+"_source.md"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []sharedCase
	if err := yaml.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases, string(source)
}

// options returns the input for a case, without answers to the changes.
func (c sharedCase) options(t *testing.T, source string) Options {
	t.Helper()
	candidate := source
	for _, e := range c.Edits {
		if e == "@body" {
			candidate = source[:strings.Index(source[4:], "---\n")+8]
			continue
		}
		pair := e.([]any)
		old := pair[0].(string)
		if !strings.Contains(candidate, old) {
			t.Fatalf("%s: there is no %q", c.ID, old)
		}
		candidate = strings.Replace(candidate, old, pair[1].(string), 1)
	}
	metadata := map[string]any{"candidate_source": editorLoop, "candidate_id": "d1.1"}
	for key, value := range c.Metadata {
		if value == "@sum" {
			sum := sha256.Sum256([]byte(source))
			value = hex.EncodeToString(sum[:]) + "  text.md"
		}
		metadata[key] = value
	}
	direction := map[string]any{"direction_id": "d1", "candidate_id": "d1.1", "active_part": "text", "intent": "Make it easier to read.", "constraints": []any{"nothing else changes"}}
	for key, value := range c.Direction {
		direction[key] = value
	}
	judgement := map[string]any{
		"claims": map[string]any{"C1": "pass", "C2": "pass", "C3": "pass"}, "presentation": "pass", "primary_goal": "improved", "non_goals": "pass",
		"gap_policy": "pass", "direction": map[string]any{"intent": "pass", "constraints": map[string]any{"K1": "pass"}},
		"adds_requirement": false, "hides_derivation": false,
	}
	for key, value := range c.Judge {
		judgement[key] = value
	}
	status := sharedStatus
	for id, word := range c.Ledger {
		status = strings.Replace(status, "id: "+id+", status: asserted", "id: "+id+", status: "+word, 1)
	}
	o := Options{
		ActivePart: partText, Source: File{Path: "text.md", Content: source}, Status: File{Content: status}, Candidate: File{Content: candidate},
		Metadata: File{Content: metadata}, Direction: File{Content: direction}, Judgement: judgement,
	}
	if c.JudgeRaw != nil {
		o.Judgement = c.JudgeRaw
	}
	return o
}

// answered adds an answer to each change: "preserved", with both sides as quotations
// or without quotations.
func answered(t testing.TB, o Options, quote bool) (Options, []change) {
	t.Helper()
	in, err := read(o)
	if err != nil {
		return o, nil
	}
	judgement, ok := o.Judgement.(map[string]any)
	if !ok {
		return o, in.changes
	}
	answers := map[string]any{}
	for _, c := range in.changes {
		a := map[string]any{"result": "preserved", "reason": "It says the same.", "old_quote": "", "new_quote": ""}
		if quote {
			a["old_quote"], a["new_quote"] = c.old, c.now
		}
		if !c.hidden() {
			answers[c.key] = a
		}
	}
	judgement["changes"] = answers
	return o, in.changes
}

// TestSharedEdits measures the verifier with scripted judges on the shared data.
func TestSharedEdits(t *testing.T) {
	var honest, questions, sneaks, empty, copied int
	for _, name := range []string{"edit", "edit2"} {
		cases, source := sharedCases(t, name)
		for _, c := range cases {
			o, changes := answered(t, c.options(t, source), true)
			r, err := Verify(o)
			switch c.Kind {
			case "honest":
				honest++
				questions += len(changes)
				if r.Decision != Accept || len(changes) > 2 {
					t.Errorf("%s (%s): %v %s: %s, %d questions: %v", c.ID, c.Why, err, r.Decision, r.Reason, len(changes), changes)
				}
			case "sneak":
				sneaks++
				if len(changes) == 0 {
					t.Errorf("%s (%s): no change is listed", c.ID, c.Why)
				}
				if r.Decision != Accept {
					copied++
				} else {
					t.Logf("%s %s accepted: %v", c.ID, c.Why, changes)
				}
				o, _ := answered(t, c.options(t, source), false)
				if r, err := Verify(o); err != nil || r.Decision != Accept {
					empty++
				}
			default:
				got := map[Decision]string{Accept: "accept", Reject: "reject", NeedsHumanReview: "review"}[r.Decision]
				if err != nil {
					got = "input"
				}
				if !strings.Contains(c.Want, got) {
					t.Errorf("%s (%s): %s (%v), want %s: %s", c.ID, c.Why, got, err, c.Want, r.Reason)
				}
			}
		}
	}
	t.Logf("%d honest edits, %d questions; %d sneaks, not accepted with an empty quotation: %d, with copied sides: %d", honest, questions, sneaks, empty, copied)
	if questions > honest {
		t.Errorf("%d questions for %d honest edits", questions, honest)
	}
	if empty*100 < sneaks*80 {
		t.Errorf("with an empty quotation, %d of %d sneaks are not accepted", empty, sneaks)
	}
	if copied*100 < sneaks*53 {
		t.Errorf("with copied sides, %d of %d sneaks are not accepted", copied, sneaks)
	}
}

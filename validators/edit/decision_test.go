package edit

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// swaps are pairs of old and new texts, for the files and the judgement of a
// desk.
type swaps []string

// A vector is a state of the desk with its expected decision.
type vector struct {
	name      string
	part      partName // text unless given
	candidate swaps
	metadata  swaps
	status    swaps
	direction swaps
	judgement swaps
	decision  Decision
	rule      int
	reason    string
}

func (v vector) desk(t *testing.T) *desk {
	d := newDesk(t)
	if v.status != nil {
		d.change("status.yaml", v.status...)
	}
	if v.part != "" && v.part != partText {
		d.forStatus(v.part, v.candidate...)
	} else {
		d.change("candidates/d-04.1.md", v.candidate...)
	}
	d.change("metadata.yaml", v.metadata...)
	d.change("direction.yaml", v.direction...)
	d.judgement(v.judgement...)
	return d
}

// The pieces that vectors are made of.
var (
	voice     = swaps{"voice: first person plural, calm", "voice: first person plural, dry"}
	fails3    = swaps{"C3: {result: pass", "C3: {result: fail"}
	warns3    = swaps{"C3: {result: pass", "C3: {result: warn"}
	fails5    = swaps{"C5: {result: pass", "C5: {result: fail"}
	fails7    = swaps{"C7: {result: pass", "C7: {result: fail"}
	fails8    = swaps{"C8: {result: pass", "C8: {result: fail"}
	fails10   = swaps{"C10: {result: pass", "C10: {result: fail"}
	warns10   = swaps{"C10: {result: pass", "C10: {result: warn"}
	defect3   = swaps{"status_defects: []", "status_defects: [C3]"}
	moved3    = swaps{"A check has to come before the next reader, not beside it.", "A check stands somewhere else."}
	intent    = swaps{"intent: pass", "intent: fail"}
	conflict  = swaps{"direction_conflicts_status: false", "direction_conflicts_status: true"}
	noGoal    = swaps{"primary_goal: improved", "primary_goal: unchanged", "readable: improved", "readable: unchanged"}
	secondary = swaps{"primary_goal: improved", "primary_goal: unchanged"}
	worse     = swaps{"primary_goal: improved", "primary_goal: worsened"}
	adds      = swaps{"adds_requirement: false", "adds_requirement: true"}
	hides     = swaps{"hides_derivation: false", "hides_derivation: true"}
	nonGoal   = swaps{"non_goals: pass", "non_goals: {result: fail, notes: [tells how to install it]}"}
	style     = swaps{"avoid: pass", "avoid: fail"}
	gap       = swaps{"gap_policy: pass", "gap_policy: {result: fail, reason: R6 is papered over}"}
	unmet     = swaps{"part_goal_met: true", "part_goal_met: false"}
	follows   = swaps{"requires_followup_text_candidate: false", "requires_followup_text_candidate: true"}
	followsBy = swaps{"requires_followup_text_candidate: false", "requires_followup_text_candidate: true", `followup_reason: ""`, "followup_reason: R4 must say so"}
	stale     = swaps{"candidate_source:", "base_source_sha256: " + strings.Repeat("0", 64) + "\ncandidate_source:"}
	otherID   = swaps{"candidate_id: d-04.1", "candidate_id: d-05.1"}
	matter    = swaps{"version: 3", "version: 4"}
	marker    = swaps{"The third is about silence,", "[GAP why] The third is about silence,"}
)

// twice judges all claims, the first one two times.
var twice = func() swaps {
	var list strings.Builder
	list.WriteString("claims:\n- {id: C1, result: pass}\n")
	for i := 1; i <= 10; i++ {
		list.WriteString(fmt.Sprintf("- {id: C%d, result: pass}\n", i))
	}
	return swaps{"claims:\n", list.String() + "old:\n"}
}()

func all(list ...swaps) swaps { return slices.Concat(list...) }

var vectors = []vector{
	// Each rule alone.
	{name: "accepted", decision: Accept, rule: 6, reason: "the primary goal improves"},
	{name: "accepted for a secondary goal", judgement: secondary, decision: Accept, rule: 6, reason: "a secondary goal improves"},
	{name: "accepted status", part: partPresentationSpec, candidate: voice, decision: Accept, rule: 6, reason: "presentation_spec is mended"},
	{name: "accepted status with a follow-up", part: partPresentationSpec, candidate: voice, judgement: followsBy, decision: Accept, rule: 6},
	{name: "a status part asks the text for nothing", part: partPresentationSpec, candidate: voice, judgement: swaps{"adds_requirement: false\nhides_derivation: false\n", "", "primary_goal: improved\n", ""}, decision: Accept, rule: 6},
	{name: "a retired claim fails", judgement: fails10, decision: Accept, rule: 6},
	{name: "a retired claim warns", judgement: warns10, decision: Accept, rule: 6},
	{name: "a retired claim is not judged", judgement: swaps{"  C10: {result: pass, reason: The claim is retired and does not come back.}\n", ""}, decision: Accept, rule: 6},
	{name: "a retired claim is a defect", judgement: swaps{"status_defects: []", "status_defects: [C10]"}, decision: Accept, rule: 6},
	{name: "a secondary goal worsens", judgement: swaps{"SG1: unchanged", "SG1: worsened"}, decision: Accept, rule: 6},

	{name: "1: ids", metadata: otherID, decision: Reject, rule: 1, reason: `candidate "d-05.1"`},
	{name: "1: direction id", metadata: swaps{"direction_id: d-04", "direction_id: d-40"}, decision: Reject, rule: 1, reason: `direction "d-40"`},
	{name: "1: part of the metadata", metadata: swaps{"active_part: text", "active_part: rubric"}, decision: Reject, rule: 1, reason: "metadata is for rubric"},
	{name: "1: part of the direction", direction: swaps{"active_part: text", "active_part: rubric"}, decision: Reject, rule: 1, reason: "direction is for rubric"},
	{name: "1: file", metadata: swaps{"candidates/d-04.1.md", "candidates/d-04.2.md"}, decision: Reject, rule: 1, reason: "d-04.2.md"},
	{name: "4: a file may be called for its part too", part: partRubric, candidate: swaps{}, decision: Reject, rule: 4},
	{name: "1: a file of a candidate that begins like it", direction: swaps{"candidate_id: d-04.1", "candidate_id: d-04"}, metadata: swaps{"candidate_id: d-04.1", "candidate_id: d-04"}, decision: Reject, rule: 1, reason: `not named for candidate "d-04"`},
	{name: "1: a status of a candidate that begins like it", part: partRubric, candidate: swaps{"primary_goal: a", "primary_goal: any"}, direction: swaps{"candidate_id: d-04.1", "candidate_id: d-04"}, metadata: swaps{"candidate_id: d-04.1", "candidate_id: d-04"}, decision: Reject, rule: 1, reason: `not named for candidate "d-04"`},
	{name: "1: name of another file", direction: swaps{"candidate_id: d-04.1", "candidate_id: d-05"}, metadata: swaps{"candidate_id: d-04.1", "candidate_id: d-05"}, decision: Reject, rule: 1, reason: `not named for candidate "d-05"`},
	{name: "1: stale", metadata: stale, decision: Reject, rule: 1, reason: "another source file"},
	{name: "1: no text", candidate: swaps{"# Why", "\xff"}, decision: Reject, rule: 1, reason: "not UTF-8"},
	{name: "1: no YAML", part: partRubric, candidate: swaps{"rubric:\n", "rubric: [\n"}, decision: Reject, rule: 1, reason: "not YAML"},
	{name: "1: no front matter", candidate: swaps{"version: 3", "version: 3\nversion: 4"}, decision: Reject, rule: 1, reason: `key "version" stands at line 2`},

	{name: "2: frozen status", part: partRubric, candidate: all(voice, swaps{"primary_goal: a", "primary_goal: any"}), decision: Reject, rule: 2, reason: "presentation_spec.voice is frozen"},
	{name: "2: front matter", candidate: matter, decision: Reject, rule: 2, reason: "front matter.version"},
	{name: "2: requirement", judgement: adds, decision: Reject, rule: 2, reason: "adds a requirement"},
	{name: "2: derivation", judgement: hides, decision: Reject, rule: 2, reason: "hides how"},
	{name: "2: asserted claim", judgement: fails3, decision: Reject, rule: 2, reason: "claim C3 (asserted) fails: The sentence"},
	{name: "2: implied claim", judgement: fails5, decision: Reject, rule: 2, reason: "claim C5 (implied)"},
	{name: "2: non-goal", judgement: nonGoal, decision: Reject, rule: 2, reason: "a non-goal is violated: tells how to install it"},
	{name: "2: presentation", judgement: style, decision: Reject, rule: 2, reason: "presentation spec"},
	{name: "2: gap policy", judgement: gap, decision: Reject, rule: 2, reason: "R6 is papered over"},
	{name: "2: gap marker", candidate: marker, decision: Reject, rule: 2, reason: "does not follow mark_format"},
	{name: "2: dropped claim", part: partClaimLedger, candidate: swaps{"id: C6", "id: C66"}, decision: Reject, rule: 2, reason: "claim C6 (asserted) fails: it is gone"},

	{name: "3: intent", judgement: intent, decision: Reject, rule: 3, reason: "direction is not followed"},
	{name: "3: constraint", judgement: swaps{"K2: pass", "K2: {result: fail, reason: silence comes first}"}, decision: Reject, rule: 3, reason: "K2: silence comes first"},

	{name: "4: no goal", judgement: noGoal, decision: Reject, rule: 4, reason: "no goal improves"},
	{name: "4: worse", judgement: all(worse, swaps{"readable: improved", "readable: unchanged"}), decision: Reject, rule: 4, reason: "worsened"},
	{name: "4: not mended", part: partPresentationSpec, candidate: voice, judgement: unmet, decision: Reject, rule: 4, reason: "is not"},
	{name: "4: a goal of the text does not mend a status part", part: partRubric, candidate: swaps{"primary_goal: a", "primary_goal: any"}, judgement: unmet, decision: Reject, rule: 4},
	{name: "4: nothing changed", part: partGapPolicy, candidate: swaps{}, decision: Reject, rule: 4, reason: "leaves gap_policy as it is"},

	{name: "5: retired claim dropped", part: partClaimLedger, candidate: swaps{"id: C10", "id: C11"}, decision: NeedsHumanReview, rule: 5, reason: "the retired claim C10 is gone from the ledger"},
	{name: "5: warning", judgement: warns3, decision: NeedsHumanReview, rule: 5, reason: "claim C3 is at risk"},
	{name: "5: warning on style", judgement: swaps{"voice: pass", "voice: warn"}, decision: NeedsHumanReview, rule: 5, reason: "presentation spec: a warning"},
	{name: "5: warning on a constraint", judgement: swaps{"K1: pass", "K1: warn"}, decision: NeedsHumanReview, rule: 5, reason: "direction: a warning"},
	{name: "5: hidden bridge", judgement: swaps{"adds_requirement: false", "adds_requirement: false\nhides_bridge: true"}, decision: NeedsHumanReview, rule: 5, reason: "bridged without a marker"},
	{name: "5: disputed claim", judgement: fails7, decision: NeedsHumanReview, rule: 5, reason: "claim C7 (disputed) fails"},
	{name: "5: candidate claim", judgement: fails8, decision: NeedsHumanReview, rule: 5, reason: "claim C8 (candidate) fails"},
	{name: "5: defect, judged", judgement: all(fails3, defect3), decision: NeedsHumanReview, rule: 5, reason: "claim C3 fails, but the current source fails its test as well"},
	{name: "5: defect, computed", status: moved3, judgement: fails3, decision: NeedsHumanReview, rule: 5, reason: "its span is not in the current source"},
	{name: "5: defect of a claim that passes", judgement: defect3, decision: NeedsHumanReview, rule: 5, reason: "may be wrong about claim C3"},
	{name: "5: conflict", judgement: all(intent, conflict), decision: NeedsHumanReview, rule: 5, reason: "conflicts with the status file"},
	{name: "5: conflict of a direction that is followed", judgement: conflict, decision: NeedsHumanReview, rule: 5},
	{name: "5: primary goal worsens", judgement: worse, decision: NeedsHumanReview, rule: 5, reason: "the primary goal worsens"},
	{name: "5: claim not judged", judgement: swaps{"  C2: {result: pass, reason: Named and explained in the same place.}\n", ""}, decision: NeedsHumanReview, rule: 5, reason: "claim C2 was not judged"},
	{name: "5: claim judged twice", judgement: twice, decision: NeedsHumanReview, rule: 5, reason: "A person has to decide: claim C1 was judged more than once."},
	{name: "5: claim unknown", judgement: swaps{"  C1:", "  C11: pass\n  C1:"}, decision: NeedsHumanReview, rule: 5, reason: "claim C11 was judged and is not in the ledger"},
	{name: "5: goal unknown", judgement: swaps{"SG1:", "SG9: improved, SG1:"}, decision: NeedsHumanReview, rule: 5, reason: "SG9"},
	{name: "5: constraint not judged", judgement: swaps{", K2: pass", ""}, decision: NeedsHumanReview, rule: 5, reason: "direction: not judged"},
	{name: "5: requirement not judged", judgement: swaps{"adds_requirement: false\n", ""}, decision: NeedsHumanReview, rule: 5, reason: "whether it adds a requirement"},
	{name: "5: derivation not judged", judgement: swaps{"hides_derivation: false\n", ""}, decision: NeedsHumanReview, rule: 5},
	{name: "5: non-goals not judged", judgement: swaps{"non_goals: pass\n", ""}, decision: NeedsHumanReview, rule: 5},
	{name: "5: gap policy not judged", judgement: swaps{"gap_policy: pass\n", ""}, decision: NeedsHumanReview, rule: 5},
	{name: "5: style not judged", judgement: swaps{"voice: pass, ", ""}, decision: NeedsHumanReview, rule: 5},
	{name: "5: goal not judged", judgement: swaps{"primary_goal: improved\n", ""}, decision: NeedsHumanReview, rule: 5, reason: "primary goal was not judged"},
	{name: "5: follow-up without a reason", part: partPresentationSpec, candidate: voice, judgement: follows, decision: NeedsHumanReview, rule: 5, reason: "no reason says how"},
	{name: "5: follow-up not judged", part: partPresentationSpec, candidate: voice, judgement: swaps{"requires_followup_text_candidate: false\n", ""}, decision: NeedsHumanReview, rule: 5},
	{name: "5: mending not judged", part: partPresentationSpec, candidate: voice, judgement: swaps{"part_goal_met: true\n", ""}, decision: NeedsHumanReview, rule: 5},

	// Each rule before each later one.
	{name: "1 before 2", metadata: otherID, judgement: fails3, decision: Reject, rule: 1},
	{name: "1 before 3", metadata: otherID, judgement: intent, decision: Reject, rule: 1},
	{name: "1 before 4", metadata: stale, judgement: noGoal, decision: Reject, rule: 1},
	{name: "1 before 5", metadata: stale, judgement: warns3, decision: Reject, rule: 1},
	{name: "1 before 5, defect", metadata: stale, judgement: all(fails3, defect3), decision: Reject, rule: 1},
	{name: "2 before 3", judgement: all(fails3, intent), decision: Reject, rule: 2},
	{name: "2 before 3, conflict", judgement: all(adds, intent, conflict), decision: Reject, rule: 2},
	{name: "2 before 4", judgement: all(nonGoal, noGoal), decision: Reject, rule: 2},
	{name: "2 before 5", judgement: all(gap, fails7), decision: Reject, rule: 2},
	{name: "2 before 5, a defect and a claim that is none", judgement: all(fails3, defect3, fails5), decision: Reject, rule: 2, reason: "claim C5"},
	{name: "2 before 5, a defect and a frozen part", candidate: matter, judgement: all(fails3, defect3), decision: Reject, rule: 2, reason: "front matter"},
	{name: "3 before 4", judgement: all(intent, noGoal), decision: Reject, rule: 3},
	{name: "3 before 5", judgement: all(intent, warns3), decision: Reject, rule: 3},
	{name: "3 before 5, defect", judgement: all(intent, fails3, defect3), decision: Reject, rule: 3},
	{name: "4 before 5", judgement: all(noGoal, fails8), decision: Reject, rule: 4},
	{name: "4 before 5, defect", judgement: all(noGoal, fails3, defect3), decision: Reject, rule: 4},
	{name: "4 before 5, conflict", judgement: all(noGoal, intent, conflict), decision: Reject, rule: 4},
	{name: "4 before 5, worse", part: partRubric, candidate: swaps{"primary_goal: a", "primary_goal: any"}, judgement: all(unmet, follows), decision: Reject, rule: 4},
}

func TestDecisions(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			r := v.desk(t).wants(v.decision, v.reason)
			if r.ruling.rule != v.rule {
				t.Errorf("rule %d decided (%s), want %d", r.ruling.rule, r.Reason, v.rule)
			}
			if (len(r.Questions) > 0) != (v.decision == NeedsHumanReview) {
				t.Errorf("the questions are %q", r.Questions)
			}
			text, err := r.YAML()
			if err != nil {
				t.Fatal(err)
			}
			var again struct {
				Verification struct{ Decision, Reason string }
			}
			if err := yaml.Unmarshal(text, &again); err != nil || again.Verification.Decision != string(r.Decision) || again.Verification.Reason != r.Reason {
				t.Errorf("%v: %+v is written as\n%s", err, again, text)
			}
		})
	}
}

// TestNothingJudged checks that nothing is accepted without a judgement, and
// that computed findings still reject.
func TestNothingJudged(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			d := v.desk(t)
			d.o.Judgement = nil
			r := d.verify()
			switch computed := r.ruling.rule; {
			case r.Decision == Accept:
				t.Error("accepted")
			case r.Decision == Reject && computed == 3:
				t.Errorf("rule 3 decided: %s", r.Reason)
			case r.Decision == NeedsHumanReview && len(r.Questions) < 10:
				t.Errorf("only %d questions", len(r.Questions))
			}
		})
	}
}

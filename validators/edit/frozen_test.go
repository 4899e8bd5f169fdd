package edit

import (
	"strings"
	"testing"
)

// TestFrozenParts checks that every part except the active one is frozen, field
// by field.
func TestFrozenParts(t *testing.T) {
	changes := map[partName]map[string]swaps{
		partPresentationSpec: {
			"presentation_spec.register": {"plain English", "plain Dutch"},
			"presentation_spec.avoid[0]": {"exclamation marks", "question marks"},
			"presentation_spec.tone":     {"  register:", "  tone: x\n  register:"},
		},
		partRubric: {
			"rubric.stop_condition":              {"nobody asks why", "somebody does"},
			"rubric.secondary_goals[2].readable": {"a reader can skip", "nobody can skip"},
			"rubric.non_goals[2]":                {"  stop_condition", "    - another\n  stop_condition"},
		},
		partGapPolicy:   {"gap_policy.extract_candidate": {"extract_candidate: true", `extract_candidate: "true"`}},
		partClaimLedger: {"claim_ledger[C5].status": {"status: implied", "status: retired"}, "claim_ledger[9]": {"  - id: C10\n    status: retired\n    span: Gates are free.\n    claim: Gates cost nothing.\n    preservation_test: None; the claim was given up.\n", ""}},
		"header":        {"header.revision": {"revision: 7", "revision: 8"}},
		"notes":         {"notes[0]": {"C7 is argued", "C7 is not argued"}},
	}
	own := map[partName]swaps{
		partPresentationSpec: voice, partRubric: {"primary_goal: a", "primary_goal: any"},
		partGapPolicy: {"close_in_text: only", "close_in_text: never, only"}, partClaimLedger: {"id: C9\n    status: implied", "id: C9\n    status: asserted"},
	}
	for _, active := range allParts()[1:] {
		for part, list := range changes {
			for at, change := range list {
				d := newDesk(t)
				d.forStatus(active, append(own[active][:2:2], change...)...)
				r := d.verify()
				if part == active {
					if r.FrozenParts.Result != gradePass || r.ruling.rule == 2 && active != partClaimLedger {
						t.Errorf("%s: a change of its own %s is %+v", active, at, r.FrozenParts)
					}
				} else if r.Decision != Reject || r.ruling.rule != 2 || !strings.Contains(r.Reason, at+" is frozen") {
					t.Errorf("%s: a change of %s is %s: %s", active, at, r.Decision, r.Reason)
				}
			}
		}
	}
}

// TestWrittenDifferently checks that another spelling of a value is only a
// note.
func TestWrittenDifferently(t *testing.T) {
	d := newDesk(t)
	d.forStatus(partPresentationSpec, append(voice,
		"rubric:\n  primary_goal: a reader can tell from which observation each requirement follows\n", "rubric: # the same\n  \"primary_goal\": 'a reader can tell from which observation each requirement follows'\n",
		"{document: source.md, revision: 7}", "{revision: 0x7, document: \"source.md\"}",
	)...)
	r := d.wants(Accept, "")
	if got := strings.Join(r.FrozenParts.Notes, "\n"); !strings.Contains(got, "rubric has the same values") || !strings.Contains(got, "header has the same values") || strings.Contains(got, "claim_ledger") {
		t.Errorf("got %s", got)
	}
}

func TestFrontMatter(t *testing.T) {
	source := load(t, "source.md")
	bare := source[strings.Index(source, "# Why"):]
	change := swaps{"The first is about order.", "The first is about order, as R1 is."}
	tests := []struct {
		name, source, candidate string
		decision                Decision
		reason                  string
	}{
		{"kept", source, source, Accept, ""},
		{"written differently", source, swapped(t, source, "version: 3", "version: 0x3 # three"), Accept, ""},
		{"changed", source, swapped(t, source, "version: 3", "version: 3.1"), Reject, "front matter.version is frozen"},
		{"removed", source, bare, Reject, "front matter (removed)"},
		{"added", bare, source, Reject, "front matter (added)"},
		{"none", bare, bare, Accept, ""},
		{"empty", "---\n---\n" + bare, "---\n---\n" + bare, Accept, ""},
		{"filled", "---\n---\n" + bare, "---\na: 1\n---\n" + bare, Reject, "front matter (added)"},
		{"a rule is no front matter", "---\n\n" + bare + "\n---\n", "---\n\n" + bare + "\n---\n", Accept, ""},
		{"broken", source, swapped(t, source, "version: 3", "version: [3"), Reject, "not YAML"},
		{"a list", source, "---\n[a: 1]\n---\n" + bare, Reject, "front matter must be a mapping"},
		{"not closed", source, swapped(t, source, "models into work that others rely on\n---\n", "models\n"), Reject, "front matter (removed)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDesk(t)
			d.put("source.md", test.source)
			d.put("candidates/d-04.1.md", swapped(t, test.candidate, change...))
			d.wants(test.decision, test.reason)
		})
	}
}

func TestNoOp(t *testing.T) {
	for name, test := range map[string]struct {
		swaps
		decision Decision
	}{
		"the same":             {nil, Reject},
		"blanks in a line":     {swaps{"real, then", "real,  then"}, Reject},
		"blank behind a line":  {swaps{"all the others.\n", "all the others. \n"}, Reject},
		"a blank that shows":   {swaps{"all the others.\n", "all the others.\n\n    code\n"}, NeedsHumanReview},
		"blanks at the end":    {swaps{"all the others.\n", "all the others.  \n"}, Reject},
		"what has no shape":    {swaps{"all the others.\n", "all the oth\u200bers.\u00ad\n"}, Reject},
		"other letters":        {swaps{"all the others.\n", "аll the others.\n"}, Reject},
		"an empty line at end": {swaps{"that it is gone.\n", "that it is gone.\n\n\n"}, Reject},
	} {
		d := newDesk(t)
		d.put("candidates/d-04.1.md", swapped(t, load(t, "source.md"), test.swaps...))
		if r := d.verify(); r.Decision != test.decision {
			t.Errorf("%s: %s: %s", name, r.Decision, r.Reason)
		}
	}
}

// TestNoOpComposed checks that texts with differently composed accents are
// equal.
func TestNoOpComposed(t *testing.T) {
	d := newDesk(t)
	d.change("source.md", "# Why", "# Caf\u00e9: why")
	d.put("candidates/d-04.1.md", swapped(t, load(t, "source.md"), "# Why", "# Cafe\u0301: why"))
	d.wants(Reject, "the same text")
}

// TestSpansAreHints checks that a wrong span is reported and does not affect
// the decision.
func TestSpansAreHints(t *testing.T) {
	d := newDesk(t)
	d.change("candidates/d-04.1.md", "A check has to come before the next reader, not beside it.", "A check has to stand before its next reader, not beside it.")
	r := d.wants(Accept, "")
	if c := r.ClaimChecks[2].Value; !strings.Contains(c.Reason, "its span is not in the candidate") {
		t.Errorf("got %q", c.Reason)
	}
	d = newDesk(t)
	d.change("status.yaml", moved3...)
	r = d.wants(Accept, "")
	if c := r.ClaimChecks[2].Value; !strings.Contains(c.Reason, "its span is not in the current source") {
		t.Errorf("got %q", c.Reason)
	}
}

// TestAddedClaims checks that a ledger may get new claims. A new claim does not
// bind the candidate.
func TestAddedClaims(t *testing.T) {
	added := swaps{"claim_ledger:\n", "claim_ledger:\n  - {id: C0, status: asserted, span: none, claim: x, preservation_test: y}\n"}
	for result, want := range map[string]Decision{"": Accept, "pass": Accept, "warn": NeedsHumanReview, "fail": NeedsHumanReview} {
		d := newDesk(t)
		d.forStatus(partClaimLedger, added...)
		if result != "" {
			d.judgement("  C1:", "  C0: "+result+"\n  C1:")
		}
		r := d.verify()
		if r.Decision != want || result == "fail" && !strings.Contains(r.Reason, "the new claim C0 fails") {
			t.Errorf("%q: %s: %s", result, r.Decision, r.Reason)
		}
	}
}

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		" a\n\tb\u00a0c ": "a b c", "\x1b[31mred\x00": "[31mred", "a\u202eb\u200b": "ab", "\xffé": "é", "": "", "\n": "",
		strings.Repeat("x", maxNote): strings.Repeat("x", maxNote), strings.Repeat("é", maxNote+1): strings.Repeat("é", maxNote-1) + "…",
	} {
		if got := clean(s); got != want {
			t.Errorf("%q: got %q", s, got)
		}
	}
}

package edit

import (
	"fmt"
	"strings"
	"testing"
)

// A policyDesk has a document with every kind of structure, one claim and one
// preserve item.
func policyDesk(t testing.TB, candidate string) *desk {
	d := newDesk(t)
	d.put("source.md", load(t, "policy.md"))
	d.put("candidates/d-04.1.md", candidate)
	d.put("status.yaml", `presentation_spec: {voice: calm, register: plain, avoid: [], preserve: [the operator signs]}
rubric: {primary_goal: clearer, secondary_goals: [], non_goals: [], stop_condition: x}
gap_policy: {close_in_text: c, extract_candidate: e, mark_format: "[GAP: <what is missing>]"}
claim_ledger:
- {id: C1, status: asserted, span: Nobody releases on a Friday, claim: c, preservation_test: t}
`)
	d.put("direction.yaml", "{direction_id: d-04, candidate_id: d-04.1, active_part: text, target: 'the sentence \"Users can read it, and they cannot change it.\"', intent: Make it easier to read., constraints: []}")
	d.o.Judgement = `claims: {C1: pass}
presentation: pass
primary_goal: improved
non_goals: pass
gap_policy: pass
direction: {intent: pass}
adds_requirement: false
hides_derivation: false
`
	return d
}

// answer sets the answer to the only change of the candidate.
func (d *desk) answer(format string) {
	d.t.Helper()
	in, err := read(d.o)
	if err != nil || len(in.changes) != 1 {
		d.t.Fatal(err, in)
	}
	d.o.Judgement = d.o.Judgement.(string) + "\nchanges: " + strings.ReplaceAll(format, "KEY", in.changes[0].key) + "\n"
}

func TestAnswers(t *testing.T) {
	wording := swaps{"is kept for", "is stored for"}
	number := swaps{"more than 30 seconds", "more than 45 seconds"}
	for _, test := range []struct {
		name string
		swaps
		answer   string
		decision Decision
		rule     int
		reason   string
	}{
		{"preserved, quoted", wording, `{KEY: {result: preserved, old_quote: kept for, new_quote: stored for, reason: r}}`, Accept, 6, ""},
		{"improves, quoted", wording, `{KEY: {result: improves, old_quote: kept, new_quote: stored}}`, Accept, 6, ""},
		{"preserved, without quotations", wording, `{KEY: {result: preserved, old_quote: "", new_quote: ""}}`, NeedsHumanReview, 5, "does not quote both sides"},
		{"preserved, wrong quotation", wording, `{KEY: {result: preserved, old_quote: kept, new_quote: deleted}}`, NeedsHumanReview, 5, "does not quote both sides"},
		{"preserved, quotation of what stays", wording, `{KEY: {result: preserved, old_quote: two years, new_quote: two years}}`, NeedsHumanReview, 5, "does not quote both sides"},
		{"a word", wording, `{KEY: preserved}`, NeedsHumanReview, 5, "does not quote both sides"},
		{"changed", wording, `{KEY: {result: changed, reason: a store is no keeper}}`, NeedsHumanReview, 5, "the meaning has changed: a store is no keeper"},
		{"no answer", wording, `{}`, NeedsHumanReview, 5, "nobody has judged it"},
		{"another key", wording, `{sentence-000000: {result: preserved}}`, NeedsHumanReview, 5, "nobody has judged it"},
		{"an unknown key too", wording, `{KEY: {result: preserved, old_quote: kept, new_quote: stored}, x: preserved}`, NeedsHumanReview, 5, "change x was judged and is not in the candidate"},
		{"a number, copied", number, `{KEY: {result: preserved, old_quote: 30 seconds, new_quote: 45 seconds}}`, NeedsHumanReview, 5, "the direction does not name it"},
		{"a number, improved", number, `{KEY: {result: improves, old_quote: 30 seconds, new_quote: 45 seconds}}`, NeedsHumanReview, 5, "the direction does not name it"},
		{"changed in an asserted claim", swaps{"Nobody releases", "Few people release"}, `{KEY: {result: changed, reason: few are some}}`, Reject, 2, "the meaning has changed in claim C1: few are some"},
		{"changed in a preserve item", swaps{"- the operator signs", "- the operator agrees"}, `{KEY: {result: changed}}`, Reject, 2, "in the preserve item P1"},
		{"changed in the target", swaps{"Users can read it, and they cannot change it.", "Users can read and copy it, and they cannot change it."}, `{KEY: {result: changed}}`, Accept, 6, ""},
		{"a mark of a list", swaps{"- the auditor reads", "* the auditor reads"}, `{KEY: preserved}`, Accept, 6, ""},
		{"a heading's level", swaps{"## Exceptions", "### Exceptions"}, `{KEY: preserved}`, Accept, 6, ""},
	} {
		d := policyDesk(t, swapped(t, load(t, "policy.md"), test.swaps...))
		d.answer(test.answer)
		if r := d.verify(); r.Decision != test.decision || r.ruling.rule != test.rule || !strings.Contains(r.Reason, test.reason) || len(r.Direction.Notes) == 0 {
			t.Errorf("%s: %s by rule %d: %s", test.name, r.Decision, r.ruling.rule, r.Reason)
		}
	}
}

// TestDirectionNamesChanges checks that a direction names a change by the
// deleted words and, after them, the inserted words.
func TestDirectionNamesChanges(t *testing.T) {
	wait, town := swaps{"more than 30 seconds", "more than 45 seconds"}, swaps{"Bergmann in Oslo", "Bergmann in Kristiania"}
	for _, test := range []struct {
		intent string
		swaps
		named bool
	}{
		{"Raise the wait from 30 s to 45 s.", wait, true}, {"Raise the wait from 45 s to 30 s.", wait, false}, {"Raise the wait to 45 s.", wait, false},
		{"Write Oslo as Kristiania where it decides.", town, true}, {"Write Kristiania for Oslo.", town, false}, {"Write 130 as 145.", wait, false},
	} {
		d := policyDesk(t, swapped(t, load(t, "policy.md"), test.swaps...))
		d.change("direction.yaml", "Make it easier to read.", test.intent)
		if r := d.verify(); (r.Decision == Accept) != test.named {
			t.Errorf("%s %q: %s: %s", test.intent, test.swaps, r.Decision, r.Reason)
		}
	}
}

// TestSneaks checks changes that need a person, although a judge quotes both
// sides and answers preserved.
func TestSneaks(t *testing.T) {
	for name, s := range map[string]swaps{
		"number": {"at least 3 of 5", "at least 2 of 5"}, "number in words": {"kept for two years", "kept for ten years"}, "unit": {"more than 30 seconds", "more than 30 minutes"},
		"bound": {"at least 3", "at most 3"}, "day": {"on a Friday", "on a Sunday"}, "link": {"example.org/guide", "example.com/guide"}, "code": {"`make check`", "`make chek`"},
		"code block": {"&& make release", "|| make release"}, "quotation": {"no check”", "a check”"}, "block quote": {"Haste is the enemy", "Haste is the friend"},
		"must to may": {"A release must pass", "A release may pass"}, "cannot to can": {"they cannot change", "they can change"}, "negation": {"The service is safe", "The service is not safe"},
		"every to some": {"every check", "some check"}, "image": {"(way.png)", "(away.png)"}, "comment": {"Sign it", "<!-- the key is optional --> Sign it"},
		"struck out": {"must pass every check", "~~must pass every check~~"}, "name": {"Alice Bergmann", "Bob Bergmann"}, "row": {"| Size  | 10 ", "| Size  | 12 "},
		"zero width": {"the *release* key", "the own *rel\u200bease* key"}, "lookalike": {"the operator signs", "the оperator signs it"}, "open": {"Sign it", "Sign it [to be agreed]"},
	} {
		d := policyDesk(t, swapped(t, load(t, "policy.md"), s...))
		if r := d.verify(); r.Decision != NeedsHumanReview {
			t.Errorf("%s: %s: %s", name, r.Decision, r.Reason)
		}
	}
	body := load(t, "policy.md")[strings.Index(load(t, "policy.md"), "# Release"):]
	for name, s := range map[string]swaps{
		"small letters": {"Sign it", "[gap which key] Sign it"}, "other brackets": {"Sign it", "【GAP: which key】 Sign it"}, "a comment": {"Sign it", "<!-- gap which key --> Sign it"},
		"zero width": {"Sign it", "[G\u200bAP which key] Sign it"}, "TBD": {"Sign it", "Sign it (TBD)"}, "citation needed": {"Sign it", "Sign it[citation needed]"},
		"nothing": {body, ""}, "nothing visible": {body, "\u200b\n<!-- x -->\n"}, "the same": {body, body}, "lookalikes": {"the operator signs", "the оperator signs"},
	} {
		d := policyDesk(t, swapped(t, load(t, "policy.md"), s...))
		if r := d.verify(); r.Decision != Reject {
			t.Errorf("%s: %s: %s", name, r.Decision, r.Reason)
		}
	}
}

// TestBatches checks that a judge answers more than sixty changes in batches,
// and that a list joins the batches.
func TestBatches(t *testing.T) {
	var old, now strings.Builder
	for i := range maxBatch + 5 {
		fmt.Fprintf(&old, "Rule %c%c is kept.\n\n", 'a'+i/26, 'a'+i%26)
		fmt.Fprintf(&now, "Rule %c%c is held.\n\n", 'a'+i/26, 'a'+i%26)
	}
	d := policyDesk(t, now.String())
	d.put("source.md", old.String())
	in, err := read(d.o)
	if err != nil {
		t.Fatal(err)
	}
	batches := in.batches()
	if len(batches) != 3 || len(batches[0]) != maxBatch || len(batches[1]) != 5 {
		t.Fatalf("got %d batches", len(batches))
	}
	answers := func(list []change) map[string]any {
		out := map[string]any{}
		for _, c := range list {
			out[c.key] = map[string]any{"result": "improves", "old_quote": "kept", "new_quote": "held"}
		}
		return out
	}
	judgement := map[string]any{
		"claims": map[string]any{"C1": "pass"}, "presentation": "pass", "primary_goal": "improved", "non_goals": "pass", "gap_policy": "pass",
		"direction": "pass", "adds_requirement": false, "hides_derivation": false, "changes": answers(batches[0]),
	}
	d.o.Judgement = []any{judgement}
	d.wants(NeedsHumanReview, "nobody has judged it")
	d.o.Judgement = []any{judgement, nil, map[string]any{"changes": answers(batches[1])}}
	d.wants(Accept, "")
}

// TestUncompared checks that texts which cannot be compared need a person.
func TestUncompared(t *testing.T) {
	d := policyDesk(t, "# A\n\n"+strings.Repeat("word ", 300_000)+"is may\n")
	d.put("source.md", "# A\n\n"+strings.Repeat("word ", 300_000)+"is must\n")
	d.wants(NeedsHumanReview, "nobody has compared the texts")
}

// TestUnseenInStatus checks that invisible characters are found in a status
// file, too.
func TestUnseenInStatus(t *testing.T) {
	d := newDesk(t)
	d.forStatus(partPresentationSpec, "voice: first person plural, calm", "voice: first person plural, dry\u200b")
	d.wants(NeedsHumanReview, "U+200B")
	d = newDesk(t)
	d.forStatus(partPresentationSpec, "voice: first person plural, calm", "voice: first person plural, c\u200balm")
	d.wants(Reject, "leaves presentation_spec as it is")
}

package edit

import (
	"fmt"
	"strings"
	"testing"
)

// What was judged of a change answers for that change and for no other.
func TestJudgedChanges(t *testing.T) {
	source := load(t, "policy.md")
	candidate := swapped(t, source, "at least 3 of 5", "at least 2 of 5")
	judged := func(d *desk, lines ...string) *desk {
		d.o.Judgement = d.o.Judgement.(string) + "changes:\n  " + strings.Join(lines, "\n  ") + "\n"
		return d
	}
	in, err := read(policyDesk(t, candidate).o)
	if err != nil {
		t.Fatal(err)
	}
	list := in.changes()
	if len(list) != 1 {
		t.Fatalf("got %+v", list)
	}
	key := list[0].key
	for _, c := range []struct {
		line     string
		decision Decision
		rule     int
		reason   string
	}{
		{key + ": {result: pass, reason: the direction means it}", Accept, 6, "Accepted"},
		{key + ": pass", Accept, 6, "Accepted"},
		{key + ": {result: warn, reason: who knows}", NeedsHumanReview, 5, "who knows"},
		{key + ": {result: fail, reason: nobody asked}", Reject, 3, "nobody asked"},
		{"numbers-000000: pass", NeedsHumanReview, 5, "numbers"},
	} {
		r := judged(policyDesk(t, candidate), c.line).wants(c.decision, c.reason)
		if r.ruling.rule != c.rule || len(r.Direction.Notes) == 0 {
			t.Errorf("%s: rule %d, %q", c.line, r.ruling.rule, r.Direction.Notes)
		}
	}
	// The same key of another candidate answers for nothing.
	other := swapped(t, source, "at least 3 of 5", "at least 1 of 5")
	r := judged(policyDesk(t, other), key+": pass").wants(NeedsHumanReview, "“3” is now “1”")
	if !strings.Contains(strings.Join(r.Questions, "\n"), "Is this change meant? numbers: “3” is now “1” (line 10).") {
		t.Errorf("got %q", r.Questions)
	}
}

// A direction asks for a change that it names, in the way in which it names it.
func TestDirectionNamesChanges(t *testing.T) {
	source := load(t, "policy.md")
	wait, town, must := swaps{"30 seconds", "45 seconds"}, swaps{"Bergmann in Oslo", "Bergmann in Kristiania"}, swaps{"A release must", "A release may"}
	for _, c := range []struct {
		intent string
		swaps
		asks bool
	}{
		{"Raise the wait from 30 s to 45 s.", wait, true},
		{"Raise the wait from 45 s to 30 s.", wait, false},
		{"Use 45 seconds instead of 30 seconds.", wait, true},
		{"Use 30 seconds instead of 45 seconds.", wait, false},
		{"The wait of 30 seconds becomes one of 45 seconds.", wait, true},
		{"Lower one from 60 to 45 seconds and raise the wait from 30 seconds to 45 seconds.", wait, true},
		{"Avoid going from 30 seconds to 45 seconds.", wait, false},
		{"See that nobody changes 30 seconds to 45 seconds.", wait, false},
		{"Write Oslo as Kristiania where it decides.", town, true},
		{"Write Kristiania as Oslo where it decides.", town, false},
		{"Put Kristiania for Oslo where it decides.", town, true},
		{"Say may for must of the release.", must, true},
		{"Say must for may of the release.", must, false},
		{"Change must to may of the release.", must, true},
		{"Change may to must of the release.", must, false},
	} {
		d := policyDesk(t, swapped(t, source, c.swaps...))
		d.change("direction.yaml", "Make it easier to read.", c.intent)
		if r := d.verify(); (r.Decision == Accept) != c.asks {
			t.Errorf("%s %q: %s: %s", c.intent, c.swaps, r.Decision, r.Reason)
		}
	}
}

// The word of a gap marker is no name that is new, where the policy knows markers.
func TestFirstGapMarker(t *testing.T) {
	source := swapped(t, load(t, "policy.md"), " [GAP: who may extend it]", "")
	for candidate, want := range map[string]Decision{
		"Sign it here [GAP: with which key] with": Accept,
		"Sign it **GAP**: with":                   NeedsHumanReview,
		"Sign it, GAP, [GAP: why] with":           NeedsHumanReview,
		"Sign it here [GAP with which key] with":  Reject,
	} {
		d := policyDesk(t, swapped(t, source, "Sign it with", candidate))
		d.put("source.md", source)
		if r := d.verify(); r.Decision != want {
			t.Errorf("%s: %s: %s", candidate, r.Decision, r.Reason)
		}
	}
}

// More changes than are told one by one are a person's, whatever was judged.
func TestManyChanges(t *testing.T) {
	var old, now, all strings.Builder
	for i := range maxChanges + 5 {
		fmt.Fprintf(&old, "Rule %d takes %d seconds.\n\n", i, i)
		fmt.Fprintf(&now, "Rule %d takes %d seconds.\n\n", i, i+1000)
	}
	d := policyDesk(t, now.String())
	d.put("source.md", old.String())
	in, err := read(d.o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range in.changes() {
		all.WriteString("\n  " + c.key + ": pass")
	}
	d.o.Judgement = d.o.Judgement.(string) + "changes:" + all.String() + "\n"
	d.wants(NeedsHumanReview, "more changes are not told one by one")
}

// A text that cannot be read is not accepted unseen.
func TestUnreadText(t *testing.T) {
	long := strings.Repeat("word ", 20_000)
	d := policyDesk(t, "# A\n\n"+long+"is may\n")
	d.put("source.md", "# A\n\n"+long+"is must\n")
	d.wants(NeedsHumanReview, "nobody has looked at what numbers")
}

// A status file is looked at for what no reader sees, too.
func TestUnseenInStatus(t *testing.T) {
	d := newDesk(t)
	d.forStatus(PartPresentationSpec, "voice: first person plural, calm", "voice: first person plural, dry\u200b")
	d.wants(NeedsHumanReview, "zero-width space")
	d = newDesk(t)
	d.forStatus(PartPresentationSpec, "voice: first person plural, calm", "voice: first person plural, c\u200balm")
	d.wants(Reject, "leaves presentation_spec as it is")
}

package edit

import (
	"strings"
	"testing"
)

// Edits as people make them. Those that are marked are false alarms: nothing
// that matters has changed, and a person is asked all the same. Their number is
// in the page on edits.
var honestEdits = []struct {
	name, intent string
	swaps
	alarm bool
}{
	{"a reworded sentence", "", swaps{"The limits are these, and each of them was measured [12].", "These limits were all measured [12]."}, false},
	{"a typo", "", swaps{"Requests above", "Reqests above"}, false},
	{"another word", "", swaps{"is kept for", "is stored for"}, false},
	{"reflowed", "", swaps{"The check shall not take more than 30 seconds, and it may run twice.", "The check shall not take\nmore than 30 seconds,\nand it may run twice."}, false},
	{"one paragraph made two", "", swaps{"on a Friday. The service", "on a Friday.\n\nThe service"}, false},
	{"two paragraphs made one", "", swaps{"on exceptions. Carl reads in Bergen. But Oslo signs.\n\nNobody", "on exceptions. Carl reads in Bergen. But Oslo signs. Nobody"}, false},
	{"a sentence made two", "", swaps{"30 seconds, and it may run twice", "30 seconds. It may run twice"}, false},
	{"two sentences made one", "", swaps{"written down. It is kept", "written down and is kept"}, false},
	{"a comma", "", swaps{"safe to restart, and", "safe to restart and"}, false},
	{"active voice", "", swaps{"An exception should be written down.", "One should write an exception down."}, false},
	{"a word of emphasis", "", swaps{"with the *release* key", "with the **release** key"}, false},
	{"emphasis marked otherwise", "", swaps{"with the *release* key", "with the _release_ key"}, false},
	{"a name marked as code", "", swaps{"Alice Bergmann in Oslo", "Alice Bergmann in `Oslo`"}, false},
	{"code that is marked no more", "", swaps{"2. Run `make check`.", "2. Run make check."}, false},
	{"emphasis dropped", "", swaps{"with the *release* key", "with the release key"}, false},
	{"typographic quotes", "", swaps{"“a check that nobody runs is no check”", "\"a check that nobody runs is no check\""}, false},
	{"typographic apostrophe", "", swaps{"Users can read it", "Users can read what’s there"}, false},
	{"an explanation", "", swaps{"Sign it with the *release* key.", "Sign it with the *release* key, the one that the owner keeps."}, false},
	{"an example", "", swaps{"is safe to restart", "is safe to restart, for instance after an update"}, false},
	{"a reason", "", swaps{"Nobody releases on a Friday.", "Nobody releases on a Friday, because the week ends there."}, false},
	{"a sentence that joins", "", swaps{"See [the guide]", "More is to be found elsewhere. See [the guide]"}, false},
	{"a shorter sentence", "", swaps{"The limits are these, and each of them was measured", "Each limit was measured"}, false},
	{"a unit in full", "", swaps{"30 seconds", "30 s", "10 MB are", "10 megabytes are"}, false},
	{"a number in figures", "", swaps{"for two years", "for 2 years"}, false},
	{"a number in words", "", swaps{"at least 3 of 5", "at least three of five"}, false},
	{"a date written otherwise", "", swaps{"14 March 2025", "March 14, 2025"}, false},
	{"a contraction", "", swaps{"they cannot change it", "they can't change it"}, false},
	{"must not, contracted", "", swaps{"shall not take", "shan't take"}, false},
	{"another bullet", "", swaps{"- the owner signs\n- the operator signs\n- the auditor reads", "* the owner signs\n* the operator signs\n* the auditor reads"}, false},
	{"a table set otherwise", "", swaps{"| Size  | 10    | MB   |", "|Size|10|MB|"}, false},
	{"a heading underlined", "", swaps{"## Limits\n", "Limits\n------\n"}, false},
	{"a link by reference", "", swaps{"[the guide](https://example.org/guide)", "[the guide][g]", "[^1]: The", "[g]: https://example.org/guide\n\n[^1]: The"}, false},
	{"other words for a link", "", swaps{"[the guide]", "[how it is done]"}, false},
	{"a gap marked", "", swaps{"Sign it with", "[GAP: who holds it] Sign it with"}, false},
	{"a new paragraph", "", swaps{"## Exceptions", "These are few, and each is there for a reason.\n\n## Exceptions"}, false},
	{"a new item", "", swaps{"- the auditor reads", "- the auditor reads\n- the owner files it"}, false},
	{"the first word of a sentence", "", swaps{"Requests above", "All requests above"}, false},
	{"a number that the direction names", "Raise the wait in the text from 30 seconds to 45 seconds.", swaps{"30 seconds", "45 seconds"}, false},
	{"a heading that the direction names", "Call the section Exceptions by the name Waivers.", swaps{"## Exceptions", "## Waivers"}, false},
	{"a list in the order that the direction asks for", "Sort the list at the end alphabetically.", swaps{"- the owner signs\n- the operator signs\n- the auditor reads", "- the auditor reads\n- the operator signs\n- the owner signs"}, false},
	{"a link that the direction names", "Point from https://example.org/log to https://example.org/journal.", swaps{"example.org/log", "example.org/journal"}, false},
	{"a name that the direction names", "Write Oslo as Kristiania where it decides.", swaps{"Bergmann in Oslo", "Bergmann in Kristiania"}, false},
	{"must that the direction names", "Say may for must of the release.", swaps{"A release must", "A release may"}, false},
	{"a footnote taken in", "", swaps{"log).[^1]", "log), which begins in 2019.", "\n[^1]: The log begins in 2019.\n", ""}, true},
	{"an idea spelt out", "", swaps{"It is kept for", "Such an exception is kept for"}, false},
}

func TestHonestEdits(t *testing.T) {
	alarms := 0
	for _, e := range honestEdits {
		d := policyDesk(t, swapped(t, load(t, "policy.md"), e.swaps...))
		if e.intent != "" {
			d.change("direction.yaml", "Make it easier to read.", e.intent)
		}
		r := d.verify()
		if alarm := r.Decision != Accept; alarm != e.alarm {
			t.Errorf("%s: %s: %s", e.name, r.Decision, r.Reason)
		} else if alarm {
			alarms++
			t.Logf("false alarm: %s: %s", e.name, strings.TrimPrefix(r.Reason, "A person has to decide: "))
		}
	}
	t.Logf("%d false alarms of %d", alarms, len(honestEdits))
}

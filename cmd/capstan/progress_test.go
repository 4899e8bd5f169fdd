package main

import (
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
)

// What a text would do to a terminal it does not do in a line of ours: no colours,
// no other line, no other direction of all that follows. Emoji stay whole.
func TestFlatly(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb\u009bc": "a [31mb c", "a\u202eb\u2066c\u2028d\re": "a b c d e", "שלום 👩\u200d👧 é": "שלום 👩\u200d👧 é",
	} {
		if got := flatly(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// What a check is called cannot colour a line, nor end it.
func TestCheckNamesAreFlat(t *testing.T) {
	if got, want := checkName(nil, &event.Verdict{Validator: "a\x1b[31mb\nc"}), "a[31mb c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

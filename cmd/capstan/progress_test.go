package main

import (
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
)

// TestFlatly checks that a text in a progress line has no effect on the
// terminal: no colours, no new line, no other direction of text. Emoji stay
// whole.
func TestFlatly(t *testing.T) {
	for text, want := range map[string]string{
		"a\x1b[31mb\u009bc": "a [31mb c", "a\u202eb\u2066c\u2028d\re": "a b c d e", "שלום 👩\u200d👧 é": "שלום 👩\u200d👧 é",
	} {
		if got := flatly(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestCheckNamesAreFlat checks that the name of a check cannot colour or end a
// line.
func TestCheckNamesAreFlat(t *testing.T) {
	if got, want := checkName(nil, &event.Verdict{Validator: "a\x1b[31mb\nc"}), "a[31mb c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLivingLineFits checks that the live line fits its terminal, whatever the
// text and the phase's name. A wrapped line would stay on the screen ten times
// a second.
func TestLivingLineFits(t *testing.T) {
	for name, row := range map[string]struct {
		width       int
		phase, tail string
		show, want  string
	}{
		"room":       {50, "draft", "owls hunt at night", "", "⠋ draft attempt 1  0 calls, 0.0s  s hunt at night"},
		"none":       {24, "draft", "owls hunt at night", "", "⠋ draft attempt 1  0 ca"},
		"long phase": {30, strings.Repeat("p", 60), "owls", "", "⠋ " + strings.Repeat("p", 27)},
		"ideographs": {53, "draft", strings.Repeat("夜", 40), "", "⠋ draft attempt 1  0 calls, 0.0s  " + strings.Repeat("夜", 9)},
		"pictures":   {53, "draft", strings.Repeat("✅🦉", 40), "", "⠋ draft attempt 1  0 calls, 0.0s  🦉" + strings.Repeat("✅🦉", 4)},
		"dashes":     {53, "draft", strings.Repeat("—“", 40), "", "⠋ draft attempt 1  0 calls, 0.0s  " + strings.Repeat("—“", 9)},
		"a batch":    {10, "", "", "██░░ 1 of 2", "██░░ 1 of"},
	} {
		var out strings.Builder
		p := &progress{out: &out, width: func() int { return row.width }, now: func() time.Time { return time.Time{} }, phase: row.phase, doing: "attempt 1", tail: row.tail}
		if row.show != "" {
			p.show = func() string { return row.show }
		}
		p.draw()
		got := strings.NewReplacer("\r\x1b[K", "", "\x1b[2m", "", "\x1b[m", "").Replace(out.String())
		if got != row.want {
			t.Errorf("%s: got %q, want %q", name, got, row.want)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/textdiff"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// The maximum of a text that a terminal shows with a question.
const (
	maxSubjectLines = 40
	maxSubjectBytes = 8 << 10
)

// subjects returns the texts that the open questions of a run are about, by question.
func subjects(ctx context.Context, j *journal.Journal, run *journal.Run) (map[event.Path]*trace.Subject, error) {
	if len(run.Pending) == 0 {
		return nil, nil
	}
	done, err := trace.Fold(j.Events(ctx, run.RunID, 0, journal.Brief))
	if err != nil {
		return nil, &exit{exitBroken, err}
	}
	list := map[event.Path]*trace.Subject{}
	for _, p := range run.Pending {
		list[p.Path] = done.Subject(p.Path)
	}
	return list, nil
}

// subject prints the text that a question is about, the verdicts on it, and the
// difference to the previous version. A text that the question repeats is not printed.
func (t *runPrinter) subject(q engine.Question, s *trace.Subject) {
	if s == nil {
		return
	}
	if q.Text == "" && s.Text != "" && !strings.Contains(q.Prompt, strings.TrimSpace(s.Text)) {
		t.line("text of %s", oneLine(string(s.Attempt)))
		t.excerpt(s.Text)
	}
	phase := ""
	for i := range s.Verdicts {
		v := &s.Verdicts[i]
		if v.Phase != phase {
			phase = v.Phase
			t.line("checks of %s", oneLine(phase))
		}
		t.verdict(v)
	}
	switch diff := textdiff.Unified("previous version", "this version", s.Previous, s.Text); {
	case s.Before == "":
	case diff == "":
		t.line("the same text as %s, the previous version", oneLine(string(s.Before)))
	default:
		t.line("difference to %s", oneLine(string(s.Before)))
		t.excerpt(diff)
	}
}

// excerpt prints a foreign text, on a terminal only its beginning.
func (t *runPrinter) excerpt(text string) {
	if t.all == "" {
		t.quote(text)
		return
	}
	shown := firstLines(clips.Sized(text, maxSubjectBytes), maxSubjectLines)
	t.quote(shown)
	if shown != strings.TrimRight(text, "\n") {
		t.line("  all of it: %s", t.all)
	}
}

// showAll returns the command that shows all attempts of a run.
func showAll(run string) string { return fmt.Sprintf("capstan show %s --attempts", oneLine(run)) }

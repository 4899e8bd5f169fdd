package scripted

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner/model"
)

// The limits for the description of a request.
const (
	shownMessages = 6 // the newest ones, in addition to the first
	shownText     = 600
	shownEntries  = 20
)

// unscripted returns the failure of a request that no entry matches. The
// failure of the entry
// before is last, which may be nil.
func (s *Script) unscripted(r model.Request, last *model.Failure) *model.Failure {
	var b strings.Builder
	fmt.Fprintf(&b, "no entry of %s answers this request:\n  %s\n", s.name, callerOf(r))
	if last != nil {
		fmt.Fprintf(&b, "  (asked again after %s, status %d)\n", last.Class, last.Status)
	}
	for i, m := range r.Messages {
		switch hidden := len(r.Messages) - shownMessages - 1; {
		case hidden > 0 && i == 1:
			fmt.Fprintf(&b, "  … %d messages …\n", hidden)
		case hidden <= 0 || i == 0 || i > hidden:
			write(&b, m)
		}
	}
	s.writeLeft(&b, r)
	return &model.Failure{Class: model.Unscripted, Message: strings.TrimRight(b.String(), "\n")}
}

// callerOf describes the caller of the request.
func callerOf(r model.Request) string {
	text := fmt.Sprintf("phase %s, attempt %d, turn %d", r.Phase, r.Attempt, r.Turn)
	if r.Validator != "" {
		text += ", validator " + r.Validator
	}
	if r.Role != "" {
		text += ", role " + r.Role
	}
	return text
}

func write(b *strings.Builder, m model.Message) {
	fmt.Fprintf(b, "  %s: %s\n", m.Role, indent(clips.Sized(m.Content, shownText)))
	for _, c := range m.ToolCalls {
		fmt.Fprintf(b, "    calls %s %s\n", c.Name, indent(clips.Sized(c.Arguments, shownText)))
	}
}

// writeLeft lists the unused entries with the filters that do not match.
func (s *Script) writeLeft(b *strings.Builder, r model.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.entries {
		left := s.left(e)
		if left == 0 {
			continue
		}
		if n++; n == 1 {
			b.WriteString("entries that are left:\n")
		}
		if n <= shownEntries {
			fmt.Fprintf(b, "  %s: %s\n", e.describe(left), e.mismatch(r))
		}
	}
	switch {
	case n == 0:
		b.WriteString("no entry is left")
	case n > shownEntries:
		fmt.Fprintf(b, "  … and %d more", n-shownEntries)
	}
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

package modelmarkup

import (
	"slices"
	"strings"
)

// A Stream withholds the thinking of a text that arrives in pieces. Its zero value is
// at the start of a text.
type Stream struct {
	text  strings.Builder // without the thinking
	begun bool            // pieces were passed on
	cut   bool            // thinking was cut
	looks int             // closing tags so far
}

// maxLooks limits the closing tags that a stream examines, because each tag costs a pass over the
// text. Afterwards the stream passes everything on.
const maxLooks = 16

// seal closes inline code and a fenced block that may still be open in a text.
const seal = "\n`\n```\n"

// Add takes a piece and returns the text that can be passed on. If anew is true, the text begins
// anew: a closing tag without an opening one has shown that all earlier text was thinking.
func (s *Stream) Add(piece string) (out string, anew bool) {
	before := s.text.Len()
	s.text.WriteString(piece)
	text := s.text.String()
	if s.looks < maxLooks && closes(text, before) {
		s.looks++
		if _, cuts := Cut(text + seal); len(cuts) > 0 {
			rest, _ := Cut(text)
			anew = s.begun
			s.begun, s.cut = false, true
			s.text.Reset()
			s.text.WriteString(rest)
			return s.begin(), anew
		}
	}
	if s.begun {
		return piece, false
	}
	return s.begin(), false
}

// begin returns the text so far if it does not begin with thinking.
func (s *Stream) begin() string {
	text := s.text.String()
	if s.begun = !opens(text); !s.begun {
		return ""
	}
	if s.cut {
		text = strings.TrimLeft(text, blanks)
	}
	return text
}

// End returns the withheld text without its thinking.
func (s *Stream) End() string {
	if s.begun {
		return ""
	}
	rest, _ := Cut(s.text.String())
	if s.cut {
		rest = strings.TrimLeft(rest, blanks)
	}
	return rest
}

// maxTag limits the length of a closing tag, in bytes.
const maxTag = 32

// closes reports whether a closing tag of thinking ends in the part of a text that
// begins at from.
func closes(text string, from int) bool {
	tail := max(0, from-maxTag)
	return slices.ContainsFunc(marksIn(text[tail:]), func(m mark) bool {
		return m.closes && m.row.kind == Thinking && tail+m.end > from
	})
}

// opens reports whether a text begins with unfinished thinking. It also returns true if the next
// piece can complete such a beginning.
func opens(text string) bool {
	text = strings.TrimLeft(text, blanks)
	if text == "" {
		return true
	}
	for _, t := range spellings().tags[text[0]] {
		if t.row.kind == Thinking && !t.closes && (strings.HasPrefix(text, t.text) || strings.HasPrefix(t.text, text)) {
			return true
		}
	}
	return false
}

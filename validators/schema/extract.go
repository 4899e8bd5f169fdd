package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Extract takes the JSON value out of a model's reply (LANGUAGE §7). The whole
// text is tried first; else every fenced block and every balanced object or
// array in the prose, <think> blocks left out. The last candidate that the
// schema accepts wins; if none does, the last that parses is returned with its
// violations. A nil schema accepts everything. An error means that there is no
// JSON in the text at all. Time is linear in the text.
func Extract(text string, s *Schema) (any, []Violation, error) {
	if v, err := Parse([]byte(text)); err == nil {
		return v, check(s, v), nil
	}
	prose := withoutThinking(text)
	found := candidates(prose)
	var last any
	var lastBroken []Violation
	parsed := false
	for i := len(found) - 1; i >= 0; i-- {
		v, err := Parse([]byte(found[i]))
		if err != nil {
			continue
		}
		broken := check(s, v)
		if len(broken) == 0 {
			return v, nil, nil
		}
		if !parsed {
			last, lastBroken, parsed = v, broken, true
		}
	}
	if parsed {
		return last, lastBroken, nil
	}
	return nil, nil, noJSON(text, prose)
}

func check(s *Schema, v any) []Violation {
	if s == nil {
		return nil
	}
	return s.Check(v)
}

// noJSON says why nothing was found: the first thing that looked like JSON and
// broke is what the author of the text wants to hear of.
func noJSON(text, prose string) error {
	start := strings.IndexAny(prose, "{[")
	if start < 0 {
		return errors.New("there is no JSON in the text")
	}
	var v any
	err := json.NewDecoder(strings.NewReader(prose[start:])).Decode(&v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return errors.New("there is no complete JSON in the text: it ends inside an object or array")
	}
	// prose keeps the length of text, so offsets agree.
	line, column := Position([]byte(text), start+int(syntax.Offset)-1)
	return fmt.Errorf("there is no valid JSON in the text: line %d, column %d: %w", line, column, syntax)
}

var (
	thinking = regexp.MustCompile(`(?s)<think>.*?</think>`)
	fence    = regexp.MustCompile("(?ms)^[ \t]*(?:```+|~~~+)[^\n`]*\n(.*?)\n?^[ \t]*(?:```+|~~~+)[ \t]*$")
)

// withoutThinking blanks out what a reasoning model thought aloud, keeping the
// length. Some chat templates drop the opening tag.
func withoutThinking(text string) string {
	if !strings.Contains(text, "</think>") {
		return text
	}
	text = thinking.ReplaceAllStringFunc(text, blank)
	if end := strings.LastIndex(text, "</think>"); end >= 0 {
		end += len("</think>")
		text = blank(text[:end]) + text[end:]
	}
	return text
}

func blank(s string) string { return strings.Repeat(" ", len(s)) }

// candidates lists the pieces of text that may be JSON, in the order in which
// they end. Objects and arrays are found wherever they stand, so a fence
// matters only where it holds a bare string, number or word.
func candidates(text string) []string {
	type piece struct{ start, end int }
	var pieces []piece
	for i := 0; i < len(text); {
		next := strings.IndexAny(text[i:], "{[")
		if next < 0 {
			break
		}
		start := i + next
		done, end := scan(text, start)
		for _, d := range done {
			pieces = append(pieces, piece{d[0], d[1]})
		}
		i = max(end, start+1)
	}
	var out []string
	at := 0
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		for at < len(pieces) && pieces[at].end <= m[3] {
			out = append(out, text[pieces[at].start:pieces[at].end])
			at++
		}
		if body := strings.TrimSpace(text[m[2]:m[3]]); body != "" && body[0] != '{' && body[0] != '[' {
			out = append(out, body)
		}
	}
	for ; at < len(pieces); at++ {
		out = append(out, text[pieces[at].start:pieces[at].end])
	}
	return out
}

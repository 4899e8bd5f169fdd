package inspectors

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators/request"
)

// What a hint may have at most.
const (
	maxHint   = 16 << 10 // bytes
	maxChecks = 50
)

// parsers read what follows the keyword of a check.
var parsers = map[string]func(*lexer) (check, error){
	"file": parseFile,
	"run":  parseRun,
	"port": parsePort,
	"url":  parseURL,
	"page": parsePage,
}

// parseHint reads the checks of a hint, at least one. A part that declares no check is
// a mention. A check that cannot be read is BLOCKED.
func parseHint(hint string) []check {
	if len(hint) > maxHint {
		return []check{badHint{fmt.Sprintf("the hint has more than %d bytes", maxHint)}}
	}
	parts := splitHint(hint)
	if len(parts) > maxChecks {
		return []check{badHint{fmt.Sprintf("the hint has more than %d checks", maxChecks)}}
	}
	var checks []check
	for _, part := range parts {
		checks = append(checks, parseCheck(part))
	}
	if len(checks) == 0 {
		return []check{mention("")}
	}
	return checks
}

func parseCheck(text string) check {
	word, rest, found := strings.Cut(text, ":")
	parse := parsers[strings.ToLower(strings.TrimSpace(word))]
	if !found || parse == nil {
		return mention(text)
	}
	if strings.ContainsRune(rest, 0) {
		return badHint{"the hint has a NUL"}
	}
	c, err := parse(&lexer{text: rest})
	if err != nil {
		return badHint{fmt.Sprintf("the hint %q cannot be read: %v", clip(text, 200), err)}
	}
	return c
}

// badHint is what is wrong with a hint.
type badHint struct{ problem string }

func (badHint) in() request.Type { return request.Both }

func (b badHint) inspect(context.Context, *inspection) finding { return blocked("%s", b.problem) }

// splitHint parts a hint at the semicolons and line ends that are in no quotes
// and in no pattern. A quote that is not closed is a character like any other.
func splitHint(hint string) []string {
	var parts []string
	start, dead := 0, map[byte]bool{}
	for i := 0; i < len(hint); i++ {
		switch c := hint[i]; {
		case c == '\\':
			i++
		case c == ';' || c == '\n' || c == '\r':
			parts = append(parts, hint[start:i])
			start = i + 1
		case opens(hint, i) && !dead[c]:
			if n := closing(hint[i+1:], c); n >= 0 {
				i += n + 1
			} else {
				dead[c] = true
			}
		}
	}
	parts = append(parts, hint[start:])
	kept := parts[:0]
	for _, p := range parts {
		if p = strings.TrimSpace(p); p != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// opens reports whether a quotation or a pattern begins at i. An apostrophe
// within a word is none.
func opens(hint string, i int) bool {
	switch hint[i] {
	case '"', '`':
		return true
	case '\'':
		return i == 0 || strings.IndexByte(" \t\n;:=(", hint[i-1]) >= 0
	case '/':
		return strings.HasSuffix(strings.TrimRight(hint[:i], " \t"), " matches")
	}
	return false
}

// closing is where what was opened with a quote ends, or -1.
func closing(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == quote:
			return i
		case text[i] == '\\' && (quote == '"' || quote == '/'):
			i++
		}
	}
	return -1
}

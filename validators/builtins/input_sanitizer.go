package builtins

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
)

// inputSanitizerValidator accepts text that is safe to pass to a model. It rejects
//
//   - control characters, and bytes that are not UTF-8
//   - characters that hide or reorder text, such as zero-width characters in Latin words
//   - the role marks and the phrases of prompt injections in tables/injections.tsv
//
// Template delimiters cause a warning. Quotations and code are checked too,
// because a model may follow them.
var inputSanitizerValidator = validators.New("input_sanitizer", "Validates that the text has no hidden characters and no attempts to override instructions",
	func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "input_sanitizer"}
		hidden(&found, s.Content)
		roleMarks(&found, s.Content)
		injections(&found, s.Content)
		v := found.verdict("nothing suspicious was found")
		v.Warnings = delimiters(s.Content)
		return v, nil
	})

// hidden reports characters that a reader does not see. It reports each kind
// once, at its first place.
func hidden(found *findings, text string) {
	seen := map[string]bool{}
	for i, r := range text {
		if r >= ' ' && r < 0x7F || r == '\n' || r == '\t' || r == '\r' {
			continue
		}
		if kind := suspicious(text, i, r); kind != "" && !seen[kind] {
			seen[kind] = true
			found.addAt(text, i, "the text has %s", kind)
		}
	}
}

// suspicious describes the problem of the character r at i, or returns "".
func suspicious(text string, i int, r rune) string {
	switch {
	case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
		return "bytes that are not UTF-8"
	case r < ' ' || r >= 0x7F && r < 0xA0:
		return fmt.Sprintf("the control character U+%04X", r)
	case r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069:
		return fmt.Sprintf("the bidirectional control U+%04X", r)
	case r >= 0xE0000 && r <= 0xE007F && !inFlag(text[:i]):
		return "tag characters, which hide text"
	case isZeroWidth(r) && betweenLatin(text, i, r):
		return fmt.Sprintf("the zero-width character U+%04X inside a word", r)
	case isSelector(r) && i > 0 && isSelector(lastRune(text[:i])):
		return "a run of variation selectors, which can hide text"
	}
	return ""
}

func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	return r
}

// inFlag reports whether text ends within the flag of a region: a black flag
// and tags.
func inFlag(text string) bool {
	for range 8 {
		r, size := utf8.DecodeLastRuneInString(text)
		if r == 0x1F3F4 {
			return true
		}
		if r < 0xE0020 || r > 0xE007F {
			return false
		}
		text = text[:len(text)-size]
	}
	return false
}

func isZeroWidth(r rune) bool {
	return r >= 0x200B && r <= 0x200D || r == 0x2060 || r == 0xFEFF || r == 0x00AD || r == 0x180E
}

// betweenLatin reports whether a character is inside a Latin word. Joiners in
// emoji and in scripts that need them, and marks between words, are not.
func betweenLatin(text string, i int, r rune) bool {
	next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
	before := lastRune(text[:i])
	if r == 0x00AD {
		return false // a soft hyphen marks a possible line break
	}
	return unicode.Is(unicode.Latin, before) && (unicode.Is(unicode.Latin, next) || isZeroWidth(next))
}

func isSelector(r rune) bool {
	return r >= 0xFE00 && r <= 0xFE0F || r >= 0xE0100 && r <= 0xE01EF
}

func delimiters(text string) []validators.Issue {
	for _, mark := range []string{"{{", "{%"} {
		if i := strings.Index(text, mark); i >= 0 {
			return []validators.Issue{{Check: "input_sanitizer", Severity: "warning", Message: "the text has the template delimiter " + mark, Location: lineAt(text, i)}}
		}
	}
	return nil
}

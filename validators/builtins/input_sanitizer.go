package builtins

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/validators"
)

// InputSanitizer accepts text that is safe to hand to a model. It rejects
//
//   - control characters, and bytes that are not UTF-8
//   - characters that hide or reorder text, such as zero-width characters in Latin words
//   - the role marks and the phrases of prompt injections in tables/injections.tsv
//
// Template delimiters give a warning. Quotations and code count, because a model may
// follow them.
var InputSanitizer = validators.New("input_sanitizer", "Validates that the text has no hidden characters and no attempts to override instructions",
	func(_ context.Context, _ struct{}, s validators.Subject) (validators.Verdict, error) {
		found := findings{check: "input_sanitizer"}
		hidden(&found, s.Content)
		roleMarks(&found, s.Content)
		injections(&found, s.Content)
		v := found.verdict("nothing suspicious was found")
		v.Warnings = delimiters(s.Content)
		return v, nil
	})

// hidden finds characters that a reader does not see; each kind is reported
// where it stands first.
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

// suspicious names what is wrong with the character r at i, if anything.
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

// inFlag says that text ends in the flag of a country's part: a black flag and
// tags.
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

// betweenLatin leaves alone joiners in emoji and in scripts that need them,
// and marks between words.
func betweenLatin(text string, i int, r rune) bool {
	next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
	before := lastRune(text[:i])
	if r == 0x00AD {
		return false // a soft hyphen is where a word may break
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

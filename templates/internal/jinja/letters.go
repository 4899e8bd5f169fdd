package jinja

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// Python changes the case of letters by the full rules of Unicode ("ß" becomes "SS"), for which Go has x/text.

func upper(s string) string { return cased(s, strings.ToUpper, cases.Upper) }
func lower(s string) string { return cased(s, strings.ToLower, cases.Lower) }

// titleRune is a letter at the head of a word.
func titleRune(s string) string {
	return cased(s, strings.ToUpper, cases.Title, cases.NoLower)
}

func cased(s string, plain func(string) string, full func(language.Tag, ...cases.Option) cases.Caser, how ...cases.Option) string {
	if isASCII(s) {
		return plain(s)
	}
	return full(language.Und, how...).String(s)
}

func capitalized(s string) string {
	if s == "" {
		return ""
	}
	size := runeSize(s)
	return titleRune(s[:size]) + lower(s[size:])
}

// titled is Jinja2's filter title, which begins a word after a space, a hyphen or an opening bracket.
func titled(s string) string {
	var b strings.Builder
	for s != "" {
		gap := strings.IndexFunc(s, func(c rune) bool { return !beginsWord(c) })
		if gap < 0 {
			gap = len(s)
		}
		b.WriteString(s[:gap])
		s = s[gap:]
		end := strings.IndexFunc(s, beginsWord)
		if end < 0 {
			end = len(s)
		}
		if end > 0 {
			size := runeSize(s)
			b.WriteString(upper(s[:size]))
			b.WriteString(lower(s[size:end]))
		}
		s = s[end:]
	}
	return b.String()
}

func beginsWord(c rune) bool { return isSpace(c) || strings.ContainsRune("-({[<", c) }

func isCased(c rune) bool { return unicode.IsUpper(c) || unicode.IsLower(c) || unicode.IsTitle(c) }

// pythonTitled is the method title, which begins a word after anything that is no letter.
func pythonTitled(s string) string {
	var b strings.Builder
	start, cased := 0, false
	for i, c := range s {
		if now := isCased(c); now != cased {
			writeTitled(&b, s[start:i], cased)
			start, cased = i, now
		}
	}
	writeTitled(&b, s[start:], cased)
	return b.String()
}

func writeTitled(b *strings.Builder, run string, cased bool) {
	if cased {
		run = capitalized(run)
	}
	b.WriteString(run)
}

func swapCase(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case unicode.IsUpper(c):
			b.WriteString(lower(string(c)))
		case unicode.IsLower(c):
			b.WriteString(upper(string(c)))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// allCased reports whether a string has letters that satisfy want and no letter
// that satisfies other.
func allCased(s string, want, other func(rune) bool) bool {
	found := false
	for _, c := range s {
		if other(c) || unicode.IsTitle(c) {
			return false
		}
		found = found || want(c)
	}
	return found
}

// isTitled is Python's istitle: upper case begins every word and nothing else.
func isTitled(s string) bool {
	found, inside := false, false
	for _, c := range s {
		switch {
		case unicode.IsUpper(c) || unicode.IsTitle(c):
			if inside {
				return false
			}
			found, inside = true, true
		case unicode.IsLower(c):
			if !inside {
				return false
			}
		default:
			inside = false
		}
	}
	return found
}

// every reports whether s has characters and all of them satisfy is.
func every(s string, is func(rune) bool) bool {
	for _, c := range s {
		if !is(c) {
			return false
		}
	}
	return s != ""
}

// splitLines is Python's splitlines.
func splitLines(s string, keepEnds bool) []string {
	var lines []string
	for s != "" {
		end := strings.IndexFunc(s, isLineBreak)
		if end < 0 {
			return append(lines, s)
		}
		size := runeSize(s[end:])
		if strings.HasPrefix(s[end:], "\r\n") {
			size = 2
		}
		if keepEnds {
			lines = append(lines, s[:end+size])
		} else {
			lines = append(lines, s[:end])
		}
		s = s[end+size:]
	}
	return lines
}

func isLineBreak(c rune) bool {
	return c >= '\n' && c <= '\r' || c >= 0x1c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}

// folded is Python's casefold.
func folded(s string) string {
	if isASCII(s) {
		return strings.ToLower(s)
	}
	return cases.Fold().String(s)
}

package textdiff

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/tables"
)

// straight are the quotation marks that count as a straight one.
var straight = map[rune]rune{
	'“': '"', '”': '"', '„': '"', '‟': '"', '«': '"', '»': '"',
	'‘': '\'', '’': '\'', '‚': '\'', '‛': '\'', '‹': '\'', '›': '\'',
}

// Normal returns the normal form of a text. Texts with the same normal form
// look the same to a reader. It composes characters, reduces blanks to single
// ones and straightens quotation marks. It removes characters without a shape,
// and replaces letters of another alphabet within a word. A line break that
// Markdown shows stays, as a backslash.
func Normal(s string) string {
	if ordinary(s) {
		return s
	}
	s = unmixed(norm.NFC.String(s))
	if strings.Contains(s, "  \n") {
		s = breaks(s)
	}
	var b strings.Builder
	blank := true
	for i, r := range s {
		switch {
		case unicode.IsSpace(r):
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
			continue
		case shapeless(s, i, r):
			continue
		}
		if r >= 0x80 {
			r = cmp.Or(straight[r], r)
		}
		b.WriteRune(r)
		blank = false
	}
	return strings.TrimSuffix(b.String(), " ")
}

// ordinary reports whether a text is its own normal form: printable ASCII characters
// with single blanks between them.
func ordinary(s string) bool {
	before := byte(' ')
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7F || s[i] == ' ' && before == ' ' {
			return false
		}
		before = s[i]
	}
	return s == "" || before != ' '
}

// breaks writes the line breaks of a text that two blanks make as backslashes.
func breaks(s string) string {
	lines := strings.Split(strings.TrimRight(s, " \t\n"), "\n")
	for i, line := range lines[:len(lines)-1] {
		if strings.HasSuffix(line, "  ") {
			lines[i] = strings.TrimRight(line, " ") + "\\"
		}
	}
	return strings.Join(lines, "\n")
}

// shapeless reports whether a reader does not see a character. The joiners that a
// script or a picture needs are seen.
func shapeless(s string, at int, r rune) bool {
	switch {
	case r < 0x80:
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7F
	case r == 0x200C || r == 0x200D:
		before := strings.TrimRight(s[:at], "\uFE0F")
		last := []rune(before[max(0, len(before)-4):])
		return len(last) == 0 || unicode.Is(unicode.Latin, last[len(last)-1]) || unicode.IsSpace(last[len(last)-1])
	}
	return unicode.In(r, unicode.Cf, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point)
}

//go:embed tables/lookalikes.tsv
var lookalikeTable string

// lookalikes are the letters of other alphabets by their Latin twin.
var lookalikes = sync.OnceValue(func() map[rune]rune {
	out := map[rune]rune{}
	for _, row := range tables.Rows(lookalikeTable) {
		latin := []rune(row["twins"])
		for i, r := range []rune(row["letters"]) {
			out[r] = latin[i]
		}
	}
	return out
})

// unmixed replaces lookalikes in words with Latin letters.
func unmixed(s string) string {
	list := mixedWords(s)
	if len(list) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, w := range list {
		b.WriteString(s[at:w.Start])
		b.WriteString(strings.Map(func(r rune) rune {
			if twin, ok := lookalikes()[r]; ok {
				return twin
			}
			return r
		}, w.In(s)))
		at = w.End
	}
	return b.String() + s[at:]
}

// plain reports whether a text has only ASCII characters.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// mixedWords finds the words that mix Latin letters with lookalikes.
func mixedWords(s string) []reading.Span {
	var out []reading.Span
	if plain(s) {
		return nil
	}
	start, latin, other := 0, false, false
	for i, r := range s + " " {
		switch {
		case r < 0x80 && (r|0x20 < 'a' || r|0x20 > 'z') || r >= 0x80 && !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.Is(unicode.Cf, r):
			if latin && other {
				out = append(out, reading.Span{Start: start, End: i})
			}
			start, latin, other = i+len(string(r)), false, false
		case r < 0x80 || unicode.Is(unicode.Latin, r):
			latin = true
		default:
			_, twin := lookalikes()[r]
			other = other || twin
		}
	}
	return out
}

// A Hidden is a character or a word with a property that a reader does not see.
type Hidden struct {
	Name   string // "U+200B", or the word with a letter of another alphabet
	Offset int    // of its first new occurrence
}

// Unseen lists invisible differences that are more frequent in the new text
// than in the old one. They are characters without a shape, unusual blanks, and
// letters of another alphabet within a Latin word. It reads HTML entities.
func Unseen(old, now string) []Hidden {
	known := map[string]int{}
	for _, h := range hidden(old) {
		known[h.Name]++
	}
	listed := map[string]bool{}
	var out []Hidden
	for _, h := range hidden(now) {
		if known[h.Name]--; known[h.Name] < 0 && !listed[h.Name] {
			listed[h.Name] = true
			out = append(out, h)
		}
	}
	return out
}

func hidden(s string) []Hidden {
	var out []Hidden
	for at := 0; strings.Contains(s[at:], "&"); {
		at += strings.IndexByte(s[at:], '&')
		end := min(len(s), at+12)
		if n := strings.IndexByte(s[at:end], ';'); n > 0 {
			if r := []rune(html.UnescapeString(s[at : at+n+1])); len(r) == 1 && odd("", 0, r[0]) {
				out = append(out, Hidden{codePoint(r[0]), at})
			}
		}
		at++
	}
	for i, r := range s {
		if (r >= 0x80 || r < ' ' || r == 0x7F) && odd(s, i, r) && (r != '\r' || !strings.HasPrefix(s[i:], "\r\n")) && (i > 0 || r != 0xFEFF) {
			out = append(out, Hidden{codePoint(r), i})
		}
	}
	for _, w := range mixedWords(s) {
		out = append(out, Hidden{w.In(s), w.Start})
	}
	return out
}

// odd reports whether a character has no shape or is an unusual blank.
func odd(s string, at int, r rune) bool {
	return shapeless(s, at, r) || r >= 0x80 && unicode.IsSpace(r)
}

func codePoint(r rune) string { return fmt.Sprintf("%U", r) }

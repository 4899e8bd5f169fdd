package reading

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// Unseen lists what is new in a text and that no reader sees, by what it is:
// characters without a shape, ones that turn the direction of others, blanks
// that are none or that end a line, letters of another script that look like
// the ones that were there, other line ends. The texts are as they were
// written, line ends included. What is gone of it is no change. What a script
// or a picture needs to be written, such as the joiners of Persian and of
// emoji, does not count.
func Unseen(old, now string) []Change {
	before, after := unseen(old), unseen(now)
	known := map[string]bool{}
	for line := range strings.Lines(old) {
		known[line] = true
	}
	var out []Change
	for what, lines := range after {
		if more := len(lines) - len(before[what]); more > 0 {
			out = append(out, Change{Kind: Invisible, Now: fmt.Sprintf("%d new: %s", more, what), Line: firstNew(now, known, lines)})
		}
	}
	out = append(out, lookalikes(old, now)...)
	slices.SortFunc(out, func(a, b Change) int { return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Now, b.Now)) })
	return append(out, lineEnds(old, now)...)
}

// firstNew is the first of some lines of a text that is not known.
func firstNew(text string, known map[string]bool, lines []int) int {
	n, i := 0, 0
	for line := range strings.Lines(text) {
		n++
		for i < len(lines) && lines[i] == n {
			if !known[line] {
				return n
			}
			i++
		}
	}
	return lines[0]
}

var entity = patterns.Lazy(`&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{3,32});`)

// unseen gives the lines in which each thing stands that no reader sees.
func unseen(text string) map[string][]int {
	found := map[string][]int{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\n")
		line = strings.TrimSuffix(line, "\r")
		plain := line
		if strings.Contains(line, "&") {
			plain = entity().ReplaceAllStringFunc(line, html.UnescapeString)
		}
		for _, what := range hiddenIn(plain) {
			found[what] = append(found[what], n)
		}
		if bare := strings.TrimRight(line, " \t"); len(bare) < len(line) && bare != "" {
			found["white space at the end of a line"] = append(found["white space at the end of a line"], n)
		}
	}
	return found
}

func hiddenIn(line string) []string {
	plain := true
	for i := range len(line) {
		plain = plain && line[i] < 0x7f && (line[i] >= ' ' || line[i] == '\t')
	}
	if plain {
		return nil
	}
	var out []string
	runes := []rune(line)
	for i, r := range runes {
		if what := formless(r); what != "" && !belongs(runes, i) {
			out = append(out, what)
		}
	}
	return out
}

var formlessNames = map[rune]string{
	0xA0: "no-break space", 0xAD: "soft hyphen", 0x200B: "zero-width space", 0x200C: "zero-width non-joiner", 0x200D: "zero-width joiner",
	0x200E: "left-to-right mark", 0x200F: "right-to-left mark", 0x202F: "narrow no-break space", 0x2060: "word joiner", 0xFEFF: "byte order mark",
	0x2011: "non-breaking hyphen", 0x3164: "Hangul filler", 0x0D: "carriage return",
}

// formless names a character that has no shape, or a shape that is another
// one's; "" for all others.
func formless(r rune) string {
	switch {
	case r >= 0x600 && r <= 0x6DD, r == 0x70F, r == 0x8E2, r == 0x110BD, r == 0x110CD: // shown, though formats by their class
		return ""
	case r == '\t', r >= ' ' && r <= '~':
		return ""
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x61C:
		return fmt.Sprintf("character that turns the direction (U+%04X)", r)
	}
	name, known := formlessNames[r]
	shapeless := known || unicode.In(r, unicode.Cf, unicode.Cc, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) || r == 0x2800
	switch {
	case !shapeless:
		return ""
	case !known:
		name = "character without a shape"
	}
	return fmt.Sprintf("%s (U+%04X)", name, r)
}

// belongs tells whether a joiner or selector is needed for what is beside it.
func belongs(runes []rune, i int) bool {
	before, after := rune(0), rune(0)
	if i > 0 {
		before = runes[i-1]
	}
	if i+1 < len(runes) {
		after = runes[i+1]
	}
	switch runes[i] {
	case 0xFE0E, 0xFE0F:
		return unicode.In(before, unicode.So, unicode.Sm, unicode.Po, unicode.Nd) && before != ' '
	case 0x200D:
		return pictured(before) && pictured(after) || joined(before) && (joined(after) || after == 0)
	case 0x200C:
		return joined(before) && joined(after)
	}
	return false
}

func pictured(r rune) bool {
	return r == 0xFE0F || unicode.In(r, unicode.So, unicode.Sk)
}

// joined tells whether a letter is of a script in which joiners are spelling.
func joined(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gujarati, unicode.Gurmukhi, unicode.Kannada,
		unicode.Malayalam, unicode.Oriya, unicode.Sinhala, unicode.Tamil, unicode.Telugu, unicode.Khmer, unicode.Myanmar, unicode.Mongolian)
}

var twins = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{}
	for latin, others := range map[rune]string{
		'a': "аα", 'b': "Ьь", 'c': "сϲ", 'd': "ԁ", 'e': "еє", 'g': "ɡ", 'h': "һ", 'i': "іιı", 'j': "јϳ", 'k': "κк", 'l': "ӏ", 'm': "м", 'n': "п", 'o': "оοօ", 'p': "рρ",
		'q': "ԛ", 's': "ѕ", 't': "т", 'u': "υ", 'v': "ѵν", 'w': "ԝω", 'x': "хχ", 'y': "уγ", 'A': "АΑ", 'B': "ВΒ", 'C': "СϹ", 'E': "ЕΕ", 'H': "НΗ", 'I': "ІΙӀ", 'J': "Ј", 'K': "КΚ",
		'M': "МΜ", 'N': "Ν", 'O': "ОΟ", 'P': "РΡ", 'S': "Ѕ", 'T': "ТΤ", 'X': "ХΧ", 'Y': "ҮΥ", 'Z': "Ζ",
	} {
		for _, r := range others {
			m[r] = latin
		}
	}
	return m
})

// likeness is a word in the letters that it looks like.
func likeness(word string) string {
	return strings.Map(func(r rune) rune {
		if t, ok := twins()[r]; ok {
			return t
		}
		return r
	}, norm.NFKC.String(word))
}

// lookalikes finds words that are new, and in other letters than those that
// they look like: ones that the old text had, or ones that mix scripts.
func lookalikes(old, now string) []Change {
	if isASCII(now) {
		return nil
	}
	known := map[string]bool{}
	for _, t := range tokens(old) {
		known[t.text] = true
		known[norm.NFC.String(t.text)] = true
	}
	var out []Change
	n := 0
	for line := range strings.Lines(now) {
		n++
		if isASCII(line) {
			continue
		}
		for _, t := range tokens(line) {
			like := likeness(t.text)
			if t.word && like != norm.NFC.String(t.text) && !known[t.text] && (known[like] || mixed(t.text)) {
				known[t.text] = true
				out = append(out, Change{Kind: Invisible, Now: fmt.Sprintf("a word in other letters than it seems to be of: %q for %q", t.text, like), Line: n})
			}
		}
	}
	return out
}

func mixed(word string) bool {
	latin, cyrillic := false, false
	for _, r := range word {
		latin = latin || unicode.Is(unicode.Latin, r)
		cyrillic = cyrillic || unicode.Is(unicode.Cyrillic, r)
	}
	return latin && cyrillic
}

func lineEnds(old, now string) []Change {
	was, is := ending(old), ending(now)
	if was == is || was == "" || is == "" {
		return nil
	}
	return []Change{{Kind: Invisible, Now: "lines ended in " + was + " and now end in " + is, Line: 1}}
}

// ending is how the lines of a text end; "" where it has but one.
func ending(s string) string {
	all, crlf := strings.Count(s, "\n"), strings.Count(s, "\r\n")
	switch {
	case all == 0 && strings.Contains(s, "\r"):
		return "CR"
	case all == 0:
		return ""
	case crlf == 0:
		return "LF"
	case crlf == all:
		return "CRLF"
	}
	return "both LF and CRLF"
}

// Visible is a text as a reader sees it: without what has no shape, with plain
// blanks, one between words, and look-alikes as what they look like. Two blanks
// at the end of a line break it, and stay; so do the blanks that a line begins
// with.
func Visible(s string) string {
	s = strings.TrimPrefix(strings.ReplaceAll(s, "\r", ""), "\ufeff")
	s = likeness(entity().ReplaceAllStringFunc(s, func(e string) string {
		if r := []rune(html.UnescapeString(e)); len(r) == 1 && formless(r[0]) != "" {
			return string(r)
		}
		return e
	}))
	var b strings.Builder
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.Map(func(r rune) rune {
			switch {
			case unicode.IsSpace(r):
				return ' '
			case formless(r) != "":
				return -1
			}
			return r
		}, line)
		words := strings.TrimLeft(line, " ")
		b.WriteString(line[:len(line)-len(words)] + oneLine(words))
		if strings.HasSuffix(line, "  ") && words != "" {
			b.WriteString("  ")
		}
		b.WriteByte('\n')
	}
	return strings.Trim(b.String(), " \n")
}

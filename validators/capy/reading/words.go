package reading

import (
	"bytes"
	"strings"
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter counts every byte of a rune beyond ASCII as a letter, but for the
// marks that wordAt stops at.
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80 }

func isWord(c byte) bool { return isLetter(c) || isDigit(c) }

// isASCIIWord is isWord without runes beyond ASCII: an arrow or a dash that
// touches a label does not make it part of a word.
func isASCIIWord(c byte) bool { return asciiWord[c] != 0 }

// asciiWord has all bits of the bytes of words.
var asciiWord = func() (set [256]uint32) {
	for c := range 0x80 {
		if isWord(byte(c)) {
			set[c] = 1<<32 - 1
		}
	}
	return set
}()

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// wordAt gives the ASCII letters and digits at t[i:].
func wordAt(t []byte, i int) []byte {
	end := i
	for end < len(t) && end-i < maxWord && isASCIIWord(t[end]) {
		end++
	}
	return t[i:end]
}

// maxWord bounds what is taken for one word.
const maxWord = 64

// A wordBuffer is room for a word in lower case, on the stack.
type wordBuffer [maxWord]byte

// fold gives a word in lower case; it is valid until the buffer's next use.
func (b *wordBuffer) fold(w []byte) []byte {
	return appendLower(b[:0], w[:min(len(w), maxWord)])
}

func appendLower(into, w []byte) []byte {
	from := len(into)
	into = append(into, w...)
	for i, c := range into[from:] {
		into[from+i] = lowered[c]
	}
	return into
}

// lowered is each byte, a capital of ASCII as the small letter.
var lowered = func() (table [256]byte) {
	for c := range table {
		table[c] = byte(c)
		if isUpper(byte(c)) {
			table[c] |= 0x20
		}
	}
	return table
}()

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// hasFold says whether t begins with pattern, a lower-case ASCII text whose
// spaces stand for any of space, underscore and hyphen; how long the match is.
func hasFold(t []byte, pattern string) (int, bool) {
	i := 0
	for p := 0; p < len(pattern); p++ {
		if i >= len(t) {
			return 0, false
		}
		c := t[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if pattern[p] == ' ' {
			if c != ' ' && c != '_' && c != '-' {
				n := partedBy(t[i:])
				if n == 0 {
					return 0, false
				}
				i += n
				continue
			}
			i++
			if i < len(t) && t[i] == ' ' && c == ' ' {
				i++
			}
			continue
		}
		if c != pattern[p] {
			return 0, false
		}
		i++
	}
	return i, true
}

// partedBy is the length of what else parts words: of a no-break space, and of the \_ of
// Markdown that was made by a program.
func partedBy(t []byte) int {
	if len(t) > 1 && (t[0] == '\\' && t[1] == '_' || t[0] == 0xC2 && t[1] == 0xA0) {
		return 2
	}
	return 0
}

// trimMarks takes spaces and emphasis off both ends.
func trimMarks(t []byte) []byte {
	return trimRight(trimLeft(t, &marking), &marking)
}

// bytesOf is a set of bytes: a look-up table, where the library's functions
// would make one at each call.
type bytesOf [256]bool

func setOf(s string) (set bytesOf) {
	for i := range len(s) {
		set[s[i]] = true
	}
	return set
}

var (
	marking  = setOf(" \t\r*`_\"")
	blanks   = setOf(" \t")
	quoting  = setOf("> ")
	leaning  = setOf(" \t*_>`\"")
	bracing  = setOf("[]<>{}()\\")
	trailing = setOf(" *_")
	stopping = setOf(".,;\\$")
)

func trimLeft(t []byte, set *bytesOf) []byte {
	for len(t) > 0 && set[t[0]] {
		t = t[1:]
	}
	return t
}

func trimRight(t []byte, set *bytesOf) []byte {
	for len(t) > 0 && set[t[len(t)-1]] {
		t = t[:len(t)-1]
	}
	return t
}

// Placeholder says that a text stands for a value that is not there.
func Placeholder(t []byte) bool {
	for t = trimMarks(t); bytes.HasPrefix(t, []byte("\u00a0")); {
		t = trimMarks(t[len("\u00a0"):])
	}
	if n := len(t); n > 0 && t[n-1] == ']' {
		if i := bytes.LastIndex(t, []byte("[^")); i > 0 {
			t = trimMarks(t[:i]) // a note is behind it
		}
	}
	t = trimRight(t, &stopping)
	if len(t) == 0 {
		return true
	}
	inner := trimRight(trimLeft(t, &bracing), &bracing)
	if len(inner) == 0 {
		return true
	}
	if variable(t) {
		return true
	}
	if !standing[inner[0]] && t[0] != '[' && t[0] != '\\' {
		return false // a number, most often
	}
	bracketed := t[0] == '[' || t[0] == '\\' || t[0] == '<' || t[0] == '{' && t[len(t)-1] == '}'
	var buf wordBuffer
	said := buf.fold(inner[:min(len(inner), 24)])
	switch {
	case bracketed && slots[string(said)]:
		return true
	case !standing[inner[0]]:
		return false
	case crosses(inner):
		return true
	}
	switch string(said) {
	case "null", "none", "n/a", "na", "n.a", "nil", "nan", "tbd", "tbc", "tba", "-", "--", "—", "–", "?", "??", "xx", "x.xx", "xx.xx", "pending",
		"unknown", "placeholder", "not available", "not applicable", "not calculated", "not computed", "not generated", "not reported", "not disclosed", "not stated", "not given", "not provided", "not found", "not meaningful", "not determined", "not estimated", "not run", "nm", "n.m", "missing", "undefined", "insert", "●", "⏳", "❓", "$x.xx", "$xx.xx", "...", "…":
		return true
	}
	for _, p := range placeholders {
		if n, ok := hasFold(inner, p); ok && (bracketed || n <= len(inner)) {
			return true
		}
	}
	return bracketed && inner[0] == '_'
}

// slots are what stands in brackets where something is to be put in.
var slots = set("description", "value", "values", "name", "date", "text", "number", "amount", "content", "contents", "details", "summary", "rationale", "reason", "narrative", "blank", "fill in", "your text", "text here")

// variable is a name in braces or angles that something is to be put for:
// {{sse}}, ${sse}, <value>. A tag by itself says as little.
func variable(t []byte) bool {
	n := len(t)
	if t[0] == '&' && bytes.HasPrefix(t, []byte("&lt;")) && bytes.HasSuffix(t, []byte("&gt")) { // a ; is taken off
		return true
	}
	if n > 3 && t[0] == '$' && t[1] == '{' && t[n-1] == '}' {
		return true
	}
	if n < 3 || t[0] != '<' && t[0] != '{' {
		return false
	}
	double := n > 4 && t[1] == '{' && t[n-1] == '}' && t[n-2] == '}'
	if name := t[1 : n-1]; double || t[0] == '<' && t[n-1] == '>' {
		if double {
			name = t[2 : n-2]
		}
		return !bytes.ContainsAny(name, "<>{}:\"")
	}
	return false
}

// crosses are nothing but what digits would be put for: XX.X, ???.
func crosses(t []byte) bool {
	n := 0
	for _, c := range t {
		switch c {
		case 'x', 'X', '?':
			n++
		case '.', '$', '%', ',', ' ', '_':
		default:
			return false
		}
	}
	return n > 1
}

// standing are the bytes that what stands for a value may begin with.
var standing = setOf("nNtTpPuUmMxXiIaAwWkK$-?._\xe2\xe5")

var placeholders = []string{"to be ", "todo", "tbd", "n/a", "not yet ", "not generated", "not calculated", "not computed", "not provided", "insert ", "pending ", "awaiting ", "will be ", "kernel to ", "待定", "待补", "待计", "待填", "待完", "待确"}

// Clip cuts s to at most n bytes on a rune boundary, on one line.
func Clip(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Set makes a set of words.
func Set(words ...string) map[string]bool { return set(words...) }

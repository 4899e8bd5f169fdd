package model

import (
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// AppendText appends a text as a JSON string, as it stands in all that is sent: as
// encoding/json writes it that is told not to escape HTML.
func AppendText(wire []byte, text string) []byte { return quote(wire, text, false) }

// AppendEscaped appends a text as a JSON string as [json.Marshal] writes it, with <
// > and & escaped.
func AppendEscaped(wire []byte, text string) []byte { return quote(wire, text, true) }

func quote(wire []byte, text string, html bool) []byte {
	wire = append(wire, '"')
	from, i := 0, 0 // what stands before from is written, what stands before i is looked at
	for i < len(text) {
		var as string
		size := 1
		if c := text[i]; c >= utf8.RuneSelf {
			as, size = escapeRune(text[i:])
		} else if n := plain(text[i:], html); n > 0 {
			size = n
		} else {
			as = escapes[c]
		}
		if as != "" {
			wire = append(append(wire, text[from:i]...), as...)
			from = i + size
		}
		i += size
	}
	return append(append(wire, text[from:]...), '"')
}

// plain is how many bytes a text begins with that stand in JSON as they are, of ASCII
// alone. Eight are looked at together: the lowest byte that is below a space, is a
// quote or a backslash, or is not of ASCII, is the lowest that has its highest bit in
// one of the differences, for none below it borrows. < and > differ in one bit, and so
// do & and a quote: with that bit set two are asked for as one.
func plain(text string, html bool) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		t := text[i : i+8]
		x := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		odd := (x - each*' ') | ((x ^ each*'\\') - each)
		if html {
			odd |= ((x | each*('<'^'>') ^ each*'>') - each) | ((x | each*('&'^'"') ^ each*'&') - each)
		} else {
			odd |= (x ^ each*'"') - each
		}
		if odd &= high; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf || html && (c == '<' || c == '>' || c == '&') {
			break
		}
	}
	return i
}

// escapes are what stands for the characters of ASCII that are not plain.
var escapes = [utf8.RuneSelf]string{
	`\u0000`, `\u0001`, `\u0002`, `\u0003`, `\u0004`, `\u0005`, `\u0006`, `\u0007`,
	`\b`, `\t`, `\n`, `\u000b`, `\f`, `\r`, `\u000e`, `\u000f`,
	`\u0010`, `\u0011`, `\u0012`, `\u0013`, `\u0014`, `\u0015`, `\u0016`, `\u0017`,
	`\u0018`, `\u0019`, `\u001a`, `\u001b`, `\u001c`, `\u001d`, `\u001e`, `\u001f`,
	'"': `\"`, '\\': `\\`, '<': `\u003c`, '>': `\u003e`, '&': `\u0026`,
}

// escapeRune is what stands for a text's first rune, which is not of ASCII, or nothing
// where it is itself, and how many bytes it has. Line ends that JavaScript does not
// know are escaped, and what is no UTF-8 is the rune that says so.
func escapeRune(text string) (as string, size int) {
	r, size := utf8.DecodeRuneInString(text)
	switch {
	case r == utf8.RuneError && size == 1:
		as = `\ufffd`
	case r == '\u2028':
		as = `\u2028`
	case r == '\u2029':
		as = `\u2029`
	}
	return as, size
}

// Cut is a text, or its first size bytes to a whole character and how many it has.
func Cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return fmt.Sprintf("%s… (%d bytes)", text[:size], len(text))
}

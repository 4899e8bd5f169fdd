package reading

import "bytes"

// skip gives how many bytes at t[i:] are no token: white space, emphasis,
// quotes, tags, a backslash and the word behind it.
func (c *cutter) skip(i int) int {
	t := c.text
	switch b := t[i]; {
	case b == ' ' || b == '\t' || b == '\r' || b == '\n' || b == '"' || b == '`' || b == '~' || b == '\'' && !(i > 0 && isLetter(t[i-1])):
		return 1
	case b == '*':
		return c.star(i)
	case b == '_' && !subscript(t, i) && (i == 0 || !isWord(t[i-1]) || i+1 == len(t) || !isWord(t[i+1]) && t[i+1] != '{' && t[i+1] != '\\'):
		return 1
	case b == '\\':
		return c.backslash(i)
	case b == '<':
		return tag(t[i:])
	case b == '$' && (i+1 == len(t) || currency(t[i:]) == 0):
		return 1 // of LaTeX
	case b == '.' && i+1 < len(t) && t[i+1] == ' ' && c.abbreviated():
		return 1
	case b == '&' && bytes.HasPrefix(t[i:], []byte("&=")):
		return 1 // of LaTeX
	case b >= 0x80:
		return blankRune(t[i:])
	}
	return 0
}

// subscript says that a _ sets a number under a bracket: E[IVPS]_4, E[IVPS]_{4}.
func subscript(t []byte, i int) bool {
	return i > 0 && i+1 < len(t) && (t[i-1] == ']' || t[i-1] == ')') && (isDigit(t[i+1]) || t[i+1] == '{')
}

// abbreviated says that the last token is a word whose point ends no sentence: approx.
func (c *cutter) abbreviated() bool {
	if len(c.tokens) == 0 {
		return false
	}
	k := &c.tokens[len(c.tokens)-1]
	if !k.is(lead) {
		return false
	}
	switch string(c.lower(k)) {
	case "approx", "c", "ca", "est":
		return true
	}
	return false
}

// star tells emphasis from a multiplication: 2.0 * 5.0, 2*3 and a * b, whose sides
// are as far from the star, and not *a* or a*b*.
func (c *cutter) star(i int) int {
	t := c.text
	if i+1 < len(t) && t[i+1] == '*' {
		return 2
	}
	j := i - 1
	for j >= 0 && t[j] == ' ' {
		j--
	}
	k := i + 1
	for k < len(t) && t[k] == ' ' {
		k++
	}
	if j >= 0 && k < len(t) && j < i-1 == (k > i+1) && (isDigit(t[j]) || t[j] == ')' || t[j] == '%' || isLetter(t[j]) && j < i-1) && (isDigit(t[k]) || t[k] == '(' || t[k] == '$' || isLetter(t[k])) {
		if j < i-1 || isDigit(t[k]) || t[k] == '(' {
			return 0
		}
	}
	return 1
}

// blankRune is the length of white space beyond ASCII, and of quotes and marks
// that say as little.
func blankRune(t []byte) int {
	switch {
	case len(t) >= 2 && t[0] == 0xC2 && (t[1] == 0xA0 || t[1] == 0xAD || t[1] == 0xB9 || t[1] == 0xB2 || t[1] == 0xB3):
		return 2 // no-break space, soft hyphen, ¹ ² ³
	case len(t) >= 4 && t[0] == 0xF0 && t[1] == 0x9F:
		return 4 // pictures
	case len(t) < 3 || t[0] != 0xE2 && t[0] != 0xE3 && t[0] != 0xEF:
		return 0
	case t[0] == 0xE2 && t[1] == 0x80 && (t[2] <= 0x8F || t[2] == 0xAF || t[2] >= 0x98 && t[2] <= 0x9F || t[2] == 0xA0 || t[2] == 0xA1):
		return 3 // spaces, joiners, quotation marks, daggers
	case t[0] == 0xE2 && t[1] == 0x81 && (t[2] == 0x9F || t[2] == 0xA0 || t[2] >= 0xB0 && t[2] <= 0xB9), t[0] == 0xE2 && t[1] == 0x82 && t[2] >= 0x80 && t[2] <= 0x89:
		return 3 // raised and lowered digits
	case t[0] == 0xE2 && (t[1] >= 0x98 && t[1] <= 0x9D || t[1] == 0x9E && t[2] < 0x94):
		return 3 // ticks, stars and other small pictures, up to the arrows
	case t[0] == 0xE3 && t[1] == 0x80 && t[2] == 0x80, t[0] == 0xEF && t[1] == 0xBB && t[2] == 0xBF, t[0] == 0xEF && t[1] == 0xB8 && t[2] == 0x8F:
		return 3
	}
	return 0
}

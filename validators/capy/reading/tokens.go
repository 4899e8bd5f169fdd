package reading

import "bytes"

// A sign is what kind of token it is.
type sign uint8

const (
	wordSign   sign = iota
	numberSign      // also of a range's ends
	equalSign       // = ≈ :=
	colonSign
	boundSign // < > ≤ ≥ ± ≠
	arrowSign // → -> =>
	openSign  // ( [ {
	closeSign
	barSign // | : of an absolute value, or a cell's end
	commaSign
	stopSign // the end of a sentence, a semicolon
	dashSign // a dash between words, or between a range's ends
	operatorSign
	slashSign
	otherSign
)

// A token is a word, a number or a sign of a piece of text. Emphasis, quotes
// and white space of any kind make none.
//
//	E[IVPS] = **$198.34**   E [ IVPS ] = $198.34
//	DR_12 is 8-10%          DR 12 is 8 - 10%, and the 12 is glued
//	$\tau$ is "high"        tau is high
type token struct {
	sign     sign
	glued    bool  // by _ or - to the word before
	spaced   bool  // white space stands in front
	char     byte  // of a sign
	index    int16 // of a number, among the cutter's
	term     term  // of a word: what the vocabulary knows of it
	from, to int32 // bytes of the piece
}

// maxPiece bounds the text that is cut into tokens at a time. Longer lines are
// read piece by piece, which keeps the time linear.
const maxPiece = 2400

// A cutter cuts a piece of text into tokens. Its buffers are used again for
// the next piece.
type cutter struct {
	text    []byte
	low     []byte // the text in lower case
	tokens  []token
	numbers []number
	escaped bool // the text is the inside of a JSON string
	inside  bool // it was cut as that
	labels  int  // how many words may begin a label
	lexicon *lexicon
}

// cut fills the cutter from t, of at most maxPiece bytes: a part of what is read, whose
// bytes stay as they are, so that a cell that was read as prose is not cut again as a
// caption.
func (c *cutter) cut(t []byte) {
	if len(t) > 0 && len(t) == len(c.text) && &t[0] == &c.text[0] && c.inside == c.escaped {
		return
	}
	if c.lexicon == nil {
		c.lexicon = lex()
	}
	c.inside = c.escaped
	c.text, c.tokens, c.numbers, c.labels = t, c.tokens[:0], c.numbers[:0], 0
	c.low = appendLower(c.low[:0], t)
	spaced, glued := false, false
	for i := 0; i < len(t); {
		if t[i] == ' ' {
			spaced, glued = true, false
			i++
			continue
		}
		n := 0
		if !isASCIIWord(t[i]) {
			n = c.skip(i)
		}
		if n > 0 {
			spaced, glued = spaced || n > 1 || t[i] == ' ' || t[i] == '\t', false
			i += n
			continue
		}
		if n = glue(t, i); n > 0 && len(c.tokens) > 0 && !spaced {
			glued = true
			i += n
			continue
		}
		k := token{from: int32(i), spaced: spaced, glued: glued}
		i = c.token(&k, i)
		k.to = int32(i)
		c.tokens = append(c.tokens, k)
		spaced, glued = false, false
	}
}

// backslash skips what LaTeX and JSON write with one; a line end in a JSON
// string ends a word as any white space does.
func (c *cutter) backslash(i int) int {
	t := c.text
	if i+1 >= len(t) {
		return 1
	}
	if c.escaped {
		if t[i+1] == 'u' && i+6 <= len(t) {
			return 6
		}
		return 2
	}
	if latex(t[i:]) != nil {
		return 0
	}
	if !isLetter(t[i+1]) || bytes.HasPrefix(t[i:], []byte(`\tau`)) || bytes.HasPrefix(t[i:], []byte(`\rho`)) {
		return 1
	}
	n := 1 + len(wordAt(t, i+1))
	if i+n < len(t) && t[i+n] == '{' {
		n++ // of \mathbf{23.45}
	}
	return n
}

// tag is the length of an HTML tag or comment mark.
func tag(t []byte) int {
	if len(t) < 3 || !isASCIIWord(t[1]) && t[1] != '/' || isDigit(t[1]) {
		return 0
	}
	for i, c := range t[:min(len(t), 60)] {
		switch {
		case c == '>':
			return i + 1
		case c == '<' && i > 0:
			return 0
		}
	}
	return 0
}

// glue is the length of what joins two words into one name: of the _ in DR_12, of the
// hyphen in Base-case, but not of the one in 12-14.
func glue(t []byte, i int) int {
	if i == 0 || t[i] != '_' && t[i] != '-' && t[i] != 0xE2 || !isWord(t[i-1]) && t[i-1] != ']' && t[i-1] != ')' && t[i-1] != '}' {
		return 0
	}
	n := 0
	switch {
	case t[i] == '_' || t[i] == '-':
		n = 1
	case bytes.HasPrefix(t[i:], []byte("‐")), bytes.HasPrefix(t[i:], []byte("‑")):
		n = 3
	}
	if n == 0 || i+n >= len(t) {
		return 0
	}
	c := t[i+n]
	if t[i] == '_' && (isASCIIWord(c) || c == '{' || c == '\\') || t[i] != '_' && isASCIIWord(c) && !isDigit(c) {
		return n
	}
	return 0
}

// token reads the token at i and gives where it ends.
func (c *cutter) token(k *token, i int) int {
	t := c.text
	if !isLower(t[i]) || coined[t[i]] {
		if n := c.number(k, i); n > 0 {
			return n
		}
	}
	if isASCIIWord(t[i]) {
		w := wordAt(t, i)
		end := i + len(w)
		if len(w) == 1 && t[i]|0x20 == 'a' && end+1 < len(t) && t[end] == '.' && isDigit(t[end+1]) {
			end += 1 + len(wordAt(t, end+1)) // A.7
		}
		return c.word(k, i, end)
	}
	if n := greek(t[i:]); n > 0 {
		return c.word(k, i, i+n)
	}
	k.sign, k.char = otherSign, t[i]
	if t[i] < 0x80 && t[i] != '\\' {
		return c.ascii(k, i)
	}
	if s := latex(t[i:]); s != nil {
		k.sign = s.sign
		return i + len(s.text)
	}
	for _, s := range runeSigns {
		if bytes.HasPrefix(t[i:], []byte(s.text)) {
			k.sign = s.sign
			return i + len(s.text)
		}
	}
	for i++; i < len(t) && t[i]&0xC0 == 0x80; i++ {
	}
	return i
}

func (c *cutter) word(k *token, from, to int) int {
	k.sign, k.term = wordSign, c.lexicon.look(c.low[from:to])
	if k.term.label > 0 {
		c.labels++
	}
	return to
}

// number reads a number where one can begin: 5 and -3 of "5 -3". In "5 - 3" and
// "12-14" the sign is a token of its own.
func (c *cutter) number(k *token, i int) int {
	t := c.text
	b := t[i]
	if !isDigit(b) && b != '$' && b != '-' && b != '+' && b != '.' && b < 0x80 && (coinless(t[i:]) || currency(t[i:]) == 0) {
		return 0
	}
	if i > 0 && isASCIIWord(t[i-1]) {
		return 0
	}
	if w := minus(t[i:]); w > 0 && len(c.tokens) > 0 && (!k.spaced || i+w < len(t) && t[i+w] == ' ') {
		if last := c.tokens[len(c.tokens)-1].sign; last == numberSign || last == closeSign || k.spaced && last == wordSign {
			return 0 // a range, a minus between numbers
		}
	}
	n, ok := readNumber(t, i)
	if !ok || n.end == i {
		return 0
	}
	if date := dateEnd(t, i); date > 0 {
		return c.word(k, i, date)
	}
	k.sign, k.index = numberSign, int16(len(c.numbers))
	c.numbers = append(c.numbers, n)
	return n.end
}

// dateEnd is where a date such as 2025-12-07 ends, or 0.
func dateEnd(t []byte, i int) int {
	if i+10 <= len(t) && t[i+4] == '-' && t[i+7] == '-' && isDigit(t[i+5]) && isDigit(t[i+8]) && isDigit(t[i]) && isDigit(t[i+3]) {
		return i + 10
	}
	return 0
}

// greek is the length of τ, ρ, δ or Δ.
func greek(t []byte) int {
	if len(t) >= 2 && (t[0] == 0xCF && (t[1] == 0x84 || t[1] == 0x81) || t[0] == 0xCE && (t[1] == 0xB4 || t[1] == 0x94)) {
		n := 2
		for n < len(t) && n < maxWord && isASCIIWord(t[n]) {
			n++
		}
		return n
	}
	return 0
}

// ascii reads a sign of ASCII.
func (c *cutter) ascii(k *token, i int) int {
	t := c.text
	next := byte(0)
	if i+1 < len(t) {
		next = t[i+1]
	}
	switch b := t[i]; {
	case b == '=' && next == '>', b == '-' && next == '>':
		k.sign = arrowSign
		return i + 2
	case (b == '<' || b == '>' || b == '!') && next == '=':
		k.sign = boundSign
		return i + 2
	case b == ':' && next == '=', b == '=' && next == '=':
		k.sign = equalSign
		return i + 2
	case b == '=':
		k.sign = equalSign
	case b == '+' && next == '/' && i+2 < len(t) && t[i+2] == '-':
		k.sign = boundSign
		return i + 3
	case b == '.' && next == '.' && bytes.HasPrefix(t[i:], []byte("....")): // leaders
		for i+1 < len(t) && t[i+1] == '.' {
			i++
		}
	case b == ':':
		k.sign = colonSign
	case b == '<' || b == '>':
		k.sign = boundSign
	case b == '(' || b == '[' || b == '{':
		k.sign = openSign
	case b == ')' || b == ']' || b == '}':
		k.sign = closeSign
	case b == '|':
		k.sign = barSign
	case b == ',':
		k.sign = commaSign
	case b == ';' || b == '!' || b == '?', b == '.' && (next == 0 || isSpace(next) || next == '*' || next == '"' || next >= 0x80):
		k.sign = stopSign
	case b == '-':
		k.sign = dashSign
		for next == '-' && i+1 < len(t) && t[i+1] == '-' {
			i++
		}
	case b == '+' || b == '*' || b == '^':
		k.sign = operatorSign
	case b == '/':
		k.sign = slashSign
	}
	return i + 1
}

// word tells whether a token is a word of a sense.
func (k *token) is(s sense) bool { return k.sign == wordSign && k.term.sense&s != 0 }

// low gives a token's word in lower case.
func (c *cutter) lower(k *token) []byte { return c.low[k.from:k.to] }

// same says that a token is a word, in any case.
func (c *cutter) same(k *token, w string) bool {
	return k.sign == wordSign && string(c.low[k.from:k.to]) == w
}

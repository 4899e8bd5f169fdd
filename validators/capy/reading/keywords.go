package reading

// A tokenList is the words of a key in lower case: Terminal_g is terminal, g.
type tokenList struct {
	n   int
	cut [13]uint8 // where each word begins, and the last one ends
	buf [96]byte
}

func (l *tokenList) word(i int) []byte { return l.buf[l.cut[i]:l.cut[i+1]] }

// tokens splits a key at everything but letters and digits, and where a
// capital follows a small letter.
func tokens(key []byte) tokenList {
	var l tokenList
	key = key[:min(len(key), len(l.buf))]
	used, start := 0, 0
	flush := func() {
		if used > start && l.n < len(l.cut)-1 {
			l.n++
			l.cut[l.n] = uint8(used)
			start = used
		}
	}
	for i, c := range key {
		if !isWord(c) {
			flush()
			continue
		}
		if isUpper(c) && i > 0 && (isLower(key[i-1]) || (isUpper(key[i-1]) || isDigit(key[i-1])) && i+1 < len(key) && isLower(key[i+1]) && key[i+1] != 's') {
			flush()
		}
		if isUpper(c) {
			c |= 0x20
		}
		l.buf[used] = c
		used++
	}
	flush()
	return l
}

// has says that one of the words is among the tokens.
func (l *tokenList) has(words ...string) bool {
	for i := range l.n {
		for _, w := range words {
			if string(l.word(i)) == w {
				return true
			}
		}
	}
	return false
}

// only says that every token is in the set, or among the words.
func (l *tokenList) only(set map[string]bool, words ...string) bool {
	for i := range l.n {
		ok := set[string(l.word(i))]
		for _, w := range words {
			ok = ok || string(l.word(i)) == w
		}
		if !ok {
			return false
		}
	}
	return l.n > 0
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// contains says that the words of another list stand in this one in a row.
func (l *tokenList) contains(words *tokenList) bool {
	for i := 0; words.n > 0 && i+words.n <= l.n; i++ {
		same := true
		for j := range words.n {
			same = same && string(l.word(i+j)) == string(words.word(j))
		}
		if same {
			return true
		}
	}
	return false
}

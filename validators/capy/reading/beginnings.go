package reading

// Beginnings are the first two bytes of phrases. A phrase has a bit, by the second, which
// is set for the bytes that it may have first, and second: letters have each their own.
type beginnings struct{ first, second [256]uint32 }

func beginningsOf(texts ...string) *beginnings {
	b := new(beginnings)
	for _, text := range texts {
		b.add(newPhrase(text, 0))
	}
	return b
}

func (b *beginnings) add(p phrase) {
	for _, c := range p.written(0) {
		b.first[c] |= p.bit
	}
	if len(p.text) == 1 { // anything may be behind it
		for c := range b.second {
			b.second[c] |= p.bit
		}
		return
	}
	for _, c := range p.written(1) {
		b.second[c] |= p.bit
	}
}

// behind are the bits of the phrases that may go on as t does behind t[i].
func (b *beginnings) behind(t []byte, i int) uint32 {
	if i+1 < len(t) {
		return b.second[t[i+1]]
	}
	return b.second[0] // of one byte
}

// next is where one of the phrases may begin from i on; len(t) where none does. There
// is one branch for each byte, which is seldom taken.
func (b *beginnings) next(t []byte, i int) int {
	if i >= len(t) {
		return len(t)
	}
	before := uint32(0)
	if i > 0 {
		before = asciiWord[t[i-1]]
	}
	first, word := b.first[t[i]]&^before, asciiWord[t[i]]
	for n, c := range t[i+1:] {
		if first&b.second[c] != 0 {
			return i + n
		}
		first, word = b.first[c]&^word, asciiWord[c]
	}
	if first&b.second[0] != 0 { // of one byte
		return len(t) - 1
	}
	return len(t)
}

// written are the bytes that one of the first two of the phrase may be.
func (p *phrase) written(i int) []byte {
	switch {
	case p.exact:
		return []byte{p.text[i]}
	case p.text[i] == ' ':
		return []byte(" _-\\\xc2") // as hasFold has it
	case isLower(p.text[i]):
		return []byte{p.text[i], p.text[i] - 0x20}
	}
	return []byte{p.text[i]}
}

// A kindred is one of the lists of phrases that a line is looked through for at once.
type kindred uint8

const (
	scenarioList kindred = iota // what a scenario is called by
	addressList                 // what speaks to a reader
	topicList                   // what entries are wanted of
)

// A glance is what one look through a line has seen: for each list sixteen bits, of which
// none is set where none of its phrases begins.
type glance uint64

// has says that phrases of the list may be in the line.
func (g glance) has(k kindred) bool { return g>>(16*k)&0xFFFF != 0 }

// A glancer looks through a line for the beginnings of several lists at once.
type glancer [256]struct {
	first, second glance
	word          glance // all bits of a byte of words
}

// take lets the glancer look for a list.
func (g *glancer) take(b *beginnings, k kindred) {
	for c := range g {
		g[c].first |= halved(b.first[c]) << (16 * k)
		g[c].second |= halved(b.second[c]) << (16 * k)
		g[c].word |= halved(asciiWord[c]) << (16 * k)
	}
}

// halved lays the upper bits over the lower.
func halved(bits uint32) glance { return glance(bits&0xFFFF | bits>>16) }

// over looks through a line.
func (g *glancer) over(t []byte) (seen glance) {
	var first, word glance
	for _, c := range t {
		b := &g[c]
		seen |= first & b.second
		first, word = b.first&^word, b.word
	}
	return seen | first&g[0].second // of one byte
}

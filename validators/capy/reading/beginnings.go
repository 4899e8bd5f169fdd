package reading

// Beginnings are the first two bytes of phrases. A phrase has one of eight bits, by the
// second, which is set for the bytes that it may have first, and second.
type beginnings struct{ first, second [256]uint8 }

func beginningsOf(texts ...string) *beginnings {
	b := new(beginnings)
	for _, text := range texts {
		b.add(newPhrase(text, 0))
	}
	return b
}

func (b *beginnings) add(p phrase) {
	if len(p.text) == 1 { // anything may be behind it
		for c := range b.second {
			b.second[c] |= 1
		}
		b.put(&p, 1)
		return
	}
	bit := uint8(1) << (p.text[1] & 7)
	for _, c := range p.written(1) {
		b.second[c] |= bit
	}
	b.put(&p, bit)
}

func (b *beginnings) put(p *phrase, bit uint8) {
	for _, c := range p.written(0) {
		b.first[c] |= bit
	}
}

// next is where one of the phrases may begin from i on; len(t) where none does. There
// is one branch for each byte, which is seldom taken.
func (b *beginnings) next(t []byte, i int) int {
	before := uint8(0)
	if i > 0 && i < len(t) {
		before = asciiWord[t[i-1]]
	}
	for ; i < len(t)-1; i++ {
		if b.first[t[i]]&b.second[t[i+1]]&^before != 0 {
			return i
		}
		before = asciiWord[t[i]]
	}
	if i == len(t)-1 && b.first[t[i]]&b.second[0]&^before != 0 { // of one byte
		return i
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

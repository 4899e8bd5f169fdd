package reading

import (
	"bytes"
	"sync"
)

// A phrase is words to look for. One with capitals or beyond ASCII is matched
// as it is written, others in any case.
type phrase struct {
	text  string
	exact bool
	bit   uint32 // of its second byte
	topic int
}

func newPhrase(text string, topic int) phrase {
	p := phrase{text: text, exact: text != string(bytes.ToLower([]byte(text))) || text[0] >= 0x80, bit: 1, topic: topic}
	if len(text) > 1 {
		p.bit = 1 << (text[1] & 31)
	}
	return p
}

// at says whether the phrase stands at t[i:] as whole words.
func (p *phrase) at(t []byte, i int) (end int, ok bool) {
	if i > 0 && isASCIIWord(t[i-1]) {
		return 0, false
	}
	if p.exact {
		if !bytes.HasPrefix(t[i:], []byte(p.text)) {
			return 0, false
		}
		end = i + len(p.text)
	} else {
		n, ok := hasFold(t[i:], p.text)
		if !ok {
			return 0, false
		}
		end = i + n
	}
	if end < len(t) && isASCIIWord(t[end]) && p.text[0] < 0x80 {
		return 0, false
	}
	return end, true
}

// Phrases are looked for together, in one go over a text.
type phrases struct {
	beginnings
	by [256][]phrase
}

// Phrases are words that checks look for, as whole words.
type Phrases struct {
	texts []string
	once  sync.Once
	made  *phrases
}

// NewPhrases makes a set of phrases, when it is first asked for one of them.
func NewPhrases(texts ...string) *Phrases { return &Phrases{texts: texts} }

func (p *Phrases) p() *phrases {
	p.once.Do(func() { p.made = newPhrases(p.texts...) })
	return p.made
}

// Has says whether one of the phrases is in t, as whole words.
func (p *Phrases) Has(t []byte) bool { return p.p().has(t) }

// Begin gives where the phrase ends that t begins with, behind brackets and
// marks; 0 where it begins with none.
func (p *Phrases) Begin(t []byte) int {
	bare := trimLeft(trimLeft(trimLeft(t, &marking), &bracing), &marking)
	if len(bare) == 0 {
		return 0
	}
	by := p.p().by[bare[0]]
	for n := range by {
		if end, ok := by[n].at(bare, 0); ok {
			return len(t) - len(bare) + end
		}
	}
	return 0
}

// In finds the first phrase in t.
func (p *Phrases) In(t []byte) (start, end int, ok bool) { return p.p().in(t) }

func newPhrases(texts ...string) *phrases {
	var p phrases
	for _, text := range texts {
		p.add(text, 0)
	}
	return &p
}

func (p *phrases) add(text string, topic int) {
	one := newPhrase(text, topic)
	p.beginnings.add(one)
	for _, c := range one.written(0) {
		p.by[c] = append(p.by[c], one)
	}
}

// maxScan bounds how much of one line is searched for phrases.
const maxScan = 1 << 16

// in finds the first phrase in t, looking at no more than the first maxScan
// bytes.
func (p *phrases) in(t []byte) (start, end int, ok bool) {
	t = t[:min(len(t), maxScan)]
	for i := p.next(t, 0); i < len(t); i = p.next(t, i+1) {
		by, bits := p.by[t[i]], p.behind(t, i)
		for n := range by {
			if by[n].bit&bits == 0 {
				continue
			}
			if end, ok := by[n].at(t, i); ok {
				return i, end, true
			}
		}
	}
	return 0, 0, false
}

// all finds the topics of every phrase in t, and where the first stands.
func (p *phrases) all(t []byte) (m Mask, start, end int) {
	for i := p.next(t, 0); i < len(t); i = p.next(t, i+1) {
		by, bits := p.by[t[i]], p.behind(t, i)
		for n := range by {
			one := &by[n]
			if one.bit&bits == 0 || m&(1<<one.topic) != 0 {
				continue
			}
			if to, ok := one.at(t, i); ok {
				if m == 0 {
					start, end = i, to
				}
				m |= 1 << one.topic
			}
		}
	}
	return m, start, end
}

// has says whether one of the phrases is in t.
func (p *phrases) has(t []byte) bool {
	_, _, ok := p.in(t)
	return ok
}

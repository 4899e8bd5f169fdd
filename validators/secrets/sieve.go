package secrets

import (
	"iter"
	"strings"
	"sync"
)

// A word is where the sieve stops, and what is asked there.
type word struct {
	text  string // in small letters
	kind  kind
	token *token // of a token's first characters
}

type kind int

const (
	aToken kind = iota
	aName
	anAddress
	aCommand
)

// A sieve finds words in a text, whatever their case, in one pass. At each byte
// it knows the last three, folded, in a number; slots has the words that begin
// with such three.
type sieve struct {
	fold  [256]uint16
	slots [1 << slotBits][]word
	any   [1 << slotBits]bool
}

const slotBits = 12

// reach is how many bytes a slot's number is made of: each is shifted out of
// slotBits by the third that follows.
const reach = 3

func newSieve(words []word) *sieve {
	s := &sieve{}
	for c := range s.fold {
		s.fold[c] = uint16(c)
		if within(capital, byte(c)) {
			s.fold[c] = uint16(c) | 0x20
		}
	}
	for _, w := range words {
		slot := s.slot(w.text)
		s.slots[slot], s.any[slot] = append(s.slots[slot], w), true
	}
	return s
}

func (s *sieve) next(slot uint16, c byte) uint16 {
	return (slot<<4 ^ s.fold[c]) & (1<<slotBits - 1)
}

// slot is the number of the first bytes of a text.
func (s *sieve) slot(text string) uint16 {
	slot := uint16(0)
	for i := range min(reach, len(text)) {
		slot = s.next(slot, text[i])
	}
	return slot
}

// at are the words that may stand at the beginning of a text.
func (s *sieve) at(text string) []word { return s.slots[s.slot(text)] }

// in tells where words stand, in the order of the text.
func (s *sieve) in(text string) iter.Seq2[int, word] {
	return func(yield func(int, word) bool) {
		slot := uint16(0)
		for i := range len(text) {
			slot = s.next(slot, text[i])
			if !s.any[slot] || i < reach-1 {
				continue
			}
			at := i - reach + 1
			for _, w := range s.slots[slot] {
				if s.has(text[at:], w.text) && !yield(at, w) {
					return
				}
			}
		}
	}
}

func (s *sieve) has(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if byte(s.fold[text[i]]) != word[i] {
			return false
		}
	}
	return true
}

// words is the sieve of all that may begin or name a credential.
var words = sync.OnceValue(func() *sieve {
	all := []word{{text: "://", kind: anAddress}}
	for program := range commands {
		all = append(all, word{text: program, kind: aCommand})
	}
	for _, t := range tokens() {
		for _, literal := range t.literals {
			all = append(all, word{strings.ToLower(literal), aToken, t})
		}
	}
	for text := range strings.FieldsSeq(nameRoots) {
		all = append(all, word{text: text, kind: aName})
	}
	return newSieve(all)
})

package secrets

import (
	"iter"
	"strings"
	"sync"
)

// A word is a stop of the sieve with the kind of search there.
type word struct {
	text  string // in lower case
	kind  kind
	token *token // for the first characters of a token
}

type kind int

const (
	aToken kind = iota
	aName
	anAddress
	aCommand
)

// A sieve finds words in a text in one pass, ignoring case. At each byte it has
// a hash of the last three folded bytes; slots has the words that begin with
// such bytes.
type sieve struct {
	fold  [256]uint16
	slots [1 << slotBits][]word
	any   [1 << slotBits]bool
}

const slotBits = 12

// reach is the number of bytes in a hash. A byte leaves the slotBits after
// three shifts.
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

// slot returns the hash of the first bytes of a text.
func (s *sieve) slot(text string) uint16 {
	slot := uint16(0)
	for i := range min(reach, len(text)) {
		slot = s.next(slot, text[i])
	}
	return slot
}

// at returns the words that may be at the beginning of a text.
func (s *sieve) at(text string) []word { return s.slots[s.slot(text)] }

// in returns the places of the words, in order.
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

// words is the sieve of all words that may begin or name a credential.
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

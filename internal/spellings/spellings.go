// Package spellings finds the known word that a misspelled word probably means.
package spellings

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Nearest returns the known word closest to word, or "" if none is close.
func Nearest(word string, known []string) string {
	best, _ := Near(word, known)
	return best
}

// Near returns the same word as [Nearest], and reports whether it is the only
// candidate: no other known word is as close, and a short word has more letters
// than the edits replace.
func Near(word string, known []string) (best string, alone bool) {
	distance := tooFar
	switch {
	case word == "", len(word) == 1 && unicode.IsOneOf([]*unicode.RangeTable{unicode.L, unicode.N}, rune(word[0])): // all known words are equally near
		distance = 1
	case len(word) <= 4:
		distance = 2
	}
	lower := strings.ToLower(word)
	for _, k := range known {
		d := edits(lower, k)
		if d < distance {
			best, distance, alone = k, d, true
		} else if d == distance && k != best {
			alone = false
		}
	}
	return best, alone && (distance < 2 || len(word) > 6)
}

// maxWord is the maximum length of a word to compare, in bytes.
const maxWord = 64

// tooFar is the number of edits from which two words are not similar.
const tooFar = 3

// edits returns the number of insertions, deletions, replacements and swaps of
// neighbours between a and b, ignoring case. If the lengths differ too much, it
// returns their difference.
func edits(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	n, m := utf8.RuneCountInString(a), utf8.RuneCountInString(b)
	if apart := max(n-m, m-n); apart >= tooFar {
		return apart
	}
	x, y := []rune(a), []rune(strings.ToLower(b))
	// What is needed of the numbers of edits between beginnings of a and of b: of
	// those of a the last three, of b all.
	var rows [3][maxWord + 1]uint8
	before, last, next := &rows[0], &rows[1], &rows[2]
	for j := range m {
		last[j+1] = uint8(j + 1)
	}
	for i := range n {
		next[0] = uint8(i + 1)
		for j := range m {
			cost := uint8(1)
			if x[i] == y[j] {
				cost = 0
			}
			next[j+1] = min(last[j+1]+1, next[j]+1, last[j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return int(last[m])
}

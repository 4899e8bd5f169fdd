// Package spellings guesses which word was meant by one that nobody knows.
package spellings

import (
	"strings"
	"unicode"
)

// Nearest gives the known word closest to word, what was probably meant by it,
// or "" where none is close.
func Nearest(word string, known []string) string {
	best, _ := Near(word, known)
	return best
}

// Near is [Nearest], and tells whether no other known word is as close.
func Near(word string, known []string) (best string, alone bool) {
	distance := tooFar
	switch {
	case word == "", len(word) == 1 && unicode.IsOneOf([]*unicode.RangeTable{unicode.L, unicode.N}, rune(word[0])): // any is as near as another
		distance = 1
	case len(word) <= 4:
		distance = 2
	}
	for _, k := range known {
		d := edits(strings.ToLower(word), strings.ToLower(k))
		if d < distance {
			best, distance, alone = k, d, true
		} else if d == distance && k != best {
			alone = false
		}
	}
	return best, alone
}

// maxWord is the longest word, in bytes, that is worth comparing.
const maxWord = 64

// tooFar is a number of edits from which on two words are near to each other for
// nobody.
const tooFar = 3

// edits counts the insertions, deletions, replacements and swaps of neighbours
// between a and b. Of words whose lengths alone are too far apart, it tells by how
// much they are.
func edits(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	x, y := []rune(a), []rune(b)
	if apart := max(len(x)-len(y), len(y)-len(x)); apart >= tooFar {
		return apart
	}
	var d [maxWord + 1][maxWord + 1]uint8 // [i][j]: between the first i letters of a and the first j of b
	for i := range x {
		d[i+1][0] = uint8(i + 1)
	}
	for j := range y {
		d[0][j+1] = uint8(j + 1)
	}
	for i := range x {
		for j := range y {
			cost := uint8(1)
			if x[i] == y[j] {
				cost = 0
			}
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, d[i][j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return int(d[len(x)][len(y)])
}

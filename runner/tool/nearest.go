package tool

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
	distance := 3
	switch {
	case len(word) == 1 && unicode.IsOneOf([]*unicode.RangeTable{unicode.L, unicode.N}, rune(word[0])): // any is as near as another
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

// edits counts the insertions, deletions, replacements and swaps of
// neighbours between a and b.
func edits(a, b string) int {
	if len(a) > maxWord || len(b) > maxWord {
		return maxWord
	}
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range y {
		d[0][j+1] = j + 1
	}
	for i := range x {
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, d[i][j]+cost)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

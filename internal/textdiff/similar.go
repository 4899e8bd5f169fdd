package textdiff

import (
	"slices"
	"strings"
)

// minShared is the minimum share of common words of two similar units.
const minShared = 0.3

// similar returns the ordered pairs with the most words in common.
func similar(a, b []Unit) [][2]int {
	x, y := bags(a), bags(b)
	best := make([][]float64, len(a)+1) // of the units from i and j on
	for i := range best {
		best[i] = make([]float64, len(b)+1)
	}
	score := make([][]float64, len(a))
	for i := len(a) - 1; i >= 0; i-- {
		score[i] = make([]float64, len(b))
		for j := len(b) - 1; j >= 0; j-- {
			if score[i][j] = shared(x[i], y[j]); score[i][j] < minShared || a[i].Kind != b[j].Kind {
				score[i][j] = 0
			}
			best[i][j] = max(best[i+1][j], best[i][j+1], best[i+1][j+1]+score[i][j])
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch best[i][j] {
		case best[i+1][j]:
			i++
		case best[i][j+1]:
			j++
		default:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		}
	}
	return out
}

// bags returns the sorted words of each unit, in lower case.
func bags(list []Unit) [][]string {
	out := make([][]string, len(list))
	for i, u := range list {
		out[i] = strings.Fields(strings.ToLower(u.Content))
		slices.Sort(out[i])
	}
	return out
}

// shared returns the share of words that two sorted lists have in common.
func shared(a, b []string) float64 {
	n, total := 0, len(a)+len(b)
	for len(a) > 0 && len(b) > 0 {
		switch strings.Compare(a[0], b[0]) {
		case -1:
			a = a[1:]
		case 1:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return 2 * float64(n) / float64(max(total, 1))
}

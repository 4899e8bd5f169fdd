package trust

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A Candidate is a text of a phase that a person could label, with its attempt and the
// verdicts of its gates.
type Candidate struct {
	RunID    string
	Path     string
	Phase    string
	Text     string // the first digits of its SHA-256
	Verdicts []journal.Judgement
	Draw     stats.Draw // how [Draw] selected it
}

// Candidates lists the texts of attempts. A phase has each text once.
func Candidates(attempts iter.Seq2[journal.Attempt, error]) ([]Candidate, error) {
	var list []Candidate
	seen := map[[2]string]bool{}
	for a, err := range attempts {
		if err != nil {
			return nil, err
		}
		key := [2]string{a.Phase, a.Text}
		if a.Number == 0 || a.Text == "" || seen[key] {
			continue
		}
		seen[key] = true
		c := Candidate{RunID: a.RunID, Path: string(a.Path), Phase: a.Phase, Text: a.Text}
		for _, v := range a.Verdicts {
			if v.Text == a.Text && v.Valid != nil {
				c.Verdicts = append(c.Verdicts, v)
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// Draw returns the candidates that are left to label, in the order in which a person
// labels them, each with how it was drawn. The order is [stats.Random] or
// [stats.Disagreement]. Labelled returns the person's label of a candidate.
//
// In a random order each text is as likely as any other, also one that the person
// labelled in another order: it is asked about again.
//
// The other order takes the next text with one chance in two from those on which gates disagree or
// a score is near the middle, and otherwise from the other texts. It ends when one of these two
// groups is exhausted, because no weight would correct the rest.
func Draw(all []Candidate, order string, labelled func(Candidate) (stats.Label, bool)) []Candidate {
	var left, unsure, sure []Candidate
	doubtful := 0
	for _, c := range all {
		l, found := labelled(c)
		if c.doubtful() {
			doubtful++
		}
		switch {
		case found && (order != stats.Random || l.Draw != nil && l.Draw.Order == stats.Random):
		case order == stats.Random:
			c.Draw = stats.Draw{Order: stats.Random}
			left = append(left, c)
		case c.doubtful():
			unsure = append(unsure, c)
		default:
			sure = append(sure, c)
		}
	}
	if order == stats.Random {
		shuffle(left, 0)
		return left
	}
	shuffle(unsure, half)
	shuffle(sure, half)
	share := float64(doubtful) / float64(len(all))
	if share == 0 || share == 1 {
		return drawn(append(unsure, sure...), 1, 1)
	}
	for len(unsure) > 0 && len(sure) > 0 {
		if coin(unsure[0]) == coin(sure[0]) {
			left, unsure = append(left, drawn(unsure[:1], 0.5, share)...), unsure[1:]
		} else {
			left, sure = append(left, drawn(sure[:1], 0.5, 1-share)...), sure[1:]
		}
	}
	return left
}

func drawn(list []Candidate, probability, share float64) []Candidate {
	for i := range list {
		list[i].Draw = stats.Draw{Order: stats.Disagreement, Probability: probability, Share: share}
	}
	return list
}

// half is the number of digits of a text's SHA-256 that one order sorts by. The other order sorts
// by the rest, so that the orders are independent.
const half = stats.TextDigits / 2

// shuffle sorts texts by the digits of their SHA-256 after the first from digits. These digits do
// not depend on verdicts.
func shuffle(list []Candidate, from int) {
	slices.SortFunc(list, func(a, b Candidate) int {
		return cmp.Or(strings.Compare(a.Text[from:], b.Text[from:]), strings.Compare(a.Phase, b.Phase))
	})
}

// coin reports heads, which half of all texts have.
func coin(c Candidate) bool { return strings.IndexByte("0123456789abcdef", c.Text[0])%2 == 0 }

// middle is the maximum distance of a doubtful score from one half.
const middle = 0.2

// doubtful reports whether gates disagree about the text or a score is near the middle.
func (c Candidate) doubtful() bool {
	yes, no := false, false
	for _, v := range c.Verdicts {
		yes, no = yes || *v.Valid, no || !*v.Valid
		if v.Score != nil && math.Abs(*v.Score-0.5) <= middle {
			return true
		}
	}
	return yes && no
}

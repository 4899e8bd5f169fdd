package trust

import (
	"cmp"
	"hash/fnv"
	"io"
	"iter"
	"math"
	"slices"

	"github.com/seed61713e19/capstan/runner/journal"
)

// A Doubt is a text that a person could label: one that a phase gave, with where
// it was given and what was said of it.
type Doubt struct {
	RunID    string
	Path     string
	Phase    string
	Text     string // the first digits of its SHA-256
	Verdicts []journal.Judgement
}

// Doubts lists the texts of attempts, each of a phase once, by where a label tells
// most: texts of which some gates say yes and some no, then those with the score
// nearest to the middle, then the others, the newest first.
func Doubts(attempts iter.Seq2[journal.Attempt, error]) ([]Doubt, error) {
	var list []Doubt
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
		d := Doubt{RunID: a.RunID, Path: string(a.Path), Phase: a.Phase, Text: a.Text}
		for _, v := range a.Verdicts {
			if v.Text == a.Text && v.Valid != nil {
				d.Verdicts = append(d.Verdicts, v)
			}
		}
		list = append(list, d)
	}
	slices.Reverse(list)
	slices.SortStableFunc(list, func(a, b Doubt) int { return cmp.Compare(a.rank(), b.rank()) })
	return list, nil
}

// Shuffle puts texts in the order of a hash of what they are: it has nothing to do
// with what was said of them, and is the same the next time.
func Shuffle(doubts []Doubt) {
	hash := func(d Doubt) uint64 {
		h := fnv.New64a()
		io.WriteString(h, d.Text+d.Phase)
		return h.Sum64()
	}
	slices.SortFunc(doubts, func(a, b Doubt) int { return cmp.Compare(hash(a), hash(b)) })
}

// rank is the less the more there is to learn.
func (d Doubt) rank() float64 {
	yes, no, nearest := false, false, math.Inf(1)
	for _, v := range d.Verdicts {
		yes, no = yes || *v.Valid, no || !*v.Valid
		if v.Score != nil {
			nearest = min(nearest, math.Abs(*v.Score-0.5))
		}
	}
	if yes && no {
		return -1
	}
	return nearest
}

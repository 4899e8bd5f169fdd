package builtins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"unicode"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

type similarity struct {
	MaxOverlap *float64 `json:"max_overlap,omitempty" jsonschema:"maximum share of copied text, 0 to 1. Default: 0.5"`
	MaxRun     int      `json:"max_run,omitempty" jsonschema:"maximum number of words that may be copied in one piece. Default: 50"`
}

// Prepare implements [validators.Prepared].
func (p *similarity) Prepare() error {
	if p.MaxOverlap == nil {
		half := 0.5
		p.MaxOverlap = &half
	}
	if *p.MaxOverlap < 0 || *p.MaxOverlap > 1 || p.MaxRun < 0 {
		return errors.New("max_overlap must be from 0 to 1, max_run not negative")
	}
	p.MaxRun = cmp.Or(p.MaxRun, 50)
	return nil
}

// shingle is the number of words in a row that count as copied. Fewer may be
// chance.
const shingle = 6

// similarToInputValidator accepts text that is not copied from the texts of the
// cascade's input. Words are copied if they are in a run of six or more words
// that also appears in an input. Case and punctuation do not count.
var similarToInputValidator = validators.New("similar_to_input", "Validates that the text is not copied from the input",
	func(_ context.Context, p similarity, s validators.Subject) (validators.Verdict, error) {
		known := map[uint64]struct{}{}
		addShingles(known, reflect.ValueOf(s.Input), 0)
		c := overlapOf(s.Content, known)
		score := 1 - c.share()
		found := findings{check: "similar_to_input"}
		if c.share() > *p.MaxOverlap {
			found.add("", "%d %% of the text is copied from the input, more than %d %%", percent(c.share()), percent(*p.MaxOverlap))
		}
		if c.longest > p.MaxRun {
			found.add(lineAt(s.Content, c.at), "%s in one piece are copied from the input, more than %d", reports.Count(c.longest, "word"), p.MaxRun)
		}
		v := found.verdict(fmt.Sprintf("%d %% of the text is in the input too", percent(c.share())))
		v.Score = &score
		return v, nil
	}, validators.DependsOnRun)

func percent(share float64) int { return int(share*100 + 0.5) }

// addShingles adds the shingles of every text in an input, at any depth.
func addShingles(known map[uint64]struct{}, v reflect.Value, depth int) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if depth > 1000 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		shingles(v.String(), func(_, _ int, hash uint64) { known[hash] = struct{}{} })
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			addShingles(known, v.Index(i), depth+1)
		}
	case reflect.Map:
		for each := v.MapRange(); each.Next(); {
			addShingles(known, each.Value(), depth+1)
		}
	}
}

// shingles calls visit for each run of shingle words, with the number and the
// offset of its first word and a hash.
func shingles(text string, visit func(first, offset int, hash uint64)) {
	var hashes, offsets [shingle]uint64
	n := 0
	for at, word := range words(text) {
		hashes[n%shingle], offsets[n%shingle] = wordHash(word), uint64(at)
		n++
		if n < shingle {
			continue
		}
		var sum uint64
		for i := range shingle {
			sum = sum*prime + hashes[(n+i)%shingle]
		}
		visit(n-shingle, int(offsets[n%shingle]), sum)
	}
}

// prime is the prime of FNV.
const prime = 1099511628211

func wordHash(word string) uint64 {
	hash := uint64(14695981039346656037)
	for _, r := range word {
		hash = (hash ^ uint64(unicode.ToLower(r))) * prime
	}
	return hash
}

// overlap describes how much of a text is copied.
type overlap struct {
	words, known int
	longest, at  int // the longest run of known words, and its offset
}

func (c overlap) share() float64 { return float64(c.known) / float64(max(c.words, 1)) }

func overlapOf(text string, known map[uint64]struct{}) overlap {
	var c overlap
	begin, end, at := 0, 0, 0 // the current run of known words
	last := -2                // the first word of the previous known shingle
	shingles(text, func(first, offset int, hash uint64) {
		c.words = first + shingle
		if _, ok := known[hash]; !ok {
			return
		}
		if first != last+1 {
			begin, at = first, offset
		}
		last = first
		c.known += first + shingle - max(end, first)
		if end = first + shingle; end-begin > c.longest {
			c.longest, c.at = end-begin, at
		}
	})
	return c
}

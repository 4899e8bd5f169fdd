package reading

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
)

var (
	// narrowing is what a clause says that narrows its sentence, and excepting what
	// one says that does no more than that: when and where may explain as well.
	narrowing = patterns.Lazy(`\b(?:` + exceptions + `|when|whenever|where|wherever|while|before|after|but|not|never|no|none|nobody|nothing|neither|nor|cannot` +
		`|solange|sobald|bevor|nachdem|aber|nicht|nie|kein\pL*|non|não|niet|geen|inte|quand|lorsque|avant|mais|pas|jamais|cuando|antes|después|pero|nunca)\b`)
	excepting  = patterns.Lazy(`\b(?:` + exceptions + `)\b`)
	instancing = patterns.Lazy(`\b(?:for (?:instance|example)|such as|zum beispiel|par exemple|por ejemplo)\b`)
)

const exceptions = `if|unless|except|excepting|provided|providing|only|until|till|without|as long as|in case|wenn|falls|sofern|ohne|nur|sauf|si|sans|seulement|salvo|excepto|sin|solo|sólo`

// minClause is of how many words a clause is.
const minClause = 3

// conditions finds the clauses that narrow a sentence and are gone from it, or new
// in it, where the sentence stays: unless the owner agrees. One that stands
// elsewhere, or in other words, is none.
func conditions(gone, come []sentence, line int) []Change {
	if len(gone) != len(come) {
		return narrowed(gone, come, line)
	}
	var out []Change
	for i := range gone {
		out = append(out, narrowed(gone[i:i+1], come[i:i+1], line)...)
	}
	return out
}

func narrowed(gone, come []sentence, line int) (out []Change) {
	was, is := strings.Join(plain(gone), " "), strings.Join(plain(come), " ")
	if was == is || !narrowing().MatchString(was) && !excepting().MatchString(is) {
		return nil
	}
	var lost, won []Change
	losing, winning, starts := false, false, startsOf(come)
	for _, h := range hunks(strings.Fields(was), strings.Fields(is)) {
		if old, now := h.turned(); old != "" || now != "" {
			continue // and is told so
		}
		old, now := strings.Join(h.old, " "), strings.Join(h.now, " ")
		if narrowing().MatchString(old) {
			losing = true
			if len(h.old) >= minClause && len(h.now) < minClause {
				lost = append(lost, Change{Kind: Turns, Old: old, Line: line})
			}
		}
		if excepting().MatchString(now) && !instancing().MatchString(now) {
			winning = true
			if len(h.now) >= minClause && len(h.old) < minClause && !starts.within(h.at, h.at+len(h.now)) {
				won = append(won, Change{Kind: Turns, Now: now, Line: line})
			}
		}
		winning = winning || narrowing().MatchString(now)
	}
	switch {
	case losing && !winning:
		return lost
	case winning && !losing:
		return won
	}
	return nil
}

// starts are where each of some sentences begins, in words, and where the last ends.
type starts []int

func startsOf(list []sentence) starts {
	out := starts{0}
	for _, s := range list {
		out = append(out, out[len(out)-1]+strings.Count(s.plain, " ")+1)
	}
	return out
}

// within tells whether a whole sentence stands between two words.
func (s starts) within(from, to int) bool {
	i, _ := slices.BinarySearch(s, from)
	return i+1 < len(s) && s[i+1] <= to
}

package capy

import (
	"bytes"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// A naming is an A.n in a heading.
type naming struct {
	n      int
	named  bool // the heading gives it its name, or no other
	strong bool // the name leaves no doubt
}

// A title is a heading that may name artifacts.
type title struct {
	text  []byte
	words map[int]map[string]bool // of each artifact's name
}

// namings finds what a heading names. A range names nothing, and neither does
// a heading that says that something is missing, or speaks about it.
func (t title) namings() []naming {
	text := t.text[:min(len(t.text), 300)]
	if disclaimers.Has(text) {
		return nil
	}
	var list []naming
	for i := 0; i < len(text); i++ {
		n, end, dotted := reading.ArtifactAt(text, i)
		if n == 0 {
			continue
		}
		if to := rangeEnd(text, end); to > 0 {
			i = to - 1
			continue
		}
		m := t.naming(i, end, n)
		if !dotted && !m.strong && !(m.named && len(bytes.Trim(text[end:], " *_`\"")) > 0) {
			continue
		}
		list = append(list, m)
		i = end - 1
	}
	if len(list) > 1 { // a list of several: only those with their own name
		list = slices.DeleteFunc(list, func(m naming) bool { return !m.strong })
	}
	return list
}

// naming judges one A.n at i:end of the title.
func (t title) naming(i, end, n int) naming {
	title, m := t.text, naming{n: n}
	if end < len(title) && title[end] == '_' {
		m.named = true
		m.strong = !speaksOf(title[:i], "from", "vs", "versus", "against", "without")
		return m
	}
	known, all := t.nameWords(title[end:], n)
	about := speaksOf(title[:i], "from", "to", "of", "on", "vs", "versus", "for", "in", "with", "using", "per", "see", "against", "into", "by", "via", "without", "and", "before", "after", "between")
	switch {
	case about:
	case known > 0:
		m.named = true
		m.strong = all || known > 1
	case n >= 7 && title[i+1] == '.' && !bareBehind(title[end:]):
		m.named = true // no section has so many parts
	case bareBehind(title[end:]):
		m.named = true
		before, allBefore := t.nameWords(title[:i], n)
		m.strong = before > 0 && (allBefore || before > 1)
	}
	return m
}

// nameWords counts the words of the artifact's name in a text, and says
// whether it has no others that matter.
func (t title) nameWords(part []byte, n int) (known int, all bool) {
	others := 0
	for i := 0; i < len(part); {
		w := firstWord(part[i:])
		if len(w) == 0 {
			i++
			continue
		}
		if known > 0 {
			if next, _, _ := reading.ArtifactAt(part, i); next > 0 {
				break // another artifact's name begins
			}
		}
		i += len(w)
		lower := strings.ToLower(string(w))
		switch {
		case t.words[n][lower]:
			known++
		case !fillers[lower] && len(w) > 1:
			others++
		}
	}
	return known, known > 0 && others == 0
}

// bareBehind says that nothing follows A.n but punctuation or a gloss.
func bareBehind(t []byte) bool {
	t = bytes.TrimLeft(t, " *_`)]:.")
	if len(t) == 0 {
		return true
	}
	if t[0] == '(' || t[0] == '[' {
		return true
	}
	w := firstWord(t)
	return fillers[string(bytes.ToLower(w))] && len(w) == len(bytes.TrimRight(t, " *_`:"))
}

// speaksOf says that the word in front is one of those that a name does not
// follow.
func speaksOf(before []byte, words ...string) bool {
	t := bytes.TrimRight(before, " *_`")
	if len(t) == 0 || !word(t[len(t)-1]) {
		return false
	}
	start := len(t)
	for start > 0 && word(t[start-1]) {
		start--
	}
	return slices.Contains(words, string(bytes.ToLower(t[start:])))
}

// rangeEnd reads the rest of a range behind its first A.n: - A.6, to A.6,
// … A.6, –6. It gives where the range ends, or 0.
func rangeEnd(t []byte, i int) int {
	j := i
	for j < len(t) && (t[j] == ' ' || t[j] == '*') {
		j++
	}
	matched := false
	for _, s := range []string{"-", "–", "—", "…", "...", "to ", "through ", "thru ", "→", "..", "until "} {
		if bytes.HasPrefix(t[j:], []byte(s)) {
			j += len(s)
			matched = true
			break
		}
	}
	if !matched {
		return 0
	}
	for j < len(t) && (t[j] == ' ' || t[j] == '*') {
		j++
	}
	if n, end, _ := reading.ArtifactAt(t, j); n > 0 {
		return end
	}
	if j < len(t) && t[j] >= '0' && t[j] <= '9' && j-i <= 3 {
		return j + 1
	}
	return 0
}

var fillers = reading.Set("the", "and", "of", "json", "artifact", "updated", "final", "for", "t1", "t2", "refine", "post", "enriched", "corrected", "complete", "full", "amended", "revised", "state", "base", "new", "version")

var disclaimers = reading.NewPhrases("missing", "not generated", "not produced", "not present", "not included", "not available", "not provided", "omitted", "to be generated", "to be produced", "pending", "deferred",
	"tbd", "absent", "skipped", "n/a", "not applicable", "not yet", "to be completed", "not required", "not run", "not computed", "not calculated", "could not be")

package capy

import (
	"bytes"
)

// A naming is an A.n in a heading.
type naming struct {
	n      int
	named  bool // the heading gives it its name, or no other
	strong bool // the name leaves no doubt
}

// mentions finds what a heading names. A range names nothing, and neither does
// a heading that says that something is missing, or speaks about it.
func (g *gallery) mentions(title []byte) []naming {
	title = title[:min(len(title), 300)]
	if disclaims(title) {
		return nil
	}
	var list []naming
	for i := 0; i < len(title); i++ {
		if title[i] != 'A' || i > 0 && (isASCIIWord(title[i-1]) || title[i-1] == '.') {
			continue
		}
		n, end, dotted := artifactAt(title, i)
		if n == 0 {
			continue
		}
		if to := rangeEnd(title, end); to > 0 {
			i = to - 1
			continue
		}
		m := g.naming(title, i, end, n)
		if !dotted && !m.strong && !(m.named && len(trimMarks(title[end:])) > 0) {
			continue
		}
		list = append(list, m)
		i = end - 1
	}
	if len(list) > 1 { // a list of several: only those with their own name
		kept := list[:0]
		for _, m := range list {
			if m.strong {
				kept = append(kept, m)
			}
		}
		list = kept
	}
	return list
}

// naming judges one A.n at title[i:end].
func (g *gallery) naming(title []byte, i, end, n int) naming {
	m := naming{n: n}
	if end < len(title) && title[end] == '_' {
		m.named = true
		m.strong = !speaksOf(title[:i], "from", "vs", "versus", "against", "without")
		return m
	}
	known, all := g.nameWords(title[end:], n)
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
		before, allBefore := g.nameWords(title[:i], n)
		m.strong = before > 0 && (allBefore || before > 1)
	}
	return m
}

// nameWords counts the words of the artifact's name in a text, and says
// whether it has no others that matter.
func (g *gallery) nameWords(t []byte, n int) (known int, all bool) {
	var buf wordBuffer
	others := 0
	for i := 0; i < len(t); {
		w := wordAt(t, i)
		if len(w) == 0 {
			i++
			continue
		}
		if w[0] == 'A' && known > 0 {
			if next, _, _ := artifactAt(t, i); next > 0 {
				break // another artifact's name begins
			}
		}
		i += len(w)
		switch lower := buf.fold(w); {
		case g.names[n][string(lower)]:
			known++
		case !fillers[string(lower)] && len(w) > 1:
			others++
		}
	}
	return known, known > 0 && others == 0
}

// bareBehind says that nothing follows A.n but punctuation or a gloss.
func bareBehind(t []byte) bool {
	t = bytes.TrimLeft(t, " *_`)]:")
	if len(t) == 0 {
		return true
	}
	if t[0] == '(' || t[0] == '[' {
		return true
	}
	w := wordAt(t, 0)
	var buf wordBuffer
	return fillers[string(buf.fold(w))] && len(w) == len(bytes.TrimRight(t, " *_`:"))
}

// speaksOf says that the word in front is one of those that a name does not
// follow.
func speaksOf(before []byte, words ...string) bool {
	t := bytes.TrimRight(before, " *_`")
	if len(t) == 0 || !isASCIIWord(t[len(t)-1]) {
		return false
	}
	start := len(t)
	for start > 0 && isASCIIWord(t[start-1]) {
		start--
	}
	var buf wordBuffer
	w := buf.fold(t[start:])
	for _, s := range words {
		if string(w) == s {
			return true
		}
	}
	return false
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
	if n, end, _ := artifactAt(t, j); n > 0 {
		return end
	}
	if j < len(t) && isDigit(t[j]) && j-i <= 3 {
		return j + 1
	}
	return 0
}

package lsp

import (
	"slices"
	"strings"
	"unicode"
)

// A span is a part of a line with a name.
type span struct {
	line, start, end int
	kind             kind
	name             string
	defines          bool
}

// spans returns all names in a file: their definitions and their uses,
// including those in templates and expressions.
func spans(tokens []token) []span {
	var list []span
	own := map[string]bool{}
	for _, t := range tokens {
		if k := defines(t); k != "" {
			list = append(list, span{t.line, t.start, t.end, k, t.text, true})
			own[string(k)+" "+t.text] = true
		}
	}
	for _, t := range tokens {
		if t.key {
			continue
		}
		kinds := named(t.path)
		for _, k := range kinds {
			if len(kinds) == 1 || own[string(k)+" "+t.text] {
				list = append(list, span{t.line, t.start, t.end, k, t.text, false})
				break
			}
		}
		if notationOf(t) != plainText {
			list = append(list, reads(t.text, t.line, t.start)...)
		}
	}
	return list
}

// reads returns the outputs and inputs that a template or an expression reads.
func reads(text string, line, start int) []span {
	var list []span
	runes := []rune(text)
	for _, root := range []struct {
		word string
		kind kind
	}{{"outputs", phases}, {"input", inputs}} {
		word := []rune(root.word)
		for i := 0; i+len(word) < len(runes); i++ {
			if !slices.Equal(runes[i:i+len(word)], word) || i > 0 && (wordly(runes[i-1]) || runes[i-1] == '.') {
				continue
			}
			from, to := member(runes, i+len(word))
			if to > from {
				list = append(list, span{line, start + from, start + to, root.kind, string(runes[from:to]), false})
			}
		}
	}
	return list
}

// member returns the range of the name in .name, ?.name, ["name"] or ['name']
// at a place.
func member(runes []rune, at int) (from, to int) {
	rest := string(runes[at:min(at+2, len(runes))]) // the longest opening
	for _, open := range []string{"?.", ".", `["`, `['`} {
		if !strings.HasPrefix(rest, open) {
			continue
		}
		from = at + len(open)
		for to = from; to < len(runes); to++ {
			if r := runes[to]; open[0] == '[' && r == rune(open[1]) || open[0] != '[' && !wordly(r) {
				break
			}
		}
		return from, to
	}
	return 0, 0
}

func wordly(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// under returns the name at a place.
func under(list []span, line, column int) (span, bool) {
	i := slices.IndexFunc(list, func(s span) bool { return s.line == line && s.start <= column && column <= s.end })
	if i < 0 {
		return span{}, false
	}
	return list[i], true
}

// same returns the spans with the same kind and name.
func same(list []span, of span) []span {
	return slices.DeleteFunc(slices.Clone(list), func(s span) bool { return s.kind != of.kind || s.name != of.name })
}

// definedNames returns the names of a kind that the file defines, in file
// order.
func definedNames(list []span, k kind) []string {
	var names []string
	for _, s := range list {
		if s.defines && s.kind == k {
			names = append(names, s.name)
		}
	}
	return names
}

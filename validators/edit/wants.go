package edit

import (
	"strings"

	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/reading"
)

// wants are the sentences of a direction that ask for something, read as the
// text is.
type wants []want

type want struct {
	folded string
	things map[reading.Thing]place // without lines
}

// A place is where something stands in a sentence, the first and the last time: as
// which of its things, or at which byte.
type place struct {
	first, last int
	byThing     bool
}

var (
	sentenceEnd = patterns.Lazy(`[.;!?](?:\s|$)|\n`)
	refusal     = patterns.Lazy(`(?i)\b(?:not|never|no|nobody|none|neither|nor|avoid\w*|prevent\w*|forbid\w*|refrain|keep|keeps|kept|preserve|unchanged|untouched|except|without|but|stays?|remains?|leave)\b|n['’]t\b`)
	reorders    = patterns.Lazy(`(?i)\b(?:re-?order|re-?arrange|sort|alphabetical(?:ly)?|swap|move|in (?:this|the|another|ascending|descending|chronological|\w+) order)\b`)

	// What comes is named before what goes, or behind it.
	newFirst = patterns.Lazy(`\b(?:instead of|rather than|in place of|substitut\w+)\b|\b(?:say|write|use|put|read)\b.* for\b`)
	oldFirst = patterns.Lazy(`\bfrom\b.* to\b|\b(?:chang|replac|renam|turn|convert|correct|rais|lower|reduc|increas|call|writ|point|mov|set)\w*\b.* (?:to|with|by|as|into)\b|→|->|=>`)
)

// newWants reads what a direction asks for. A sentence that also says what is to
// stay asks for nothing in particular.
func newWants(text string) wants {
	var out wants
	for _, s := range sentenceEnd().Split(text, -1) {
		if strings.TrimSpace(s) == "" || refusal().MatchString(s) {
			continue
		}
		w := want{folded: fold(s), things: map[reading.Thing]place{}}
		if read, err := reading.Read(s); err == nil {
			for _, b := range read.Blocks {
				for i, t := range b.All() {
					w.stands(reading.Thing{Kind: t.Kind, Text: t.Text}, i)
				}
			}
		}
		out = append(out, w)
	}
	return out
}

func (w want) stands(t reading.Thing, i int) {
	p, known := w.things[t]
	if !known {
		p.first, p.byThing = i, true
	}
	p.last = i
	w.things[t] = p
}

// ask tells whether one sentence names the change: what goes and what comes, and
// where it says which is which, not the other way round. To be told of another order
// it must speak of order.
func (w wants) ask(c reading.Change) bool {
	for _, s := range w {
		switch {
		case c.Kind == reading.Order:
			if reorders().MatchString(s.folded) {
				return true
			}
		case c.Kind == reading.Invisible, c.Kind == kindUnread, c.Old == "" && c.Now == "":
		case c.Kind == reading.Headings && strings.Trim(c.Old, "# ") == strings.Trim(c.Now, "# "): // who names a heading asks for no other level
		case s.asks(c):
			return true
		}
	}
	return false
}

func (w want) asks(c reading.Change) bool {
	old, goes := w.names(c.Kind, c.Old)
	now, comes := w.names(c.Kind, c.Now)
	switch {
	case c.Old != "" && !goes || c.Now != "" && !comes:
		return false
	case c.Old == "" || c.Now == "" || old.byThing != now.byThing:
		return true
	case newFirst().MatchString(w.folded):
		return now.first < old.last
	case oldFirst().MatchString(w.folded):
		return old.first < now.last
	}
	return true
}

// names tells whether a sentence names something, and where.
func (w want) names(kind reading.Kind, text string) (p place, named bool) {
	if p, named = w.things[reading.Thing{Kind: kind, Text: text}]; named {
		return p, true
	}
	text = strings.Trim(fold(text), "#|`!\" ")
	for from := 0; text != ""; {
		i := strings.Index(w.folded[from:], text)
		if i < 0 {
			break
		}
		start, end := from+i, from+i+len(text)
		from = start + 1
		if wordAt(w.folded, start-1) || wordAt(w.folded, end) {
			continue
		}
		if !named {
			p.first, named = start, true
		}
		p.last, from = start, end
	}
	return p, named
}

// wordAt tells whether a letter or figure stands at a byte of a text.
func wordAt(s string, i int) bool {
	return i >= 0 && i < len(s) && (s[i] >= 0x80 || s[i] == '_' || s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'z')
}

package builtins

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/languages"
)

// Of a presentable text: the language of its sentences.

// mixed finds sentences in another language than those asked for or, where none
// is, than most words of the text are in.
func (d *draft) mixed() {
	in := d.In
	if len(in) == 0 {
		in = []string{d.own()}
	} else if g := languages.Of(d.said()); g.Code != "" && !slices.Contains(in, g.Code) {
		d.tell(0, "the text is in %s", languages.Name(g.Code))
		return
	}
	for _, p := range d.prose {
		for _, s := range p.Sentences {
			if code := foreign(spoken(d.spokenIn(s))); code != "" && in[0] != "" && !slices.Contains(in, code) {
				d.tell(s.From, "this is in %s: %s", languages.Name(code), quote(s.In(d.source)))
			}
		}
	}
}

// said is what the text says in its own words.
func (d *draft) said() string {
	var b strings.Builder
	for _, p := range d.prose {
		b.WriteString(spoken(d.spokenIn(p.Span)) + "\n")
	}
	return b.String()
}

// own is the language of the text; "" where it cannot be told.
func (d *draft) own() string {
	if len(d.prose) == 0 || len(d.prose) == 1 && len(d.prose[0].Sentences) == 1 {
		return "" // there is nothing else that it could be in
	}
	words := map[string]int{}
	for _, p := range d.prose {
		for _, s := range p.Sentences {
			if g := languages.Of(spoken(d.spokenIn(s))); g.Code != "" {
				words[g.Code] += g.Words
			}
		}
	}
	own := ""
	for code, n := range words {
		if n > words[own] || n == words[own] && code < own {
			own = code
		}
	}
	return own
}

// foreign is the language that a sentence is in for sure: by its script, or where
// both halves of enough words say the same. A term, a name or a chance likeness
// is in one of them.
func foreign(sentence string) string {
	g := languages.Of(sentence)
	if g.Plain || g.Code == "" {
		return g.Code
	}
	words := strings.Fields(sentence)
	half := len(words) / 2
	if len(words) < foreignWords || languages.Of(strings.Join(words[:half], " ")).Code != g.Code || languages.Of(strings.Join(words[half:], " ")).Code != g.Code {
		return ""
	}
	return g.Code
}

// foreignWords is how many words of a sentence show that it is in another language.
const foreignWords = 8

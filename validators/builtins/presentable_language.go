package builtins

import (
	"strings"

	"github.com/seed61713e19/capstan/validators/languages"
	"github.com/seed61713e19/capstan/validators/reading"
)

// Of a presentable text: the language of its sentences.

// mixed finds sentences in another language than those asked for or, where none
// is, than most words of the text are in.
func (d *draft) mixed() {
	said, in := d.guessed(), d.In
	if len(in) == 0 {
		in = []string{own(said)}
	} else if g := languages.Of(d.said()); len(g.Either) > 0 && !g.MayBe(in) {
		d.tell(0, "the text is in %s", namesOf(g.Either))
		return
	}
	for _, s := range said {
		if in[0] != "" && s.Code != "" && !s.MayBe(in) && s.sure() {
			d.tell(s.at.From, "this is in %s: %s", languages.Name(s.Code), quote(s.at.In(d.source)))
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

// A guessed sentence is one with what it is written in.
type guessed struct {
	languages.Guess
	at   reading.Span
	text string // without quotations, code and addresses
}

func (d *draft) guessed() (all []guessed) {
	for _, p := range d.prose {
		for _, s := range p.Sentences {
			text := spoken(d.spokenIn(s))
			all = append(all, guessed{languages.Of(text), s, text})
		}
	}
	return all
}

// own is the language of most words; "" where it cannot be told, or where there
// is nothing else that it could be in.
func own(said []guessed) string {
	if len(said) <= 1 {
		return ""
	}
	words := map[string]int{}
	for _, s := range said {
		for _, code := range s.Either {
			if s.Code != "" {
				words[code] += s.Words
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

// sure says that a sentence is in its language without doubt: by its script, or
// where both halves of enough words say the same. A term, a name or a chance
// likeness is in one of them.
func (s guessed) sure() bool {
	if s.Plain {
		return true
	}
	words := strings.Fields(s.text)
	half := len(words) / 2
	return len(words) >= foreignWords && languages.Of(strings.Join(words[:half], " ")).Code == s.Code && languages.Of(strings.Join(words[half:], " ")).Code == s.Code
}

// foreignWords is how many words of a sentence show that it is in another language.
const foreignWords = 8

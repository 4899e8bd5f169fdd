package hints

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// A part is a piece of a hint between semicolons and line ends.
type part struct {
	text  string
	words []word
	err   error // the first problem of its quotes
}

// A word is a word without its quotes. A quoted word is no keyword.
type word struct {
	text   string
	source string // the argument of a program: the text, or a pattern with its slashes
	quoted bool
	shell  byte // the first character that a shell would interpret, or 0
}

// A scanner splits a hint into words at blanks, as a shell does. The quotes "…"
// (with \" and \\ as escapes), '…' and `…` contain blanks. An unclosed quote is
// a character.
type scanner struct {
	hint string
	at   int
	open [256]bool // the quotes that are not closed
}

// scan splits a hint.
func scan(hint string) (parts []part) {
	s := scanner{hint: hint}
	for s.at < len(hint) {
		if p := s.part(); p.words != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

func (s *scanner) part() (p part) {
	start := s.at
	for s.at < len(s.hint) && strings.IndexByte(";\n\r", s.hint[s.at]) < 0 {
		if strings.IndexByte(" \t", s.hint[s.at]) >= 0 {
			s.at++
			continue
		}
		n := len(p.words)
		var w word
		var err error
		if s.hint[s.at] == '/' && n > 0 && !p.words[n-1].quoted && p.words[n-1].text == "matches" {
			w, err = s.pattern()
		} else {
			w, err = s.word()
		}
		p.words, p.err = append(p.words, w), cmp.Or(p.err, err)
	}
	p.text = strings.TrimSpace(s.hint[start:s.at])
	s.at++
	return p
}

func (s *scanner) word() (w word, err error) {
	var text strings.Builder
	start := s.at
	for ; s.at < len(s.hint) && strings.IndexByte(" \t\r\n;", s.hint[s.at]) < 0; s.at++ {
		c := s.hint[s.at]
		switch {
		case c == '\\' && s.at+1 == len(s.hint):
			err = errors.New(`a \ at the end`)
		case c == '\\':
			s.at++
			w.quoted = true
			text.WriteByte(s.hint[s.at])
		case c == '"', c == '`', c == '\'' && (s.at == start || strings.IndexByte(":=(", s.hint[s.at-1]) >= 0):
			inner, closed := s.quotation(c)
			if !closed {
				err = fmt.Errorf("a %c is not closed", c)
				inner = string(c)
			}
			if c == '`' {
				w.shell = c
			}
			w.quoted = w.quoted || closed
			text.WriteString(inner)
		default:
			next := s.hint[min(s.at+1, len(s.hint)-1)]
			if strings.IndexByte("|&<>*()", c) >= 0 || c == '$' && s.at+1 < len(s.hint) && next != ' ' {
				w.shell = cmp.Or(w.shell, c)
			}
			text.WriteByte(c)
		}
	}
	w.text, w.source = text.String(), text.String()
	return w, err
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// quotation returns the text between the quote at the scanner and the next one, and moves to
// the latter.
func (s *scanner) quotation(quote byte) (text string, closed bool) {
	for i := s.at + 1; i < len(s.hint) && !s.open[quote]; i++ {
		switch {
		case s.hint[i] == quote:
			text, s.at = s.hint[s.at+1:i], i
			if quote == '"' {
				text = unescaped.Replace(text)
			}
			return text, true
		case s.hint[i] == '\\' && (quote == '"' || quote == '/'):
			i++
		}
	}
	s.open[quote] = true
	return "", false
}

// pattern reads /RE/ with the flags i, m and s as (?flags)RE. The escape \/ is
// a slash.
func (s *scanner) pattern() (word, error) {
	start := s.at
	source, closed := s.quotation('/')
	if !closed {
		w, err := s.word()
		return w, cmp.Or(err, errors.New("a pattern is not closed with a /"))
	}
	s.at++
	flags, err := s.word()
	source = strings.ReplaceAll(source, `\/`, "/")
	if flags.text != "" {
		source = "(?" + flags.text + ")" + source
	}
	if err == nil && strings.Trim(flags.text, "ims") != "" {
		err = fmt.Errorf("%q is no set of the flags i, m and s", brief(flags.text, 80))
	}
	return word{text: source, source: s.hint[start:s.at], quoted: true}, err
}

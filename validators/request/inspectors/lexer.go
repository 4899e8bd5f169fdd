package inspectors

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A lexer reads the words of a check as a shell would part them: at blanks, but
// not in "…" (where \" and \\ stand for the character), '…' and `…`.
type lexer struct {
	text string
	at   int
}

// A word is a word and whether any of it was quoted. Only bare words are
// keywords.
type word struct {
	text   string
	quoted bool
}

func (w word) is(keyword string) bool { return !w.quoted && w.text == keyword }

func (w word) String() string {
	if w.text == "" && !w.quoted {
		return "the end"
	}
	return strconv.Quote(clip(w.text, 80))
}

func (l *lexer) blanks() {
	for l.at < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.at]) >= 0 {
		l.at++
	}
}

// more reports whether there is another word.
func (l *lexer) more() bool {
	l.blanks()
	return l.at < len(l.text)
}

// each reads the words that are left, each with what belongs to it.
func (l *lexer) each(clause func(w word, l *lexer) error) error {
	for l.more() {
		w, err := l.next()
		if err != nil {
			return err
		}
		if err := clause(w, l); err != nil {
			return err
		}
	}
	return nil
}

// next is the next word; at the end it is empty and not quoted.
func (l *lexer) next() (word, error) {
	l.blanks()
	var text strings.Builder
	var quoted bool
	for l.at < len(l.text) {
		c := l.text[l.at]
		l.at++
		switch c {
		case ' ', '\t', '\r', '\n':
			return word{text.String(), quoted}, nil
		case '"', '\'', '`':
			quoted = true
			n := closing(l.text[l.at:], c)
			if n < 0 {
				return word{}, fmt.Errorf("a %c is not closed", c)
			}
			text.WriteString(unquote(l.text[l.at:l.at+n], c))
			l.at += n + 1
		case '\\':
			if l.at == len(l.text) {
				return word{}, errors.New(`a \ at the end`)
			}
			quoted = true
			text.WriteByte(l.text[l.at])
			l.at++
		default:
			text.WriteByte(c)
		}
	}
	return word{text.String(), quoted}, nil
}

var unescaped = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

func unquote(text string, quote byte) string {
	if quote != '"' {
		return text
	}
	return unescaped.Replace(text)
}

// argument is the next word, which must be there.
func (l *lexer) argument(after string) (string, error) {
	w, err := l.next()
	if err != nil {
		return "", err
	}
	if w.text == "" {
		return "", fmt.Errorf("nothing stands behind %s", after)
	}
	return w.text, nil
}

// pattern is the next word as a regular expression: /…/ with flags of ims
// behind it, where \/ stands for a slash, or a quoted word.
func (l *lexer) pattern() (string, error) {
	if l.blanks(); l.at == len(l.text) || l.text[l.at] != '/' {
		return l.argument("matches")
	}
	n := closing(l.text[l.at+1:], '/')
	if n < 0 {
		return "", errors.New("a pattern is not closed with a /")
	}
	source := strings.ReplaceAll(l.text[l.at+1:l.at+1+n], `\/`, "/")
	l.at += n + 2
	flags, err := l.next()
	if err != nil {
		return "", err
	}
	if flags.text != "" {
		if strings.Trim(flags.text, "ims") != "" {
			return "", fmt.Errorf("%s is no set of the flags i, m and s", flags)
		}
		source = "(?" + flags.text + ")" + source
	}
	return source, nil
}

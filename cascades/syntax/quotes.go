package syntax

import (
	"strings"
	"unicode/utf8"
)

// A quoteReader finds the quote that makes a file invalid YAML. The quote is not closed, or
// the quote of another text closes it.
//
//	a: 'it's'           the text in quotes ends before s'
//	a: "x               the quote is not closed on its line:
//	b: "y"              this one closes it
//
// The quoteReader only decides where a quote opens a text. A quote in a word, a comment or a
// block does not open a text. The quoteReader also finds text after the brackets of a value,
// because the author probably meant a text in quotes.
type quoteReader struct {
	lines []string
	line  int // from 0
	at    int
	flow  int  // number of open brackets
	first int  // column of the first bracket after a key on the line; 0 for none
	begin bool // a text can begin here, so that a quote opens a text
}

// strayQuote returns the position and the message of an open quote, or of text after a closing
// quote. The message is "" if the text is correct.
func strayQuote(lines []string) (line, column int, message string) {
	r := &quoteReader{lines: lines}
	for ; r.line < len(lines); r.line++ {
		for r.at, r.begin, r.first = 0, true, 0; r.at < len(lines[r.line]); {
			if line, column, message = r.step(); message != "" {
				return line, column, message
			}
		}
	}
	return
}

// step reads a character, a text in quotes, or the rest of a block.
func (r *quoteReader) step() (line, column int, message string) {
	text := r.lines[r.line]
	c := text[r.at]
	before := r.at == 0 || text[r.at-1] == ' ' || text[r.at-1] == '\t'
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		r.at++
	case c == '#' && before:
		r.at = len(text)
	case r.begin && (c == '"' || c == '\''):
		return r.quoted(c)
	case r.begin && r.flow == 0 && (c == '|' || c == '>'):
		r.block(text)
	case (c == '[' || c == '{') && (r.begin || r.flow > 0):
		if r.flow == 0 && strings.TrimSpace(text[:r.at]) != "" {
			r.first = r.at
		}
		r.flow, r.begin, r.at = r.flow+1, true, r.at+1
	case (c == ']' || c == '}') && r.flow > 0:
		r.flow, r.begin, r.at = r.flow-1, false, r.at+1
		if rest := r.behind(); r.first > 0 && r.flow == 0 && rest != "" && !strings.ContainsAny(rest[:1], ":#") {
			return r.line + 1, r.column(r.line, r.first), "a text that begins with { or [ needs quotes: this one goes on behind its brackets"
		}
	case c == ',' && r.flow > 0, c == ':' && blankAt(text, r.at+1), c == '-' && r.begin && blankAt(text, r.at+1):
		r.begin, r.at = true, r.at+1
	case r.begin && (c == '&' || c == '!'): // an anchor or a tag precedes the text
		for !blankAt(text, r.at) {
			r.at++
		}
	default:
		r.begin, r.at = false, r.at+1
	}
	return
}

func blankAt(text string, at int) bool {
	return at >= len(text) || text[at] == ' ' || text[at] == '\t' || text[at] == '\r'
}

// quoted reads a text in quotes and checks the text after it.
func (r *quoteReader) quoted(quote byte) (line, column int, message string) {
	opened, at := r.line, r.at
	for r.at++; r.line < len(r.lines); r.line, r.at = r.line+1, 0 {
		text := r.lines[r.line]
		for ; r.at < len(text); r.at++ {
			switch {
			case quote == '"' && text[r.at] == '\\', quote == '\'' && strings.HasPrefix(text[r.at:], "''"):
				r.at++
			case text[r.at] == quote:
				r.at++
				return r.closed(opened, at)
			}
		}
	}
	return opened + 1, r.column(opened, at), "the quote that opens here is not closed"
}

// closed checks the text after the closing quote.
func (r *quoteReader) closed(opened, at int) (line, column int, message string) {
	rest := r.behind()
	switch {
	case rest == "" || strings.ContainsAny(rest[:1], ":#") || r.flow > 0 && strings.ContainsAny(rest[:1], ",]}"):
		return
	case r.line > opened:
		return opened + 1, r.column(opened, at), "the quote that opens here is not closed on its line; the next one closes it"
	}
	return r.line + 1, r.column(r.line, len(r.lines[r.line])-len(rest)), "the text in quotes ends before this: a quote within it is written twice in single quotes, and behind a \\ in double ones"
}

// behind returns the rest of the line without leading blanks.
func (r *quoteReader) behind() string { return strings.TrimLeft(r.lines[r.line][r.at:], " \t\r") }

func (r *quoteReader) column(line, at int) int { return 1 + utf8.RuneCountInString(r.lines[line][:at]) }

// block skips the lines of a block of text. They have a greater indentation than the owner of
// the block: its key, or its dash if the block directly follows a dash.
func (r *quoteReader) block(text string) {
	owner := indented(text)
	for strings.HasPrefix(text[owner:], "- ") && strings.TrimSpace(text[owner+1:r.at]) != "" {
		owner += 1 + indented(text[owner+1:])
	}
	for r.line++; r.line < len(r.lines); r.line++ {
		if next := r.lines[r.line]; strings.TrimSpace(next) != "" && indented(next) <= owner {
			break
		}
	}
	r.line, r.at = r.line-1, len(r.lines[r.line-1])
}

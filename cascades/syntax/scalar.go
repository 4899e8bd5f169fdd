package syntax

import (
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// A scalar maps the characters of the text of a value to their points in a file. Folding and
// quoting only change blanks. Therefore, the number of other characters before a character is
// the same in the text and in the file.
type scalar struct {
	start  Point
	end    Point
	lines  []string // lines of the text
	before []int    // number of solid characters before each line
	places []Point  // points of all solid characters
}

// quotes are the styles of texts in quotes.
const quotes = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle

var oneEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// newScalar finds the text of n in the file.
func newScalar(file *File, n *yaml.Node) *scalar {
	start := Point{max(n.Line, 1), max(n.Column, 1)}
	s := &scalar{start: start, end: start, lines: strings.Split(oneEnd.Replace(n.Value), "\n")}
	total := 0
	for _, line := range s.lines {
		s.before = append(s.before, total)
		total += solid(line)
	}
	w := walk{file: file, line: n.Line - 1, column: n.Column - 1, style: n.Style}
	if w.line < 0 || w.line >= len(file.Lines()) {
		return s
	}
	w.properties()
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		w.line, w.column = w.line+1, 0
	case n.Style&quotes != 0:
		w.column++
	}
	for len(s.places) <= total && w.reach() { // including the character after the last
		s.places = append(s.places, Point{w.line + 1, w.column + 1})
		w.past()
		if len(s.places) <= total || n.Style&quotes != 0 {
			s.end = Point{w.line + 1, w.column + 1}
		}
	}
	return s
}

// place returns the point of a line and a column of the text. For an unknown point, it returns
// the start of the value.
func (s *scalar) place(line, column int) Point {
	if i := s.solids(line, column); i < len(s.places) {
		return s.places[i]
	}
	return s.start
}

// solids returns the number of solid characters before a line and a column of the text.
func (s *scalar) solids(line, column int) int {
	line = min(max(line, 1), len(s.lines))
	text := s.lines[line-1]
	for i := range text {
		if column--; column == 0 {
			text = text[:i]
			break
		}
	}
	return s.before[line-1] + solid(text)
}

// solid returns the number of solid characters in a text. A character is solid if it is not
// blank.
func solid(text string) int {
	count := 0
	for _, r := range text {
		if !unicode.IsSpace(r) {
			count++
		}
	}
	return count
}

// A walk reads the source of a scalar character by character.
type walk struct {
	file         *File
	line, column int // counted from 0
	style        yaml.Style
}

// properties skips the anchor and the tag before a text.
func (w *walk) properties() {
	for {
		rest := w.rest()
		if len(rest) == 0 || rest[0] != '&' && rest[0] != '!' {
			return
		}
		for len(rest) > 0 && !unicode.IsSpace(rest[0]) {
			rest, w.column = rest[1:], w.column+1
		}
		for len(rest) > 0 && unicode.IsSpace(rest[0]) {
			rest, w.column = rest[1:], w.column+1
		}
	}
}

// rest returns the rest of the current line.
func (w *walk) rest() []rune {
	line := w.file.characters(w.line + 1)
	return line[min(w.column, len(line)):]
}

// reach moves to the next character that is not blank, even if it is on another line. It
// returns false at the end of the file.
func (w *walk) reach() bool {
	for w.line < len(w.file.Lines()) {
		rest := w.rest()
		for len(rest) > 0 {
			blank, size := w.char(rest)
			if !blank {
				return true
			}
			rest, w.column = rest[size:], w.column+size
		}
		w.line, w.column = w.line+1, 0
	}
	return false
}

// past skips the character that reach found.
func (w *walk) past() {
	_, size := w.char(w.rest())
	w.column += size
}

// char reports whether the next character of the text is blank, and returns its number of
// characters in the source.
func (w *walk) char(rest []rune) (blank bool, size int) {
	switch {
	case w.style&yaml.SingleQuotedStyle != 0 && len(rest) > 1 && rest[0] == '\'' && rest[1] == '\'':
		return false, 2
	case w.style&yaml.DoubleQuotedStyle != 0 && rest[0] == '\\':
		return escape(rest)
	default:
		return unicode.IsSpace(rest[0]), 1
	}
}

// escape reads an escape in double quotes. In a surrogate pair, the high half counts as a
// blank and the low half as the character.
func escape(rest []rune) (blank bool, size int) {
	if len(rest) == 1 {
		return true, 1 // the text continues on the next line
	}
	if strings.ContainsRune("ntrvfN_LP \t\r", rest[1]) {
		return true, 2
	}
	end := min(2+map[rune]int{'x': 2, 'u': 4, 'U': 8}[rest[1]], len(rest))
	code, _ := strconv.ParseUint(string(rest[2:end]), 16, 32)
	r := rune(code)
	return unicode.IsSpace(r) || r >= 0xD800 && r < 0xDC00, end
}

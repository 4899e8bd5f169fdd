package documents

import (
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// A Scalar knows where in a file the characters of a value's text stand. Folding and
// quoting change nothing of a text but its blanks, so the way to a character is as
// many others that are not blank.
type Scalar struct {
	node   *yaml.Node
	lines  []string // of the text
	before []int    // the solid characters before each line
	places []place  // of every solid character
}

var oneEnd = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// NewScalar finds the text of n in the lines of the file that it was read from.
func NewScalar(file []string, n *yaml.Node) *Scalar {
	s := &Scalar{node: n, lines: strings.Split(oneEnd.Replace(n.Value), "\n")}
	total := 0
	for _, line := range s.lines {
		s.before = append(s.before, total)
		total += solid(line)
	}
	w := walk{lines: file, line: n.Line - 1, column: n.Column - 1, style: n.Style}
	if w.line < 0 || w.line >= len(w.lines) {
		return s
	}
	w.properties()
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		w.line, w.column = w.line+1, 0
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		w.column++
	}
	for len(s.places) <= total && w.reach() { // and what follows the last
		s.places = append(s.places, place{w.line + 1, w.column + 1})
		w.past()
	}
	return s
}

// Place is where in the file a line and a column of the text stand, counted from 1
// in characters; where that is not known, where the value begins.
func (s *Scalar) Place(line, column int) (inLine, inColumn int) {
	if i := s.solids(line, column); i < len(s.places) {
		return s.places[i].line, s.places[i].column
	}
	return max(s.node.Line, 1), max(s.node.Column, 1)
}

// solids counts the characters before a place in the text that are not blank.
func (s *Scalar) solids(line, column int) int {
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

// solid counts the characters that are not blank.
func solid(text string) int {
	count := 0
	for _, r := range text {
		if !unicode.IsSpace(r) {
			count++
		}
	}
	return count
}

// A walk goes through the source of a scalar character by character.
type walk struct {
	lines        []string
	line, column int
	style        yaml.Style
	runes        []rune // of the line
	loaded       int    // the line that runes are of, from 1
}

// properties skips an anchor and a tag before the text.
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

// rest is what is left of the line.
func (w *walk) rest() []rune {
	if w.loaded != w.line+1 {
		w.runes, w.loaded = []rune(w.lines[w.line]), w.line+1
	}
	return w.runes[min(w.column, len(w.runes)):]
}

// reach goes to the next character that is not blank, over line ends; false at
// the end of the file.
func (w *walk) reach() bool {
	for w.line < len(w.lines) {
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

// past goes past the character that reach found.
func (w *walk) past() {
	_, size := w.char(w.rest())
	w.column += size
}

// char tells whether the text's next character is a blank and how many
// characters of the source it takes.
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

// escape reads an escape of a double-quoted text. The high half of a surrogate
// pair counts for nothing; the low one stands for both.
func escape(rest []rune) (blank bool, size int) {
	if len(rest) == 1 {
		return true, 1 // the line goes on
	}
	if strings.ContainsRune("ntrvfN_LP \t\r", rest[1]) {
		return true, 2
	}
	end := min(2+map[rune]int{'x': 2, 'u': 4, 'U': 8}[rest[1]], len(rest))
	code, _ := strconv.ParseUint(string(rest[2:end]), 16, 32)
	r := rune(code)
	return unicode.IsSpace(r) || r >= 0xD800 && r < 0xDC00, end
}

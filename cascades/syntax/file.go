package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A Point is a line and a column of a file, both from 1. Columns count characters.
type Point struct{ Line, Column int }

// A Range is a part of a file. It includes Start and excludes End.
type Range struct{ Start, End Point }

// MaxSource is the maximum size of a file with a tree, in bytes.
const MaxSource = 4 << 20

// A File is the text of a file with the tree of its values. Use it in one goroutine.
type File struct {
	Name   string
	Source []byte

	text   string
	lines  []string
	ranges map[*yaml.Node]Range
	runes  []rune // characters of the line that was read last
	loaded int    // its number

	root    *yaml.Node // nil before the first call of Tree
	mistake *Mistake
}

// New returns a file. If the caller does not need the tree, the text need not be YAML.
func New(name string, source []byte) *File {
	return &File{Name: name, Source: source, text: string(Unmarked(source)), ranges: map[*yaml.Node]Range{}}
}

// Tree returns the tree of the values with their comments. It parses the file once. The root
// is a document node with one value. A JSON parser reads JSON, because YAML does not accept
// all of it. A file whose name ends with .json must be JSON.
//
// If the text has a mistake, the tree has the keys and texts that follow from indentation and
// brackets, without anchors, tags and escapes. The tree of a text that is too large is empty.
func (f *File) Tree() (*yaml.Node, *Mistake) {
	if f.root != nil {
		return f.root, f.mistake
	}
	if len(f.text) > MaxSource {
		f.mistake = &Mistake{1, 1, fmt.Sprintf("the file has %d bytes; a cascade may have %d", len(f.text), MaxSource)}
		f.root = (&File{}).recovered()
		return f.root, f.mistake
	}
	if f.root, f.mistake = read(f.Name, Unmarked(f.Source)); f.mistake != nil {
		f.root = f.recovered()
	}
	return f.root, f.mistake
}

// Lines returns the lines of the file without their ends.
func (f *File) Lines() []string {
	if f.lines == nil {
		f.lines = strings.Split(f.text, "\n")
	}
	return f.lines
}

// Line returns a line of the file, or "" if the file has no such line. Lines start at 1.
func (f *File) Line(number int) string {
	if lines := f.Lines(); number >= 1 && number <= len(lines) {
		return strings.TrimSuffix(lines[number-1], "\r")
	}
	return ""
}

// characters returns the characters of a line. Lines start at 1. It stores the last line,
// because callers often read the same line.
func (f *File) characters(number int) []rune {
	if f.loaded != number {
		f.runes, f.loaded = []rune(f.Lines()[number-1]), number
	}
	return f.runes
}

// Inside returns a function that maps a line and a column of the text of a scalar to a point
// in the file.
func (f *File) Inside(n *yaml.Node) func(line, column int) Point {
	var s *scalar
	return func(line, column int) Point {
		if s == nil {
			s = newScalar(f, n)
		}
		return s.place(line, column)
	}
}

// Range returns the range of a value. It includes the anchor, tag, quotes and brackets of the
// value, but no comments after the value.
func (f *File) Range(n *yaml.Node) Range {
	if r, ok := f.ranges[n]; ok {
		return r
	}
	r := Range{Start: Point{max(n.Line, 1), max(n.Column, 1)}}
	switch n.Kind {
	case yaml.AliasNode:
		r.End = Point{r.Start.Line, r.Start.Column + 1 + utf8.RuneCountInString(n.Value)}
	case yaml.ScalarNode:
		r.End = newScalar(f, n).end
	default:
		r.End = f.endOf(n)
	}
	if r.End.Line < r.Start.Line || r.End.Line == r.Start.Line && r.End.Column < r.Start.Column {
		r.End = r.Start
	}
	f.ranges[n] = r
	return r
}

// Texts returns the parts of the lines that contain the text of a scalar. They exclude
// indentation, anchors, tags and quotes, and include escapes.
func (f *File) Texts(n *yaml.Node) []Range {
	r := f.Range(n)
	if n.Kind != yaml.ScalarNode || r.Start == r.End || r.End.Line > len(f.Lines()) {
		return nil
	}
	w := walk{file: f, line: r.Start.Line - 1, column: r.Start.Column - 1}
	w.properties()
	switch start := (Point{w.line + 1, w.column + 1}); {
	case n.Style&quotes != 0:
		quote := w.rest()
		w.column++
		last := f.characters(r.End.Line)
		last = last[:min(r.End.Column-1, len(last))]
		if closing := (Point{r.End.Line, r.End.Column - 1}); closing != start && len(last) > 0 && len(quote) > 0 && last[len(last)-1] == quote[0] {
			r.End = closing
		}
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		w.line, w.column = w.line+1, 0
	}
	var texts []Range
	for line := w.line + 1; line <= r.End.Line; line++ {
		runes := f.characters(line)
		start, end := indentation(runes), len(runes)
		if line == w.line+1 && w.column > 0 {
			start = w.column
		}
		if line == r.End.Line {
			end = min(r.End.Column-1, end)
		} else if end > 0 && runes[end-1] == '\r' {
			end--
		}
		if start <= end {
			texts = append(texts, Range{Point{line, start + 1}, Point{line, end + 1}})
		}
	}
	return texts
}

// Slice returns the text of a range within a line.
func (f *File) Slice(r Range) string {
	return string(f.characters(r.Start.Line)[r.Start.Column-1 : r.End.Column-1])
}

// endOf returns the end of a mapping or a list. It is the closing bracket or the end of the
// last value.
func (f *File) endOf(n *yaml.Node) Point {
	end := Point{n.Line, n.Column}
	for i := len(n.Content) - 1; i >= 0; i-- { // a missing value has no text
		if last := f.Range(n.Content[i]); last.End != last.Start {
			end = last.End
			break
		}
	}
	w := walk{file: f, line: end.Line - 1, column: end.Column - 1}
	if n.Style&yaml.FlowStyle == 0 || w.line < 0 || w.line >= len(f.Lines()) {
		return end
	}
	open, closing := '[', ']'
	if n.Kind == yaml.MappingNode {
		open, closing = '{', '}'
	}
	if len(n.Content) == 0 {
		w.properties()
	}
	for w.reach() {
		switch next := w.rest()[0]; next {
		case closing:
			return Point{w.line + 1, w.column + 2}
		case '#':
			w.line, w.column = w.line+1, 0
		case ',', ':', open:
			w.column++
		default:
			return end
		}
	}
	return end
}

// Word returns the range of the word, number or quoted text at a point. The range has at least
// one character.
func (f *File) Word(at Point) Range {
	rest := f.From(at)
	first, size := utf8.DecodeRuneInString(rest)
	length := size
	switch quote := strings.IndexRune(rest[size:], first); {
	case (first == '"' || first == '\'') && quote >= 0:
		length += quote + size
	case wordly(first):
		if length = strings.IndexFunc(rest, func(r rune) bool { return !wordly(r) }); length < 0 {
			length = len(rest)
		}
	}
	return Range{at, Point{at.Line, at.Column + max(utf8.RuneCountInString(rest[:length]), 1)}}
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// From returns the rest of a line after a point.
func (f *File) From(at Point) string {
	line := f.Line(at.Line)
	for column := 1; column < at.Column && line != ""; column++ {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}

package syntax

import (
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// A recovery reads the values of a text that is neither YAML nor JSON, such as an unfinished
// file in an editor. It reads the text line by line, with its indentation, keys and brackets:
//
//   - name: draft
//     instr               a key without a value
//     handoffs: [polish   the bracket ends with the next key of the phase
//
// The text of a value in quotes contains its escapes unchanged.
type recovery struct {
	file   *File
	lines  [][]rune
	stack  []level
	line   int // counted from 0, like column
	column int
	indent int // indentation of the value with the bracket or quote
	opened int // line of the outermost bracket
}

// A level is a value in a block, and the indentation of its key or dash.
type level struct {
	indent int
	entry  bool // the value is an entry of a list
	value  *yaml.Node
}

// The limits of a recovered tree.
const (
	maxLevels = 200 // depth of values in blocks
	maxFlow   = 100 // depth of brackets
)

// flowEnds are the characters that end an unquoted text within brackets.
const flowEnds = ",]}"

// recovered returns the document node of a text with a mistake.
func (f *File) recovered() *yaml.Node {
	root := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1}
	r := &recovery{file: f, stack: []level{{indent: -1, value: root}}}
	for _, line := range f.Lines() {
		r.lines = append(r.lines, []rune(strings.TrimSuffix(line, "\r")))
	}
	for r.line < len(r.lines) {
		line := r.lines[r.line]
		r.column = indentation(line)
		if r.column == len(line) || line[r.column] == '#' || line[0] == '%' || strings.HasPrefix(string(line), "---") {
			r.line++
			continue
		}
		r.block()
	}
	return &yaml.Node{Kind: yaml.DocumentNode, Line: 1, Column: 1, Content: []*yaml.Node{root}}
}

func indentation(line []rune) int {
	for i, c := range line {
		if !blank(c) {
			return i
		}
	}
	return len(line)
}

func blank(c rune) bool { return c == ' ' || c == '\t' }

// empty returns a missing value at the current position.
func (r *recovery) empty() *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: r.line + 1, Column: r.column + 1}
}

func isEmpty(n *yaml.Node) bool { return n.Tag == "!!null" }

// set turns a node into a text that ends before a column of the current line.
func (r *recovery) set(n *yaml.Node, style yaml.Style, text string, start Point, end int) {
	*n = yaml.Node{Kind: yaml.ScalarNode, Style: style, Value: text, Line: start.Line, Column: start.Column}
	r.file.ranges[n] = Range{start, Point{r.line + 1, end + 1}}
}

// wrap replaces a value with a mapping or a list. The value becomes the first key or the first
// entry.
func (r *recovery) wrap(n *yaml.Node, kind yaml.Kind) {
	inner := *n
	*n = yaml.Node{Kind: kind, Line: n.Line, Column: n.Column}
	if isEmpty(&inner) {
		return
	}
	n.Content = append(n.Content, &inner)
	if kind == yaml.MappingNode {
		n.Content = append(n.Content, r.empty())
	}
	if text, ok := r.file.ranges[n]; ok {
		r.file.ranges[&inner] = text
		delete(r.file.ranges, n)
	}
}

// entry adds an entry to a list and returns the entry.
func (r *recovery) entry(n *yaml.Node) *yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.wrap(n, yaml.SequenceNode)
	}
	n.Content = append(n.Content, r.empty())
	return n.Content[len(n.Content)-1]
}

// pair adds a key and its value to a mapping. For a list, it adds a mapping as a new entry.
func (r *recovery) pair(n *yaml.Node) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.SequenceNode:
		n = r.entry(n)
		n.Kind, n.Tag = yaml.MappingNode, ""
	case yaml.ScalarNode:
		r.wrap(n, yaml.MappingNode)
	}
	key, value = r.empty(), r.empty()
	n.Content = append(n.Content, key, value)
	return key, value
}

// free returns the node for the next text of a value. It is the value itself if the value is
// missing, a new entry of a list, or a new key of a mapping.
func (r *recovery) free(n *yaml.Node) *yaml.Node {
	switch {
	case isEmpty(n):
		return n
	case n.Kind == yaml.SequenceNode:
		return r.entry(n)
	}
	key, _ := r.pair(n)
	return key
}

func (r *recovery) top() *yaml.Node { return r.stack[len(r.stack)-1].value }

func (r *recovery) pop(done func(level) bool) {
	for n := len(r.stack); n > 1 && done(r.stack[n-1]); n-- {
		r.stack = r.stack[:n-1]
	}
}

func (r *recovery) skipBlanks() {
	for line := r.lines[r.line]; r.column < len(line) && blank(line[r.column]); {
		r.column++
	}
}

// block reads a line outside brackets, and the rest of a value that begins on the line.
func (r *recovery) block() {
	line := r.lines[r.line]
	for len(r.stack) < maxLevels && r.column < len(line) && line[r.column] == '-' && (r.column+1 == len(line) || blank(line[r.column+1])) {
		r.pop(func(l level) bool { return l.indent > r.column || l.indent == r.column && l.entry })
		r.stack = append(r.stack, level{indent: r.column, entry: true, value: r.entry(r.top())})
		r.column++
		r.skipBlanks()
	}
	r.pop(func(l level) bool { return l.indent >= r.column })
	if k, ok := keyAt(line, r.column, ""); ok && len(r.stack) < maxLevels {
		key, value := r.pair(r.top())
		r.setKey(key, k)
		r.stack = append(r.stack, level{indent: r.column, value: value})
		r.column = k.after
	}
	r.value()
}

// A key is the position of a key in a line: the range of its text, and the column after the
// colon.
type key struct{ start, end, after int }

// setKey turns a node into a key of the current line.
func (r *recovery) setKey(n *yaml.Node, k key) {
	line, style, start, end := r.lines[r.line], yaml.Style(0), k.start, k.end
	if k.after > k.end+1 { // past a closing quote
		style, start, end = styleOf(line[k.start-1]), start-1, end+1
	}
	r.set(n, style, string(line[k.start:k.end]), Point{r.line + 1, start + 1}, end)
}

func styleOf(quote rune) yaml.Style {
	if quote == '"' {
		return yaml.DoubleQuotedStyle
	}
	return yaml.SingleQuotedStyle
}

// keyAt returns the key at a column of a line. An unquoted key must not contain any character
// of ends.
func keyAt(line []rune, column int, ends string) (k key, ok bool) {
	if column >= len(line) {
		return k, false
	}
	k.start = column
	switch q := line[column]; {
	case q == '"' || q == '\'':
		k.start++
		for k.end = k.start; k.end < len(line) && line[k.end] != q; k.end++ {
		}
		for k.after = k.end + 1; k.after < len(line) && blank(line[k.after]); k.after++ {
		}
	case strings.ContainsRune("{[#|>&*!%@`", q):
		return k, false
	default:
		for k.end = column; k.end < len(line) && !(line[k.end] == ':' && (k.end+1 == len(line) || blank(line[k.end+1]))); k.end++ {
			if c := line[k.end]; strings.ContainsRune(ends, c) || c == '#' && k.end > 0 && line[k.end-1] == ' ' {
				return k, false
			}
		}
		k.after = k.end
	}
	if k.after >= len(line) || line[k.after] != ':' {
		return k, false
	}
	k.after++
	return k, true
}

// value reads the value after a key or a dash, up to the end of its last line.
func (r *recovery) value() {
	line := r.lines[r.line]
	r.indent = r.stack[len(r.stack)-1].indent
	r.skipBlanks()
	for r.column < len(line) && (line[r.column] == '&' || line[r.column] == '!') { // an anchor, a tag
		for r.column < len(line) && line[r.column] != ' ' {
			r.column++
		}
		r.skipBlanks()
	}
	n := r.top()
	switch {
	case r.column >= len(line) || line[r.column] == '#':
	case line[r.column] == '|' || line[r.column] == '>':
		r.literal(r.free(n))
	case line[r.column] == '{' || line[r.column] == '[':
		r.opened = r.line
		r.flow(r.free(n), 0)
	case line[r.column] == '"' || line[r.column] == '\'':
		r.quoted(r.free(n), line[r.column])
	case n.Kind == yaml.ScalarNode && n.Style == 0 && !isEmpty(n): // the text continues
		text, start := n.Value, r.file.ranges[n].Start
		r.plain(n, "")
		r.set(n, 0, text+" "+n.Value, start, r.file.ranges[n].End.Column-1)
	default:
		r.plain(r.free(n), "")
	}
	r.line++
}

// literal reads a block of text.
func (r *recovery) literal(n *yaml.Node) {
	start, style := Point{r.line + 1, r.column + 1}, yaml.LiteralStyle
	if r.lines[r.line][r.column] == '>' {
		style = yaml.FoldedStyle
	}
	var text []string
	for r.line+1 < len(r.lines) {
		next := r.lines[r.line+1]
		if indent := indentation(next); indent < len(next) && indent <= r.indent {
			break
		}
		r.line++
		text = append(text, strings.TrimLeft(string(next), " \t"))
	}
	r.set(n, style, strings.Join(text, "\n"), start, len(r.lines[r.line]))
}

// quoted reads a text in quotes. Its other lines must have a greater indentation than its key.
func (r *recovery) quoted(n *yaml.Node, quote rune) {
	start, text := Point{r.line + 1, r.column + 1}, []string(nil)
	r.column++
	for {
		line, from := r.lines[r.line], min(r.column, len(r.lines[r.line]))
		for ; r.column < len(line); r.column++ {
			if line[r.column] == '\\' && quote == '"' || quote == '\'' && line[r.column] == quote && r.column+1 < len(line) && line[r.column+1] == quote {
				r.column++
			} else if line[r.column] == quote {
				text = append(text, string(line[from:r.column]))
				r.column++
				r.set(n, styleOf(quote), strings.Join(text, " "), start, r.column)
				return
			}
		}
		text = append(text, string(line[from:]))
		if r.line+1 >= len(r.lines) || indentation(r.lines[r.line+1]) <= r.indent {
			r.set(n, styleOf(quote), strings.Join(text, " "), start, len(line))
			return
		}
		r.line++
		r.column = indentation(r.lines[r.line])
	}
}

// plain reads an unquoted text, up to a character of ends or the end of the line.
func (r *recovery) plain(n *yaml.Node, ends string) {
	line, start := r.lines[r.line], r.column
	for ; r.column < len(line); r.column++ {
		if c := line[r.column]; strings.ContainsRune(ends, c) || c == '#' && r.column > start && line[r.column-1] == ' ' {
			break
		}
	}
	text := strings.TrimRightFunc(string(line[start:r.column]), unicode.IsSpace)
	r.set(n, 0, text, Point{r.line + 1, start + 1}, start+len([]rune(text)))
}

// next moves to the next character within brackets. It returns 0 at the end of the value that
// contains the brackets.
func (r *recovery) next() rune {
	for r.line < len(r.lines) {
		line := r.lines[r.line]
		if indent := indentation(line); r.line > r.opened && r.column == 0 && indent < len(line) && indent <= r.indent && line[indent] != ']' && line[indent] != '}' {
			r.line-- // the caller reads the line as a block
			r.column = len(r.lines[r.line])
			return 0
		}
		r.skipBlanks()
		if r.column < len(line) && line[r.column] != '#' {
			return line[r.column]
		}
		r.line, r.column = r.line+1, 0
	}
	return 0
}

// flow reads one value within brackets.
func (r *recovery) flow(n *yaml.Node, depth int) {
	c := r.next()
	switch {
	case c == 0:
	case (c == '{' || c == '[') && depth < maxFlow:
		*n = yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Line: r.line + 1, Column: r.column + 1}
		if c == '{' {
			n.Kind = yaml.MappingNode
		}
		r.column++
		r.entries(n, depth)
	case c == '"' || c == '\'':
		r.quoted(n, c)
	default:
		before := r.column
		r.plain(n, flowEnds)
		r.column = max(r.column, before+1)
	}
}

// entries reads the values of a mapping or a list in brackets, and the closing bracket.
func (r *recovery) entries(n *yaml.Node, depth int) {
	for {
		switch c := r.next(); {
		case c == 0:
			return
		case c == '}' || c == ']':
			r.column++
			return
		case c == ',':
			r.column++
		case n.Kind == yaml.SequenceNode:
			r.flow(r.entry(n), depth+1)
		default:
			r.flowPair(n, depth)
		}
	}
}

// flowPair reads a key and its value within brackets.
func (r *recovery) flowPair(n *yaml.Node, depth int) {
	line := r.lines[r.line]
	name, value := r.pair(n)
	if k, ok := keyAt(line, r.column, flowEnds); ok {
		r.setKey(name, k)
		r.column = k.after
		if c := r.next(); c != 0 && c != ',' && c != '}' && c != ']' {
			r.flow(value, depth+1)
		}
		return
	}
	before := r.column
	r.plain(name, flowEnds)
	r.column = max(r.column, before+1)
}

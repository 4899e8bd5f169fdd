package lsp

import (
	"slices"
	"strconv"
	"strings"
)

// A token is a key or a text of a file, at its path. A text of several lines is a
// token for each.
type token struct {
	path       []string // keys from the top, [0] for the entries of lists; of a text its own key is the last
	key        bool
	text       string
	line       int // from 0
	start, end int // in characters, within the quotes
}

// name is the last of a path.
func (t token) name() string {
	if len(t.path) == 0 {
		return ""
	}
	return t.path[len(t.path)-1]
}

// An outliner reads a file for its tokens. It takes what is not YAML, or not yet:
// a line that it cannot make sense of is a text of what stands around it by its
// indentation, and a bracket that is not closed ends with what it belongs to.
type outliner struct {
	lines  [][]rune
	tokens []token
	stack  []level
	top    int // entries of a list that the whole file is
	at     int // the line that is read, and the place in it
	column int
	owner  int // the indentation of what a bracket belongs to
	begun  int // the line of the bracket
}

// A level is a key or an entry of a list with what stands below it.
type level struct {
	indent  int
	name    string
	item    bool
	entries int
}

func outline(text string) []token {
	o := &outliner{}
	for line := range strings.SplitSeq(text, "\n") {
		o.lines = append(o.lines, []rune(strings.TrimSuffix(line, "\r")))
	}
	for o.at < len(o.lines) {
		o.column = indentation(o.lines[o.at])
		if line := o.lines[o.at]; o.column == len(line) || line[o.column] == '#' || strings.HasPrefix(string(line), "---") {
			o.at++
			continue
		}
		o.block()
	}
	return o.tokens
}

func indentation(line []rune) int {
	for i, r := range line {
		if r != ' ' && r != '\t' {
			return i
		}
	}
	return len(line)
}

func (o *outliner) path() []string {
	path := make([]string, len(o.stack))
	for i, l := range o.stack {
		path[i] = l.name
	}
	return path
}

func (o *outliner) add(path []string, key bool, line, start, end int) {
	text := string(o.lines[line][start:end])
	o.tokens = append(o.tokens, token{path, key, text, line, start, end})
}

// block reads a line that is not within brackets, and what it opens.
func (o *outliner) block() {
	line := o.lines[o.at]
	o.skipBlanks()
	for o.column < len(line) && line[o.column] == '-' && (o.column+1 == len(line) || line[o.column+1] == ' ') {
		o.pop(func(l level) bool { return l.indent > o.column || l.indent == o.column && l.item })
		entries := &o.top
		if n := len(o.stack); n > 0 {
			entries = &o.stack[n-1].entries
		}
		name := "[" + strconv.Itoa(*entries) + "]"
		*entries++ // before the stack grows, and may move
		o.stack = append(o.stack, level{indent: o.column, name: name, item: true})
		o.column++
		o.skipBlanks()
	}
	o.pop(func(l level) bool { return l.indent >= o.column })
	if start, end, after := keyAt(line, o.column); after > 0 {
		o.add(o.path(), true, o.at, start, end)
		o.stack = append(o.stack, level{indent: o.column, name: string(line[start:end])})
		o.column = after
	}
	o.value()
}

func (o *outliner) pop(gone func(level) bool) {
	for n := len(o.stack); n > 0 && gone(o.stack[n-1]); n-- {
		o.stack = o.stack[:n-1]
	}
}

func (o *outliner) skipBlanks() {
	for line := o.lines[o.at]; o.column < len(line) && (line[o.column] == ' ' || line[o.column] == '\t'); {
		o.column++
	}
}

// keyAt finds a key at a place of a line: where its text begins and ends, and the
// place behind the colon; after is 0 where there is none.
func keyAt(line []rune, at int) (start, end, after int) {
	if at >= len(line) {
		return 0, 0, 0
	}
	start, end = at, at
	if q := line[at]; q == '"' || q == '\'' {
		start = at + 1
		for end = start; end < len(line) && line[end] != q; end++ {
		}
		after = end + 1
	} else if strings.ContainsRune("{[#|>&*!%@`", line[at]) {
		return 0, 0, 0
	} else {
		for end = at; end < len(line) && !(line[end] == ':' && (end+1 == len(line) || line[end+1] == ' ' || line[end+1] == '\t')); end++ {
			if line[end] == '#' && end > 0 && line[end-1] == ' ' {
				return 0, 0, 0
			}
		}
		after = end
	}
	if after >= len(line) || line[after] != ':' {
		return 0, 0, 0
	}
	return start, end, after + 1
}

// value reads what stands behind a key or a dash, to the end of its lines.
func (o *outliner) value() {
	line := o.lines[o.at]
	o.owner = -1
	if n := len(o.stack); n > 0 {
		o.owner = o.stack[n-1].indent
	}
	o.skipBlanks()
	for o.column < len(line) && (line[o.column] == '&' || line[o.column] == '!') { // an anchor, a tag
		for o.column < len(line) && line[o.column] != ' ' {
			o.column++
		}
		o.skipBlanks()
	}
	switch {
	case o.column >= len(line) || line[o.column] == '#':
		o.at++
	case line[o.column] == '|' || line[o.column] == '>':
		for o.at++; o.at < len(o.lines); o.at++ {
			indent := indentation(o.lines[o.at])
			if indent < len(o.lines[o.at]) && indent <= o.owner {
				return
			}
			o.add(o.path(), false, o.at, indent, len(o.lines[o.at]))
		}
	case line[o.column] == '{' || line[o.column] == '[':
		o.begun = o.at
		o.flow(o.path(), 0)
		if o.at < len(o.lines) {
			o.at++
		}
	case line[o.column] == '"' || line[o.column] == '\'':
		o.quoted(o.path(), line[o.column])
		o.at++
	default:
		o.plain(o.path(), "")
		o.at++
	}
}

// quoted reads a text in quotes, which may go on over lines that are indented
// further than its owner.
func (o *outliner) quoted(path []string, quote rune) {
	o.column++
	for {
		line, start := o.lines[o.at], min(o.column, len(o.lines[o.at]))
		for ; o.column < len(line); o.column++ {
			if line[o.column] == '\\' && quote == '"' || quote == '\'' && line[o.column] == quote && o.column+1 < len(line) && line[o.column+1] == quote {
				o.column++
			} else if line[o.column] == quote {
				o.add(path, false, o.at, start, o.column)
				o.column++
				return
			}
		}
		o.add(path, false, o.at, start, len(line))
		if o.at+1 >= len(o.lines) || indentation(o.lines[o.at+1]) <= o.owner {
			return
		}
		o.at++
		o.column = indentation(o.lines[o.at])
	}
}

// plain reads a text without quotes, to a character of ends or its line's end.
func (o *outliner) plain(path []string, ends string) {
	line, start := o.lines[o.at], o.column
	for ; o.column < len(line); o.column++ {
		r := line[o.column]
		if strings.ContainsRune(ends, r) || r == '#' && o.column > start && line[o.column-1] == ' ' {
			break
		}
	}
	end := o.column
	for end > start && (line[end-1] == ' ' || line[end-1] == '\t') {
		end--
	}
	o.add(path, false, o.at, start, end)
}

// next goes to the next character within brackets, 0 where they end with what
// they belong to.
func (o *outliner) next() rune {
	for o.at < len(o.lines) {
		line := o.lines[o.at]
		if o.at > o.begun && o.column == 0 && indentation(line) < len(line) && indentation(line) <= o.owner {
			if c := line[indentation(line)]; c != ']' && c != '}' {
				o.at-- // it is read as a line of its own
				o.column = len(o.lines[o.at])
				return 0
			}
		}
		o.skipBlanks()
		if o.column < len(line) && line[o.column] != '#' {
			return line[o.column]
		}
		o.at, o.column = o.at+1, 0
	}
	return 0
}

// maxFlow bounds how deep brackets are followed.
const maxFlow = 100

// flow reads what stands within brackets.
func (o *outliner) flow(path []string, depth int) {
	c := o.next()
	switch {
	case c == 0:
	case (c == '{' || c == '[') && depth < maxFlow:
		o.column++
		for n := 0; ; {
			switch e := o.next(); {
			case e == 0:
				return
			case e == '}' || e == ']':
				o.column++
				return
			case e == ',':
				o.column++
			case c == '[':
				o.flow(append(slices.Clip(path), "["+strconv.Itoa(n)+"]"), depth+1)
				n++
			default:
				o.pair(path, depth)
			}
		}
	case c == '"' || c == '\'':
		o.quoted(path, c)
	default:
		before := o.column
		o.plain(path, ",]}")
		o.column = max(o.column, before+1)
	}
}

// pair reads a key within brackets and its value.
func (o *outliner) pair(path []string, depth int) {
	line := o.lines[o.at]
	start, end, after := keyAt(line, o.column)
	if after > 0 && !strings.ContainsAny(string(line[start:end]), ",]}") {
		o.add(path, true, o.at, start, end)
		o.column = after
		if c := o.next(); c != 0 && c != ',' && c != '}' && c != ']' {
			o.flow(append(slices.Clip(path), string(line[start:end])), depth+1)
		}
		return
	}
	before := o.column
	o.plain(path, ",]}")
	o.tokens[len(o.tokens)-1].key = true
	o.column = max(o.column, before+1)
}

package reading

import (
	"bytes"
	"fmt"
	"hash/maphash"
)

// A jsonScanner reads JSON strictly, and goes on behind what is wrong, so that
// the rest is seen too and the first error of a block is not the only thing
// known of it. Time is linear, memory a byte or five per open bracket.
type jsonScanner struct {
	tell    func(e *event)
	t       []byte
	i       int
	at      Place
	want    want
	stack   []byte  // { or [ for each open container
	opened  []int32 // their lines, of the first maxOpened
	objects int     // how many of the stack are objects
	path    []frame
	keys    [][]byte // of the open objects that have few
	key     []byte   // of the value that comes next
	comma   Place    // of the last comma
	commaAt int
	block   Block
	broken  int                 // how many errors there were
	notes   map[string]*keyNote // of keys
	seed    maphash.Seed
	e       event
}

// maxOpened bounds the lines of brackets that are remembered, maxNotes the
// keys whose notes are.
const (
	maxOpened = 1 << 16
	maxNotes  = 4096
)

// want is what the grammar asks for next.
type want uint8

const (
	wantValue want = iota
	wantFirst      // a value or ]
	wantKey
	wantFirstKey // a key or }
	wantComma
	wantEnd
)

// read scans one block; at is its first line.
func (s *jsonScanner) read(t []byte, at Place) Block {
	if s.notes == nil {
		s.notes = map[string]*keyNote{}
	}
	if s.seed == (maphash.Seed{}) {
		s.seed = maphash.MakeSeed()
	}
	s.t, s.i, s.at, s.want, s.key = t, 0, at, wantValue, nil
	s.stack, s.opened, s.path, s.keys, s.objects = s.stack[:0], s.opened[:0], s.path[:0], s.keys[:0], 0
	s.block, s.broken, s.commaAt = Block{At: at}, 0, 0
	empty := true
	for s.space() && s.broken <= maxBroken {
		empty = false
		switch s.want {
		case wantValue, wantFirst:
			s.value()
		case wantKey, wantFirstKey:
			s.member()
		case wantComma:
			s.separator()
		default:
			s.beyond()
		}
	}
	s.finish(empty)
	return s.block
}

// space skips white space and comments; false at the end.
func (s *jsonScanner) space() bool {
	for {
		t, i := s.t, s.i
		for i < len(t) && isSpace(t[i]) {
			if t[i] == '\n' {
				s.at.Line++
			}
			i++
		}
		if s.i = i; i == len(t) {
			return false
		}
		switch c := t[i]; {
		case c == '/' && i+1 < len(t) && (t[i+1] == '/' || t[i+1] == '*'), c == '#':
			s.fail("comment", "a comment, which JSON does not have")
			s.comment()
		case c == 0xEF && bytes.HasPrefix(t[i:], []byte("\uFEFF")) && i == 0:
			s.i += 3
		default:
			return true
		}
	}
}

func (s *jsonScanner) comment() {
	until := "\n"
	if s.i+1 < len(s.t) && s.t[s.i+1] == '*' {
		until = "*/"
	}
	n := bytes.Index(s.t[s.i:], []byte(until))
	if n < 0 {
		s.i = len(s.t)
		return
	}
	if until == "*/" {
		body := s.t[s.i : s.i+n]
		s.at.Line += int32(bytes.Count(body, []byte{'\n'}))
		n += 2
	}
	s.i += n
}

// value reads a value where one is due.
func (s *jsonScanner) value() {
	switch c := s.t[s.i]; {
	case c == '{' || c == '[':
		s.open(c)
	case c == '"':
		from := s.i
		s.text()
		s.emit(s.t[from:s.i])
	case c == '-' || isDigit(c):
		s.number()
	case c == '}' || c == ']':
		s.early(c)
	case c == ',':
		s.fail("missing value", "a comma where a value should be%s", s.behindKey())
		s.emit(nil)
	default:
		s.odd(c)
	}
}

// early handles a closing bracket where a value or key is due.
func (s *jsonScanner) early(c byte) {
	switch {
	case s.want == wantFirst && c == ']', s.want == wantFirstKey && c == '}':
	case s.want == wantKey, s.want == wantValue && s.key == nil && s.commaAt > 0:
		if s.keeps("trailing comma") {
			s.failAt(s.comma, s.commaAt, "trailing comma", fmt.Sprintf("a trailing comma before the %c of line %d: take the comma away", c, s.at.Line))
		}
	default:
		s.fail("missing value", "%c where a value should be%s", c, s.behindKey())
	}
	s.close(c)
}

// member reads a key and its colon.
func (s *jsonScanner) member() {
	from := s.i
	switch c := s.t[s.i]; {
	case c == '"':
		s.text()
		s.key = unquoted(s.t[from:s.i])
	case c == '}' || c == ']':
		s.early(c)
		return
	case c == ',':
		s.fail("two commas", "a comma where a key should be")
		s.i++
		return
	case c == '\'' || isLetter(c) || c == '_':
		s.oddKey(c)
	default:
		s.fail("key", "%s where a key in double quotes should be", s.show(1))
		s.key, s.want = []byte{}, wantValue
		return
	}
	s.want = wantValue
	s.remember()
	if !s.space() {
		return
	}
	if s.t[s.i] == ':' {
		s.i++
		s.commaAt = 0
		return
	}
	s.fail("missing colon", "want a colon behind the key %q, got %s", Clip(string(s.key), 40), s.show(1))
	if c := s.t[s.i]; c == ',' || c == '}' || c == ']' {
		s.want = wantComma
	}
	if s.t[s.i] == '=' {
		s.i++
	}
}

// separator reads a comma or the container's end.
func (s *jsonScanner) separator() {
	switch c := s.t[s.i]; c {
	case ',':
		s.comma, s.commaAt = s.at, s.i+1
		s.i++
		s.want = s.next()
	case '}', ']':
		s.close(c)
	case ':':
		s.fail("colon", "a colon where a comma or the end of the object should be")
		s.i++
		s.want = wantValue
	default:
		s.fail("missing comma", "want a comma or %c before %s", s.closer(), s.show(24))
		s.want = s.next()
		if c != '"' && c != '{' && c != '[' && !isWord(c) && c != '\'' {
			s.i++
		}
	}
}

func (s *jsonScanner) next() want {
	if len(s.stack) > 0 && s.stack[len(s.stack)-1] == '{' {
		return wantKey
	}
	return wantValue
}

func (s *jsonScanner) closer() byte {
	if len(s.stack) > 0 && s.stack[len(s.stack)-1] == '{' {
		return '}'
	}
	return ']'
}

// beyond handles text behind the value.
func (s *jsonScanner) beyond() {
	s.fail("text behind", "text behind the end of the JSON: %s", s.show(24))
	if c := s.t[s.i]; c == '{' || c == '[' {
		s.want = wantValue // read on, for what it holds
		return
	}
	end := bytes.IndexAny(s.t[s.i+1:min(len(s.t), s.i+4096)], "\n{[")
	if end < 0 {
		end = min(len(s.t), s.i+4096) - s.i - 1
	}
	s.i += end + 1
}

// finish handles the end of the block.
func (s *jsonScanner) finish(empty bool) {
	switch {
	case empty:
		s.fail("empty", "nothing in it: want a JSON value")
	case len(s.stack) > 0:
		top, line := s.stack[len(s.stack)-1], s.openLine()
		s.fail("unclosed", "want %c for the %c of line %d, got the end of the block", s.closer(), top, line)
	case s.want != wantEnd:
		s.fail("unclosed", "the block ends before its value does")
	}
	for len(s.stack) > 0 {
		s.pop()
	}
}

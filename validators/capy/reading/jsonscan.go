package reading

import (
	"bytes"
	"fmt"
	"hash/maphash"
)

// An event is something met in a JSON block.
type event struct {
	kind  eventKind
	key   []byte // in an object: as written, without quotes
	note  *keyNote
	class keyClass // the note's, with what is inherited
	value []byte   // of a scalar: as written
	at    Place
	path  []frame // the containers around, outermost first, at most maxPath
	depth int     // how many containers are around
	from  int     // where the value begins in the block, or ends if it closes
}

type eventKind uint8

const (
	opens eventKind = iota // an object or array begins
	closes
	scalar
)

// A frame is an object or array that is open.
type frame struct {
	key   []byte
	class keyClass // of the key, with what is inherited from the frames around
	array bool
	index int32 // how many values it has had
	keys  int32 // where its keys begin in the scanner's list
	from  int   // where it begins in the block
	seen  map[uint64]struct{}
}

// maxPath bounds the depth to which keys are remembered; deeper ones are
// checked for syntax alone.
const maxPath = 48

// A jsonScanner reads JSON strictly, and goes on behind what is wrong, so that
// the rest is seen too and the first error of a block is not the only thing
// known of it. Time is linear, memory a byte or five per open bracket.
type jsonScanner struct {
	tell    func(e *event)
	t       []byte
	i       int
	at      Place
	start   int // of the line
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
	s.t, s.i, s.at, s.start, s.want, s.key = t, 0, at, 0, wantValue, nil
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
	for s.i < len(s.t) {
		switch c := s.t[s.i]; {
		case c == '\n':
			s.i++
			s.newline()
		case c == ' ' || c == '\t' || c == '\r':
			s.i++
		case c == '/' && s.i+1 < len(s.t) && (s.t[s.i+1] == '/' || s.t[s.i+1] == '*'), c == '#':
			s.fail("comment", "a comment, which JSON does not have")
			s.comment()
		case c == 0xEF && bytes.HasPrefix(s.t[s.i:], []byte("\uFEFF")) && s.i == 0:
			s.i += 3
		default:
			return true
		}
	}
	return false
}

func (s *jsonScanner) newline() {
	s.at.Line++
	s.start = s.i
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
		s.key = s.inner(s.t[from:s.i])
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

func (s *jsonScanner) open(c byte) {
	note := s.note(s.key)
	s.e = event{kind: opens, key: s.key, note: note, class: note.class, at: s.at, path: s.path, depth: len(s.stack), from: s.i}
	s.tell(&s.e)
	if len(s.stack) < maxPath {
		s.push(c)
	}
	s.stack = append(s.stack, c)
	if len(s.opened) < maxOpened {
		s.opened = append(s.opened, s.at.Line)
	}
	s.i++
	s.key, s.commaAt = nil, 0
	if c == '{' {
		s.objects++
		s.want = wantFirstKey
	} else {
		s.want = wantFirst
	}
}

func (s *jsonScanner) push(c byte) {
	f := frame{key: s.key, class: s.e.class, array: c == '[', keys: int32(len(s.keys)), from: s.i}
	if n := len(s.path); n > 0 {
		s.path[n-1].index++
		own := f.class.quals.marks & baseYear
		f.class.listed = s.path[n-1].array && n > 1
		f.class.inherit(s.path[n-1].class, s.path[n-1].array)
		if f.class.metric != Revenue && !f.class.core {
			f.class.quals.marks = f.class.quals.marks&^baseYear | own
		}
	}
	s.path = append(s.path, f)
}

// close ends containers up to the one that c closes; a bracket that closes
// nothing is skipped.
func (s *jsonScanner) close(c byte) {
	opener := byte('{')
	open := s.objects
	if c == ']' {
		opener, open = '[', len(s.stack)-s.objects
	}
	s.i++
	if open == 0 {
		s.fail("closes nothing", "%c closes nothing that is open", c)
		return
	}
	if top := s.stack[len(s.stack)-1]; top != opener {
		s.i--
		s.fail("mismatch", "want %c for the %c of line %d, got %c", s.closer(), top, s.openLine(), c)
		s.i++
	}
	for {
		top := s.stack[len(s.stack)-1]
		s.pop()
		if top == opener {
			break
		}
	}
	s.want = wantComma
	if len(s.stack) == 0 {
		s.want = wantEnd
	}
}

func (s *jsonScanner) openLine() int32 {
	if n := len(s.stack); n <= len(s.opened) && n > 0 {
		return s.opened[n-1]
	}
	return s.block.At.Line
}

func (s *jsonScanner) pop() {
	n := len(s.stack) - 1
	if s.stack[n] == '{' {
		s.objects--
	}
	s.stack = s.stack[:n]
	s.opened = s.opened[:min(n, len(s.opened))]
	if n < len(s.path) {
		f := &s.path[n]
		s.e = event{kind: closes, key: f.key, class: f.class, at: s.at, path: s.path[:n], depth: n, from: s.i}
		s.keys = s.keys[:f.keys]
		s.path = s.path[:n]
		s.tell(&s.e)
	}
	s.key = nil
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

// emit shows a scalar.
func (s *jsonScanner) emit(raw []byte) {
	note := s.note(s.key)
	s.e = event{kind: scalar, key: s.key, note: note, class: note.class, value: raw, at: s.at, path: s.path, depth: len(s.stack), from: s.i - len(raw)}
	if n := len(s.path); n > 0 && len(s.stack) <= maxPath {
		s.e.class.inherit(s.path[n-1].class, s.path[n-1].array)
	}
	s.tell(&s.e)
	if n := len(s.path); n > 0 {
		s.path[n-1].index++
	}
	s.key, s.want = nil, wantComma
	if len(s.stack) == 0 {
		s.want = wantEnd
	}
}

// noKey is what a value without a key is told.
var noKey keyNote

// note gives what a key says by itself. A text of very many keys has them read
// each time that they stand there.
func (s *jsonScanner) note(key []byte) *keyNote {
	if len(key) == 0 {
		return &noKey
	}
	if n, ok := s.notes[string(key)]; ok {
		return n
	}
	n := &keyNote{class: classify(key)}
	if len(s.notes) < maxNotes && len(key) <= 200 {
		s.notes[string(key)] = n
	}
	return n
}

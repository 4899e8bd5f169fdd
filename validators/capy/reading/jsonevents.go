package reading

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
	keys  int32 // where its keys begin in the scanner's list
	from  int   // where it begins in the block
	seen  map[uint64]struct{}
}

// maxPath bounds the depth to which keys are remembered; deeper ones are
// checked for syntax alone.
const maxPath = 48

// open begins a container and shows it.
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

// push remembers an open container and what is inherited from those around.
func (s *jsonScanner) push(c byte) {
	f := frame{key: s.key, class: s.e.class, array: c == '[', keys: int32(len(s.keys)), from: s.i}
	if n := len(s.path); n > 0 {
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

// emit shows a scalar.
func (s *jsonScanner) emit(raw []byte) {
	note := s.note(s.key)
	s.e = event{kind: scalar, key: s.key, note: note, class: note.class, value: raw, at: s.at, path: s.path, depth: len(s.stack), from: s.i - len(raw)}
	if n := len(s.path); n > 0 && len(s.stack) <= maxPath {
		s.e.class.inherit(s.path[n-1].class, s.path[n-1].array)
	}
	s.tell(&s.e)
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

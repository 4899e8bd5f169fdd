package schema

// scan reads one JSON object or array that begins at text[start]. Where it is
// whole, done holds its one span and end is behind it. Where it breaks, done
// holds the largest spans inside it that were whole, and end is where to look
// on: every object or array still open there breaks at that place too, whether
// it is read alone or not, so nothing is read twice and time stays linear.
//
//	[{"a":1}, {"b":2}, oops]   {"a":1} and {"b":2}, on at oops
//	{"a":{"x":[]},"b":}        {"x":[]}, on at the last }
//	{"he said " {"a":1}        none, on behind the first quote
func scan(text string, start int) (done [][2]int, end int) {
	s := scanner{text: text, pos: start, quote: -1}
	for {
		if !s.token() {
			return s.done, s.resume()
		}
		if len(s.open) == 0 {
			return [][2]int{{start, s.pos}}, s.pos
		}
	}
}

// What may come next inside an object or array.
const (
	wantValue    uint8 = iota // a value
	wantFirst                 // a value, or the end of an empty array
	wantKey                   // a key
	wantFirstKey              // a key, or the end of an empty object
	wantColon
	wantComma // a comma or the end
)

type scanner struct {
	text  string
	pos   int
	open  []int    // where each object or array begins that is open, innermost last
	want  uint8    // what may come next in that
	done  [][2]int // none within another: who closes takes the place of what it holds
	quote int      // where the string began that was read last, if that was the last token; else -1
}

// token reads one token and says whether the text is still JSON.
func (s *scanner) token() bool {
	s.pos = spaceAt(s.text, s.pos)
	if s.pos >= len(s.text) {
		return false
	}
	c := s.text[s.pos]
	if c == '"' {
		return s.quoted()
	}
	if !s.mark(c) {
		return false
	}
	s.quote = -1
	return true
}

// mark reads one token that is not a string.
func (s *scanner) mark(c byte) bool {
	if len(s.open) == 0 {
		return s.push(c)
	}
	switch c {
	case '}', ']':
		return s.close(c)
	case ':':
		return s.expect(wantColon, wantValue)
	case ',':
		return s.comma()
	}
	if s.want != wantValue && s.want != wantFirst {
		return false
	}
	if c == '{' || c == '[' {
		return s.push(c)
	}
	s.want = wantComma
	return s.scalar()
}

func (s *scanner) push(c byte) bool {
	s.want = wantFirst
	if c == '{' {
		s.want = wantFirstKey
	}
	s.open = append(s.open, s.pos)
	s.pos++
	return true
}

// start is where the innermost begins that is open.
func (s *scanner) start() int { return s.open[len(s.open)-1] }

func (s *scanner) object() bool { return s.text[s.start()] == '{' }

func (s *scanner) close(c byte) bool {
	empty := s.want == wantFirst || s.want == wantFirstKey
	if s.object() != (c == '}') || !empty && s.want != wantComma {
		return false
	}
	s.pos++
	span := [2]int{s.start(), s.pos}
	for len(s.done) > 0 && s.done[len(s.done)-1][0] >= span[0] {
		s.done = s.done[:len(s.done)-1]
	}
	s.done = append(s.done, span)
	s.open = s.open[:len(s.open)-1]
	s.want = wantComma
	return true
}

func (s *scanner) expect(want, next uint8) bool {
	if s.want != want {
		return false
	}
	s.want = next
	s.pos++
	return true
}

func (s *scanner) comma() bool {
	next := wantValue
	if s.object() {
		next = wantKey
	}
	return s.expect(wantComma, next)
}

func (s *scanner) quoted() bool {
	switch s.want {
	case wantKey, wantFirstKey:
		s.want = wantColon
	case wantValue, wantFirst:
		s.want = wantComma
	default:
		return false
	}
	s.quote = s.pos
	end, _, ok := stringEnd(s.text, s.pos)
	s.pos = min(end, len(s.text))
	return ok
}

func (s *scanner) scalar() (ok bool) {
	s.pos, ok = scalarEnd(s.text, s.pos)
	return ok
}

// resume is where to look on after a break: at it, or inside the string before
// it, whose opening quote may have been meant as the prose's.
func (s *scanner) resume() int {
	if s.quote >= 0 {
		return s.quote + 1
	}
	return s.pos
}

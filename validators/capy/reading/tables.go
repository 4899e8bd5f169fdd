package reading

import "bytes"

// maxCells bounds the columns of a table that are looked at.
const maxCells = 48

// A tableState knows the table that the present line is in.
type tableState struct {
	in     bool
	ruler  bool // the next line is the ruler under the head
	spaced bool // its cells are parted by spaces, in a fence or between rulers of =
	header [][]byte
	buffer [2][maxCells][]byte
}

func (s *tableState) end() { s.in, s.ruler, s.spaced, s.header = false, false, false, nil }

// row reads a line as a row of a table: one of a table with a head and a
// ruler, or, outside of fences, a line that begins with a bar. The ruler itself
// becomes a rule.
func (s *tableState) row(l *line, t []byte, w *walker) bool {
	bar := bytes.IndexByte(t, '|') >= 0 || s.spaced
	switch {
	case s.in && (s.ruler || isRuler(t) || s.spaced && isSpacedRuler(t)):
		s.ruler = false
		l.kind = rule
		return true
	case s.in && bar:
		l.header = s.header
	case bar && isRuler(w.next()), w.pos < len(w.text) && (w.text[w.pos] == '-' && l.kind == code || w.text[w.pos] == '=') && isSpacedRuler(w.next()):
		s.in, s.ruler, s.spaced, l.head = true, true, !bar, true
		s.header = s.split(t, s.buffer[0][:0])
		l.kind, l.cells = row, s.header
		return true
	case t[0] == '|' && l.kind != code:
		s.end()
	default:
		s.end()
		return false
	}
	l.kind = row
	l.cells = s.split(t, s.buffer[1][:0])
	return true
}

// split cuts a row of the table into its cells.
func (s *tableState) split(t []byte, into [][]byte) [][]byte {
	if !s.spaced {
		return split(t, into)
	}
	for t = bytes.TrimSpace(t); len(t) > 0 && len(into) < maxCells; {
		cell, rest, _ := bytes.Cut(t, []byte("  "))
		into = append(into, cell)
		t = trimLeft(rest, &blanks)
	}
	return into
}

// isRuler says whether a line is |---|:--:|, or one that is drawn: +---+---+, ├───┼───┤.
func isRuler(t []byte) bool {
	dashes, bars := 0, 0
	for _, c := range trimLeft(bytes.TrimRight(t, "\r"), &quoting) {
		switch c {
		case '-', '=':
			dashes++
		case '|', '+':
			bars++
		case ':', ' ', '\t':
		default:
			return c == 0xE2 && dashes == 0 && len(bytes.Trim(t, "├┼┤╞╪╡╠╬╣┝┿┥─═━╟╫╢>| \t\r")) == 0
		}
	}
	return dashes > 0 && bars > 0
}

// isSpacedRuler says whether a line is of dashes that spaces part: -----  -----, or of
// such signs as =====  =====.
func isSpacedRuler(t []byte) bool {
	t = bytes.TrimSpace(t)
	return len(t) > 6 && (t[0] == '-' || t[0] == '=') && bytes.IndexByte(t, ' ') > 0 && len(bytes.Trim(t, string(t[0])+" ")) == 0
}

// split cuts a row into its cells, trimmed.
func split(t []byte, into [][]byte) [][]byte {
	t = bytes.TrimPrefix(trimRight(t, &blanks), []byte{'|'})
	start := 0
	for i := 0; i < len(t) && len(into) < maxCells; i++ {
		switch t[i] {
		case '\\':
			i++
		case '|':
			into = append(into, bytes.TrimSpace(t[start:i]))
			start = i + 1
		}
	}
	if start < len(t) && len(into) < maxCells {
		into = append(into, bytes.TrimSpace(t[start:]))
	}
	return into
}

package reading

import "bytes"

// An Ending is how a text ends: its last paragraph.
type Ending struct {
	Kind   EndKind
	Text   []byte                  // of the last line
	Raw    []byte                  // the whole of it
	First  EndKind                 // of the line that the paragraph begins with
	Words  int                     // of the paragraph, as far as they are counted
	Lines  int                     // of the paragraph
	Bare   bool                    // a table has a head and a ruler, and no row yet
	Bar    bool                    // the last row ends with a bar
	Barred bool                    // rows of the last table end with a bar
	Fences int                     // lines that open or close one
	Others int                     // lines that are not in fences
	json   []byte                  // from where the paragraph has raw JSON
	number int32                   // of the last line
	held   [maxWordsCounted][]byte // lines of the paragraph whose words are not counted yet
	holds  int
}

// An EndKind is what a text's last line is.
type EndKind uint8

// The kinds.
const (
	EndOther EndKind = iota // a heading, a fence, a comment
	EndProse
	EndItem
	EndRow
	EndRule
)

// maxWordsCounted is how many words of a paragraph are counted.
const maxWordsCounted = 20

var endKinds = [...]EndKind{prose: EndProse, item: EndItem, row: EndRow, rule: EndRule, html: EndOther}

func (e *Ending) see(l *line, number int32) {
	if l.kind == code {
		return
	}
	if l.kind == fence {
		e.Fences++
	} else {
		e.Others++
	}
	before := e.Kind
	continues := (l.kind == prose || l.kind == html && e.First == EndProse) && (e.First == EndProse || e.First == EndItem) && number == e.number+1
	e.Bare = l.kind == rule && before == EndRow && bytes.IndexByte(l.raw, '|') >= 0
	e.Bar = bytes.HasSuffix(trimRight(l.raw, &blanks), []byte{'|'})
	if l.head {
		e.Barred = e.Bar
	} else if len(l.header) == 0 && l.kind == row {
		e.Barred = l.text[0] == '|'
	}
	e.Kind, e.Text, e.Raw, e.number = EndOther, l.text, l.raw, number
	if int(l.kind) < len(endKinds) {
		e.Kind = endKinds[l.kind]
	}
	if !continues {
		e.First, e.Words, e.Lines, e.holds, e.json = e.Kind, 0, 0, 0, nil
		if l.kind == prose && l.indent > 0 && (l.raw[0] == '\t' || l.indent > 3) {
			e.First = EndItem // goes on an item, or is code
		}
	}
	e.Lines++
	if e.json == nil && len(l.text) > 0 && l.text[0]|0x20 == '{' && startsJSON(l.text) { // [ or {
		e.json = l.text
	}
	if e.Words < maxWordsCounted {
		e.held[e.holds] = l.text[:min(len(l.text), 150)]
		if e.holds++; e.holds == len(e.held) {
			e.count()
		}
	}
}

// Unbalanced says that raw JSON in the last paragraph has no end: a value that
// begins where a line does, with a bracket or a string that is never closed.
func (e *Ending) Unbalanced() bool {
	t := e.json[:cap(e.json)] // to the end of the text
	for len(t) > 0 {
		end, closed := closing(t)
		if !closed {
			return true
		}
		for t = t[end:]; len(t) > 0 && !startsJSON(t); { // the next line that begins so
			n := bytes.IndexByte(t, '\n')
			if n < 0 {
				return false
			}
			t = trimLeft(t[n+1:], &blanks)
		}
	}
	return false
}

// closing is the offset behind the JSON value that a text begins with; of one that has no
// end, how far it was looked for.
func closing(t []byte) (end int, closed bool) {
	depth := 0
	for i := 0; i < len(t); i++ {
		switch t[i] {
		case '"':
			end := skipString(t, i)
			if t[end-1] != '"' || end == i+1 {
				return end, false
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		}
	}
	return len(t), false
}

// Greeted says that the last line is a name under a greeting: Best regards,
func (e *Ending) Greeted() bool {
	return e.Lines == 2 && bytes.HasSuffix(trimRight(e.held[0], &blanks), []byte{','})
}

// count counts the words of the lines held: only a text's last paragraph is
// worth it, unless one is long.
func (e *Ending) count() {
	for _, t := range e.held[:e.holds] {
		if e.Words < maxWordsCounted {
			e.Words += CountWords(t)
		}
	}
	e.holds = 0
}

// CountWords counts what spaces part.
func CountWords(t []byte) int {
	n, within := 0, false
	for _, c := range t {
		if !isSpace(c) && !within {
			n++
		}
		within = !isSpace(c)
	}
	return n
}

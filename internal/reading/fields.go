package reading

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Form is the form in which a field is written.
type Form int

// The forms of fields.
const (
	Line         Form = iota // label: value
	Item                     // - label: value
	Bold                     // **label**: value, **label** = value, **label:** value
	RowCell                  // the first cell of the row is the label
	HeadingValue             // # label: value, or a heading before a paragraph of one line
	Assignment               // NAME = NUMBER anywhere
)

// A Field is a label and its value.
type Field struct {
	Form       Form
	Label      string // of an assignment, the words before the sign in its clause, at most six; the last ones are the name
	Column     string // the header of a cell's column
	Value      string
	LabelSpan  Span // in the source
	ValueSpan  Span // in the source
	Block, Row int  // the index of the block; the number of a cell's row, from 1
}

// fields finds the fields of all blocks.
func (d *Document) fields() {
	isJSON := map[int]bool{}
	for _, j := range d.JSON {
		isJSON[j.Block] = !j.Whole || j.Err == nil
	}
	for i := range d.Blocks {
		b := &d.Blocks[i]
		f := fielder{document: d, block: i, Block: b, bolds: map[int]bool{}}
		switch b.Kind {
		case RowBlock, HTMLBlock, RuleBlock:
			f.assignments()
			continue
		case CodeBlock:
			if isJSON[i] {
				continue
			}
		}
		f.lines()
		f.assignments()
	}
	for _, t := range d.Tables {
		d.cells(t)
	}
	d.headingValues()
	slices.SortStableFunc(d.Fields, func(a, b Field) int { return a.ValueSpan.Start - b.ValueSpan.Start })
}

// A fielder finds the fields of a block.
type fielder struct {
	document *Document
	block    int
	*Block
	bolds map[int]bool // where the values of bold labels begin in the text
}

func (f fielder) add(form Form, label, value Span) {
	label, value = f.trimmed(label, " \t*_\"“”"), f.trimmed(value, " \t\r\n")
	if label.Start == label.End || value.Start == value.End {
		return
	}
	switch form {
	case Bold:
		f.bolds[value.Start] = true
	case Assignment:
		if f.bolds[value.Start] {
			return
		}
	}
	f.document.Fields = append(f.document.Fields, Field{
		Form: form, Block: f.block, Label: label.In(f.Text), Value: value.In(f.Text),
		LabelSpan: f.inSource(label), ValueSpan: f.inSource(value),
	})
}

func (f fielder) trimmed(s Span, cut string) Span {
	text := s.In(f.Text)
	s.Start += len(text) - len(strings.TrimLeft(text, cut))
	s.End = s.Start + len(strings.Trim(text, cut))
	return s
}

func (f fielder) inSource(s Span) Span {
	return Span{f.Offset(s.Start), f.Offset(s.End-1) + 1}
}

// lines finds the fields that are lines of the block.
func (f fielder) lines() {
	strong := slices.DeleteFunc(slices.Clone(f.Inlines), func(i Inline) bool { return i.Kind != Strong })
	at := 0
	for line := range strings.Lines(f.Text) {
		s := Span{at, at + len(strings.TrimRight(line, "\r\n"))}
		first := at == 0
		at += len(line)
		var bold []Inline
		for len(strong) > 0 && strong[0].Text.Start < at {
			bold = append(bold, strong[0])
			strong = strong[1:]
		}
		if f.bold(s, bold) {
			continue
		}
		form := Line
		switch {
		case f.Kind == HeadingBlock:
			form = HeadingValue
		case f.Kind == ItemBlock && first:
			form = Item
			s.Start += checkbox(s.In(f.Text))
		}
		if label, value := cutLabel(s.In(f.Text)); label > 0 {
			f.add(form, Span{s.Start, s.Start + label}, Span{s.Start + value, s.End})
		}
	}
}

// checkbox returns the length of the box at the beginning of a task: [ ] or [x].
func checkbox(line string) int {
	if len(line) > 3 && line[0] == '[' && strings.IndexByte(" xX", line[1]) >= 0 && line[2] == ']' && line[3] == ' ' {
		return len("[x] ")
	}
	return 0
}

// bold finds the fields of a line whose labels are bold. Each value ends before the next
// label.
func (f fielder) bold(line Span, strong []Inline) bool {
	type found struct{ label, value Span }
	var list []found
	for _, s := range strong {
		label := s.Text.In(f.Text)
		rest := f.Text[s.Text.End:max(s.Text.End, line.End)]
		value := s.Text.End
		if inside := strings.TrimRight(label, " "); strings.HasSuffix(inside, ":") || strings.HasSuffix(inside, "：") {
			label = strings.TrimRight(inside, ":： ")
		} else {
			after := strings.TrimLeft(rest, " ")
			sign, size := utf8.DecodeRuneInString(after)
			if sign != ':' && sign != '=' && sign != '：' {
				continue
			}
			value = line.End - len(after) + size
		}
		if len(list) > 0 {
			list[len(list)-1].value.End = s.Text.Start
		}
		list = append(list, found{Span{s.Text.Start, s.Text.Start + len(label)}, Span{value, line.End}})
	}
	for i, l := range list {
		if i < len(list)-1 {
			l.value.End = l.value.Start + len(strings.TrimRight(l.value.In(f.Text), " ,;|·•"))
		}
		f.add(Bold, l.label, l.value)
	}
	return len(list) > 0
}

// The limits of a label in a line.
const (
	maxLabelBytes = 100
	maxLabelWords = 10
)

// cutLabel returns the end of the label of a line and the beginning of its value, 0 if the
// line has no label.
func cutLabel(line string) (label, value int) {
	for at := 0; at < min(len(line), maxLabelBytes); {
		r, size := utf8.DecodeRuneInString(line[at:])
		next, _ := utf8.DecodeRuneInString(line[at+size:])
		switch {
		case r == '：', r == ':' && (unicode.IsSpace(next) || at+size == len(line)):
			name := line[:at]
			if strings.IndexFunc(name, unicode.IsLetter) < 0 || len(strings.Fields(name)) > maxLabelWords {
				return 0, 0
			}
			return at, at + size
		case (terminal(r) || r == ';') && unicode.IsSpace(next):
			return 0, 0
		}
		at += size
	}
	return 0, 0
}

// maxNameWords is the maximum number of words in the label of an assignment.
const maxNameWords = 6

// assignments finds NAME = NUMBER in the text of the block.
func (f fielder) assignments() {
	for at := 0; ; at++ {
		next := strings.IndexByte(f.Text[at:], '=')
		if next < 0 {
			return
		}
		at += next
		after := f.Text[at+1 : min(len(f.Text), at+1+maxAround)]
		line, _, _ := strings.Cut(after, "\n")
		numbers := Numbers(line)
		if at > 0 && strings.IndexByte("=<>!", f.Text[at-1]) >= 0 || len(numbers) == 0 || strings.HasPrefix(after, "=") {
			continue
		}
		lead := strings.Trim(line[:numbers[0].Start], " \t*_`~$")
		if lead != "" && lead != numbers[0].Currency {
			continue
		}
		label := f.name(at)
		value := Span{at + 1, at + 1 + numbers[0].End}
		if numbers[0].Percent {
			value.End += strings.Index(line[numbers[0].End:], numbers[0].Unit) + len(numbers[0].Unit)
		}
		if strings.IndexFunc(label.In(f.Text), unicode.IsLetter) >= 0 {
			f.add(Assignment, label, value)
		}
	}
}

// name returns the words before a sign in its clause.
func (f fielder) name(sign int) Span {
	end := sign
	if end > 0 && f.Text[end-1] == ':' { // :=
		end--
	}
	from := max(0, end-maxLabelBytes)
	for from > 0 && from < end && !utf8.RuneStart(f.Text[from]) {
		from++
	}
	text := f.Text[from:end]
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		after, _ := utf8.DecodeRuneInString(text[i+size:])
		border := strings.ContainsRune("\n|;=", r) || strings.ContainsRune(".,:!?", r) && unicode.IsSpace(after) ||
			r == '(' && !strings.Contains(text[i:], ")")
		i += size
		if border {
			start = i
		}
	}
	words := strings.Fields(text[start:])
	if len(words) > maxNameWords {
		cut := strings.TrimRight(text, " \t")
		for range maxNameWords {
			cut = strings.TrimRight(cut[:strings.LastIndexAny(cut, " \t")], " \t")
		}
		start = len(cut)
	}
	return Span{from + start, end}
}

// cells adds the cells of a table: each under its row's label and its column's header. The
// header of a table of two columns may be a label and a value itself.
func (d *Document) cells(t Table) {
	add := func(row int, label, column string, labelled Span, c Cell) {
		if c.Text != "" && (label != "" || column != "") {
			d.Fields = append(d.Fields, Field{
				Form: RowCell, Label: label, Column: column, Value: c.Text,
				LabelSpan: labelled, ValueSpan: c.Span, Block: t.Block + row, Row: row,
			})
		}
	}
	if len(t.Header) == 2 {
		add(0, t.Header[0].Text, "", t.Header[0].Span, t.Header[1])
	}
	for i, row := range t.Rows {
		for j, c := range row {
			column, label, span := "", "", Span{}
			if j < len(t.Header) {
				column, span = t.Header[j].Text, t.Header[j].Span
			}
			if j > 0 && row[0].Text != "" {
				label, span = row[0].Text, row[0].Span
			}
			add(i+1, label, column, span, c)
		}
	}
}

// headingValues adds the headings whose section begins with a paragraph of one line.
func (d *Document) headingValues() {
	for _, h := range d.Headings {
		if h.Block+1 >= len(d.Blocks) {
			continue
		}
		b := &d.Blocks[h.Block+1]
		if b.Kind != ParagraphBlock || len(b.Text) > maxLabelBytes || strings.Contains(b.Text, "\n") || h.Title == "" {
			continue
		}
		d.Fields = append(d.Fields, Field{
			Form: HeadingValue, Label: h.Title, Value: b.Text, LabelSpan: h.Span, ValueSpan: b.Span, Block: h.Block + 1,
		})
	}
}

package capy

import (
	"bytes"
	"slices"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// A grid goes through the lines of a text and knows of those that are a table's which say
// something: a row of a name and placeholders does not, nor does the head.
type grid struct {
	rows    int    // of the present table, its head among them
	top     []byte // the first of them
	counted bool   // it said something, as far as one could tell
	names   uint64 // columns that tell of the values, and have none
}

// rule takes a line without a word in it, and says that it shows a row that was counted to
// be the table's head.
func (g *grid) rule(line []byte) bool {
	if len(bytes.TrimSpace(line)) == 0 {
		*g = grid{}
		return false
	}
	if g.rows != 1 || g.top == nil || !bytes.ContainsAny(line, "|+─═━") && !bytes.Contains(line, []byte("- ")) && !bytes.Contains(line, []byte("= ")) {
		return false
	}
	for i, cell := range cellsOf(g.top) {
		if i < 64 && aboutValues[string(bytes.ToLower(trimmed(cell)))] {
			g.names |= 1 << i
		}
	}
	g.top = nil
	return g.counted
}

// aboutValues are heads of columns that tell of the values in the others.
var aboutValues = reading.Set("unit", "units", "symbol", "source", "sources", "status")

// says takes a row in, and whether it has a value, or nothing that one could be for.
func (g *grid) says(row []byte) bool {
	cells := cellsOf(row)
	said := len(cells) < 2 || g.valued(cells, g.names)
	if g.rows++; g.rows == 1 {
		g.top, g.counted = row, said
	}
	return said
}

// valued says that a cell behind the first that is not empty is no placeholder, but for
// those of some columns, where there are others; or that there is none behind it.
func (g *grid) valued(cells [][]byte, but uint64) bool {
	named, values := false, 0
	for i, cell := range cells {
		switch {
		case !named && bytes.Contains(cell, []byte(":** ")): // labels that bars part
			if named = owing(cell); !named {
				return true
			}
			values++
		case !named:
			named = len(trimmed(cell)) > 0 && !(i+2 < len(cells) && ordinal(cell) && lettered(cells[i+1]))
		case i < 64 && but&(1<<i) != 0:
		case !blank(cell) && !owing(cell):
			return true
		default:
			values++
		}
	}
	return values == 0 && (but == 0 || g.valued(cells, 0))
}

// ordinal says that a cell is the number of its row.
func ordinal(cell []byte) bool {
	cell = bytes.Trim(trimmed(cell), "#.)(")
	return len(cell) > 0 && len(cell) <= 3 && len(bytes.Trim(cell, "0123456789")) == 0
}

// lettered says that a cell begins with a letter.
func lettered(cell []byte) bool {
	cell = trimmed(cell)
	return len(cell) > 0 && (word(cell[0]) || cell[0] >= 0x80) && !digit(cell[0])
}

// parted says that a line of a fence is a row of cells without bars.
func parted(line []byte) bool {
	line = bytes.TrimSpace(line)
	return bytes.Contains(line, []byte("  ")) || bytes.IndexByte(line, '\t') >= 0
}

// cellsOf are the cells of a row, without the bars around it.
func cellsOf(row []byte) [][]byte {
	row = bytes.TrimSpace(bytes.TrimLeft(row, " \t>"))
	switch {
	case bytes.IndexByte(row, '|') >= 0:
	case bytes.IndexByte(row, '\t') >= 0:
		return bytes.Split(row, []byte{'\t'})
	default:
		return bytes.Split(row, []byte("  "))
	}
	return bytes.Split(bytes.TrimSuffix(bytes.TrimPrefix(row, []byte{'|'}), []byte{'|'}), []byte{'|'})
}

// drawn says that a line has nothing but what tables are drawn with.
func drawn(t []byte) bool {
	for len(t) > 0 {
		switch {
		case len(t) > 2 && t[0] == 0xE2 && (t[1] == 0x94 || t[1] == 0x95):
			t = t[3:]
		case t[0] == ' ':
			t = t[1:]
		default:
			return false
		}
	}
	return true
}

// barred is a text without tags, whose tables of them, and lists of names with what each
// has, are rows of bars, the heads of the tables with a rule below.
func barred(t []byte) []byte {
	if bytes.IndexByte(t, '<') < 0 {
		return t
	}
	var out []byte
	within, head := bytes.HasPrefix(t, []byte("<t")), false
	for len(t) > 0 {
		text, rest, _ := bytes.Cut(t, []byte{'<'})
		if within {
			text = bytes.ReplaceAll(text, []byte{'\n'}, []byte{' '})
		}
		if within || len(bytes.TrimSpace(text)) > 0 {
			out = append(out, text...)
		}
		name := tagName(rest)
		if name == "" {
			if t = rest; len(t) > 0 {
				out = append(out, '<')
			}
			continue
		}
		_, t, _ = bytes.Cut(rest, []byte{'>'})
		switch name {
		case "td", "th", "dt", "dd":
			out = append(out, '|')
			head = head || name == "th"
			within = within || name == "dt"
		case "tr", "/tr", "/table", "/dd":
			if within {
				out = append(out, "|\n"...)
			}
			if within && head {
				out, head = append(out, "|-|\n"...), false
			}
			within = name == "tr"
		case "summary":
			out = append(out, "# "...)
		}
	}
	return out
}

// tagName is the name of a tag, behind its <; "" where none begins.
func tagName(t []byte) string {
	t = t[:min(len(t), len("/summary"))]
	if end := bytes.IndexAny(t, "> \t\n"); end >= 0 {
		t = t[:end]
	}
	if len(t) == 0 || t[0] != '/' && (t[0]|0x20 < 'a' || t[0]|0x20 > 'z') {
		return ""
	}
	return string(t)
}

// block is a text up to the next heading, or bold artifact, behind the fence that the text
// begins with.
func block(t []byte) []byte {
	from := 0
	if fenced(t) {
		end := bytes.Index(t[3:], slices.Concat([]byte{'\n'}, t[:3]))
		if end < 0 {
			return t
		}
		from = 3 + end
	}
	for _, mark := range []string{"\n#", "\n**A.", "\n__A."} {
		if i := bytes.Index(t[from:], []byte(mark)); i >= 0 {
			t = t[:from+i]
		}
	}
	return t
}

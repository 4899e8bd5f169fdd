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
	if g.rows != 1 || g.top == nil || !bytes.ContainsAny(line, "|+─═━") && !bytes.Contains(line, []byte("- ")) {
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
		case !named:
			named = len(trimmed(cell)) > 0
		case i < 64 && but&(1<<i) != 0:
		case !blank(cell):
			return true
		default:
			values++
		}
	}
	return values == 0 && (but == 0 || g.valued(cells, 0))
}

// cellsOf are the cells of a row, without the bars around it.
func cellsOf(row []byte) [][]byte {
	row = bytes.TrimSpace(bytes.TrimLeft(row, " \t>"))
	if bytes.IndexByte(row, '|') < 0 {
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

// barred is a text whose tables of tags are rows of bars, their heads with a rule below.
func barred(t []byte) []byte {
	if !bytes.Contains(t, []byte("<td")) {
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
		_, t, _ = bytes.Cut(rest, []byte{'>'})
		switch name := tagName(rest); name {
		case "td", "th":
			out = append(out, '|')
			head = head || name == "th"
		case "tr", "/tr", "/table":
			if within {
				out = append(out, "|\n"...)
			}
			if within && head {
				out, head = append(out, "|-|\n"...), false
			}
			within = name == "tr"
		}
	}
	return out
}

// tagName is the name of a tag, behind its <.
func tagName(t []byte) string {
	t = t[:min(len(t), len("/table"))]
	if end := bytes.IndexAny(t, "> \t\n"); end >= 0 {
		t = t[:end]
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

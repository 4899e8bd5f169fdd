package reading

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	xast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A tableTransformer makes tables of paragraphs as goldmark's extension does. It neither
// adds cells to short rows nor removes cells from long ones. The package of the extension
// compiles regular expressions when a program starts, a sixth of the time in which Capstan
// starts.
type tableTransformer struct{}

// Transform implements [parser.ParagraphTransformer]: the first line of dashes and bars,
// the line above and the lines below are a table.
func (tableTransformer) Transform(paragraph *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines, source := paragraph.Lines(), reader.Source()
	for i := 1; i < lines.Len(); i++ {
		delimiter := lines.At(i)
		width := columns(delimiter.Value(source))
		if width == 0 {
			continue
		}
		head := cells(lines.At(i-1), source)
		if len(head) > width {
			return
		}
		table := xast.NewTable()
		table.SetPos(paragraph.Pos())
		table.AppendChild(table, xast.NewTableHeader(row(lines.At(i-1), head)))
		for j := i + 1; j < lines.Len(); j++ {
			table.AppendChild(table, row(lines.At(j), cells(lines.At(j), source)))
		}
		above := paragraph.Parent()
		above.InsertAfter(above, paragraph, table)
		lines.SetSliced(0, i-1)
		if i == 1 {
			above.RemoveChild(above, paragraph)
			return
		}
		last := lines.At(i - 2)
		last.Stop-- // its line end
		lines.Set(i-2, last)
		return
	}
}

// columns returns the number of columns that a line of dashes and bars announces, 0 for
// another line.
func columns(line []byte) int {
	width, _ := util.IndentWidth(line, 0)
	if width > 3 || len(bytes.Trim(line, "-")) == 0 {
		return 0
	}
	parts := bytes.Split(line, bar)
	if util.IsBlank(parts[0]) {
		parts = parts[1:]
	}
	if n := len(parts) - 1; n >= 0 && util.IsBlank(parts[n]) {
		parts = parts[:n]
	}
	for _, part := range parts {
		part = bytes.Trim(part, " \t\n\r")
		part = bytes.TrimSuffix(bytes.TrimPrefix(part, colon), colon)
		if len(part) == 0 || len(bytes.Trim(part, "-")) > 0 {
			return 0
		}
	}
	return len(parts)
}

var bar, colon = []byte("|"), []byte(":")

// cells cuts a line at its bars, except at those after a backslash.
func cells(line text.Segment, source []byte) []text.Segment {
	line = line.TrimLeftSpace(source)
	line = line.TrimRightSpace(source)
	words := line.Value(source)
	begin, end := 0, len(words)
	if bytes.HasPrefix(words, bar) {
		begin++
	}
	if bytes.HasSuffix(words, bar) {
		end--
	}
	var list []text.Segment
	for at := begin; at < end; at++ {
		switch {
		case words[at] == '|' && words[at-1] != '\\': // a bar at the beginning is skipped
			list, begin = append(list, cell(line.Start+begin, line.Start+at, source)), at+1
		case at == end-1:
			list = append(list, cell(line.Start+begin, line.Start+end, source))
		}
	}
	return list
}

func cell(start, stop int, source []byte) text.Segment {
	s := text.NewSegment(start, stop)
	s = s.TrimLeftSpace(source)
	return s.TrimRightSpace(source)
}

func row(line text.Segment, cells []text.Segment) *xast.TableRow {
	row := xast.NewTableRow(nil)
	row.SetPos(line.Start)
	for _, segment := range cells {
		cell := xast.NewTableCell()
		cell.Lines().Append(segment)
		row.AppendChild(row, cell)
	}
	return row
}

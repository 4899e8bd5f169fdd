package builtins

import (
	"embed"
	"strings"
)

// The tables list the special cases of the validators. Each row has a source, a line that
// must match and a line that must not. TestTables runs both lines.
//
//go:embed tables/*.tsv
var tables embed.FS

// A row maps the columns of a table to a row's cells.
type row map[string]string

// rowsOf returns the rows of a table.
func rowsOf(table string) []row {
	text, err := tables.ReadFile("tables/" + table + ".tsv")
	if err != nil {
		panic(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	columns := strings.Split(lines[0], "\t")
	rows := make([]row, 0, len(lines)-1)
	for _, line := range lines[1:] {
		r := row{}
		for i, cell := range strings.Split(line, "\t") {
			r[columns[i]] = cell
		}
		rows = append(rows, r)
	}
	return rows
}

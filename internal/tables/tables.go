// Package tables reads the tables of special cases: TSV files in the program, with the
// names of the columns in the first line.
//
// A table whose rows recognize texts has the columns source, match and no: where the row
// is from, a line that the row must match and a line that it must not. [Check] runs both.
package tables

import (
	"errors"
	"fmt"
	"strings"
)

// A Row maps the columns of a table to the cells of one row. A cell of "-" is empty.
type Row map[string]string

// Rows returns the rows of a table. It panics if a row lacks a cell, as
// [regexp.MustCompile] does for a wrong pattern.
func Rows(table string) []Row {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	columns := strings.Split(lines[0], "\t")
	rows := make([]Row, 0, len(lines)-1)
	for i, line := range lines[1:] {
		cells := strings.Split(line, "\t")
		if len(cells) != len(columns) {
			panic(fmt.Sprintf("tables: line %d of the table of %s: %d cells, want %d", i+2, lines[0], len(cells), len(columns)))
		}
		row := make(Row, len(columns))
		for n, column := range columns {
			if cells[n] != "-" {
				row[column] = cells[n]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// Check runs both lines of each row of a table. It returns an error for each row without
// a source or a line, and for each line with the wrong result. In a line, \n is a line
// break.
func Check(table string, matches func(row Row, line string) bool) error {
	var wrong []error
	for i, row := range Rows(table) {
		for _, column := range []string{"source", "match", "no"} {
			line := strings.ReplaceAll(row[column], `\n`, "\n")
			switch {
			case line == "":
				wrong = append(wrong, fmt.Errorf("line %d: the column %q is empty", i+2, column))
			case column != "source" && matches(row, line) != (column == "match"):
				wrong = append(wrong, fmt.Errorf("line %d: %s: wrong result for %q", i+2, column, line))
			}
		}
	}
	return errors.Join(wrong...)
}

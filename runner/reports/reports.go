// Package reports writes what people read in a terminal: lines, columns, and numbers
// with their nouns.
package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A Report is written line by line, until writing fails.
type Report struct {
	out io.Writer
	err error
}

// To is an empty report that is written to out.
func To(out io.Writer) *Report { return &Report{out: out} }

// Err is why writing has failed, nil where it has not.
func (r *Report) Err() error { return r.err }

// Line writes a line.
func (r *Report) Line(format string, args ...any) {
	if r.err == nil {
		_, r.err = fmt.Fprintf(r.out, format+"\n", args...)
	}
}

// Table writes rows with their columns below each other; the last column has no
// padding.
func (r *Report) Table(rows [][]string) {
	if r.err != nil {
		return
	}
	t := tabwriter.NewWriter(r.out, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	r.err = t.Flush()
}

// Count says how many of something there are: "1 word", "2 words".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Cell is a number in a table of many, of which those that are 0 are to be passed
// over.
func Cell(n int) string {
	if n == 0 {
		return "·"
	}
	return strconv.Itoa(n)
}

// Package testoutput reads the result lines of known tools in the output of a program.
package testoutput

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/tables"
)

// The table has a row for each line in which a tool reports a result. Its columns are
//
//	tool     the program
//	line     a pattern of the line
//	passed   a pattern of each count of passed tests in the line; "-" for none.
//	         Its group is the number, or a word that stands for one test
//	failed, skipped, total   the same
//	means    what the line says without counts: failed, ran, none (no test ran); or "-"
//	match    a line of the tool
//	no       a similar line of something else
//	source   the tool's documentation, or the test data of its source
//
//go:embed tables/tools.tsv
var toolsTable string

// A resultLine is a row of the table.
type resultLine struct {
	line                           *regexp.Regexp
	passed, failed, skipped, total *regexp.Regexp // nil: no such count
	means                          string
}

var resultLines = sync.OnceValue(func() []resultLine {
	var rows []resultLine
	for _, row := range tables.Rows(toolsTable) {
		at := func(column string) *regexp.Regexp {
			if row[column] == "" {
				return nil
			}
			return regexp.MustCompile(row[column])
		}
		rows = append(rows, resultLine{at("line"), at("passed"), at("failed"), at("skipped"), at("total"), row["means"]})
	}
	return rows
})

// A Tally is the test result in a program's output.
type Tally struct {
	Passed, Failed, Skipped int
	Counted                 bool   // the output has counts
	Failure                 string // the first line that reports a failure

	ran, none bool // ran: a line reports tests; none: a line reports that no test ran
}

// None reports whether no test ran, or only skipped tests.
func (t Tally) None() bool {
	return t.Passed == 0 && t.Failure == "" && !t.ran && (t.none || t.Counted)
}

// Limits of an output: tools print their results at its end.
const (
	maxOutput = 256 << 10
	maxLine   = 4 << 10
)

var colours = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]") })

// Read reads the result lines of the known tools in the output of a program.
func Read(output string) (t Tally) {
	output = output[max(0, len(output)-maxOutput):]
	if strings.IndexByte(output, '\x1b') >= 0 {
		output = colours().ReplaceAllString(output, "")
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if len(line) > maxLine || line == "" {
			continue
		}
		if i := slices.IndexFunc(resultLines(), func(r resultLine) bool { return r.line.MatchString(line) }); i >= 0 {
			t.add(resultLines()[i], line)
		}
	}
	return t
}

// add counts a line that a row matches.
func (t *Tally) add(r resultLine, line string) {
	passed, failed, skipped := count(r.passed, line), count(r.failed, line), count(r.skipped, line)
	if r.total != nil {
		passed = max(0, count(r.total, line)-failed-skipped)
	}
	t.Passed, t.Failed, t.Skipped = t.Passed+passed, t.Failed+failed, t.Skipped+skipped
	t.Counted = t.Counted || r.passed != nil || r.total != nil
	t.ran = t.ran || r.means == "ran"
	t.none = t.none || r.means == "none"
	if (failed > 0 || r.means == "failed") && t.Failure == "" {
		t.Failure = line
	}
}

// count adds up the counts of a line.
func count(pattern *regexp.Regexp, line string) (sum int) {
	if pattern == nil {
		return 0
	}
	for _, m := range pattern.FindAllStringSubmatch(line, 100) {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			n = 1
		}
		sum += n
	}
	return sum
}

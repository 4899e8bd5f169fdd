// Package reports holds the one form of what commands find, and writes it as text,
// JSON, JUnit and SARIF.
//
// A command fills one [Report] and writes it in the format that its user chose. The
// package also has the helpers for texts in a report: [Visible] and [OneLine] make
// untrusted text safe, [Clip] cuts it, and [Count] joins a number and its noun.
package reports

import (
	"io"
	"strconv"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A Report is the result of a command that checks or measures something. The text
// format shows Text, JSON shows Data, JUnit shows Cases, and SARIF shows the findings
// of all cases.
type Report struct {
	Name  string // of the JUnit suite
	Text  Text
	Data  any
	Cases []Case
	Tool  Tool // for SARIF
}

// A Case is one thing that was checked, such as a file, a gate or a recorded run.
type Case struct {
	Name, Class string
	Seconds     float64 // 0 if unknown
	Status      Status
	Message     string // why it did not pass
	Detail      string // further text; empty for the findings as lines
	Findings    []Finding
}

// A Status is the result of a case.
type Status int

// The results of a case.
const (
	Passed Status = iota
	Failed
	Broken // it has no result
)

// A Finding is one message about a place in a file.
type Finding struct {
	Rule, Message string
	Level         Level
	File          string
	Line, Column  int // 0 if unknown
	EndLine       int // 0 if unknown
	EndColumn     int // after the last character
}

// A Level is how serious a finding is. The names are those of SARIF.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// Join returns one report with the texts and cases of several reports. If there are several,
// the data is a list.
func Join(list []*Report) *Report {
	if len(list) == 1 {
		return list[0]
	}
	all := &Report{Name: list[0].Name}
	data := make([]any, len(list))
	for i, r := range list {
		all.Text.text = append(all.Text.text, r.Text.text...)
		all.Cases = append(all.Cases, r.Cases...)
		data[i] = r.Data
	}
	all.Data = data
	return all
}

// A Tool is the program that reports.
type Tool struct {
	Version string
	Meaning func(rule string) string // "" for a rule without a description; nil for none
}

// Write writes the report in a format: text, json, junit or sarif. JSON and SARIF are
// written with one call of out.Write.
func (r *Report) Write(out io.Writer, format string) error {
	switch format {
	case "json":
		return writeJSON(out, r.Data)
	case "junit":
		return r.junit(out)
	case "sarif":
		return writeJSON(out, r.sarif())
	}
	return r.Text.Write(out)
}

func writeJSON(out io.Writer, v any) error {
	text, err := schema.Indent(v)
	if err == nil {
		_, err = out.Write(append(text, '\n'))
	}
	return err
}

var lineNumber = patterns.Lazy(`\bline (\d+)`)

// LineOf returns the line that a location in words names, such as "table 2, line 7", or 0.
func LineOf(location string) int {
	m := lineNumber().FindStringSubmatch(location)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0
	}
	return n
}

package main

import (
	"fmt"
	"io"

	"github.com/seed61713e19/capstan/validators"
)

func (j judgement) text(w io.Writer) error {
	if j.err != nil {
		return nil // it goes to standard error
	}
	word := "invalid"
	if j.verdict.Valid {
		word = "valid"
	}
	line := word
	if j.verdict.Reason != "" {
		line += ": " + j.verdict.Reason
	}
	if _, err := fmt.Fprintln(w, line); err != nil {
		return err
	}
	for _, i := range j.findings() {
		if _, err := fmt.Fprintf(w, "%s: %s\n", i.place(), i.message); err != nil {
			return err
		}
	}
	return nil
}

func (f finding) place() string {
	if f.line > 0 {
		return fmt.Sprintf("%s:%d", f.file, f.line)
	}
	return f.file
}

func (j judgement) json(w io.Writer) error {
	if j.err != nil {
		return nil
	}
	return printJSON(w, j.verdict)
}

func (j judgement) junit(w io.Writer) error {
	c := junitCase{Name: j.file, Class: j.validator}
	switch {
	case j.err != nil:
		c.Error = &junitText{Message: j.err.Error()}
	case !j.verdict.Valid:
		c.Failure = &junitText{Message: j.verdict.Reason}
		for _, f := range j.findings() {
			c.Failure.Text += fmt.Sprintf("%s: %s\n", f.place(), f.message)
		}
	}
	report := junit{Name: j.validator, Cases: []junitCase{c}}
	return report.print(w)
}

func (j judgement) sarif(w io.Writer) error {
	report := newSARIF()
	for _, f := range j.findings() {
		report.add(f)
	}
	if len(report.Runs[0].Results) == 0 && (j.err != nil || !j.verdict.Valid) {
		message := j.verdict.Reason
		if j.err != nil {
			message = j.err.Error()
		}
		report.add(finding{rule: j.validator, level: "error", message: message, file: j.file})
	}
	return printJSON(w, report)
}

// findings are the verdict's issues and warnings with their lines.
func (j judgement) findings() []finding {
	var out []finding
	add := func(level string, issues []validators.Issue) {
		for _, i := range issues {
			rule := i.Check
			if rule == "" {
				rule = j.validator
			}
			message := i.Message
			if i.Location != "" && lineOf(i.Location) == 0 {
				message = i.Location + ": " + message
			}
			out = append(out, finding{rule: rule, level: level, message: message, file: j.file, line: lineOf(i.Location)})
		}
	}
	add("error", j.verdict.Issues)
	add("warning", j.verdict.Warnings)
	return out
}

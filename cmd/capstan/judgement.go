package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/runner/junit"
	"github.com/seed61713e19/capstan/runner/reports"
	"github.com/seed61713e19/capstan/runner/sarif"
	"github.com/seed61713e19/capstan/validators"
)

// A judgement is the verdict of a gate on a file, or the error without one.
type judgement struct {
	file, validator string
	verdict         validators.Verdict
	err             error
}

var gateFormats = map[string]func([]judgement, io.Writer) error{
	"text": asText, "json": asJSON, "junit": asJUnit, "sarif": asSARIF,
}

func asText(list []judgement, w io.Writer) error {
	if len(list) > 1 {
		return table(list, w)
	}
	j := list[0]
	if j.err != nil {
		return nil // it goes to standard error
	}
	if own := answer(j); own != nil {
		return writeJSON(w, own)
	}
	head, found := j.told()
	if _, err := fmt.Fprintln(w, head); err != nil {
		return err
	}
	for _, i := range found {
		if _, err := fmt.Fprintf(w, "%s: %s\n", place(i), i.Message); err != nil {
			return err
		}
	}
	return nil
}

// told returns the first line of a verdict and the findings to list below it. A
// finding that the reason contains is printed once: below with its line, or else in
// the first line.
func (j judgement) told() (head string, below []sarif.Finding) {
	found := j.findings()
	rest, lines := j.verdict.Reason, false
	for _, i := range slices.Concat(j.verdict.Issues, j.verdict.Warnings) {
		rest = strings.ReplaceAll(rest, i.Location+": "+i.Message, "")
		rest = strings.ReplaceAll(rest, i.Message, "")
		lines = lines || lineOf(i.Location) > 0
	}
	repeated := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0
	switch {
	case j.verdict.Reason == "", repeated && lines:
		return j.word(), found
	case !lines:
		found = slices.DeleteFunc(found, func(f sarif.Finding) bool { return strings.Contains(j.verdict.Reason, f.Message) })
	}
	return j.word() + ": " + j.verdict.Reason, found
}

// word tells a verdict in one word: the gate's own, where it has one.
func (j judgement) word() string {
	switch {
	case j.err != nil:
		return "error"
	case j.verdict.Status != "":
		return j.verdict.Status
	case j.verdict.Valid:
		return "valid"
	default:
		return "invalid"
	}
}

// table tells many verdicts, a line each, and how many there were of what.
func table(list []judgement, out io.Writer) error {
	var rows [][]string
	words, count := []string{}, map[string]int{}
	for _, j := range list {
		word := j.word()
		if count[word]++; count[word] == 1 {
			words = append(words, word)
		}
		reason := oneLine(j.verdict.Reason)
		if j.err != nil {
			reason = oneLine(j.err.Error())
		}
		rows = append(rows, []string{word, j.file, reason})
	}
	summary := fmt.Sprintf("%d files", len(list))
	for _, word := range words {
		summary += fmt.Sprintf(", %d %s", count[word], word)
	}
	w := reports.To(out)
	w.Table(rows)
	w.Line("%s", summary)
	return w.Err()
}

func place(f sarif.Finding) string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	return f.File
}

func asJSON(list []judgement, w io.Writer) error {
	if len(list) == 1 {
		j := list[0]
		if j.err != nil {
			return nil
		}
		if own := answer(j); own != nil {
			return writeJSON(w, own)
		}
		return printJSON(w, j.verdict)
	}
	type one struct {
		File    string              `json:"file"`
		Verdict *validators.Verdict `json:"verdict"`
		Error   *string             `json:"error"`
	}
	all := make([]one, len(list))
	for i, j := range list {
		all[i].File = j.file
		if j.err != nil {
			message := j.err.Error()
			all[i].Error = &message
		} else {
			all[i].Verdict = &list[i].verdict
		}
	}
	return printJSON(w, all)
}

func asJUnit(list []judgement, w io.Writer) error {
	report := junit.Suite{Name: list[0].validator}
	for _, j := range list {
		c := junit.Case{Name: j.file, Class: j.validator}
		switch {
		case j.err != nil:
			c.Error = &junit.Why{Message: j.err.Error()}
		case !j.verdict.Valid:
			c.Failure = &junit.Why{Message: j.verdict.Reason}
			for _, f := range j.findings() {
				c.Failure.Text += fmt.Sprintf("%s: %s\n", place(f), f.Message)
			}
		}
		report.Cases = append(report.Cases, c)
	}
	return report.Write(w)
}

func asSARIF(list []judgement, w io.Writer) error {
	report := newSARIF()
	for _, j := range list {
		found := j.findings()
		if len(found) == 0 && (j.err != nil || !j.verdict.Valid) {
			message := j.verdict.Reason
			if j.err != nil {
				message = j.err.Error()
			}
			found = []sarif.Finding{{Rule: j.validator, Level: "error", Message: message, File: j.file}}
		}
		report.Add(found...)
	}
	return printJSON(w, report)
}

// findings are the verdict's issues and warnings with their lines.
func (j judgement) findings() []sarif.Finding {
	var out []sarif.Finding
	add := func(level string, issues []validators.Issue) {
		for _, i := range issues {
			rule := cmp.Or(i.Check, j.validator)
			message := i.Message
			if i.Location != "" && lineOf(i.Location) == 0 {
				message = i.Location + ": " + message
			}
			out = append(out, sarif.Finding{Rule: rule, Level: level, Message: message, File: j.file, Line: lineOf(i.Location)})
		}
	}
	add("error", j.verdict.Issues)
	add("warning", j.verdict.Warnings)
	return out
}

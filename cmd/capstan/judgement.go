package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators"
)

// A judgement is the verdict of a gate on a file, or the error without one.
type judgement struct {
	file, validator string
	verdict         validators.Verdict
	err             error
}

// reportOf returns the judgements of one gate in every format. In JUnit each file is a case.
func reportOf(list []judgement) *reports.Report {
	out := &reports.Report{Name: list[0].validator, Data: dataOf(list)}
	if len(list) == 1 {
		list[0].text(&out.Text)
	} else {
		table(list, &out.Text)
	}
	for _, j := range list {
		c := reports.Case{Name: j.file, Class: j.validator, Message: j.verdict.Reason, Findings: j.findings()}
		switch {
		case j.err != nil:
			c.Status, c.Message = reports.Broken, j.err.Error()
		case !j.verdict.Valid:
			c.Status = reports.Failed
		}
		if len(c.Findings) == 0 && c.Status != reports.Passed {
			c.Findings = []reports.Finding{{Rule: j.validator, Level: reports.Error, Message: c.Message, File: j.file}}
		}
		out.Cases = append(out.Cases, c)
	}
	return out
}

// text adds the verdict and its findings. An error goes to standard error instead.
func (j judgement) text(t *reports.Text) {
	if j.err != nil {
		return
	}
	head, found := j.summary()
	t.Line("%s", head)
	for _, f := range found {
		t.Line("%s: %s", f.Place(), f.Message)
	}
}

// dataOf returns the JSON of one verdict, or of several with their files.
func dataOf(list []judgement) any {
	if len(list) == 1 {
		return list[0].verdict
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
	return all
}

// summary returns the first line of a verdict and the findings to list below it. A
// finding that the reason contains is printed once, with its line if it has one.
func (j judgement) summary() (head string, below []reports.Finding) {
	found := j.findings()
	rest, lines := j.verdict.Reason, false
	for _, i := range slices.Concat(j.verdict.Issues, j.verdict.Warnings) {
		rest = strings.ReplaceAll(rest, i.Location+": "+i.Message, "")
		rest = strings.ReplaceAll(rest, i.Message, "")
		lines = lines || reports.LineOf(i.Location) > 0
	}
	repeated := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0
	switch {
	case j.verdict.Reason == "", repeated && lines:
		return j.word(), found
	case !lines:
		found = slices.DeleteFunc(found, func(f reports.Finding) bool { return strings.Contains(j.verdict.Reason, f.Message) })
	}
	return j.word() + ": " + j.verdict.Reason, found
}

// word returns the verdict in one word, in the gate's own terms if it has some.
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

// table adds a line for each verdict and the number of verdicts of each kind.
func table(list []judgement, t *reports.Text) {
	var rows [][]string
	words, count := []string{}, map[string]int{}
	for _, j := range list {
		word := j.word()
		if count[word]++; count[word] == 1 {
			words = append(words, word)
		}
		reason := j.verdict.Reason
		if j.err != nil {
			reason = j.err.Error()
		}
		rows = append(rows, []string{word, j.file, reports.Name(reason)})
	}
	summary := fmt.Sprintf("%d files", len(list))
	for _, word := range words {
		summary += fmt.Sprintf(", %d %s", count[word], word)
	}
	t.Table(rows)
	t.Line("%s", summary)
}

// findings returns the verdict's issues and warnings with their lines.
func (j judgement) findings() []reports.Finding {
	var out []reports.Finding
	add := func(level reports.Level, issues []validators.Issue) {
		for _, i := range issues {
			rule := cmp.Or(i.Check, j.validator)
			message := i.Message
			if i.Location != "" && reports.LineOf(i.Location) == 0 {
				message = i.Location + ": " + message
			}
			out = append(out, reports.Finding{Rule: rule, Level: level, Message: message, File: j.file, Line: reports.LineOf(i.Location)})
		}
	}
	add(reports.Error, j.verdict.Issues)
	add(reports.Warning, j.verdict.Warnings)
	return out
}

// printJudgements prints the judgements. The text and JSON of one file are the gate's own
// answer if it has one, and empty if the gate gave no verdict.
func (c *Command) printJudgements(list []judgement, format string) error {
	if one := list[0]; len(list) == 1 && (format == "text" || format == "json") {
		if one.err != nil {
			return nil
		}
		if own := answer(one); own != nil {
			return writeJSON(c.Stdout, own)
		}
	}
	return c.printReport(reportOf(list), format)
}

package main

import (
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/sarif"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// newSARIF is an empty report. Its rules are gates' names and the codes of
// diagnostics, which have a meaning.
func newSARIF() *sarif.Report {
	return sarif.New(versionName(), func(rule string) string {
		for _, c := range cascades.Codes() {
			if c.Name == rule {
				return c.Meaning
			}
		}
		return ""
	})
}

var lineNumber = patterns.Lazy(`\bline (\d+)`)

// lineOf finds the line that a location in words names, or 0.
func lineOf(location string) int {
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

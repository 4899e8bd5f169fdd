package main

import (
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/reports"
)

// printReport writes a report to standard output in the format of a flag.
func (c *Command) printReport(r *reports.Report, format string) error {
	r.Tool = reports.Tool{Version: versionName(), Meaning: func(rule string) string {
		for _, c := range codes.All() {
			if c.Name == rule {
				return c.Meaning
			}
		}
		return ""
	}}
	out := c.Stdout
	if format == "json" || format == "sarif" {
		out = documents{out}
	}
	if err := r.Write(out, format); err != nil {
		return &exit{exitBroken, err}
	}
	return nil
}

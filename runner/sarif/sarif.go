// Package sarif writes findings in the Static Analysis Results Interchange Format
// 2.1.0, which code scanners and editors read.
package sarif

import (
	"net/url"
	"path/filepath"
	"slices"
)

// A Finding is one thing that a report tells.
type Finding struct {
	Rule, Level, Message string // the level is error, warning or note
	File                 string
	Line, Column         int // 0 where it is not known
}

// A Report is one run of capstan, and is written as JSON. Make one with [New].
type Report struct {
	Schema  string `json:"$schema"`
	Version string `json:"version"`
	Runs    []run  `json:"runs"`

	meaning func(rule string) string
}

type run struct {
	Tool struct {
		Driver struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Rules   []rule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Results []result `json:"results"`
}

type rule struct {
	ID    string `json:"id"`
	Short *text  `json:"shortDescription,omitempty"`
}

type result struct {
	RuleID    string     `json:"ruleId"`
	Level     string     `json:"level"`
	Message   text       `json:"message"`
	Locations []location `json:"locations"`
}

type text struct {
	Text string `json:"text"`
}

type location struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *region `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type region struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

// New is a report of a version of capstan, with nothing in it. Meaning says what a
// rule means, "" where nobody has said it.
func New(version string, meaning func(rule string) string) *Report {
	r := &Report{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: make([]run, 1), meaning: meaning}
	r.Runs[0].Tool.Driver.Name = "capstan"
	r.Runs[0].Tool.Driver.Version = version
	r.Runs[0].Tool.Driver.Rules = []rule{}
	r.Runs[0].Results = []result{}
	return r
}

// reference is a file's name as a URI has it, in which blanks, # and % stand for
// something else.
func reference(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.VolumeName(file) != "" {
		u.Scheme, u.Path = "file", "/"+u.Path
	}
	return u.String()
}

// Add adds findings, and the rule of each once.
func (r *Report) Add(list ...Finding) {
	run := &r.Runs[0]
	for _, f := range list {
		if !slices.ContainsFunc(run.Tool.Driver.Rules, func(r rule) bool { return r.ID == f.Rule }) {
			one := rule{ID: f.Rule}
			if meaning := r.meaning(f.Rule); meaning != "" {
				one.Short = &text{meaning}
			}
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, one)
		}
		var where location
		where.Physical.Artifact.URI = reference(f.File)
		if f.Line > 0 {
			where.Physical.Region = &region{f.Line, f.Column}
		}
		run.Results = append(run.Results, result{f.Rule, f.Level, text{f.Message}, []location{where}})
	}
}

package main

import (
	"path/filepath"
	"strconv"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// A finding is one thing that a report tells.
type finding struct {
	rule, level, message string
	file                 string
	line, column         int // 0 where it is not known
}

// A sarif is a report in the Static Analysis Results Interchange Format 2.1.0.
type sarif struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name    string      `json:"name"`
			Version string      `json:"version"`
			Rules   []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifRule struct {
	ID    string     `json:"id"`
	Short *sarifText `json:"shortDescription,omitempty"` // what a diagnostic's code means
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

func newSARIF() *sarif {
	s := &sarif{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: make([]sarifRun, 1)}
	s.Runs[0].Tool.Driver.Name = "capstan"
	s.Runs[0].Tool.Driver.Version = versionName()
	s.Runs[0].Tool.Driver.Rules = []sarifRule{}
	s.Runs[0].Results = []sarifResult{}
	return s
}

// ruleOf is the rule of a finding: the code of a diagnostic, or a gate's name.
func ruleOf(id string) sarifRule {
	for _, c := range cascades.Codes() {
		if c.Name == id {
			return sarifRule{id, &sarifText{c.Meaning}}
		}
	}
	return sarifRule{ID: id}
}

func (s *sarif) add(f finding) {
	run := &s.Runs[0]
	known := false
	for _, r := range run.Tool.Driver.Rules {
		known = known || r.ID == f.rule
	}
	if !known {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(f.rule))
	}
	var where sarifLocation
	where.Physical.Artifact.URI = filepath.ToSlash(f.file)
	if f.line > 0 {
		where.Physical.Region = &sarifRegion{f.line, f.column}
	}
	run.Results = append(run.Results, sarifResult{f.rule, f.level, sarifText{f.message}, []sarifLocation{where}})
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

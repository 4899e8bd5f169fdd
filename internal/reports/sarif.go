package reports

import (
	"net/url"
	"path/filepath"
	"slices"
)

// The types below are the part of the Static Analysis Results Interchange Format 2.1.0
// that Capstan writes.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string     `json:"id"`
		Short *sarifText `json:"shortDescription,omitempty"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		Level     Level           `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
		EndLine     int `json:"endLine,omitempty"`
		EndColumn   int `json:"endColumn,omitempty"`
	}
)

// sarif returns the findings of all cases, with each rule once.
func (r *Report) sarif() sarifLog {
	driver := sarifDriver{Name: "capstan", Version: r.Tool.Version, Rules: []sarifRule{}}
	results := []sarifResult{}
	for _, c := range r.Cases {
		for _, f := range c.Findings {
			if !slices.ContainsFunc(driver.Rules, func(rule sarifRule) bool { return rule.ID == f.Rule }) {
				driver.Rules = append(driver.Rules, r.rule(f.Rule))
			}
			at := sarifPhysical{Artifact: sarifArtifact{reference(f.File)}}
			if f.Line > 0 {
				at.Region = &sarifRegion{f.Line, f.Column, f.EndLine, f.EndColumn}
			}
			results = append(results, sarifResult{f.Rule, f.Level, sarifText{f.Message}, []sarifLocation{{at}}})
		}
	}
	return sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{{sarifTool{driver}, results}}}
}

func (r *Report) rule(id string) sarifRule {
	rule := sarifRule{ID: id}
	if r.Tool.Meaning != nil {
		if meaning := r.Tool.Meaning(id); meaning != "" {
			rule.Short = &sarifText{meaning}
		}
	}
	return rule
}

// reference returns the name of a file as a URI, in which blanks, # and % are escaped.
func reference(file string) string {
	u := url.URL{Path: filepath.ToSlash(file)}
	if filepath.VolumeName(file) != "" {
		u.Scheme, u.Path = "file", "/"+u.Path
	}
	return u.String()
}

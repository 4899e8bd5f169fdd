package reports_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/reports"
)

// written returns a report in a format.
func written(t *testing.T, r *reports.Report, format string) string {
	t.Helper()
	var b strings.Builder
	if err := r.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func checked() *reports.Report {
	r := &reports.Report{Name: "suite", Data: map[string]int{"files": 3}, Tool: reports.Tool{Version: "1", Meaning: func(rule string) string {
		return map[string]string{"long": "too long"}[rule]
	}}}
	r.Text.Line("%s of %s", reports.Count(1, "run"), reports.Count(2, "cascade"))
	r.Text.Table([][]string{{"CHECK", "NO", "YES"}, {"long", reports.Cell(0), reports.Cell(12)}})
	long := reports.Finding{Rule: "long", Level: reports.Error, Message: "the text is long", File: "a b.md", Line: 7, Column: 2}
	other := reports.Finding{Rule: "other", Level: reports.Note, Message: "a note", File: "c.md"}
	r.Cases = []reports.Case{
		{Name: "a", Class: "files", Seconds: 1.5, Status: reports.Failed, Message: "1 finding", Findings: []reports.Finding{long, other}},
		{Name: "b", Class: "files", Status: reports.Broken, Message: "no verdict", Detail: "timeout"},
		{Name: "c", Class: "files", Detail: "all is well", Findings: []reports.Finding{long}},
	}
	return r
}

func TestReportText(t *testing.T) {
	if got, want := written(t, checked(), "text"), "1 run of 2 cascades\nCHECK  NO  YES\nlong   ·   12\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReportJSON(t *testing.T) {
	if got, want := written(t, checked(), "json"), "{\n  \"files\": 3\n}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReportJUnit(t *testing.T) {
	got := written(t, checked(), "junit")
	for _, want := range []string{
		`<testsuite name="suite" tests="3" failures="1" errors="1" time="1.500">`,
		`<failure message="1 finding">a b.md:7: the text is long&#xA;c.md: a note&#xA;</failure>`,
		`<error message="no verdict">timeout</error>`,
		`<system-out>all is well</system-out>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestReportSARIF(t *testing.T) {
	var log struct {
		Runs []struct {
			Tool struct {
				Driver struct {
					Version string
					Rules   []struct {
						ID               string
						ShortDescription struct{ Text string }
					}
				}
			}
			Results []struct {
				RuleID, Level string
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           *struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(written(t, checked(), "sarif")), &log); err != nil {
		t.Fatal(err)
	}
	run := log.Runs[0]
	if rules := run.Tool.Driver.Rules; len(rules) != 2 || rules[0].ID != "long" || rules[0].ShortDescription.Text != "too long" || run.Tool.Driver.Version != "1" {
		t.Errorf("tool %+v", run.Tool)
	}
	if len(run.Results) != 3 || run.Results[0].Level != "error" || run.Results[1].Level != "note" {
		t.Fatalf("results %+v", run.Results)
	}
	first, second := run.Results[0].Locations[0].PhysicalLocation, run.Results[1].Locations[0].PhysicalLocation
	if first.ArtifactLocation.URI != "a%20b.md" || first.Region.StartLine != 7 || first.Region.StartColumn != 2 || second.Region != nil {
		t.Errorf("places %+v, %+v", first, second)
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestReportWriteError(t *testing.T) {
	for _, format := range []string{"text", "json", "junit", "sarif"} {
		if checked().Write(full{}, format) == nil {
			t.Errorf("%s: no error", format)
		}
	}
}

func TestListLimit(t *testing.T) {
	var text reports.Text
	reports.List(&text, make([]int, reports.Listed+2), func(int) { text.Line("item") })
	if got := text.String(); strings.Count(got, "item\n") != reports.Listed || !strings.HasSuffix(got, "\nand 2 more\n") {
		t.Errorf("got %q", got)
	}
}

func TestLineOf(t *testing.T) {
	for location, want := range map[string]int{"table 2, line 7": 7, "line 99999999999999999999": 0, "outline 3": 0, "": 0} {
		if got := reports.LineOf(location); got != want {
			t.Errorf("%q: got %d, want %d", location, got, want)
		}
	}
}

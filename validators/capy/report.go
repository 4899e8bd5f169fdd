package capy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
)

// Statuses of a report.
const (
	Pass = "PASS"
	Warn = "WARN"
	Fail = "FAIL"
)

// A Report is the gate's answer. As JSON it is the object of the CAPY
// inter-turn validator, keys in its order and nothing else.
type Report struct {
	Stage    string    `json:"stage"`
	Status   string    `json:"status"` // PASS, WARN or FAIL
	Checks   Checks    `json:"checks"`
	Issues   []Finding `json:"issues"`
	Warnings []Finding `json:"warnings"`
	Proceed  bool      `json:"proceed"` // the status is not FAIL
}

// Checks are the outcomes of the six checks, in the order they run.
type Checks struct {
	OutputStructure  Check `json:"output_structure"`
	ArtifactsPresent Check `json:"artifacts_present"`
	JSONValid        Check `json:"json_valid"`
	SanityBounds     Check `json:"sanity_bounds"`
	NoFabrication    Check `json:"no_fabrication"`
	DRDerivation     Check `json:"dr_derivation"`
}

// A Check is the outcome of one check. Pass is nil if the check did not run.
type Check struct {
	Pass  *bool   `json:"pass"`
	Notes *string `json:"notes"`
}

// A Finding is a fault or a question, and its place.
type Finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"` // FAIL or WARN
	Message  string `json:"message"`
	Location string `json:"location"` // line 12, under "A.6 DR DERIVATION"
	Line     int    `json:"-"`        // counted from 1; in a sidecar if the location names one
}

// MarshalJSON returns the seed's object on one line.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	r.Issues, r.Warnings = append([]Finding{}, r.Issues...), append([]Finding{}, r.Warnings...)
	return schema.Encode(plain(r))
}

// Text returns the report as JSON for people: indented by two spaces, with a line end.
func (r Report) Text() []byte {
	var b bytes.Buffer
	line, err := r.MarshalJSON()
	if err == nil {
		err = json.Indent(&b, line, "", "  ")
	}
	if err != nil {
		return nil // a report has only strings and booleans
	}
	return append(b.Bytes(), '\n')
}

// The index of each check in [Checks].
const (
	outputStructure = iota
	artifactsPresent
	jsonValid
	sanityBounds
	noFabrication
	drDerivation
)

var checkNames = [...]string{"output_structure", "artifacts_present", "json_valid", "sanity_bounds", "no_fabrication", "dr_derivation"}

func (c *Checks) list() []*Check {
	return []*Check{&c.OutputStructure, &c.ArtifactsPresent, &c.JSONValid, &c.SanityBounds, &c.NoFabrication, &c.DRDerivation}
}

// maxFindings is how many findings of a severity a check reports. The others are counted.
const maxFindings = 100

// findings are the findings of one check.
type findings struct {
	check            string
	issues, warnings list
	note             string
}

// A list has the findings of one severity.
type list struct {
	found []Finding
	more  int // beyond the first maxFindings
}

func (f *findings) fail(at place, format string, args ...any) {
	f.issues.add(Finding{f.check, Fail, fmt.Sprintf(format, args...), at.location(), at.line()})
}

func (f *findings) warn(at place, format string, args ...any) {
	f.warnings.add(Finding{f.check, Warn, fmt.Sprintf(format, args...), at.location(), at.line()})
}

func (l *list) add(f Finding) {
	if len(l.found) == maxFindings {
		l.more++
		return
	}
	l.found = append(l.found, f)
}

// all returns the findings. The last one counts those that are left out.
func (l *list) all() []Finding {
	if l.more > 0 {
		l.found[len(l.found)-1].Message += fmt.Sprintf(" (and %d more like these)", l.more)
	}
	return l.found
}

// outcome returns the check as the report has it.
func (f *findings) outcome() Check {
	pass := len(f.issues.found) == 0
	if !pass {
		f.note = summary(f.issues.found)
	}
	return outcome(&pass, cmp.Or(f.note, summary(f.warnings.found)))
}

func outcome(pass *bool, note string) Check {
	if note == "" {
		return Check{Pass: pass}
	}
	return Check{pass, &note}
}

// summary returns a check's note: its findings in brief.
func summary(list []Finding) string {
	var words []string
	for _, f := range list[:min(len(list), 3)] {
		brief, _, _ := strings.Cut(f.Message, ": ")
		brief, _, _ = strings.Cut(brief, " (")
		words = append(words, reports.Fit(brief, 90))
	}
	if len(list) > 3 {
		words = append(words, fmt.Sprintf("%d more", len(list)-3))
	}
	return strings.Join(words, "; ")
}

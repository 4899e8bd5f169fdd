package capy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators/schema"
)

// What a report's status may be.
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

// A Check is the outcome of one check: Pass is nil where it did not run.
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
	return schema.Encode(plain(r.filled()))
}

// Text is the report as JSON laid out for people: two spaces deep, a check on
// each line, > and < as they are, with a line end.
func (r Report) Text() []byte {
	r = r.filled()
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"stage\": %s,\n  \"status\": %s,\n  \"checks\": {\n", quoted(r.Stage), quoted(r.Status))
	outcomes := r.Checks.list()
	for i, c := range outcomes {
		comma := ","
		if i == len(outcomes)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "    %s: {\"pass\": %s, \"notes\": %s}%s\n", quoted(checkNames[i]), quoted(c.Pass), quoted(c.Notes), comma)
	}
	fmt.Fprintf(&b, "  },\n  \"issues\": %s,\n  \"warnings\": %s,\n  \"proceed\": %t\n}\n",
		indented(r.Issues), indented(r.Warnings), r.Proceed)
	return b.Bytes()
}

func (r Report) filled() Report {
	if r.Issues == nil {
		r.Issues = []Finding{}
	}
	if r.Warnings == nil {
		r.Warnings = []Finding{}
	}
	return r
}

func quoted(v any) string {
	text, _ := schema.Encode(v)
	return string(text)
}

func indented(findings []Finding) string {
	if len(findings) == 0 {
		return "[]"
	}
	text, _ := schema.Encode(findings)
	var b bytes.Buffer
	if err := json.Indent(&b, text, "  ", "  "); err != nil {
		return "[]"
	}
	return b.String()
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

// findings are what one check finds.
type findings struct {
	check string
	list  []Finding
	more  map[string]int // by severity: the findings beyond the first maxFindings
	note  string
}

func (f *findings) fail(at place, format string, args ...any) { f.add(Fail, at, format, args) }

func (f *findings) warn(at place, format string, args ...any) { f.add(Warn, at, format, args) }

func (f *findings) add(severity string, at place, format string, args []any) {
	if len(f.of(severity)) < maxFindings {
		message := fmt.Sprintf(format, args...)
		f.list = append(f.list, Finding{Check: f.check, Severity: severity, Message: message, Location: at.location(), Line: at.line()})
		return
	}
	if f.more == nil {
		f.more = map[string]int{}
	}
	f.more[severity]++
}

func (f *findings) of(severity string) []Finding {
	var list []Finding
	for _, one := range f.list {
		if one.Severity == severity {
			list = append(list, one)
		}
	}
	return list
}

// all returns the findings of one severity. The last one counts those that are left out.
func (f *findings) all(severity string) []Finding {
	list := f.of(severity)
	if n := f.more[severity]; n > 0 {
		list[len(list)-1].Message += fmt.Sprintf(" (and %d more like these)", n)
	}
	return list
}

// outcome is the check as the report has it.
func (f *findings) outcome() Check {
	fails := f.of(Fail)
	pass := len(fails) == 0
	note := f.note
	switch {
	case !pass:
		note = summary(fails)
	case note == "" && len(f.list) > 0:
		note = summary(f.list)
	}
	return outcome(&pass, note)
}

func outcome(pass *bool, note string) Check {
	c := Check{Pass: pass}
	if note != "" {
		c.Notes = &note
	}
	return c
}

// summary is a check's note: its findings in brief.
func summary(list []Finding) string {
	words := make([]string, 0, 3)
	for _, f := range list[:min(len(list), 3)] {
		brief, _, _ := strings.Cut(f.Message, ": ")
		brief, _, _ = strings.Cut(brief, " (")
		words = append(words, clip(brief, 90))
	}
	if len(list) > 3 {
		words = append(words, fmt.Sprintf("%d more", len(list)-3))
	}
	return strings.Join(words, "; ")
}

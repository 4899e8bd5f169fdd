package messages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/wards"
)

// Reasons returns the reasons of failed checks as one text.
func Reasons(failed []wards.Outcome) string {
	var lines []string
	for _, o := range failed {
		line := o.Ward.Name + ": " + o.Verdict.Reason
		if o.Ward.Silent {
			line = notAccepted
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// notAccepted is the only text that a model sees of a silent check.
const notAccepted = "the result was not accepted"

// FailedChecks returns the failed checks that are not silent, for a template.
func FailedChecks(failed []wards.Outcome) []any {
	var checks []any
	for _, o := range failed {
		if !o.Ward.Silent {
			checks = append(checks, describe(o))
		}
	}
	return checks
}

// describe returns a failed check in the form of the default feedback.
func describe(o wards.Outcome) map[string]any {
	issues := []any{}
	for _, i := range o.Verdict.Issues {
		issue := map[string]any{"path": i.Location, "message": i.Message}
		if i.Expected != "" {
			issue["expected"] = i.Expected
		}
		if i.Got != "" {
			issue["got"] = i.Got
		}
		issues = append(issues, issue)
	}
	return map[string]any{"check": o.Ward.Name, "reason": o.Verdict.Reason, "issues": issues, "fix": o.Verdict.Fix}
}

// SchemaReason returns the reason of the output_schema check, or "" if it
// passed.
func SchemaReason(failed []wards.Outcome) string {
	for _, o := range failed {
		if o.Ward.Moment == wards.OutputSchema {
			return o.Verdict.Reason
		}
	}
	return ""
}

// Shortened returns a text in at most so many characters. It keeps the beginning and
// the end of a longer text, with a note between them. The end is a quarter of it.
func Shortened(text string, most int) string {
	chars := []rune(text)
	if len(chars) <= most {
		return text
	}
	note := []rune(fmt.Sprintf("\n[… cut: the feedback has %d characters, and the maximum is %d …]\n", len(chars), most))
	left := max(most-len(note), 0)
	return string(slices.Concat(chars[:left-left/4], note, chars[len(chars)-left/4:]))
}

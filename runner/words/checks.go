package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/wards"
)

// Reasons puts what failed checks said into one text.
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

// notAccepted is all that an author hears of a silent check.
const notAccepted = "the result was not accepted"

// Spoken are the failed checks that say what was wrong.
func Spoken(failed []wards.Outcome) []any {
	var checks []any
	for _, o := range failed {
		if !o.Ward.Silent {
			checks = append(checks, described(o))
		}
	}
	return checks
}

// described is a failed check as the default feedback shows it.
func described(o wards.Outcome) map[string]any {
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

// SchemaReason is what output_schema said, "" where it is content.
func SchemaReason(failed []wards.Outcome) string {
	for _, o := range failed {
		if o.Ward.Moment == wards.OutputSchema {
			return o.Verdict.Reason
		}
	}
	return ""
}

// Shortened returns a text of at most so many characters. Of a longer one it has the
// beginning and the end, which is a fourth, with a note between them.
func Shortened(text string, most int) string {
	chars := []rune(text)
	if len(chars) <= most {
		return text
	}
	note := []rune(fmt.Sprintf("\n[… cut: the feedback has %d characters, and the maximum is %d …]\n", len(chars), most))
	left := max(most-len(note), 0)
	return string(slices.Concat(chars[:left-left/4], note, chars[len(chars)-left/4:]))
}

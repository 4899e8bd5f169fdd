package builtins

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

// maxIssues is the maximum number of issues in a verdict, because a verdict
// goes into a prompt.
const maxIssues = 20

// lineAt returns the location of a byte of a text, as "line 3".
func lineAt(text string, offset int) string {
	return fmt.Sprintf("line %d", strings.Count(text[:offset], "\n")+1)
}

// findings collects at most maxIssues issues of a validator.
type findings struct {
	check  string // name of the validator
	issues []validators.Issue
	more   int
}

func (f *findings) add(location, format string, args ...any) {
	if len(f.issues) == maxIssues {
		f.more++
		return
	}
	f.issues = append(f.issues, validators.Issue{Check: f.check, Severity: "error", Message: fmt.Sprintf(format, args...), Location: location})
}

// addAt is add for a finding at a byte of a text.
func (f *findings) addAt(text string, at int, format string, args ...any) {
	location := ""
	if len(f.issues) < maxIssues {
		location = lineAt(text, at)
	}
	f.add(location, format, args...)
}

// verdict returns a rejection with the findings. Without findings it returns a
// pass with a reason.
func (f *findings) verdict(pass string) validators.Verdict {
	if len(f.issues) == 0 {
		return validators.Pass("%s", pass)
	}
	v := validators.FailWith(f.issues...)
	if f.more > 0 {
		v.Reason += fmt.Sprintf("; and %d more", f.more)
	}
	return v
}

// warnings returns the findings as warnings.
func (f *findings) warnings() []validators.Issue {
	for i := range f.issues {
		f.issues[i].Severity = "warning"
	}
	return f.issues
}

// quote returns a text in quotation marks, shortened to one line.
func quote(text string) string {
	const most = 60
	if runes := []rune(text[:min(len(text), 4*most)]); len(runes) > most {
		return fmt.Sprintf("%q…", string(runes[:most]))
	}
	return fmt.Sprintf("%q", text)
}

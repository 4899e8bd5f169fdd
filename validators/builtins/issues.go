package builtins

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators"
)

// maxIssues bounds what one verdict lists: it goes into a prompt.
const maxIssues = 20

// lineAt is the location of a byte of a text: "line 3".
func lineAt(text string, offset int) string {
	return fmt.Sprintf("line %d", strings.Count(text[:offset], "\n")+1)
}

// findings collects a validator's issues up to maxIssues and judges by them.
type findings struct {
	check  string // the validator's name
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

// verdict is a pass with a reason where nothing was found.
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

// warnings are the findings as such: they refuse nothing.
func (f *findings) warnings() []validators.Issue {
	for i := range f.issues {
		f.issues[i].Severity = "warning"
	}
	return f.issues
}

// quote shows a text in one short line.
func quote(text string) string {
	const most = 60
	if runes := []rune(text[:min(len(text), 4*most)]); len(runes) > most {
		return fmt.Sprintf("%q…", string(runes[:most]))
	}
	return fmt.Sprintf("%q", text)
}

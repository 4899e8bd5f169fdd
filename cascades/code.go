package cascades

import "github.com/seed61713e19/capstan/cascades/internal/findings"

// The codes of diagnostics that other packages report or handle. [Codes] lists all.
const (
	CodeType         = findings.CodeType
	CodeUnknownKey   = findings.CodeUnknownKey
	CodeValidator    = findings.CodeValidator
	CodeTool         = findings.CodeTool
	CodeUnproven     = findings.CodeUnproven
	CodePrice        = findings.CodePrice
	CodeUngatedWrite = findings.CodeUngatedWrite
	CodeUnmeasured   = findings.CodeUnmeasured
)

// A Code is the code of a diagnostic with its meaning. A code keeps its meaning.
type Code struct {
	Name    string `json:"name"`
	Meaning string `json:"meaning"`
}

// Codes lists every code, in the order of docs/reference/diagnostics.md.
func Codes() (list []Code) {
	for _, c := range findings.Codes() {
		list = append(list, Code(c))
	}
	return list
}

package checks

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/pins"
)

// A Subject is a pattern for the arguments of a program that name the text under test.
type Subject struct {
	Node    *yaml.Node
	Pattern string
	Argv    []string
	Script  string // script that the program runs; "" for none
	What    string // name in messages, such as "validator tests_pass"
}

// subjects reports patterns that match the program itself, and patterns that match no
// argument. It warns about patterns that match the script that the program runs.
func subjects(c *Cascade, r *findings.Report) {
	for _, s := range c.Subjects {
		pattern := []string{s.Pattern}
		switch {
		case pins.MatchAny(pattern, s.Argv[0]):
			r.Error(s.Node, codes.Conflict, "subject: %s matches %s, the program itself: a model could replace it", s.Pattern, s.Argv[0])
		case !slices.ContainsFunc(pins.Words(s.Argv, nil), func(w pins.Word) bool { return pins.MatchAny(pattern, w.Text) }):
			r.Error(s.Node, codes.Value, "subject: %s matches no argument of exec", s.Pattern)
		case pins.MatchAny(pattern, s.Script):
			r.Warn(s.Node, codes.Ungated, "subject: %s matches %s, the program that %s runs: a model may write it, so %s is no gate",
				s.Pattern, s.Script, s.Argv[0], s.What)
		}
	}
}

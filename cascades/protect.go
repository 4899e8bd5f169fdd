package cascades

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Deciding is the data that decides a run, in addition to the files of the
// cascade. No model may change it.
type Deciding struct {
	Programs []Program // of this cascade and of those within it
	Protect  []string  // patterns of files below the root of the file tools
	Measured []string  // patterns of the labels and the evidence beside the cascades
}

// A Program is a program that a cascade starts.
type Program struct {
	What    string // validator tests_pass
	Argv    []string
	Dir     string   // the working directory of the program; "" for that of the process
	Subject []string // patterns of the arguments that may change
	Pinned  bool     // a gate or a tool, whose files must not change during a run
}

// starts notes a program that the cascade starts.
func (p *parser) starts(program Program) {
	if p.deciding != nil && len(program.Argv) > 0 {
		p.deciding.Programs = append(p.deciding.Programs, program)
	}
}

// globs reads patterns of files, and reports invalid ones.
func (p *parser) globs(o *reader.Object, key string) []string {
	list := o.Texts(key)
	if n := o.Get(key); n != nil && len(list) == 0 {
		p.Error(n, codes.Value, "%s must list one pattern at least", key)
	}
	for i, n := range o.List(key) {
		switch {
		case list[i] == "" || !doublestar.ValidatePattern(list[i]):
			p.Error(n, codes.Value, "%s: %q is not a pattern of files, such as *.go or tests/**", key, list[i])
		case path.IsAbs(list[i]) && key == "protect":
			p.Error(n, codes.Value, "protect: %q must be relative to --root, where the file tools work", list[i])
		}
	}
	return list
}

// subject reads the patterns of the arguments that are the text under test.
func (p *parser) subject(o *reader.Object, argv []string) []string {
	list := p.globs(o, "subject")
	for i, n := range o.List("subject") {
		if len(argv) == 0 || !doublestar.ValidatePattern(list[i]) {
			continue
		}
		p.facts.Subjects = append(p.facts.Subjects, checks.Subject{Node: n, Pattern: list[i], Argv: argv, Script: script(argv), What: o.What})
	}
	return list
}

// script returns the file that an interpreter runs, or "".
func script(argv []string) string {
	if !tool.IsInterpreter(argv[0]) {
		return ""
	}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// protected reads the patterns of further files that no model may change, for
// the file and its nested cascades.
func (p *parser) protected(o *reader.Object) {
	list := p.globs(o, "protect")
	if p.deciding == nil {
		return
	}
	p.deciding.Protect = append(p.deciding.Protect, list...)
	for _, files := range []string{stats.EvidenceDir + "/*.json", stats.LabelDir + "/*.jsonl"} {
		if files = p.beside(files); !slices.Contains(p.deciding.Measured, files) {
			p.deciding.Measured = append(p.deciding.Measured, files)
		}
	}
}

// rewritable reports whether a model may write the program that judges, because
// subject declares it as the text under test. Such a validator is no gate.
func (v *Validator) rewritable() bool {
	w := v.written
	return w != nil && len(w.argv) > 0 && pins.MatchAny(w.subject, script(w.argv))
}

// Program returns the program of the validator with its subject, if it has one. A nil
// validator has none.
func (v *Validator) Program() (p Program, is bool) {
	if v == nil || v.written == nil || len(v.written.argv) == 0 {
		return Program{}, false
	}
	w := v.written
	return Program{What: "validator " + v.Name, Argv: w.argv, Dir: w.dir, Subject: w.subject, Pinned: true}, true
}

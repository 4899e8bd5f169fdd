package cascades

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/measures/stats"
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

// An Argument is a word of a program's arguments that can name a file.
type Argument struct {
	Text  string
	Whole bool // a whole argument or the value of a flag, not a word within one
}

// Arguments returns the words that can name files: the program, each argument
// that is not a flag, the value of --flag=value, and the words within an
// argument, such as after sh -c. It leaves out words that match the subject.
func (p Program) Arguments() (list []Argument) {
	for i, arg := range p.Argv {
		if arg == "" || i > 0 && matchesAny(p.Subject, arg) {
			continue
		}
		flag, value, _ := strings.Cut(arg, "=")
		switch dashed := i > 0 && strings.HasPrefix(flag, "-"); {
		case !dashed:
			list = append(list, Argument{arg, true})
		case value != "" && !matchesAny(p.Subject, value):
			list = append(list, Argument{value, true})
		}
		words := strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`=,;:&|()<>{}@", r) })
		for _, word := range words {
			if i > 0 && word != arg && word != value && !matchesAny(p.Subject, word) {
				list = append(list, Argument{word, false})
			}
		}
	}
	return list
}

// matchesAny reports whether one of the patterns matches a word of arguments.
func matchesAny(patterns []string, word string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return doublestar.MatchUnvalidated(path.Clean(pattern), path.Clean(word))
	})
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
		p.Error(n, findings.CodeValue, "%s must list one pattern at least", key)
	}
	for i, n := range o.List(key) {
		switch {
		case list[i] == "" || !doublestar.ValidatePattern(list[i]):
			p.Error(n, findings.CodeValue, "%s: %q is not a pattern of files, such as *.go or tests/**", key, list[i])
		case path.IsAbs(list[i]) && key == "protect":
			p.Error(n, findings.CodeValue, "protect: %q must be relative to --root, where the file tools work", list[i])
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
		program := Program{Argv: argv}
		switch words := program.Arguments(); {
		case matchesAny(list[i:i+1], argv[0]):
			p.Error(n, findings.CodeConflict, "subject: %s matches %s, the program itself: a model could replace it", list[i], argv[0])
		case !slices.ContainsFunc(words, func(a Argument) bool { return matchesAny(list[i:i+1], a.Text) }):
			p.Error(n, findings.CodeValue, "subject: %s matches no argument of exec", list[i])
		case matchesAny(list[i:i+1], script(argv)):
			p.Warn(n, findings.CodeUngated, "subject: %s matches %s, the program that %s runs: %s is no gate if a model may write that program", list[i], script(argv), argv[0], o.What)
		}
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

// Rewritable reports whether a model may write the program that judges, because
// subject declares it as the text under test. Such a validator is no gate.
func (v *Validator) Rewritable() bool {
	w := v.written
	return w != nil && len(w.argv) > 0 && matchesAny(w.subject, script(w.argv))
}

// Program returns the program of the validator with its subject.
func (v *Validator) Program() (Program, bool) {
	if v.written == nil || len(v.written.argv) == 0 {
		return Program{}, false
	}
	w := v.written
	return Program{What: "validator " + v.Name, Argv: w.argv, Dir: w.dir, Subject: w.subject, Pinned: true}, true
}

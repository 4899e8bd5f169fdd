package cascades

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Deciding is what decides a run, besides the files of the cascade: no model may
// change it.
type Deciding struct {
	Programs []Program // of this cascade and of those within it
	Protect  []string  // patterns of files below the root of the file tools
	Measured []string  // patterns of the labels and the evidence beside the cascades
}

// A Program is a program that a cascade starts.
type Program struct {
	What    string // validator tests_pass
	Argv    []string
	Dir     string   // that it runs in; "" for the working directory
	Subject []string // patterns of the arguments that may change
	Pinned  bool     // it judges, or is a tool: its files must not change while the run lives
}

// An Argument is a word of a program's arguments that may name a file.
type Argument struct {
	Text  string
	Whole bool // the argument, or the value of a flag; else a word within one
}

// Arguments lists the words that may name files: each argument that is no flag, the
// value of --flag=value, and the words within an argument, as of sh -c. A word that
// subject matches is left out. The program itself comes first.
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

// globs reads patterns of files; those that are none are reported.
func (p *parser) globs(o *object, key string) []string {
	list := o.texts(key)
	if n := o.get(key); n != nil && len(list) == 0 {
		p.report(n, CodeValue, "%s must list one pattern at least", key)
	}
	for i, n := range o.list(key) {
		switch {
		case list[i] == "" || !doublestar.ValidatePattern(list[i]):
			p.report(n, CodeValue, "%s: %q is not a pattern of files, such as *.go or tests/**", key, list[i])
		case path.IsAbs(list[i]) && key == "protect":
			p.report(n, CodeValue, "protect: %q must be relative to --root, where the file tools work", list[i])
		}
	}
	return list
}

// subject reads which arguments of a program are the text under test.
func (p *parser) subject(o *object, argv []string) []string {
	list := p.globs(o, "subject")
	for i, n := range o.list("subject") {
		if len(argv) == 0 || !doublestar.ValidatePattern(list[i]) {
			continue
		}
		program := Program{Argv: argv}
		switch words := program.Arguments(); {
		case matchesAny(list[i:i+1], argv[0]):
			p.report(n, CodeConflict, "subject: %s matches %s, the program itself: a model could replace it", list[i], argv[0])
		case !slices.ContainsFunc(words, func(a Argument) bool { return matchesAny(list[i:i+1], a.Text) }):
			p.report(n, CodeValue, "subject: %s matches no argument of exec", list[i])
		case matchesAny(list[i:i+1], script(argv)):
			p.warn(n, CodeUngated, "subject: %s matches %s, the program that %s runs: a model may write it, so %s is no gate", list[i], script(argv), argv[0], o.what)
		}
	}
	return list
}

// script is the file that an interpreter runs, "" where the program is none.
func script(argv []string) string {
	if !tool.Interprets(argv[0]) {
		return ""
	}
	for _, arg := range argv[1:] {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// protected reads what else no model may change, for the file and those within it.
func (p *parser) protected(o *object) {
	list := p.globs(o, "protect")
	if p.deciding == nil {
		return
	}
	p.deciding.Protect = append(p.deciding.Protect, list...)
	for _, files := range []string{measure.EvidenceDir + "/*.json", measure.LabelDir + "/*.jsonl"} {
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

// Program is the program that the validator is, with its subject; false of any other.
func (v *Validator) Program() (Program, bool) {
	if v.written == nil || len(v.written.argv) == 0 {
		return Program{}, false
	}
	w := v.written
	return Program{What: "validator " + v.Name, Argv: w.argv, Dir: w.dir, Subject: w.subject, Pinned: true}, true
}

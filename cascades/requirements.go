package cascades

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/measures/stats"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Need is a requirement of a run in addition to the files of the cascade. Every place with
// the requirement has its own Need.
type Need struct {
	Position  syntax.Position // position in the cascade
	Phase     string          // phase with the requirement
	What      string          // user of the requirement, such as "tool search"
	Variables []string        // environment variables
	Remote    tool.Tool       // tool of an MCP server; without a name for none
	Program   string          // name or path of a program, as in exec; "" for none
	Script    bool            // Program is a file that another program runs
	Dir       string          // directory of Program
	Built     bool            // an earlier tool: phase may build Program
}

// programNeeds returns the needs of a program. They are the program itself, its script, and
// the variables of its env. subject has patterns for the arguments that a run may write.
func (p *parser) programNeeds(o *reader.Object, argv []string, dir string, env, subject []string) (list []Need) {
	if len(argv) > 0 {
		list = append(list, Need{Position: p.Position(o.Keys["exec"]), Program: argv[0], Dir: dir})
	}
	if len(argv) > 1 && isScript(argv[1]) && !pins.MatchAny(subject, argv[1]) && (tool.IsInterpreter(argv[0]) || !strings.Contains(argv[0], "/")) {
		list = append(list, Need{Position: p.Position(o.Keys["exec"]), Program: argv[1], Script: true, Dir: dir})
	}
	if o.Has("env") {
		list = append(list, Need{Position: p.Position(o.Keys["env"]), Variables: process.Needed(env)})
	}
	return list
}

// isScript reports whether the first argument of a program is a script file.
func isScript(arg string) bool {
	return !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "{{") &&
		slices.Contains([]string{".py", ".sh", ".js", ".mjs", ".ts", ".rb", ".pl"}, path.Ext(arg))
}

// Lacks returns an error if the program of the need cannot be started. It returns nil if an
// earlier phase may build the program.
func (n Need) Lacks() error {
	if n.Program == "" || n.Built {
		return nil
	}
	if n.Script {
		return process.CheckFile(n.Program, n.Dir)
	}
	return process.CheckProgram(n.Program, n.Dir)
}

// Absent returns a warning for each program that cannot be started here. It checks the
// programs of all phases, tools and checks.
func (c *Cascade) Absent() (found syntax.Diagnostics) {
	var list []Need
	c.needs(needCollector{all: true, done: map[*Cascade]bool{}, list: &list})
	for _, n := range list {
		if err := n.Lacks(); err != nil {
			found = append(found, syntax.Diagnostic{Severity: syntax.Warning, Code: codes.Program, Position: n.Position,
				Message: fmt.Sprintf("%s: %v", n.What, err)})
		}
	}
	return found
}

// entries returns headers in the form of environment variables for [process.Needed].
func entries(headers map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		list = append(list, name+"="+headers[name])
	}
	return list
}

// Variables returns the sorted names of all environment variables that the cascade uses.
func (c *Cascade) Variables() []string {
	var list []Need
	c.needs(needCollector{all: true, done: map[*Cascade]bool{}, list: &list})
	var names []string
	for _, n := range list {
		names = append(names, n.Variables...)
	}
	for _, one := range c.EveryProvider() {
		known, _ := model.Builtin(one.Name)
		if one.KeyEnv != "" && (one.KeyEnv != known.KeyEnv || one.BaseURL != known.BaseURL) {
			names = append(names, one.KeyEnv)
		}
		names = append(names, process.Needed(entries(one.Headers))...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Needs returns the requirements of all phases, including those of nested cascades. It omits
// phases with when: or on_error:, and wards that only record failures.
func (c *Cascade) Needs() []Need {
	var list []Need
	c.needs(needCollector{done: map[*Cascade]bool{}, list: &list})
	return list
}

// A needCollector collects requirements.
type needCollector struct {
	all   bool // include phases and wards that a run may skip
	built bool // an earlier tool: phase may build programs
	done  map[*Cascade]bool
	list  *[]Need
}

func (c *Cascade) needs(n needCollector) {
	if n.done[c] {
		return
	}
	n.done[c] = true
	if c.Tries != nil {
		c.Tries.needs(n) // its tool is the cascade without soundings
		return
	}
	for _, p := range c.Phases {
		p.needs(n)
		n.built = n.built || p.builds()
	}
}

// builds reports whether the phase may write a program, because it calls a tool that writes.
func (p *Phase) builds() bool {
	return p.Tool != nil && (p.Tool.Cascade != nil || p.Tool.Tool.Writes()) || slices.ContainsFunc(p.Together, (*Phase).builds)
}

func (p *Phase) needs(n needCollector) {
	if !n.all && (p.When != nil || p.Rules.OnError != "") {
		return
	}
	for _, one := range p.Together {
		one.needs(n)
	}
	add := func(list []Need, within *Cascade, what string) {
		for _, own := range list {
			own.Phase, own.What = p.Name, what
			own.Built = n.built && (own.Script || strings.ContainsRune(own.Program, '/'))
			if own.Position == (syntax.Position{}) {
				own.Position = p.Position
			}
			*n.list = append(*n.list, own)
		}
		if within != nil {
			within.needs(n)
		}
	}
	for _, s := range p.Subs {
		add(nil, s.Cascade, "")
	}
	if p.Human != nil && p.Human.Notify != nil {
		add(p.Human.Notify.needs, nil, "notify")
	}
	for _, t := range p.tools() {
		add(t.needs, t.Cascade, "tool "+t.Name)
		if v := t.Validator; v != nil {
			add(v.needs, v.Cascade, "validator "+v.Name)
		}
	}
	for _, c := range p.Checks() {
		if n.all || c.Ward.Mode.Enforces() {
			add(c.Validator.needs, c.Validator.Cascade, "validator "+c.Validator.Name)
		}
	}
}

// starts records a program that the cascade starts.
func (p *parser) starts(program Program) {
	if p.deciding != nil && len(program.Argv) > 0 {
		p.deciding.Programs = append(p.deciding.Programs, program)
	}
}

// globs reads file patterns and reports invalid patterns.
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

// subject reads the patterns for the arguments that name the text under test.
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

// protected reads the patterns of the other files that no model may change. They apply to the
// file and its nested cascades.
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

// rewritable reports whether a model may write the program of the validator, because subject
// marks it as the text under test. Such a validator is not a gate.
func (v *Validator) rewritable() bool {
	w := v.written
	return w != nil && len(w.argv) > 0 && pins.MatchAny(w.subject, script(w.argv))
}

// Program returns the program of the validator and its subject. It reports whether the
// validator has a program. A nil validator does not have one.
func (v *Validator) Program() (p Program, ok bool) {
	if v == nil || v.written == nil || len(v.written.argv) == 0 {
		return Program{}, false
	}
	w := v.written
	return Program{What: "validator " + v.Name, Argv: w.argv, Dir: w.dir, Subject: w.subject, Pinned: true}, true
}

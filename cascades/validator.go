package cascades

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/windlass"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/wards"
)

// The forms in which a validator is written: where the file names it, and at
// its place, where it may also be one that is named elsewhere.
var (
	definitionForms = []string{"use", "expr", "schema", "judge", "exec", "cascade", "mcp"}
	wardForms       = append([]string{"validator"}, definitionForms...)
)

// definitions reads the validators and tools that the file names. They may not
// name each other, so their order does not matter.
func (p *parser) definitions(o *object) {
	if defs := o.child("validators"); defs != nil {
		for _, name := range defs.order {
			p.define(name, defs)
		}
	}
	if defs := o.child("tools"); defs != nil {
		for _, name := range defs.order {
			p.defineTool(name, defs)
		}
	}
}

func (p *parser) define(name string, defs *object) {
	if strings.TrimSpace(name) == "" {
		p.report(defs.keys[name], CodeValue, "a validator's name must not be empty")
	}
	p.broken["validator "+name] = true
	o := p.object(defs.value[name], "a validator")
	if o == nil {
		return
	}
	o.what = "validator " + name
	v := p.validator(o, definitionForms)
	o.done()
	if v != nil {
		v.Name = name
		p.cascade.Validators[name] = v
	}
}

// named reads a validator's name, or one written in place.
func (p *parser) named(n *yaml.Node) *Validator {
	if n.Kind != yaml.MappingNode {
		return p.find(n, p.word(n, "a validator"), nil)
	}
	o := p.fields(n, "a validator in place")
	v := p.validator(o, wardForms)
	o.done()
	return v
}

// validator reads the one of the forms that stands in o, and what belongs to
// it. The validator is the caller's own.
func (p *parser) validator(o *object, forms []string) *Validator {
	form := p.form(o, forms)
	name, description := o.text("name"), o.text("description")
	var v *Validator
	switch n := o.get(form); form {
	case "validator":
		v = p.find(n, p.word(n, form), o.child("with"))
	case "use":
		v = p.builtin(n, p.word(n, form), o.child("with"))
	case "expr":
		v = p.exprForm(o, n)
	case "schema":
		v = p.schemaForm(n)
	case "judge":
		v = p.judgeForm(o, n)
	case "exec":
		v = p.execForm(o)
	case "cascade":
		v = p.cascadeForm(o, n)
	case "mcp":
		v = p.mcpForm(o)
	default:
		o.formless = true
	}
	if v == nil {
		return nil
	}
	own := *v
	if own.written == nil {
		own.written = p.writing(o, form)
	}
	if form == "validator" || form == "use" {
		p.judgeModel(o, &own)
	}
	own.Name, own.Description = cmp.Or(name, own.Name, form), cmp.Or(description, own.Description)
	return &own
}

// judgeModel reads the model of a judge that is named.
func (p *parser) judgeModel(o *object, v *Validator) {
	switch {
	case !o.has("model"):
	case v.Criteria == nil:
		o.conflict("model", "model is for judges, and %s is none", v.Name)
	default:
		v.Model = o.judging("model")
	}
}

// form finds the one form a validator is written in; "" when that is reported.
func (p *parser) form(o *object, forms []string) string {
	var found []string
	for _, f := range forms {
		if o.has(f) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		p.report(o.node, CodeMissing, "%s needs one of %s", o.what, list(forms))
	default:
		o.conflict(found[1], "%s has both %s and %s", o.what, found[0], found[1])
	}
	return ""
}

// runWord finds what an expression may read of a run. One in a text that it quotes
// is taken for such a name, too.
var runWord = patterns.Lazy(`\b(?:input|state|outputs|turn|attempt|tool)\b`)

func (p *parser) exprForm(o *object, n *yaml.Node) *Validator {
	reason := o.text("reason")
	v := &Validator{Pure: true, Description: cmp.Or(reason, short(n.Value))}
	if e := p.expression(n, "expr"); e != nil {
		v.Check, v.fields, v.blind = e.Check(reason), p.fieldsOf(n, e), !e.Judges()
		v.around = runWord().MatchString(n.Value)
	}
	return v
}

// maxVotes bounds how often one judge is asked about one text.
const maxVotes = 99

func (p *parser) judgeForm(o *object, n *yaml.Node) *Validator {
	v := &Validator{Criteria: p.template(n, "judge", judgeVariables), Description: short(n.Value), Model: o.judging("model")}
	v.Votes = o.whole("votes", 1, 1)
	if v.Votes%2 == 0 || v.Votes > maxVotes {
		p.report(o.get("votes"), CodeValue, "votes must be an odd number up to %d, so that there is a majority, not %d", maxVotes, v.Votes)
	}
	if o.has("confirm") {
		v.Confirm = o.oneOf("confirm", "no") == "no"
	}
	if o.has("after") {
		v.AfterFree = o.oneOf("after", "free") == "free"
	}
	return v
}

func (p *parser) schemaForm(n *yaml.Node) *Validator {
	return &Validator{Pure: true, Description: "the JSON in the text follows the schema", Check: validators.JSONSchema(p.schema(n))}
}

func (p *parser) execForm(o *object) *Validator {
	argv, timeout, env := p.argv(o), o.duration("timeout"), p.environment(o)
	with := p.values(o.child("with"), checkVariables)
	status := o.oneOf("verdict", "output", "exit_status") == "exit_status"
	atRoot := o.oneOf("cwd", "cascade", "root") == "root"
	subject := p.subject(o, argv)
	if argv == nil {
		return nil
	}
	v := &Validator{Description: "the program " + path.Base(argv[0]), With: with}
	program := validators.Exec{Argv: argv, Dir: path.Dir(p.file), Timeout: timeout, Env: env, Status: status}
	if atRoot {
		program.Dir = p.known.Root
	}
	v.needs = p.programNeeds(o, argv, program.Dir, env)
	what := o.what
	if name := o.text("name"); name != "" {
		what = "validator " + name
	}
	p.starts(Program{What: what, Argv: argv, Dir: program.Dir, Subject: subject, Pinned: true})
	v.Bind = func(with map[string]any) (validators.Check, error) { return program.Check(with), nil }
	if with.Static() {
		plain, _ := with.Render(nil)
		v.Check, v.Bind = program.Check(plain), nil
	}
	return v
}

// argv reads a program and its arguments; nil where that is reported.
func (p *parser) argv(o *object) []string {
	before := len(p.found)
	argv := o.texts("exec")
	switch {
	case len(p.found) > before:
		return nil
	case len(argv) == 0 || strings.TrimSpace(argv[0]) == "":
		p.report(o.get("exec"), CodeValue, "exec must list a program and its arguments")
		return nil
	}
	return argv
}

func (p *parser) cascadeForm(o *object, n *yaml.Node) *Validator {
	given := o.child("input_map")
	inputs := p.values(given, checkVariables)
	v := p.judging(p.nested(n, "cascade"), "", nil)
	if v != nil {
		v.InputMap = inputs
		p.checkGiven(given, v.Cascade)
	}
	return v
}

// judging is the validator that a cascade is, nil without one.
func (p *parser) judging(c *Cascade, name string, with *object) *Validator {
	if c == nil {
		return nil
	}
	if with != nil {
		p.report(with.node, CodeConflict, "validator %s is a cascade, and has no parameters", name)
	}
	return &Validator{Name: name, Cascade: c, Description: cmp.Or(c.Description, "the cascade "+c.ID), asks: len(c.Asking("")) > 0}
}

// find finds a validator by name: the file's own first, then the built-in
// ones. It is nil where something was reported, here or at the definition.
func (p *parser) find(n *yaml.Node, name string, with *object) *Validator {
	v := p.cascade.Validators[name]
	switch {
	case name == "" || v == nil && p.broken["validator "+name]:
		return nil
	case v == nil:
		return p.builtin(n, name, with)
	case with != nil:
		p.report(with.node, CodeConflict, "validator %s has its parameters where it is defined", name)
	}
	return v
}

// builtin finds a validator that the file does not define.
func (p *parser) builtin(n *yaml.Node, name string, with *object) *Validator {
	if name == "" {
		return nil
	}
	found, err := p.known.Validators.Find(name)
	bare := with == nil && !p.broken["validator "+name] && windlass.Judge(name) != ""
	if bare && err == nil {
		_, err = found.Bind(nil)
	}
	if err != nil && !p.broken["validator "+name] {
		if file := p.inTackle(name, cascadeEndings...); file != "" {
			return p.judging(p.nestedFile(n, file), name, with)
		}
	}
	switch {
	case bare && err != nil:
		return p.asThere(n, name)
	case err == nil:
		values, ok := p.parameters(with, found, checkVariables)
		if with != nil {
			n = with.node
		}
		if ok {
			return p.bound(n, found, values)
		}
	case p.broken["validator "+name]:
		p.report(n, CodeValidator, "use names a built-in validator, and %q is the file's own", name)
	default:
		p.report(n, CodeValidator, "no validator is called %q", name)
		p.suggest(name, p.validatorNames)
		if d := p.last(); d.Suggestion == "" {
			d.Message += ": validators: {" + windlass.Stem(name) + ": {judge: …}} declares one that a model is, {exec: […]} a program"
		}
	}
	return nil
}

func (p *parser) validatorNames() []string {
	return append(p.known.Validators.Names(), slices.Sorted(maps.Keys(p.cascade.Validators))...)
}

// bound gives a known validator its parameters, now where they are all here; n
// is where they stand.
func (p *parser) bound(n *yaml.Node, found validators.Validator, with Values) *Validator {
	v := &Validator{Name: found.Name, Description: found.Description, Pure: found.Pure, With: with, Faults: found.Faults(with), around: found.OfRun, written: &written{use: found.Name}}
	switch {
	case found.Criteria != "":
		t, err := p.known.Memo.template(found.Criteria)
		if err != nil {
			p.report(n, CodeTemplate, "the criteria of %s: %v", found.Name, err)
		}
		v.Criteria = t
	case with.Static():
		plain, _ := with.Render(nil)
		check, err := found.Bind(plain)
		if err != nil {
			p.report(n, CodeParameters, "%v", err)
		}
		v.Check = check
	default:
		v.Bind = found.Bind
	}
	return v
}

// parameters reads those of a validator, and reports what it does not take:
// where there are templates among them, what those give is checked when they
// are known.
func (p *parser) parameters(o *object, found validators.Validator, scope variables) (Values, bool) {
	if o == nil {
		return nil, true
	}
	with := p.values(o, scope)
	n := *o.node
	return with, p.fit(&n, "validator "+found.Name, found.Params(), with)
}

// short cuts a text to its first line for a description.
func short(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if runes := []rune(line); len(runes) > 120 {
		line, more = string(runes[:120]), true
	}
	if more {
		return fmt.Sprintf("%s …", strings.TrimSpace(line))
	}
	return line
}

// Free tells whether the validator asks no model.
func (v *Validator) Free() bool { return v.Criteria == nil && !v.asks }

// OfText tells whether the verdict hangs on the text alone: it is computed, the
// parameters are written out, and nothing of the run around it is read.
func (v *Validator) OfText() bool { return v.Pure && v.Check != nil && !v.around }

// Sees tells whether the validator is given the text: an expression that does not
// read it, or a cascade that is not given it, judges something else.
func (v *Validator) Sees() bool {
	if v.Cascade != nil && v.InputMap != nil {
		return v.InputMap.Reads("content") || v.InputMap.Reads("output")
	}
	return !v.blind
}

// placed returns a check by the validator, with a ward at the position of n.
func (p *parser) placed(n *yaml.Node, v *Validator, m wards.Moment, mode wards.Mode, attempts int) *Check {
	return &Check{
		Position: p.position(n),
		Ward:     &wards.Ward{Name: v.Name, Moment: m, Mode: mode, MaxAttempts: attempts}, Validator: v,
		AfterFree: v.Criteria != nil && (v.AfterFree || mode == wards.Retry),
	}
}

package cascades

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/windlass"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// The forms of a validator in a definition and in a ward. A ward can also name a definition.
var (
	definitionForms = []string{"use", "expr", "schema", "judge", "exec", "cascade", "mcp"}
	wardForms       = append([]string{"validator"}, definitionForms...)
)

// definitions reads the validators and tools of the file. Their order does not matter, because
// they cannot refer to each other.
func (p *parser) definitions(o *reader.Object) {
	if defs := o.Child("validators"); defs != nil {
		for _, name := range defs.Order {
			p.define(name, defs)
		}
	}
	if defs := o.Child("tools"); defs != nil {
		for _, name := range defs.Order {
			p.defineTool(name, defs)
		}
	}
}

func (p *parser) define(name string, defs *reader.Object) {
	if strings.TrimSpace(name) == "" {
		p.Error(defs.Keys[name], codes.Value, "a validator's name must not be empty")
	}
	p.broken["validator "+name] = true
	o := p.Object(defs.Value[name], "a validator")
	if o == nil {
		return
	}
	o.What = "validator " + name
	v := p.validator(o, definitionForms)
	o.Done()
	if v != nil {
		v.Name = name
		p.cascade.Validators[name] = v
	}
}

// named reads a validator, which has a name or is written in place.
func (p *parser) named(n *yaml.Node) *Validator {
	if n.Kind != yaml.MappingNode {
		return p.find(n, p.Word(n, "a validator"), nil)
	}
	o := p.Fields(n, "a validator in place")
	v := p.validator(o, wardForms)
	o.Done()
	return v
}

// validator reads the form of a validator and the keys that belong to it. The caller may
// change the result.
func (p *parser) validator(o *reader.Object, forms []string) *Validator {
	form := p.form(o, forms)
	name, description := o.Text("name"), o.Text("description")
	var v *Validator
	switch n := o.Get(form); form {
	case "validator":
		v = p.find(n, p.Word(n, form), o.Child("with"))
	case "use":
		v = p.builtin(n, p.Word(n, form), o.Child("with"))
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
		o.Formless = true
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

// judgeModel reads the model key of a judge that is used by name.
func (p *parser) judgeModel(o *reader.Object, v *Validator) {
	switch {
	case !o.Has("model"):
	case v.Criteria == nil:
		o.Conflict("model", "model is for judges, and %s is none", v.Name)
	default:
		v.Model = p.judgeModels(o, "model")
	}
}

// form returns the form that a validator has. It reports an error and returns "" unless there
// is exactly one.
func (p *parser) form(o *reader.Object, forms []string) string {
	var found []string
	for _, f := range forms {
		if o.Has(f) {
			found = append(found, f)
		}
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		p.Error(o.Node, codes.Missing, "%s needs one of %s", o.What, reader.Alternatives(forms))
	default:
		o.Conflict(found[1], "%s has both %s and %s", o.What, found[0], found[1])
	}
	return ""
}

// runWord matches the variables of a run in an expression, including those in quoted texts.
var runWord = patterns.Lazy(`\b(?:input|state|outputs|turn|attempt|tool)\b`)

func (p *parser) exprForm(o *reader.Object, n *yaml.Node) *Validator {
	reason := o.Text("reason")
	v := &Validator{Pure: true, Description: cmp.Or(reason, reader.Short(n.Value))}
	if e := p.expression(n, "expr"); e != nil {
		v.Check, v.fields, v.blind = e.Check(reason), p.fieldsOf(n, e), !e.Judges()
		v.around = runWord().MatchString(n.Value)
	}
	return v
}

// maxVotes is the maximum number of votes of a judge on one text.
const maxVotes = 99

func (p *parser) judgeForm(o *reader.Object, n *yaml.Node) *Validator {
	v := &Validator{Criteria: p.template(n, "judge", judgeVariables), Description: reader.Short(n.Value), Model: p.judgeModels(o, "model")}
	v.Votes = o.Whole("votes", 1, 1)
	if v.Votes%2 == 0 || v.Votes > maxVotes {
		p.Error(o.Get("votes"), codes.Value, "votes must be an odd number up to %d, so that there is a majority, not %d", maxVotes, v.Votes)
	}
	if o.Has("confirm") {
		v.Confirm = o.OneOf("confirm", "no") == "no"
	}
	if o.Has("after") {
		v.AfterFree = o.OneOf("after", "free") == "free"
	}
	return v
}

func (p *parser) schemaForm(n *yaml.Node) *Validator {
	return &Validator{Pure: true, Description: "the JSON in the text follows the schema", Check: validators.JSONSchema(p.schema(n))}
}

func (p *parser) execForm(o *reader.Object) *Validator {
	argv, timeout, env := p.argv(o), o.Duration("timeout"), p.environment(o)
	with := p.values(o.Child("with"), checkVariables)
	status := o.OneOf("verdict", "output", "exit_status") == "exit_status"
	atRoot := o.OneOf("cwd", "cascade", "root") == "root"
	subject := p.subject(o, argv)
	if argv == nil {
		return nil
	}
	v := &Validator{Description: "the program " + path.Base(argv[0]), With: with}
	program := validators.Exec{Argv: argv, Dir: path.Dir(p.File.Name), Timeout: timeout, Env: env, Status: status}
	if atRoot {
		program.Dir = p.known.Root
	}
	v.needs = p.programNeeds(o, argv, program.Dir, env, subject)
	what := o.What
	if name := o.Text("name"); name != "" {
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

// argv reads a program with its arguments. It returns nil if it reports an error.
func (p *parser) argv(o *reader.Object) []string {
	before := len(p.Found)
	argv := o.Texts("exec")
	switch {
	case len(p.Found) > before:
		return nil
	case len(argv) == 0 || strings.TrimSpace(argv[0]) == "":
		p.Error(o.Get("exec"), codes.Value, "exec must list a program and its arguments")
		return nil
	}
	return argv
}

func (p *parser) cascadeForm(o *reader.Object, n *yaml.Node) *Validator {
	given := o.Child("input_map")
	inputs := p.values(given, checkVariables)
	v := p.cascadeValidator(p.nested(n, "cascade"), "", nil)
	if v != nil {
		v.InputMap = inputs
		p.noteUnread(given, v.Cascade)
	}
	return v
}

// cascadeValidator returns the validator that runs a cascade. It returns nil if c is nil.
func (p *parser) cascadeValidator(c *Cascade, name string, with *reader.Object) *Validator {
	if c == nil {
		return nil
	}
	if with != nil {
		p.Error(with.Node, codes.Conflict, "validator %s is a cascade, and has no parameters", name)
	}
	return &Validator{Name: name, Cascade: c, Description: cmp.Or(c.Description, "the cascade "+c.ID), asks: len(c.Asking("", nil)) > 0}
}

// find returns the validator with a name: a validator of the file, or else a built-in one. It
// returns nil after a reported error.
func (p *parser) find(n *yaml.Node, name string, with *reader.Object) *Validator {
	v := p.cascade.Validators[name]
	switch {
	case name == "" || v == nil && p.broken["validator "+name]:
		return nil
	case v == nil:
		return p.builtin(n, name, with)
	case with != nil:
		p.Error(with.Node, codes.Conflict, "validator %s has its parameters where it is defined", name)
	}
	return v
}

// builtin finds a validator that the file does not define.
func (p *parser) builtin(n *yaml.Node, name string, with *reader.Object) *Validator {
	if name == "" {
		return nil
	}
	found, err := p.known.Validators.Find(name)
	_, judge := windlass.Find("judge", name)
	bare := judge && with == nil && !p.broken["validator "+name]
	if bare && err == nil {
		_, err = found.Bind(nil)
	}
	if err != nil && !p.broken["validator "+name] {
		if file := p.inTackle(name, cascadeEndings...); file != "" {
			return p.cascadeValidator(p.nestedFile(n, file), name, with)
		}
	}
	switch {
	case bare && err != nil:
		return p.asThere(n, name)
	case err == nil:
		values, ok := p.parameters(with, found, checkVariables)
		if with != nil {
			n = with.Node
		}
		if ok {
			return p.bound(n, found, values)
		}
	case p.broken["validator "+name]:
		p.Error(n, codes.Validator, "use names a built-in validator, and %q is the file's own", name)
	default:
		p.Error(n, codes.Validator, "no validator is called %q", name)
		p.Suggest(name, p.validatorNames)
		if d := p.Last(); d.Suggestion == "" {
			d.Message += ": validators: {" + windlass.Stem(name) + ": {judge: …}} declares one that a model is, {exec: […]} a program"
		}
	}
	return nil
}

func (p *parser) validatorNames() []string {
	return append(p.known.Validators.Names(), slices.Sorted(maps.Keys(p.cascade.Validators))...)
}

// bound returns a known validator with its parameters. n is the position of the parameters.
func (p *parser) bound(n *yaml.Node, found validators.Validator, with Values) *Validator {
	v := &Validator{Name: found.Name, Description: found.Description, Pure: found.Pure, With: with, Faults: found.Faults(with), around: found.DependsOnRun, written: &written{use: found.Name}}
	switch {
	case found.Criteria != "":
		t, err := p.known.Cache.template(found.Criteria)
		if err != nil {
			p.Error(n, codes.Template, "the criteria of %s: %v", found.Name, err)
		}
		v.Criteria = t
	case with.Static():
		plain, _ := with.Render(nil)
		check, err := found.Bind(plain)
		if err != nil {
			p.Error(n, codes.Parameters, "%v", err)
		}
		v.Check = check
	default:
		v.Bind = found.Bind
	}
	return v
}

// parameters reads the parameters of a validator, and reports the rejected ones. A run checks
// the values of templates.
func (p *parser) parameters(o *reader.Object, found validators.Validator, scope variables) (Values, bool) {
	if o == nil {
		return nil, true
	}
	with := p.values(o, scope)
	n := *o.Node
	return with, p.fit(&n, "validator "+found.Name, found.Params(), with)
}

// OfText reports whether the verdict depends on the text alone. Such a validator is pure, has
// fixed parameters, and does not read other data of the run.
func (v *Validator) OfText() bool { return v.Pure && v.Check != nil && !v.around }

// Judges reports whether the validator reads the text and is a gate. An expression or a
// cascade with inputs may judge something else. A program that a model may write is not a
// gate.
func (v *Validator) Judges() bool { return v.sees() && !v.rewritable() }

func (v *Validator) sees() bool {
	if v.Cascade != nil && v.InputMap != nil {
		return v.InputMap.Reads("content") || v.InputMap.Reads("output")
	}
	return !v.blind
}

// placed returns a check by the validator. Its ward is at the position of n.
func (p *parser) placed(n *yaml.Node, v *Validator, m wards.Moment, mode wards.Mode, attempts int) *Check {
	return &Check{
		Position: p.Position(n),
		Ward:     &wards.Ward{Name: v.Name, Moment: m, Mode: mode, MaxAttempts: attempts}, Validator: v,
		AfterFree: v.Criteria != nil && (v.AfterFree || mode == wards.Retry),
	}
}

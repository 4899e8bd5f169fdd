package cascades

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/wards"
)

// A Gate is a check at its place in a cascade, with its digest.
type Gate struct {
	Phase     string
	Moment    wards.Moment
	Mode      wards.Mode
	Ward      *wards.Ward // the ward in the cascade, or a new ward for a phase that is a validator
	Place     string      // the last name in the paths of its verdicts: post[0], ward[1], output_schema
	Name      string      // of its validator, as in its verdicts
	Validator *Validator  // nil for an output_schema
	Digest    string      // see [Cascade.Identity]
	Model     Model       // of a judge; empty for others
	Position  syntax.Position
	Promote   *Promotion // nil if the gate needs no evidence
}

// Gates returns the checks of the cascade's own phases, in file order. The models
// in chosen replace those of the file. The function open reads the files of
// programs. If open is nil, the digests do not include these files.
func (c *Cascade) Gates(chosen Chosen, open Opener) (list []Gate, err error) {
	digests := digested(open)
	for _, p := range c.EveryPhase() {
		add := func(place string, w *wards.Ward, v *Validator, at syntax.Position) {
			g := Gate{Position: at, Phase: p.Name, Moment: w.Moment, Mode: w.Mode, Ward: w, Place: place, Name: w.Name, Validator: v}
			var e error
			if v == nil {
				g.Digest, e = p.SchemaIdentity()
			} else {
				g.Model = c.judges(v, chosen)
				g.Digest, e = c.identity(v, chosen, digests)
			}
			if e != nil && err == nil {
				err = fmt.Errorf("phase %s: %s: %w", p.Name, g.Name, e)
			}
			list = append(list, g)
		}
		if p.SchemaWard != nil {
			add(string(wards.OutputSchema), p.SchemaWard, nil, p.Position)
		}
		if p.Tool != nil && p.Tool.Validator != nil {
			v := p.Tool.Validator
			add("post[0]", &wards.Ward{Name: v.Name, Moment: wards.Post, Mode: wards.Blocking}, v, p.Tool.Position)
		}
		p.eachCheck(func(_ string, i int, check *Check) {
			add(verdictName(check.Ward.Moment, i), check.Ward, check.Validator, check.Position)
			g := &list[len(list)-1]
			g.Moment, g.Promote = p.Moment(check), check.Promote
		})
	}
	return list, err
}

// SchemaIdentity returns the digest of the phase's output_schema, as
// [Cascade.Identity] does for a validator.
func (p *Phase) SchemaIdentity() (string, error) {
	return digest(map[string]any{"schema": p.OutputSchema.Source()})
}

// Moment returns the moment of a check of the phase. For the validators of
// soundings it returns [wards.Filter] or [wards.Threshold], although their wards
// have the moment [wards.Post].
func (p *Phase) Moment(check *Check) wards.Moment {
	switch {
	case p.Soundings != nil && check == p.Soundings.Filter:
		return wards.Filter
	case p.Soundings != nil && check == p.Soundings.threshold():
		return wards.Threshold
	}
	return check.Ward.Moment
}

// RunsPrograms reports whether a gate of the cascade's own phases is a program.
// Files does not include the files of programs.
func (c *Cascade) RunsPrograms() bool {
	return slices.ContainsFunc(c.EveryPhase(), func(p *Phase) bool {
		return p.Tool != nil && p.Tool.Validator.runsProgram() ||
			slices.ContainsFunc(p.Checks(), func(check *Check) bool { return check.Validator.runsProgram() })
	})
}

func (v *Validator) runsProgram() bool {
	_, is := v.Program()
	return is
}

// At returns the address of the gate in its cascade: phase, moment, place and name.
func (g Gate) At() string {
	return fmt.Sprintf("%s %s %s %s", g.Phase, g.Moment, g.Place, g.Name)
}

// verdictName returns the last name in the path of a verdict of the i-th check
// of a moment.
func verdictName(m wards.Moment, i int) string {
	switch m {
	case wards.LoopUntil:
		return string(m)
	case wards.Turn, wards.Tool:
		return fmt.Sprintf("ward[%d]", i)
	case wards.Result:
		return fmt.Sprintf("result_ward[%d]", i)
	}
	return fmt.Sprintf("%s[%d]", m, i)
}

// Identity returns the digest of a validator as "sha256:" and 64 hexadecimal
// digits. It is the digest of an object in its RFC 8785 form, with these members:
//   - The form and its parameters as plain values. Comments, order, quotes, name,
//     description and after are left out, because they do not change a verdict.
//   - criteria: the prompt of a judge, with the text of its file.
//   - model: for a judge, its models with their parameters. For a cascade, the
//     default model of its phases.
//   - chosen: for a cascade, the models that replace those of its phases.
//   - files: for a program, the digest of each argument that names a file. For a
//     cascade, the digest of each file, by its path relative to the cascade.
//
// The digest does not cover the other files of a program, the behavior of an
// MCP server, the model behind a name and the code of a built-in validator.
func (c *Cascade) Identity(v *Validator, chosen Chosen, open Opener) (string, error) {
	return c.identity(v, chosen, digested(open))
}

func (c *Cascade) identity(v *Validator, chosen Chosen, digests func(file string) string) (string, error) {
	is := v.Written()
	if len(v.InputMap) > 0 {
		is["input_map"] = sources(map[string]any(v.InputMap))
	}
	if v.Criteria != nil {
		delete(is, "judge")
		is["criteria"] = v.Criteria.Source()
	}
	if !v.Free() {
		m := c.judges(v, chosen)
		if v.Cascade != nil {
			m = chosen.Of(nil, v.Cascade.Default(c.Model))
			is["chosen"] = string(chosen)
		}
		is["model"] = m.plain()
	}
	files := v.written.programs(digests)
	if v.Cascade != nil {
		files = c.digests(v.Cascade)
	}
	if len(files) > 0 {
		is["files"] = files
	}
	return digest(is)
}

// judges returns the model of a judge, or nil for other validators.
func (c *Cascade) judges(v *Validator, chosen Chosen) Model {
	if v.Criteria == nil {
		return nil
	}
	return chosen.Of(v.Model, c.Model)
}

// plain returns the fallback list as plain values.
func (m Model) plain() any {
	list := make([]any, len(m))
	for i, r := range m {
		list[i] = map[string]any{"name": r.Name, "params": r.Params.String()}
	}
	return list
}

// digests returns the digests of the files of a nested cascade, by their
// relative paths.
func (c *Cascade) digests(within *Cascade) map[string]any {
	files := map[string]any{}
	dir, open := path.Dir(within.File), Unpacked(c.Files)
	for _, n := range within.Within() {
		for _, name := range append([]string{n.File}, n.reads...) {
			if text, err := open(name); err == nil {
				files[beside(dir, path.Clean(name))] = signatures.Digest(text)
			}
		}
	}
	return files
}

// Beside returns the path of a file relative to the directory of the cascade. If
// only one of the two paths is absolute, it returns the path of the file.
func (c *Cascade) Beside(file string) string {
	own := path.Clean(c.File)
	if file = path.Clean(file); path.IsAbs(own) != path.IsAbs(file) {
		return file
	}
	return beside(strings.TrimSuffix(path.Dir(own), "/"), file)
}

// Written returns the definition of the validator as plain values: its form,
// and its parameters under with.
func (v *Validator) Written() map[string]any {
	is := v.written.plain()
	if len(v.With) > 0 {
		is["with"] = sources(map[string]any(v.With))
	}
	return is
}

// Unnamed returns the source of an expression without a name, or "".
func (v *Validator) Unnamed() string {
	if v.Name != "expr" {
		return ""
	}
	source, _ := v.Written()["expr"].(string)
	return source
}

// Unnamed returns the expression without a name at a place of a phase, in at
// most 80 characters, or "". If several nested cascades have such a phase, the
// result contains their expressions too.
func (c *Cascade) Unnamed(phase, moment string, index int) string {
	var texts []string
	for _, within := range c.Within() {
		for _, p := range within.EveryPhase() {
			for _, check := range p.Checks() {
				if p.Name == phase && string(p.Moment(check)) == moment && check.Place.Index == index {
					texts = append(texts, check.Validator.Unnamed())
				}
			}
		}
	}
	return reports.OneExpression(texts)
}

// A written is the definition of a validator: a built-in validator, or the keys
// that determine its verdicts. For a program, it also has the directory.
type written struct {
	use  string
	keys map[string]*yaml.Node
	argv []string
	dir  string

	subject []string // patterns of the arguments that name the text under test
}

// judging lists the keys that determine a verdict, in addition to the key of the
// form and the keys of [Values].
var judging = []string{"reason", "timeout", "env", "verdict", "cwd", "subject", "votes", "confirm"}

// writing returns the definition of the validator in o, which has the key form.
func (p *parser) writing(o *reader.Object, form string) *written {
	w := &written{keys: map[string]*yaml.Node{}}
	for _, key := range append([]string{form}, judging...) {
		if n := o.Value[key]; n != nil {
			w.keys[key] = n
		}
	}
	if form == "exec" {
		w.argv, w.dir, w.subject = o.Texts("exec"), path.Dir(p.File.Name), o.Texts("subject")
		if n := o.Value["cwd"]; n != nil && n.Value == "root" {
			w.dir = p.known.Root
		}
	}
	return w
}

func (w *written) plain() map[string]any {
	is := map[string]any{}
	if w == nil {
		return is
	}
	if w.use != "" {
		is["use"] = w.use
	}
	for key, n := range w.keys {
		is[key] = reader.PlainValue(n)
	}
	return is
}

// sources returns a value with the templates replaced by their sources.
func sources(v any) any {
	return replaced(v, func(v any) any {
		switch v := v.(type) {
		case valueTemplate:
			return map[string]any{"template": v.Source()}
		case Reference:
			return map[string]any{"template": v.text}
		}
		return v
	})
}

// digested returns a function that returns the digest of a file, or "" if it
// cannot read the file. The function reads each file once, because several gates
// may use the same program.
func digested(open Opener) func(file string) string {
	known := map[string]string{}
	return func(file string) string {
		digest, seen := known[file]
		if seen || open == nil {
			return digest
		}
		if text, err := open(file); err == nil {
			digest = signatures.Digest(text)
		}
		known[file] = digest
		return digest
	}
}

// programs returns the digests of the files in the arguments of a program, by
// argument. It leaves out the text under test.
func (w *written) programs(digests func(file string) string) map[string]any {
	files := map[string]any{}
	if w == nil {
		return nil
	}
	for _, arg := range w.argv {
		if arg == "" || pins.MatchAny(w.subject, arg) {
			continue
		}
		name := arg
		if !path.IsAbs(name) {
			name = path.Join(w.dir, name)
		}
		if digest := digests(name); digest != "" { // the argument names a file
			files[arg] = digest
		}
	}
	return files
}

// Free reports whether the validator calls no model.
func (v *Validator) Free() bool { return v.Criteria == nil && !v.asks }

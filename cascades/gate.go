package cascades

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/wards"
)

// A Gate is a check at its place in a cascade, with the digest of what it is.
type Gate struct {
	Phase     string
	Moment    wards.Moment
	Mode      wards.Mode
	Ward      *wards.Ward // as the cascade has it; of a phase that is a validator one of the list's own
	Place     string      // the last name of its verdicts' paths: post[0], ward[1], output_schema
	Name      string      // of its validator, as its verdicts have it
	Validator *Validator  // nil of an output_schema
	Digest    string      // see [Cascade.Identity]
	Model     Model       // that a judge asks; empty of others
	Position  Position
	Promote   *Promotion // nil if nothing must be shown before it may refuse
}

// Gates lists the checks of the cascade's own phases, in file order. Chosen is
// what is asked in place of what the file says, and open reads the files of
// programs, as it read the cascade; where it is nil, programs have none.
func (c *Cascade) Gates(chosen Chosen, open Opener) (list []Gate, err error) {
	digests := digested(open)
	for _, p := range c.EveryPhase() {
		add := func(place string, w *wards.Ward, v *Validator, at Position) {
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

// SchemaIdentity is the digest of the phase's output_schema, as [Cascade.Identity] is
// of a validator.
func (p *Phase) SchemaIdentity() (string, error) {
	return digest(map[string]any{"schema": p.OutputSchema.Source()})
}

// Moment is when a check of the phase is asked: that of its ward, but of the
// validators of soundings, whose wards are of [wards.Post].
func (p *Phase) Moment(check *Check) wards.Moment {
	switch {
	case p.Soundings != nil && check == p.Soundings.Filter:
		return wards.Filter
	case p.Soundings != nil && check == p.Soundings.threshold():
		return wards.Threshold
	}
	return check.Ward.Moment
}

// RunsPrograms tells whether a gate of the cascade's own phases is a program:
// what it is stands in files that the cascade has not read.
func (c *Cascade) RunsPrograms() bool {
	return slices.ContainsFunc(c.EveryPhase(), func(p *Phase) bool {
		return p.Tool != nil && p.Tool.Validator.RunsProgram() ||
			slices.ContainsFunc(p.Checks(), func(check *Check) bool { return check.Validator.RunsProgram() })
	})
}

// RunsProgram reports whether the validator is a program. A nil validator is none.
func (v *Validator) RunsProgram() bool {
	return v != nil && v.written != nil && len(v.written.argv) > 0
}

// At is the gate's address within its cascade.
func (g Gate) At() string {
	return fmt.Sprintf("%s %s %s %s", g.Phase, g.Moment, g.Place, g.Name)
}

// verdictName is the last name of the path of a verdict of the i-th check of a
// moment.
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

// Identity is the digest of what a validator of the cascade is, as "sha256:" and
// 64 hexadecimal digits: of the RFC 8785 form of an object with
//
//   - the form that it is written in and its parameters, as plain values: a
//     comment, a key's place, a quote's kind change nothing, and neither do its
//     name, its description and after, which say nothing of how it judges;
//   - criteria: what a judge is asked, with the text of the file it comes from;
//   - model: of a judge, the models that it asks, each with what it is asked for;
//     of a cascade, the model that its phases ask which name none, and chosen, by
//     which others may answer for those that they name;
//   - files: of a program, the digest of each of its arguments that names a file;
//     of a cascade, of every file that it is made of, by its place beside it.
//
// What no file says is not in it: a program's other files, what an MCP server
// does, whether a model is what its name was, how a built-in validator is written
// in this version.
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

// judges is the model that a judge asks; none of others.
func (c *Cascade) judges(v *Validator, chosen Chosen) Model {
	if v.Criteria == nil {
		return nil
	}
	return chosen.Of(v.Model, c.Model)
}

// plain is the ladder as plain values.
func (m Model) plain() any {
	list := make([]any, len(m))
	for i, r := range m {
		list[i] = map[string]any{"name": r.Name, "params": r.Params.String()}
	}
	return list
}

// digests are those of the files of a cascade within c, by their places beside
// it.
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

// Beside names one of the cascade's files as seen from the directory of the cascade's
// own, so that it does not matter from where that was named. One with a full path
// keeps it where the cascade has none.
func (c *Cascade) Beside(file string) string {
	own := path.Clean(c.File)
	if file = path.Clean(file); path.IsAbs(own) != path.IsAbs(file) {
		return file
	}
	return beside(strings.TrimSuffix(path.Dir(own), "/"), file)
}

// beside is the way from a directory to a file, so that it does not matter from
// where a cascade was named.
func beside(dir, name string) string {
	from, to := strings.Split(dir, "/"), strings.Split(name, "/")
	if dir == "." {
		from = nil
	}
	for len(from) > 0 && len(to) > 1 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", len(from)) + strings.Join(to, "/")
}

// Written is what the validator is made of, as plain values by key: the form
// that it is written in, its parameters under with.
func (v *Validator) Written() map[string]any {
	is := v.written.plain()
	if len(v.With) > 0 {
		is["with"] = sources(map[string]any(v.With))
	}
	return is
}

// Unnamed is the text of an expression that has no name, "" of any other validator.
func (v *Validator) Unnamed() string {
	if v.Name != "expr" {
		return ""
	}
	source, _ := v.Written()["expr"].(string)
	return source
}

// Unnamed is the expression without a name that judges at a place of a moment of a
// phase, from 0, on a line of at most 80 characters: "" for none. Where several
// cascades within this one have such a phase, it is what each of them has.
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
	return OneLine(texts)
}

// OneLine puts the texts of expressions, each once and without those that are
// empty, on a line of at most 80 characters.
func OneLine(texts []string) string {
	var list []string
	for _, text := range texts {
		if text != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return oneLine(strings.Join(list, " | "), 80)
}

// A written is what a validator was made of: a built-in one, or the keys that
// say how it judges, and where its program runs.
type written struct {
	use  string
	keys map[string]*yaml.Node
	argv []string
	dir  string

	subject []string // patterns of the arguments that are the text under test
}

// judging are the keys, besides that of its form and those of [Values], that say
// how a validator judges.
var judging = []string{"reason", "timeout", "env", "verdict", "cwd", "subject", "votes", "confirm"}

// writing notes what the validator in o, of a form, is made of.
func (p *parser) writing(o *object, form string) *written {
	w := &written{keys: map[string]*yaml.Node{}}
	for _, key := range append([]string{form}, judging...) {
		if n := o.value[key]; n != nil {
			w.keys[key] = n
		}
	}
	if form == "exec" {
		w.argv, w.dir, w.subject = o.texts("exec"), path.Dir(p.file), o.texts("subject")
		if n := o.value["cwd"]; n != nil && n.Value == "root" {
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
		is[key] = (&parser{}).plain(n, verbatim)
	}
	return is
}

// sources puts templates as they are written.
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

// replaced is a value with all in it that is neither object nor list made by of.
func replaced(v any, of func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for key, value := range v {
			out[key] = replaced(value, of)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, value := range v {
			out[i] = replaced(value, of)
		}
		return out
	}
	return of(v)
}

// digested gives the digest of a file, "" of none, and reads each once: a program
// is long, and many gates are one program.
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

// programs returns the digests of the files that a program's arguments name, by the
// argument. The text under test is not part of the program.
func (w *written) programs(digests func(file string) string) map[string]any {
	files := map[string]any{}
	if w == nil {
		return nil
	}
	for _, arg := range w.argv {
		if arg == "" || matchesAny(w.subject, arg) {
			continue
		}
		name := arg
		if !path.IsAbs(name) {
			name = path.Join(w.dir, name)
		}
		if digest := digests(name); digest != "" { // else it is no file, but a word
			files[arg] = digest
		}
	}
	return files
}

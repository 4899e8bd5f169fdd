package cascades

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
)

// Load reads and checks a cascade file, in YAML or JSON, and every file that it names. The
// error is [syntax.Diagnostics] with all errors and warnings. A file that only has warnings
// loads without an error.
func Load(name string, open Opener, known Known) (*Cascade, error) {
	source, err := open(name)
	if err != nil {
		return nil, syntax.Diagnostics{{Position: syntax.Position{File: name}, Code: codes.File, Message: unreadable(name, err), Severity: syntax.Wrong}}
	}
	return Parse(name, source, open, known)
}

// Parse is [Load] for the text of a file.
func Parse(name string, source []byte, open Opener, known Known) (*Cascade, error) {
	return ParseFile(syntax.New(name, source), open, known)
}

// ParseFile is [Load] for a file whose tree other code also reads.
func ParseFile(file *syntax.File, open Opener, known Known) (*Cascade, error) {
	name := file.Name
	files := []File{{name, file.Source}}
	deciding := new(Deciding)
	p := &parser{Reader: reader.New(file), deciding: deciding, open: noting(open, &files), files: &files, known: known, loading: []string{path.Clean(name)}, loaded: map[string]*Cascade{}}
	p.Params = func(validator string) map[string]any {
		found, err := known.Validators.Find(validator)
		if err != nil {
			return nil
		}
		return found.Params()
	}
	p.storeOptions()
	known.Cache.turn()
	c := p.parse()
	found := p.Found.Sorted(name)
	if found.Broken() {
		return nil, found
	}
	c.Warnings, c.Files, c.Deciding = found, files, *deciding
	c.place()
	for _, h := range c.Hooks {
		h.settle(files)
	}
	return c, nil
}

// noting returns an opener that also adds each file that it reads to files.
func noting(open Opener, files *[]File) Opener {
	if open == nil {
		return nil
	}
	return func(name string) ([]byte, error) {
		text, err := open(name)
		known := slices.ContainsFunc(*files, func(f File) bool { return f.Name == name })
		if err == nil && !known {
			*files = append(*files, File{name, text})
		}
		return text, err
	}
}

// Unpacked returns an opener that reads from stored files.
func Unpacked(files []File) Opener {
	return func(name string) ([]byte, error) {
		for _, f := range files {
			if f.Name == name {
				return f.Text, nil
			}
		}
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
}

func (p *parser) parse() *Cascade { return p.parseTree(p.Tree()) }

// parseTree reads a cascade from the tree of a file. It returns nil if tree is nil.
func (p *parser) parseTree(tree *yaml.Node) *Cascade {
	c := &Cascade{File: p.File.Name, Source: p.File.Source, Validators: map[string]*Validator{}, Tools: map[string]*Tool{}, index: map[string]int{}}
	p.cascade, p.broken, p.facts.Lines, p.facts.Declared, p.asked = c, map[string]bool{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	c.tree = c.laterTree()
	if tree == nil {
		return nil
	}
	o := p.Object(tree, "the cascade")
	if o == nil {
		return nil
	}
	c.ID = o.Required("cascade_id")
	p.checkID(o, c.ID)
	c.Description = o.Text("description")
	c.Providers = p.readProviders(o)
	c.Databases = p.readDatabases(o)
	c.Model = p.model(o, "model")
	c.Inputs = p.inputs(o.Get("inputs_schema"))
	c.Budget = p.budget(o.Child("budget"))
	p.definitions(o)
	p.protected(o)
	weight, own := p.tokenBudget(o.Child("token_budget")), p.preface(o)
	p.phases(o)
	p.introduce(o, own)
	p.weigh(weight)
	p.tries(o)
	p.hooks(o)
	o.Done()
	p.settleFacts()
	c.require()
	checks.Run(&p.facts, p.Report)
	return c
}

// checkID reports a cascade_id with characters that separate the words of a path.
func (p *parser) checkID(o *reader.Object, id string) {
	if id != "" && !pathWord(id) {
		p.Error(o.Value["cascade_id"], codes.Value, "cascade_id may not hold / [ ] or control characters, nor begin or end with a blank: %q", id)
	}
}

func (p *parser) inputs(n *yaml.Node) []Input {
	if n == nil {
		return nil
	}
	o := p.Object(n, "inputs_schema")
	if o == nil {
		return nil
	}
	if kind := o.Value["type"]; kind != nil && kind.Value == "object" && o.Has("properties") {
		p.Error(n, codes.Type, "inputs_schema has the inputs themselves, by name, and not a JSON Schema around them: {topic: {type: string}}")
		return nil
	}
	var out []Input
	for _, name := range o.Order {
		p.facts.Declared[name] = true
		in := Input{Name: name}
		value := p.Resolve(o.Value[name])
		if value.Kind == yaml.MappingNode {
			in.Schema = p.schema(value)
			if in.Schema != nil {
				source, _ := in.Schema.Source().(map[string]any)
				in.Description, _ = source["description"].(string)
				in.Default, in.HasDefault = source["default"]
				if in.HasDefault {
					p.facts.Defaults = append(p.facts.Defaults, checks.Default{Node: value, Input: name, Value: in.Default, Schema: in.Schema})
				}
			}
		} else {
			in.Description, _ = p.Text(value, "the description of input "+name)
		}
		out = append(out, in)
	}
	return out
}

func (p *parser) budget(o *reader.Object) Budget {
	b := Budget{MaxPhases: defaultMaxPhases}
	if o == nil {
		return b
	}
	b.MaxCalls = o.Whole("max_calls", 1, 0)
	b.MaxTokens = o.Whole("max_tokens", 1, 0)
	b.MaxCostUSD = o.Number("max_cost_usd")
	if f := o.Number("max_seconds"); f > 0 {
		b.MaxTime = o.Seconds("max_seconds", f)
	}
	b.MaxPhases = o.Whole("max_phases", 1, defaultMaxPhases)
	o.Done()
	return b
}

func (p *parser) phases(o *reader.Object) {
	nodes := o.List("phases")
	n := o.Get("phases")
	if n == nil {
		if !o.Has("hooks") {
			o.Needs("phases")
		}
		return
	}
	if len(nodes) == 0 && n.Kind == yaml.SequenceNode {
		p.Error(n, codes.Value, "phases must not be empty")
	}
	for _, n := range nodes {
		if phase := p.phase(n); phase != nil {
			p.cascade.index[phase.Name] = len(p.cascade.Phases)
			p.cascade.Phases = append(p.cascade.Phases, phase)
		}
	}
}

// nested loads a cascade that this one names.
func (p *parser) nested(n *yaml.Node, what string) *Cascade {
	name := p.Word(n, what)
	if name == "" {
		return nil
	}
	if file := p.inTackle(name, cascadeEndings...); file != "" {
		return p.nestedFile(n, file)
	}
	return p.nestedFile(n, p.beside(name))
}

// nestedFile loads a cascade from a file.
func (p *parser) nestedFile(n *yaml.Node, file string) *Cascade {
	if c, ok := p.loaded[file]; ok {
		return c
	}
	switch {
	case slices.Contains(p.loading, file):
		p.Error(n, codes.Cycle, "%s contains itself: %s", file, strings.Join(append(slices.Clone(p.loading), file), " → "))
		return nil
	case len(p.loading) > maxNested:
		p.Error(n, codes.TooLarge, "cascades are nested more than %d deep", maxNested)
		return nil
	}
	source, err := p.readFile(file)
	if err != nil {
		p.Error(n, codes.File, "%v", err)
		return nil
	}
	child := p.child(syntax.New(file, source))
	c := child.parse()
	p.Merge(child.Reader)
	p.Found = append(p.Found, child.Found...)
	if child.Found.Broken() {
		c = nil
	}
	if c != nil && len(c.Phases) == 0 {
		p.Error(n, codes.Conflict, "%s has hooks and no phases to run", file)
		c = nil
	}
	p.loaded[file] = c
	return c
}

// unreadable returns a message about a file that cannot be read. The message contains the name
// of the file.
func unreadable(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file: " + name
	case !strings.Contains(err.Error(), name):
		return name + ": " + err.Error()
	}
	return err.Error()
}

// Document reads a file as the tree of its values with their comments. Keys have no meaning.
// The result is a document node with one value. The error is [syntax.Diagnostics]: the file
// is neither YAML nor JSON, is too large, or contains itself.
func Document(name string, source []byte) (*yaml.Node, error) {
	r := reader.New(syntax.New(name, source))
	if r.Tree() == nil {
		return nil, r.Found
	}
	root, _ := r.File.Tree()
	return root, nil
}

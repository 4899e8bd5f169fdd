package cascades

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// An Opener reads the files a cascade names: other cascades, templates. Names
// are slash-separated; a relative one is joined to the directory of the file
// that names it.
type Opener func(name string) ([]byte, error)

// Known is what a cascade may name besides what its file defines.
type Known struct {
	Validators validators.Set
	Tools      tool.Set
	Remote     Remote   // makes the mcp forms; nil where there are none
	Chosen     Chosen   // what is asked in place of what cascades say, of which their gates' evidence must be
	Receipts   Receipts // checks those that tools want; where it is nil such a tool is never called
	Root       string   // where programs with cwd: root run; empty: the working directory
	// Inside returns an error for a file of a database that a cascade may not name; nil
	// allows every file.
	Inside       func(file string) error
	Tackle       []string // folders that are searched by id, behind tackle beside the cascade
	MissingTools bool     // a tool that is named nowhere is a warning, and fails when it is called
	Memo         *Memo    // of the last readings of the same file; nil compiles everything
}

// maxSource bounds a cascade file, in bytes.
const maxSource = 4 << 20

// Load reads and checks a cascade file, YAML or JSON, with every file it
// names. An error is [Diagnostics]: everything that is wrong, at once, with the
// warnings among it; those of a file that loads are its Warnings.
func Load(name string, open Opener, known Known) (*Cascade, error) {
	source, err := open(name)
	if err != nil {
		return nil, Diagnostics{{Position: Position{File: name}, Code: CodeFile, Message: unreadable(name, err), Severity: Wrong}}
	}
	return Parse(name, source, open, known)
}

// Parse is [Load] for a text that was read already.
func Parse(name string, source []byte, open Opener, known Known) (*Cascade, error) {
	files := []File{{name, source}}
	deciding := new(Deciding)
	p := &parser{deciding: deciding, file: name, source: source, open: noting(open, &files), files: &files, known: known, loading: []string{path.Clean(name)}, loaded: map[string]*Cascade{}}
	p.keepHow()
	known.Memo.turn()
	c := p.parse()
	found := p.found.sorted(name)
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

// noting keeps what is read, once by name.
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

// Unpacked opens the files of a cascade that was kept whole.
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

// A parser reads one file. The parsers of the files it names share its known,
// loading, loaded, files and deciding.
type parser struct {
	file        string
	source      []byte
	lines       []string
	foreign     []string // the lines of the template beside the file that is read, and its name
	foreignFile string
	open        Opener
	files       *[]File // that were read
	deciding    *Deciding
	known       Known
	loading     []string
	loaded      map[string]*Cascade
	read        func(o *object, key string) // told of every key that is read; may be nil

	found      Diagnostics
	nodes      int
	depth      int
	compared   int
	broken     map[string]bool // definitions that were reported: "validators grammar"
	uses       []use
	fieldReads []fieldRead
	stateReads []stateRead
	routes     []route
	guards     []guard // of the phase that is read
	acts       []act
	lists      []listed
	locals     []string        // the variables that its items bring
	reading    string          // its name
	ignored    []*yaml.Node    // the keys that change nothing here
	grouped    string          // the group that it is part of
	lineOf     map[string]int  // phase name → line
	providers  []string        // the file's own
	defined    *object         // of the providers; nil for none
	databases  *object         // the file's own; nil for none
	asked      map[string]bool // the databases that phases ask
	declared   map[string]bool // the names of inputs_schema
	cascade    *Cascade
}

// A route is a phase named by another, to be checked when all are known.
type route struct {
	node *yaml.Node
	what string
	name string
	by   string // the phase that names it
}

// end tells whether the name has a meaning of its own where no phase is called
// so.
func (r route) end() bool {
	switch r.what {
	case "context":
		return r.name == First || r.name == All
	case "handoffs":
		return r.name == EndOfRun
	}
	return false
}

func (p *parser) parse() *Cascade { return p.parseTree(p.document()) }

// parseTree reads a cascade from a file's tree; nil where there is none.
func (p *parser) parseTree(doc *yaml.Node) *Cascade {
	c := &Cascade{File: p.file, Source: p.source, Validators: map[string]*Validator{}, Tools: map[string]*Tool{}, index: map[string]int{}}
	p.cascade, p.broken, p.lineOf, p.declared, p.asked = c, map[string]bool{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	c.tree = c.laterTree()
	if doc == nil || !p.sound(doc.Content[0], nil) {
		return nil
	}
	o := p.object(doc.Content[0], "the cascade")
	if o == nil {
		return nil
	}
	c.ID = o.required("cascade_id")
	p.checkID(o, c.ID)
	c.Description = o.text("description")
	c.Providers = p.readProviders(o)
	c.Databases = p.readDatabases(o)
	c.Model = o.model("model")
	c.Inputs = p.inputs(o.get("inputs_schema"))
	c.Budget = p.budget(o.child("budget"))
	p.definitions(o)
	p.protected(o)
	weight, own := p.tokenBudget(o.child("token_budget")), p.preface(o)
	p.phases(o)
	p.introduce(o, own)
	p.weigh(weight)
	p.tries(o)
	p.hooks(o)
	o.done()
	p.tellIgnored()
	p.crossCheck()
	return c
}

// checkID keeps what separates the parts of a path out of a cascade's id.
func (p *parser) checkID(o *object, id string) {
	if id != "" && !pathWord(id) {
		p.report(o.value["cascade_id"], CodeValue, "cascade_id may not hold / [ ] or control characters, nor begin or end with a blank: %q", id)
	}
}

func (p *parser) inputs(n *yaml.Node) []Input {
	if n == nil {
		return nil
	}
	o := p.object(n, "inputs_schema")
	if o == nil {
		return nil
	}
	if kind := o.value["type"]; kind != nil && kind.Value == "object" && o.has("properties") {
		p.report(n, CodeType, "inputs_schema has the inputs themselves, by name, and not a JSON Schema around them: {topic: {type: string}}; capstan convert FILE writes it so")
		return nil
	}
	var out []Input
	for _, name := range o.order {
		p.declared[name] = true
		in := Input{Name: name}
		value := p.resolve(o.value[name])
		if value.Kind == yaml.MappingNode {
			in.Schema = p.schema(value)
			if in.Schema != nil {
				source, _ := in.Schema.Source().(map[string]any)
				in.Description, _ = source["description"].(string)
				in.Default, in.HasDefault = source["default"]
				p.checkDefault(value, in)
			}
		} else {
			in.Description, _ = p.text(value, "the description of input "+name)
		}
		out = append(out, in)
	}
	return out
}

// checkDefault reports where the default of an input is not what its own schema,
// which stands at n, takes: no run could begin with it.
func (p *parser) checkDefault(n *yaml.Node, in Input) {
	if !in.HasDefault {
		return
	}
	broken, _ := in.Schema.Check(nil, in.Default) // what there is no telling of is told of a run
	for _, b := range broken {
		_, value := p.within(n, "$.default"+strings.TrimPrefix(b.Path, "$"))
		p.report(value, CodeValue, "the default of input %s is not what its schema takes: %s", in.Name, strings.TrimPrefix(b.String(), "$: "))
	}
}

func (p *parser) budget(o *object) Budget {
	b := Budget{MaxPhases: defaultMaxPhases}
	if o == nil {
		return b
	}
	b.MaxCalls = o.whole("max_calls", 1, 0)
	b.MaxTokens = o.whole("max_tokens", 1, 0)
	b.MaxCostUSD = o.number("max_cost_usd")
	if f := o.number("max_seconds"); f > 0 {
		b.MaxTime = o.seconds("max_seconds", f)
	}
	b.MaxPhases = o.whole("max_phases", 1, defaultMaxPhases)
	o.done()
	return b
}

func (p *parser) phases(o *object) {
	nodes := o.list("phases")
	n := o.get("phases")
	if n == nil {
		if !o.has("hooks") {
			o.needs("phases")
		}
		return
	}
	if len(nodes) == 0 && n.Kind == yaml.SequenceNode {
		p.report(n, CodeValue, "phases must not be empty")
	}
	for _, n := range nodes {
		if phase := p.phase(n); phase != nil {
			p.cascade.index[phase.Name] = len(p.cascade.Phases)
			p.cascade.Phases = append(p.cascade.Phases, phase)
		}
	}
}

// ends are what may stand in the place of a phase's name, by key.
var ends = map[string][]string{
	"context": several, "handoffs": {EndOfRun}, "on_exhausted": {OnExhaustedFail, OnExhaustedLast, OnExhaustedBest}, "on_error": {OnExhaustedFail}, "on_expired": {OnExhaustedFail},
}

// crossCheck checks what one phase says of others.
func (p *parser) crossCheck() {
	outputs := map[string]bool{}
	for _, phase := range p.cascade.EveryPhase() {
		outputs[phase.Name] = true
		for _, sub := range phase.Subs {
			outputs[sub.Cascade.ID] = true
		}
	}
	for _, r := range p.routes {
		if _, ok := p.lineOf[r.name]; !ok && !r.end() {
			p.report(r.node, CodePhase, "%s: no phase is called %q", r.what, r.name)
			p.suggest(r.name, func() []string { return append(slices.Sorted(maps.Keys(p.lineOf)), ends[r.what]...) })
		}
	}
	for _, phase := range p.cascade.Phases {
		for i := range phase.Handoffs {
			h := &phase.Handoffs[i]
			h.Ends = h.Target != "" && p.cascade.Way(h.Target) == ""
		}
	}
	p.checkGroups()
	p.checkActs()
	p.checkLists()
	p.checkProviders()
	p.checkDatabases()
	p.checkFields()
	p.checkState()
	for _, u := range p.uses {
		if len(p.found) > maxFound {
			return
		}
		if !outputs[u.phase] && !u.spared {
			if i := slices.IndexFunc(p.cascade.Phases, func(one *Phase) bool { return strings.HasPrefix(one.Name, u.phase+"-") }); i >= 0 {
				p.reportAt(u.at(), CodePhase, "template: - subtracts: write outputs['%s']", p.cascade.Phases[i].Name)
				continue
			}
			p.reportAt(u.at(), CodePhase, "template: outputs has no %q: no phase is called so", u.phase)
			p.suggest(u.phase, func() []string { return slices.Sorted(maps.Keys(outputs)) })
		}
	}
	p.checkWays()
}

// beside gives the name of a file that this file names.
func (p *parser) beside(name string) string {
	if path.IsAbs(name) {
		return name
	}
	return path.Join(path.Dir(p.file), name)
}

// readFile reads a file that the cascade names.
func (p *parser) readFile(name string) ([]byte, error) {
	if p.open == nil {
		return nil, fmt.Errorf("%s: there are no files here", name)
	}
	p.cascade.reads = append(p.cascade.reads, name)
	return p.open(name)
}

// nested loads a cascade that this one names.
func (p *parser) nested(n *yaml.Node, what string) *Cascade {
	name := p.word(n, what)
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
		p.report(n, CodeCycle, "%s contains itself: %s", file, strings.Join(append(slices.Clone(p.loading), file), " → "))
		return nil
	case len(p.loading) > maxNested:
		p.report(n, CodeTooLarge, "cascades are nested more than %d deep", maxNested)
		return nil
	}
	source, err := p.readFile(file)
	if err != nil {
		p.report(n, CodeFile, "%v", err)
		return nil
	}
	child := p.child(file, source)
	c := child.parse()
	p.nodes, p.compared = child.nodes, child.compared
	p.found = append(p.found, child.found...)
	if child.found.Broken() {
		c = nil
	}
	if c != nil && len(c.Phases) == 0 {
		p.report(n, CodeConflict, "%s has hooks and no phases to run", file)
		c = nil
	}
	p.loaded[file] = c
	return c
}

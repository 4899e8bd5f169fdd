// Package checks contains the rules that apply to a cascade after all of its values are read.
// Each file has one rule.
//
// A rule reads a [Cascade]: the phases, names and references of one file. It does not read the
// tree, because it compares values after aliases, defaults and other files are resolved. A
// rule adds diagnostics and changes nothing else.
package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/internal/flow"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A Cascade is the part of a cascade that the rules read.
type Cascade struct {
	Nested     bool            // another cascade runs it
	MaxPhases  int             // limit of the budget
	Lines      map[string]int  // line of each phase, by name
	Declared   map[string]bool // inputs of inputs_schema
	Defaults   []Default
	Unread     []Unread
	Schemas    []Schema
	Parameters []*Parameters // after a call of Judge
	Subjects   []Subject
	Wards      []Ward
	Templates  []Template
	Variables  []Variable
	InputReads []InputRead
	Phases     []Phase // each group after its phases
	Steps      []Step  // phases outside groups, in file order
	References []Reference
	Outputs    []Output
	Fields     []Field
	State      []StateRead
	StateKeys  map[string]bool // keys that the engine and people set
	OpenState  bool            // a model or a template may set any key
	Lists      []List
	Examples   []Example
	Weights    []Weight
	Providers  []Provider
	Databases  []Database
	Ignored    []*yaml.Node // keys of other programs that have no effect

	graph *flow.Graph
}

// A Phase is a phase of the cascade or of a group.
type Phase struct {
	Name     string
	Node     *yaml.Node // nil for the phase that a file with soundings adds
	What     string     // name in messages, such as "phase draft"
	Within   string     // name of the group in messages; "" for none
	Keys     map[string]*yaml.Node
	Rules    map[string]*yaml.Node // keys of its rules
	Wards    map[string]*yaml.Node // keys of its wards
	Asks     bool                  // a model may ask a person
	Chooses  bool                  // a model chooses the handoff
	Releases string                // on_exhausted of a gate, if it would release a rejected text; else ""
	Group    string                // name of the group; "" for none
	IsText   bool                  // the output is always a text
	Schema   *schema.Schema
	Subs     []Sub
	Tools    []Tool // tools of its tackle
	Guards   []Guard
	Call     *Call // nil for a phase without a tool
	Text     Text
}

// A Sub is a sub-cascade that runs before a phase.
type Sub struct {
	ID      string
	Returns bool // its output is an output of the run
}

// A Step is a phase outside groups, with the steps that may follow it.
type Step struct {
	Name     string
	Position syntax.Position
	Next     []int
	Ends     bool // the run may end after it
}

// A rule reports one kind of mistake.
type rule struct {
	name  string
	sound bool // the rule needs a file without errors
	check func(*Cascade, *findings.Report)
}

// rules contains all rules in the order in which Run calls them.
var rules = []rule{
	{"forms", false, phaseForms},
	{"form_rules", false, formRules},
	{"exhausted", false, exhausted},
	{"items", false, items},
	{"members", false, members},
	{"moments", false, moments},
	{"retries", false, retries},
	{"waits", false, waits},
	{"parameters", false, parameters},
	{"subjects", false, subjects},
	{"defaults", false, defaults},
	{"keywords", false, keywords},
	{"braces", false, braces},
	{"variables", false, variables},
	{"inputs", false, inputs},
	{"unread", false, unread},
	{"guards", false, guards},
	{"tackle", false, tackle},
	{"weights", false, weights},
	{"examples", false, examples},
	{"ignored", false, ignored},
	{"references", false, references},
	{"groups", false, groups},
	{"repeats", false, repeats},
	{"writes", false, writes},
	{"lists", true, lists},
	{"providers", false, providers},
	{"databases", false, databases},
	{"fields", false, fields},
	{"state", false, state},
	{"outputs", false, outputs},
	{"order", true, order},
	{"unreachable", true, unreachable},
	{"endless", true, endless},
	{"visits", true, visits},
}

// Run applies every rule.
func Run(c *Cascade, r *findings.Report) {
	for _, one := range rules {
		if !one.sound || !r.Found.Broken() {
			one.check(c, r)
		}
	}
}

// flow returns the graph of the steps.
func (c *Cascade) flow() *flow.Graph {
	if c.graph == nil {
		next, ends := make([][]int, len(c.Steps)), make([]bool, len(c.Steps))
		for i, s := range c.Steps {
			next[i], ends[i] = s.Next, s.Ends
		}
		c.graph = flow.New(next, ends)
	}
	return c.graph
}

// Package checks has the rules that a cascade must follow once all of its values are read,
// one rule per file.
//
// A rule reads a [Cascade]: the phases, names and references of one file. It does not read
// the tree itself, because a rule compares values after aliases, defaults and other files are
// resolved. A rule reports, and changes nothing.
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
	MaxPhases  int             // of the budget
	Lines      map[string]int  // the line of each phase, by name
	Declared   map[string]bool // the inputs of inputs_schema
	Defaults   []Default
	Unread     []Unread
	Schemas    []Schema
	Parameters []*Parameters // that were judged
	Subjects   []Subject
	Wards      []Ward
	Templates  []Template
	Variables  []Variable
	InputReads []InputRead
	Phases     []Phase // a group after its phases
	Steps      []Step  // the phases outside groups, in file order
	References []Reference
	Outputs    []Output
	Fields     []Field
	State      []StateRead
	StateKeys  map[string]bool // that the engine and people set
	OpenState  bool            // a model or a template may set any key
	Lists      []List
	Examples   []Example
	Weights    []Weight
	Providers  []Provider
	Databases  []Database
	Ignored    []*yaml.Node // keys of other programs that have no effect

	graph *flow.Graph
}

// A Phase is a phase, also one of a group.
type Phase struct {
	Name     string
	Node     *yaml.Node // nil for the phase around a file with soundings
	What     string     // in messages, such as "phase draft"
	Within   string     // the group in messages; "" for none
	Keys     map[string]*yaml.Node
	Rules    map[string]*yaml.Node // the keys of its rules
	Wards    map[string]*yaml.Node // the keys of its wards
	Asks     bool                  // a model may ask a person
	Chooses  bool                  // a model chooses the handoff
	Releases string                // on_exhausted of a gate that would release a refused text; "" for none
	Group    string                // that it is part of; "" for none
	IsText   bool                  // its output is always a text
	Schema   *schema.Schema
	Subs     []Sub
	Tools    []Tool // of its tackle
	Guards   []Guard
	Call     *Call // nil for a phase without a tool
	Text     Text
}

// A Sub is a sub-cascade that runs before a phase.
type Sub struct {
	ID      string
	Returns bool // its output is an output of the run
}

// A Step is a phase outside groups with the steps that may follow.
type Step struct {
	Name     string
	Position syntax.Position
	Next     []int
	Ends     bool // the run may end after it
}

// A rule reports one kind of mistake in a cascade.
type rule struct {
	name  string
	sound bool // it needs a file without errors
	check func(*Cascade, *findings.Report)
}

// rules are all rules in the order in which they run.
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

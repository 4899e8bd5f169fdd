// Package cascades reads cascade files. [Load] returns a [Cascade] with all names resolved
// and all templates, expressions and schemas compiled. If the file has errors, Load returns all
// of them as [syntax.Diagnostics]. A Cascade has methods for its worst case ([Plan]), its needs
// and its gates. The package runs no cascades.
//
// Begin with the types in this file and with parse.go, which reads the top of a file. Four
// packages do not depend on this package:
//   - syntax has the tree of a file,
//   - internal/reader reads its values,
//   - internal/findings collects diagnostics,
//   - internal/checks has the rules.
//
// The pages in docs/reference describe the keys.
package cascades

import (
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/internal/faults"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A Cascade is a checked file: all names are resolved, and all templates,
// expressions and schemas are compiled. A Cascade does not change after it was
// loaded, and any number of runs may share it.
type Cascade struct {
	ID          string
	Description string
	Model       Model
	Providers   []model.Provider // of the file; headers may contain {{ env.NAME }}
	Databases   []tool.Database  // for sql_query, in file order
	File        string           // the name of the file
	Source      []byte
	Files       []File   // all files that were read, the cascade's own first; only of the root
	Deciding    Deciding // other data that decides a run; only of the root
	Warnings    syntax.Diagnostics
	Inputs      []Input
	Budget      Budget
	Phases      []*Phase
	Hooks       []*Hook               // only of the root: hooks of nested cascades have no effect
	Tries       *Phase                // a phase with the soundings of the whole file; nil for none
	Validators  map[string]*Validator // of the file
	Tools       map[string]*Tool      // of the file

	index  map[string]int    // the index in Phases of each phase, by name
	digest string            // only of the root
	tree   func() *yaml.Node // see [Cascade.Where]
	reads  []string          // the files that this file names
}

// A File is a file of a cascade with its text.
type File struct {
	Name string // the slash-separated path
	Text []byte
}

// EveryPhase returns the phases in file order, the phases of a group after the
// group, and Tries last.
func (c *Cascade) EveryPhase() []*Phase {
	var list []*Phase
	for _, p := range c.Phases {
		list = append(append(list, p), p.Together...)
	}
	if c.Tries != nil {
		list = append(list, c.Tries)
	}
	return list
}

// Phase returns the phase with a name and its index in the file. It returns nil
// for a phase of a group, because a run cannot go to it.
func (c *Cascade) Phase(name string) (*Phase, int) {
	if i, ok := c.index[name]; ok {
		return c.Phases[i], i
	}
	return nil, -1
}

// Has reports whether a phase, including those of groups, has a name.
func (c *Cascade) Has(name string) bool {
	return slices.ContainsFunc(c.EveryPhase(), func(p *Phase) bool { return p.Name == name })
}

// Writes reports whether the phase with a name writes its own text. A phase with
// a tool or a gate returns its result instead.
func (c *Cascade) Writes(name string) bool {
	return slices.ContainsFunc(c.EveryPhase(), func(p *Phase) bool { return p.Name == name && p.Tool == nil })
}

// An Input is one entry of inputs_schema.
type Input struct {
	Name        string
	Description string         // of a documented input
	Schema      *schema.Schema // of an enforced input; else nil
	Default     any            // from the schema
	HasDefault  bool
	Required    bool // no run works without the input
}

// A Budget limits a run. A zero value is no limit, except in MaxPhases.
type Budget struct {
	MaxCalls   int
	MaxTokens  int
	MaxCostUSD float64
	MaxTime    time.Duration
	MaxPhases  int // the maximum number of phase visits. Default: 100.
}

// defaultMaxPhases is the default of MaxPhases.
const defaultMaxPhases = 100

// maxNested is the maximum depth of nested cascades.
const maxNested = 16

// A Phase is a phase of a cascade. Exactly one of Instructions, Tool, Compose
// and Together is set.
type Phase struct {
	Name         string
	Position     syntax.Position
	System       *templates.Template // of the phase or of the file; nil for none
	Examples     []Example           // of the phase or of the file
	Instructions *templates.Template
	Model        Model
	Tackle       []*Tool
	Context      Context
	Rules        Rules
	OutputSchema *schema.Schema
	SchemaWard   *wards.Ward // of OutputSchema
	Wards        Wards
	Extraction   *Extraction
	Handoffs     []Handoff
	Unchosen     string // handoff_default: "fail", "first", or "" for none
	When         *expressions.Expression
	Subs         []*Sub
	Soundings    *Soundings
	Human        *Human
	TokenBudget  *TokenBudget // of the phase or of the file; nil for none

	Tool     *Tool // of a phase without a model
	Inputs   Values
	Compose  *templates.Template // the text that the phase composes
	Together []*Phase            // the phases of a group, which run in parallel
	Each     *Each               // the phase runs for every item of a list

	Caught float64 // the minimum share of planted faults that the checks must catch; 0 for none
	Queue  string  // see [Cascade.Queue]
}

// An Each runs its phase for every item of a list.
type Each struct {
	In          Values // one value: the list, or the variable with the list
	As          string // the variable of an item
	MaxItems    int
	MaxParallel int
	Keep        bool // on_failure: keep
}

// A Context selects the earlier outputs and state for the prompt of a phase.
// The zero value selects nothing.
type Context struct {
	From    []Source
	Exclude []string // phases that All, First and Previous exclude
	Input   bool     // the input of the cascade
}

// A Source is one phase or several phases whose outputs or state the prompt
// contains.
type Source struct {
	Phase         string // the name of a phase, or all, first or previous
	Output, State bool   // the output of the phase; the state that it has set
}

// Way returns the phase of a handoff's target, or "" for the end of the run.
func (c *Cascade) Way(target string) string {
	if _, named := c.index[target]; target == keywords.EndOfRun && !named {
		return ""
	}
	return target
}

// Rules are the rules of a phase with their defaults.
type Rules struct {
	MaxTurns          int
	MaxAttempts       int  // the limit for output_schema and loop_until together
	Capped            bool // the file has max_attempts, which limits all attempts
	Loop              *Check
	LoopPrompt        *templates.Template
	TurnPrompt        *templates.Template
	RetryInstructions *templates.Template
	Feedback          Feedback
	OnExhausted       string // fail, last, best or the name of a phase
	OnError           string // the next phase after an error; "" ends the run
	Timeout           time.Duration
}

// Wards are the checks of a phase by moment.
type Wards struct{ Pre, Tool, Result, Turn, Post []*Check }

// A Check is a validator at a place of a cascade.
type Check struct {
	Ward      *wards.Ward
	Validator *Validator
	Tools     []string        // the tools of a tool ward; none means every tool except route_to
	AfterFree bool            // the judge is skipped if a free check of the same moment has rejected the text
	Place     *Place          // nil for a check that is in no file
	Position  syntax.Position // the place as line and column

	Promote *Promotion // the evidence that the check needs before it can reject a text; nil for none
}

// written returns the mode in the file.
func (c *Check) written() wards.Mode {
	if c.Promote != nil {
		return c.Promote.Mode
	}
	return c.Ward.Mode
}

// Guards reports whether the check applies to a tool. A check of a moment
// without tools applies to every tool.
func (c *Check) Guards(tool string) bool {
	if len(c.Tools) > 0 {
		return slices.Contains(c.Tools, tool)
	}
	return tool != keywords.RouteTo
}

// A Validator is a resolved use or definition of a validator. Exactly one of
// Check, Bind, Criteria and Cascade is set.
type Validator struct {
	Name        string
	Description string
	Pure        bool
	Check       validators.Check                               // ready to judge
	Bind        func(map[string]any) (validators.Check, error) // for parameters that a run computes
	With        Values                                         // the parameters for Bind
	Criteria    *templates.Template                            // for a judge
	Model       Model                                          // of the judge
	Votes       int                                            // the number of votes of a judge, of which the majority counts; 0 means 1
	Confirm     bool                                           // the judge rejects a text only with two rejecting replies
	AfterFree   bool                                           // after: free, in every mode
	Cascade     *Cascade                                       // its output is the verdict
	InputMap    Values                                         // of Cascade; without it, the input is the text
	Faults      []faults.Operator                              // of the validator

	asks   bool           // Cascade calls a model
	around bool           // it reads more of a run than the text
	fields []checks.Field // of an expression, without the phase
	blind  bool           // the expression does not read the text
	needs  []Need         // of a program or of a tool of an MCP server

	written *written // its definition in the file; nil for none
}

// A Tool is a resolved tool. Without Cascade and Validator, the host runs it by
// its name.
type Tool struct {
	Name        string
	Description string
	Params      map[string]any // JSON Schema
	Tool        tool.Tool
	Cascade     *Cascade
	Validator   *Validator      // of a phase whose tool is a validator
	Effect      tool.Effect     // the effect on the world; for a cascade, the greatest effect of its tools
	Place       *Place          // the place in the file
	Engine      bool            // the engine handles the call
	Position    syntax.Position // in the phase
	Queue       string          // see [Cascade.Queue]
	MaxBytes    int             // the maximum size of a result for the model; 0 means 256 KiB
	Receipt     *Receipt        // the requirements for the receipt of a text; nil for none

	named     string          // the name in tackle, or the file of a cascade
	remote    bool            // a tool of an MCP server, which returns the description
	needs     []Need          // of a program or of a tool of an MCP server
	arguments *argumentSchema // for a tool in tackle
}

// An Extraction takes a part of the text of a phase as its output.
type Extraction struct {
	Pattern  patterns.Pattern
	StoreAs  string
	Required bool
	JSON     bool // format: json
}

// A Sub is a sub-cascade that runs before its phase.
type Sub struct {
	Cascade    *Cascade
	InputMap   Values
	ContextIn  bool // the sub-cascade starts with the state of the run
	ContextOut bool // the run gets its state, and its output as outputs.<cascade_id>
}

// A Human is a question to a person.
type Human struct {
	Prompt    *templates.Template
	Type      string // confirmation, choice, text or edit
	Options   []string
	StoreAs   string        // the key of the state for the answer
	Expires   time.Duration // the time limit of the question; 0 for none
	OnExpired string        // the next phase if nobody answers in time; "" ends the run
	Notify    *Notify       // nil for none
}

// A Notify is the program or the URL that receives a question.
type Notify struct {
	Argv    []string
	Dir     string            // of Argv
	Env     []string          // of Argv, in the form of [process.Environment]
	URL     string            // URL and Headers may contain {{ env.NAME }}
	Headers map[string]string // in addition to Content-Type

	needs []Need
}

// The types of human input.
const (
	Confirmation = "confirmation"
	Choice       = "choice"
	Text         = "text"
	Edit         = "edit" // a person changes the text of the phase
)

// A Handoff is a phase that can follow.
type Handoff struct {
	Target      string
	Description string
	When        *expressions.Expression // decides without a model; nil for none
	Ends        bool                    // Target is "end", which ends the run
}

// A Receipt has the requirements of a tool for the receipt of a text. The
// arguments of the tool are text and receipt.
type Receipt struct {
	Gates   []signatures.GateDemand
	Cascade string        // digest of the cascade and its files; "" for any
	MaxAge  time.Duration // 0 for any
	Trust   signatures.Trust
	Alone   bool // the tool takes no other argument
}

// A Promotion is the evidence that a gate needs before it can reject a text:
// limits of its false passes and false blocks, with a confidence. Without the
// evidence, the gate is in shadow.
type Promotion struct {
	FalsePass, FalseBlock, Confidence float64
	Mode                              wards.Mode // the mode in the file
	Why                               string     // why the gate is in shadow; "" with evidence
}

// note appends an element unless the list contains it.
func note[T comparable](list *[]T, element T) {
	if !slices.Contains(*list, element) {
		*list = append(*list, element)
	}
}

// Releases reports whether on_exhausted releases a text that failed.
func (r Rules) Releases() bool {
	return r.OnExhausted == keywords.OnExhaustedLast || r.OnExhausted == keywords.OnExhaustedBest
}

// Instead returns the phase of on_exhausted, or "".
func (r Rules) Instead() string {
	if r.Releases() || r.OnExhausted == keywords.OnExhaustedFail {
		return ""
	}
	return r.OnExhausted
}

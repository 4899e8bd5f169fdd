// Package cascades is the language of cascade files. In comes a file, and what it
// may name that others have ([Known]); out goes a [Cascade], whole and checked, or
// [Diagnostics]: everything that is wrong, each at its place. Nothing is run for it.
// Of a cascade it is told here what a run may do at most ([Plan]), what it needs and
// asks, and who its gates are. The pages in docs/reference describe the keys.
//
// Begin with the types below, then parse.go, which reads the file's top; each part of
// a file has the Go file that reads it, by way of object.go and fields.go. Below are
// rooms that know no cascade: documents, which makes trees of bytes, graphs, which
// draws, and windlass; above it proofs and convert.
package cascades

import (
	"cmp"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/expressions"
	"github.com/seed61713e19/capstan/validators/faults"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// A Cascade is a checked file: every name in it is resolved, every template,
// expression and schema compiled. It is not changed after it was loaded, and
// any number of runs may share it.
type Cascade struct {
	ID          string
	Description string
	Model       Model
	Providers   []model.Provider // the file's own; headers may hold {{ env.NAME }}
	Databases   []tool.Database  // that sql_query asks, in file order
	File        string           // as it was loaded
	Source      []byte
	Files       []File   // every file that was read, the cascade's own first; of the root alone
	Deciding    Deciding // what else decides a run; of the root alone
	Warnings    Diagnostics
	Inputs      []Input
	Budget      Budget
	Phases      []*Phase
	Hooks       []*Hook               // of the root alone: those of cascades within it have no effect
	Tries       *Phase                // the soundings of the file: all of it is tried as a phase; nil for none
	Validators  map[string]*Validator // named by the file
	Tools       map[string]*Tool      // named by the file

	index  map[string]int    // phase name → place in Phases
	digest string            // of the root alone
	tree   func() *yaml.Node // see [Cascade.Where]
	reads  []string          // the files that it names itself
}

// A File is one of the files that a cascade is made of, as it was read.
type File struct {
	Name string // slash-separated, as it was asked for
	Text []byte
}

// EveryPhase lists the phases in file order, those of groups behind their group,
// and Tries last.
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

// Phase gives the phase of that name and its place in the file, or nil. A phase
// of a group is not a place where a run can go.
func (c *Cascade) Phase(name string) (*Phase, int) {
	if i, ok := c.index[name]; ok {
		return c.Phases[i], i
	}
	return nil, -1
}

// Has tells whether a phase, also one of a group, has the name.
func (c *Cascade) Has(name string) bool {
	return slices.ContainsFunc(c.EveryPhase(), func(p *Phase) bool { return p.Name == name })
}

// Writes tells whether a phase of that name writes a text of its own: that of one that
// is a tool or a gate is what that answered.
func (c *Cascade) Writes(name string) bool {
	return slices.ContainsFunc(c.EveryPhase(), func(p *Phase) bool { return p.Name == name && p.Tool == nil })
}

// An Input is one entry of inputs_schema.
type Input struct {
	Name        string
	Description string         // of a documented input
	Schema      *schema.Schema // of an enforced one; else nil
	Default     any            // from the schema
	HasDefault  bool
	Required    bool // no run does without it, as [Cascade.Asked] tells; elsewhere false
}

// A Budget bounds a run; zero is no bound but for MaxPhases.
type Budget struct {
	MaxCalls   int
	MaxTokens  int
	MaxCostUSD float64
	MaxTime    time.Duration
	MaxPhases  int // phase visits, 100 unless the file says otherwise
}

// defaultMaxPhases bounds the phase visits of a run whose file does not.
const defaultMaxPhases = 100

// maxNested is how deep cascades may contain cascades.
const maxNested = 16

// A Phase is one phase. Exactly one of Instructions, Tool, Compose and Together
// is set.
type Phase struct {
	Name         string
	Position     Position
	System       *templates.Template // the phase's own or the file's; nil for none
	Examples     []Example           // the phase's own or the file's
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
	Unchosen     string // handoff_default: "fail" or "first"; "" where it is not written
	When         *expressions.Expression
	Subs         []*Sub
	Soundings    *Soundings
	Human        *Human
	TokenBudget  *TokenBudget // the phase's own or the file's; nil for none

	Tool     *Tool // of a deterministic phase
	Inputs   Values
	Compose  *templates.Template // the text, computed
	Together []*Phase            // side by side
	Each     *Each               // the phase is done for every item of a list

	Expect Expect
	Queue  string // see [Cascade.Queue]
}

// An Expect is what a phase's checks must come to when they are measured.
type Expect struct {
	Caught float64 // the least share of planted faults, bad for sure, that they catch; 0 where none is asked for
}

// An Each has its phase done once for every item of a list.
type Each struct {
	In          Values // one value: the list, or the variable that holds it
	As          string // what an item is called
	MaxItems    int
	MaxParallel int
	Keep        bool // on_failure: keep
}

// Index is the variable that has an item's number, from 0.
const Index = "index"

// A Context is what a phase's prompt carries of what came before. The zero value
// carries nothing.
type Context struct {
	From    []Source
	Exclude []string // phases that All, First and Previous leave out
	Input   bool     // the cascade's input too
}

// A Source is a phase, or several, and what of it a prompt carries.
type Source struct {
	Phase         string // a name, [All], [First] or [Previous]
	Output, State bool   // what it gave; what it has set in the state
}

// What may stand in the place of a phase in a context: the phase that ran
// before, and, where no phase is called so, the first that ran and all of them.
const (
	Previous = "previous"
	First    = "first"
	All      = "all"
)

// EndOfRun as the target of a handoff ends the run, in a cascade that has no phase of
// that name.
const EndOfRun = "end"

// Way is where a handoff's target leads: a phase, or "" for the end of the run.
func (c *Cascade) Way(target string) string {
	if _, named := c.index[target]; target == EndOfRun && !named {
		return ""
	}
	return target
}

// ValidatedOutput is the key of the state that has the output which kept to an
// output_schema last.
const ValidatedOutput = "validated_output"

// Rules are a phase's rules, with their defaults filled in.
type Rules struct {
	MaxTurns          int
	MaxAttempts       int  // of output_schema and loop_until together
	Capped            bool // MaxAttempts was written: it bounds all attempts
	Loop              *Check
	LoopPrompt        *templates.Template
	TurnPrompt        *templates.Template
	RetryInstructions *templates.Template
	Feedback          Feedback
	OnExhausted       string // "fail", "last", "best" or the name of a phase
	OnError           string // the phase to go to when something broke; "" ends the run
	Timeout           time.Duration
}

// What a phase does when a check has used up its budget; any other value names
// the phase to go to.
const (
	OnExhaustedFail = "fail"
	OnExhaustedLast = "last"
	OnExhaustedBest = "best"
)

// Wards are a phase's checks by moment.
type Wards struct{ Pre, Tool, Result, Turn, Post []*Check }

// A Check is a validator at a place.
type Check struct {
	Ward      *wards.Ward
	Validator *Validator
	Tools     []string // of a ward around tools: those it looks at; none is all but [RouteTo]
	AfterFree bool     // a judge that is not asked about a text that a free check of the moment refuses
	Place     *Place   // where it stands; nil of one that is in no file
	Position  Position // the same for a person

	Promote *Promotion // what lets it refuse; nil for nothing that must be shown
}

// written is the mode that the file gives the check.
func (c *Check) written() wards.Mode {
	if c.Promote != nil {
		return c.Promote.Mode
	}
	return c.Ward.Mode
}

// Guards tells whether the check looks at what has to do with the tool; at
// moments that have to do with none every check does.
func (c *Check) Guards(tool string) bool {
	if len(c.Tools) > 0 {
		return slices.Contains(c.Tools, tool)
	}
	return tool != RouteTo
}

// A Validator is one resolved use or definition of a validator: exactly one of
// Check, Bind, Criteria and Cascade is set.
type Validator struct {
	Name        string
	Description string
	Pure        bool
	Check       validators.Check                               // ready to judge
	Bind        func(map[string]any) (validators.Check, error) // parameters come with the run
	With        Values                                         // for Bind
	Criteria    *templates.Template                            // for a model to judge by
	Model       Model                                          // the judge's own model
	Votes       int                                            // how often a judge is asked; the majority counts. 0 is 1
	Confirm     bool                                           // a judge's no is asked once more: two are a no
	AfterFree   bool                                           // after: free, whatever the mode
	Cascade     *Cascade                                       // whose output is the verdict
	InputMap    Values                                         // of Cascade; empty gives it the subject
	Faults      []faults.Operator                              // that it publishes

	asks   bool        // Cascade asks a model
	around bool        // it reads more of a run than the text
	fields []fieldRead // of an expression: phase is not filled in
	blind  bool        // of an expression: it does not look at the text
	needs  []Need      // of a program, or of an MCP server's tool

	written *written // what it was made of; nil where no file was
}

// A Tool is one resolved tool. With neither Cascade nor Validator set it is
// run by the host under its name.
type Tool struct {
	Name        string
	Description string
	Params      map[string]any // JSON Schema
	Tool        tool.Tool
	Cascade     *Cascade
	Validator   *Validator  // of a tool: phase that names a validator
	Effect      tool.Effect // what it does to the world; a cascade's is the worst of its tools
	Place       *Place      // where it stands
	Engine      bool        // the engine answers it itself
	Position    Position    // where a phase names it
	Queue       string      // see [Cascade.Queue]
	MaxBytes    int         // of a result for the model; 0 for [DefaultResult]
	Receipt     *Receipt    // that a text must come with; nil for none

	named  string // as tackle has it: the name, or a cascade's file
	remote bool   // of an MCP server, which is asked when it must be
	needs  []Need // of a program, or of an MCP server's tool
	held   *held  // of a tool in tackle
}

// Told is what a model is told of the tool. Only a tool of an MCP server has to
// be asked for it, once; the server bounds its time. An error says that it is
// not there.
func (t *Tool) Told() (description string, params map[string]any, err error) {
	if !t.remote {
		return t.Description, t.Params, nil
	}
	description, params, err = t.Tool.Told()
	return cmp.Or(t.Description, description), params, err
}

// The tools that the engine itself answers.
const (
	SetState = "set_state"
	RouteTo  = "route_to"
	AskHuman = "ask_human"
)

// An Extraction takes a part of a phase's text for its output.
type Extraction struct {
	Pattern  patterns.Pattern
	StoreAs  string
	Required bool
	JSON     bool // format: json
}

// In returns what the pattern takes out of a text: its first group, or the whole
// match if it has none. ok is false if nothing matches. The work is bounded, and
// stop is asked during it; an error says that there is no answer.
func (e *Extraction) In(stop schema.Stop, text string) (found string, ok bool, err error) {
	groups, err := e.Pattern.GroupsWithin(patterns.NewBudget(stop), text)
	if groups == nil || err != nil {
		return "", false, err
	}
	return groups[min(len(groups)-1, 1)], true, nil
}

// A Sub is a sub-cascade that runs before its phase.
type Sub struct {
	Cascade    *Cascade
	InputMap   Values
	ContextIn  bool // it starts with the state of this run
	ContextOut bool // its state comes back, and its output as outputs.<cascade_id>
}

// A Human is a question to a person.
type Human struct {
	Prompt    *templates.Template
	Type      string // confirmation, choice, text or edit
	Options   []string
	StoreAs   string        // the state key that gets the answer
	Expires   time.Duration // how long the question waits; 0 is for ever
	OnExpired string        // the phase to go to when nobody has answered; "" ends the run
	Notify    *Notify       // who is told of the question; nil for nobody
}

// A Notify says who is told of a question: a program that reads it, or a URL
// that it is posted to.
type Notify struct {
	Argv    []string
	Dir     string            // of Argv
	Env     []string          // of Argv, as [process.Environment] has it
	URL     string            // it and Headers may hold {{ env.NAME }}
	Headers map[string]string // beside the content's

	needs []Need
}

// The types of human input.
const (
	Confirmation = "confirmation"
	Choice       = "choice"
	Text         = "text"
	Edit         = "edit" // the person changes the phase's text
)

// asksOnTheWay tells whether a person is asked in the middle of a turn.
func (p *Phase) asksOnTheWay() bool {
	return slices.ContainsFunc(p.tools(), func(t *Tool) bool { return t.Engine && t.Name == AskHuman })
}

// Edits tells whether a person has the last word on the phase's text.
func (p *Phase) Edits() bool { return p.Human != nil && p.Human.Type == Edit }

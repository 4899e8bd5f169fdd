package cascades

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A Description describes a cascade for the person who runs it.
type Description struct {
	CascadeID   string              `json:"cascade_id"`
	Description string              `json:"description"`
	Inputs      []DescribedInput    `json:"inputs"`              // in file order
	Tries       int                 `json:"soundings,omitempty"` // the number of tries of the whole file
	Phases      []DescribedPhase    `json:"phases"`              // in file order; a group precedes its phases
	Hooks       []DescribedHook     `json:"hooks,omitempty"`     // of coding agents
	Tools       []DescribedTool     `json:"tools"`               // of its own phases
	Databases   []DescribedDatabase `json:"databases,omitempty"` // of nested cascades too
	Models      []DescribedModel    `json:"models"`              // of nested cascades too
	Providers   []DescribedProvider `json:"providers,omitempty"` // of nested cascades too
	Programs    []DescribedProgram  `json:"programs,omitempty"`  // of nested cascades too
	Protect     []string            `json:"protect,omitempty"`   // patterns of further files that no model may write
	Worst       Counts              `json:"worst"`               // the plan's total
	Files       []string            `json:"files"`               // all files that were read, the cascade's own first
	Command     string              `json:"command"`
}

// A DescribedInput is an input. An input without a schema is required if a phase
// that every run visits reads it.
type DescribedInput struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Type        string   `json:"type"` // of the schema; "any" without a type
	Required    bool     `json:"required"`
	HasDefault  bool     `json:"has_default"`
	Default     any      `json:"default,omitempty"`
	ReadBy      []string `json:"read_by"` // the phases whose templates read it
}

// A DescribedPhase describes a phase.
type DescribedPhase struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`            // model, tool, compose or together
	Each  bool   `json:"each,omitempty"`  // the phase runs for every item of a list
	Group string `json:"group,omitempty"` // the group that contains the phase
	When  string `json:"when,omitempty"`
	// System is the template of the system message, of the phase or of the file.
	System   string `json:"system,omitempty"`
	Examples int    `json:"examples,omitempty"`     // the number of examples before the instructions
	Feedback string `json:"feedback,omitempty"`     // the limit of the feedback in a retry
	Holds    string `json:"token_budget,omitempty"` // the limit of the conversation
	// Timeout is the time limit of each attempt (rules.timeout), such as 2m0s.
	Timeout string          `json:"timeout,omitempty"`
	Gates   []DescribedGate `json:"gates"`
	Asks    string          `json:"asks,omitempty"` // the question for a person: its type, its time limit, and the recipient of the notice
}

// A DescribedGate describes a check.
type DescribedGate struct {
	Moment    string `json:"moment"`
	Mode      string `json:"mode"`
	Validator string `json:"validator"`
	Kind      string `json:"kind"` // computed, judge, program or cascade
}

// A DescribedTool describes a tool of the phases.
type DescribedTool struct {
	Name   string      `json:"name"`
	Effect tool.Effect `json:"effect"`
	Phases []string    `json:"phases"`
}

// A DescribedDatabase describes a database for sql_query.
type DescribedDatabase struct {
	Name     string `json:"name"`
	Kind     string `json:"kind,omitempty"` // SQLite or PostgreSQL; "" if an environment variable decides
	ReadOnly bool   `json:"read_only"`
	MaxRows  int    `json:"max_rows"`
	File     string `json:"file"` // the file that names the database
}

// A DescribedProgram describes a program. No model may write its files.
type DescribedProgram struct {
	Name    string   `json:"name"` // such as: validator tests_pass
	Argv    []string `json:"argv"`
	Subject []string `json:"subject,omitempty"` // patterns of the arguments that may change
}

// A DescribedModel describes a model that a run may call. The name "" means the
// model of the run.
type DescribedModel struct {
	Name    string   `json:"name"`
	API     string   `json:"api,omitempty"` // the protocol of its provider; "" for chat completions
	NamedBy []string `json:"named_by"`
}

// A DescribedProvider describes a provider that the file defines or limits.
type DescribedProvider struct {
	Name              string `json:"name"`
	BaseURL           string `json:"base_url,omitempty"` // "" if an environment variable has it
	RequestsPerMinute int    `json:"requests_per_minute,omitempty"`
	Concurrency       int    `json:"concurrency,omitempty"`
	Timeout           string `json:"timeout,omitempty"` // such as 2m0s
	Tries             int    `json:"tries,omitempty"`
}

// Describe returns the inputs, the phases, the models and the worst case of the
// cascade.
func (c *Cascade) Describe() Description {
	d := Description{
		CascadeID: c.ID, Description: c.Description, Inputs: c.describedInputs(),
		Tools: []DescribedTool{}, Models: []DescribedModel{}, Worst: c.Plan("", nil).Total,
	}
	if c.Tries != nil {
		d.Tries = c.Tries.Soundings.Factor
	}
	for _, p := range c.Phases {
		d.addPhase(p, "")
		for _, member := range p.Together {
			d.addPhase(member, p.Name)
		}
	}
	for _, h := range c.Hooks {
		d.Hooks = append(d.Hooks, h.described())
	}
	own := c.EveryProvider()
	for _, a := range c.Asking("", nil) {
		by := "phase " + a.Phase.Name
		if a.Role != "" {
			by += ": " + a.Role
		}
		if a.Cascade != c {
			by = "cascade " + a.Cascade.ID + ": " + by
		}
		provider, _ := providerOf(own, a.Name)
		d.addModel(DescribedModel{Name: a.Name, API: provider.API}, by)
	}
	for _, within := range c.Within() {
		for _, b := range within.Databases {
			kind, _ := tool.Kind(b.URL)
			d.Databases = append(d.Databases, DescribedDatabase{b.Name, kind, !b.Writes, b.MaxRows, within.File})
		}
	}
	for _, p := range c.EveryProvider() {
		described := DescribedProvider{
			Name: p.Name, BaseURL: p.BaseURL,
			RequestsPerMinute: p.Limits.RequestsPerMinute, Concurrency: p.Limits.Concurrency, Tries: p.Limits.Tries,
		}
		if p.Limits.Timeout > 0 {
			described.Timeout = p.Limits.Timeout.String()
		}
		d.Providers = append(d.Providers, described)
	}
	for _, p := range c.Deciding.Programs {
		d.Programs = append(d.Programs, DescribedProgram{p.What, p.Argv, p.Subject})
	}
	d.Protect = c.Deciding.Protect
	for _, f := range c.Files {
		d.Files = append(d.Files, f.Name)
	}
	d.Command = c.command(d)
	return d
}

func (c *Cascade) describedInputs() []DescribedInput {
	readers := map[string][]string{}
	for _, p := range c.EveryPhase() {
		for _, n := range p.inputs() {
			if name := n.Path[1]; !slices.Contains(readers[name], p.Name) {
				readers[name] = append(readers[name], p.Name)
			}
		}
	}
	list := []DescribedInput{}
	for _, in := range c.Inputs {
		list = append(list, DescribedInput{
			Name: in.Name, Description: in.Description, Type: in.kind(), ReadBy: append([]string{}, readers[in.Name]...),
			Required: in.Required, HasDefault: in.HasDefault, Default: in.Default,
		})
	}
	return list
}

// kind returns the type of an input's schema.
func (in Input) kind() string {
	if in.Schema == nil {
		return "any"
	}
	source, _ := in.Schema.Source().(map[string]any)
	switch t := source["type"].(type) {
	case string:
		return t
	case []any:
		words := make([]string, len(t))
		for i, word := range t {
			words[i], _ = word.(string) // a valid schema has only strings here
		}
		return reader.Alternatives(words)
	}
	return "any"
}

func (p *Phase) described(group string) DescribedPhase {
	d := DescribedPhase{Name: p.Name, Kind: "model", Each: p.Each != nil, Group: group, Gates: []DescribedGate{}, Asks: p.asks()}
	switch {
	case p.Tool != nil:
		d.Kind = "tool"
	case p.Compose != nil:
		d.Kind = "compose"
	case p.Together != nil:
		d.Kind = "together"
	}
	if p.When != nil {
		d.When = p.When.String()
	}
	d.System, d.Examples, d.Feedback = p.systemSource(), len(p.Examples), p.Rules.Feedback.text()
	if p.TokenBudget != nil {
		d.Holds = p.TokenBudget.text()
	}
	if p.Rules.Timeout > 0 {
		d.Timeout = p.Rules.Timeout.String()
	}
	p.eachCheck(func(moment string, _ int, check *Check) {
		d.Gates = append(d.Gates, DescribedGate{moment, string(check.Ward.Mode), check.Ward.Name, check.Validator.kind()})
	})
	if w := p.SchemaWard; w != nil {
		d.Gates = append(d.Gates, DescribedGate{string(w.Moment), string(w.Mode), w.Name, "computed"})
	}
	return d
}

// kind returns the type of the validator: judge, cascade, computed or program.
func (v *Validator) kind() string {
	switch {
	case v.Criteria != nil:
		return "judge"
	case v.Cascade != nil:
		return "cascade"
	case v.Pure:
		return "computed"
	default:
		return "program"
	}
}

func (d *Description) addPhase(p *Phase, group string) {
	d.Phases = append(d.Phases, p.described(group))
	for _, t := range p.tools() {
		d.addTool(t, p.Name)
	}
}

func (d *Description) addTool(t *Tool, phase string) {
	i := slices.IndexFunc(d.Tools, func(listed DescribedTool) bool { return listed.Name == t.Name })
	if i < 0 {
		i = len(d.Tools)
		effect := t.Effect
		if t.Validator != nil {
			effect = tool.None // a validator has no effect
		}
		d.Tools = append(d.Tools, DescribedTool{Name: t.Name, Effect: effect})
	}
	note(&d.Tools[i].Phases, phase)
}

func (d *Description) addModel(m DescribedModel, by string) {
	i := slices.IndexFunc(d.Models, func(listed DescribedModel) bool { return listed.Name == m.Name })
	if i < 0 {
		i = len(d.Models)
		d.Models = append(d.Models, m)
	}
	note(&d.Models[i].NamedBy, by)
}

// command returns a command line that runs the cascade. Missing values are
// written as ….
func (c *Cascade) command(d Description) string {
	words := []string{"capstan", "run", quoted(c.File)}
	for _, in := range d.Inputs {
		switch {
		case !in.Required:
		case in.Type == "any", strings.Contains(in.Type, "string"):
			words = append(words, "--input", quoted(in.Name)+"=…")
		default:
			words = append(words, "--input", quoted(in.Name)+":=…")
		}
	}
	if slices.ContainsFunc(d.Models, func(m DescribedModel) bool { return m.Name == "" }) {
		words = append(words, "--model", "…")
	}
	if c.RunsCommands() != "" {
		words = append(words, "--allow-exec")
	}
	return strings.Join(words, " ")
}

var plainWord = patterns.Lazy(`^[\pL\pN_./:@%+,-]+$`)

// quoted returns a word with the quotation marks that a shell needs.
func quoted(word string) string {
	if plainWord().MatchString(word) && !strings.HasPrefix(word, "-") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// shown returns a default value as JSON of at most 40 characters.
func shown(v any) string {
	text, _ := json.Marshal(v) // a default comes from JSON or YAML, and always encodes
	return reports.Fit(string(text), 40)
}

// asks describes the questions of the phase to a person, or returns "".
func (p *Phase) asks() string {
	h := p.Human
	switch {
	case h == nil && p.asksInTurn():
		return "a person, on the way: " + keywords.AskHuman
	case h == nil:
		return ""
	}
	words := "a person: " + h.Type
	if h.Expires > 0 {
		words += ", expires after " + h.Expires.String()
	}
	switch n := h.Notify; {
	case n == nil:
	case n.URL != "":
		words += ", posted to " + n.URL
	default:
		words += ", told to the program " + path.Base(n.Argv[0])
	}
	if p.asksInTurn() {
		words += ", and on the way: " + keywords.AskHuman
	}
	return words
}

package cascades

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/spellings"
	"github.com/seed61713e19/capstan/templates"
)

// An InputError is an error of one input of a run.
type InputError struct {
	Name       string `json:"name"` // the name of the input
	Kind       string `json:"kind"` // [InputMissing], [InputUndeclared] or [InputUnfit]
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"` // a similar name
}

// The kinds of errors of inputs.
const (
	InputMissing    = "missing"
	InputUndeclared = "undeclared"
	InputUnfit      = "unfit" // the schema rejects the value
)

// Error returns the name of the input and the error in one line.
func (e InputError) Error() string {
	text := "input " + e.Name
	if e.Kind == InputUnfit {
		text += ":"
	}
	text += " " + e.Message
	if e.Suggestion != "" {
		text += fmt.Sprintf(", did you mean %q?", e.Suggestion)
	}
	return text
}

// InputErrors are the errors of the inputs of a run, in file order. Undeclared
// inputs come last.
type InputErrors []InputError

// Error returns one line for each error.
func (e InputErrors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Again returns the input of an earlier run for a new run, without inputs that
// the cascade no longer declares.
func (c *Cascade) Again(input map[string]any) map[string]any {
	again := map[string]any{}
	maps.Copy(again, input)
	for _, wrong := range c.Undeclared(input) {
		delete(again, wrong.Name)
	}
	return again
}

// CheckInput returns the errors of the input of a run. An input without a
// default is missing if the file enforces it, or if a phase that every run
// visits reads it in a template. Undeclared inputs are errors if inputs_schema
// declares inputs. The check ends if stopped returns an error. The function
// stopped may be nil.
func (c *Cascade) CheckInput(stopped func() error, input map[string]any) InputErrors {
	var wrong InputErrors
	needed := sync.OnceValue(c.needed)
	for _, in := range c.Inputs {
		value, given := input[in.Name]
		if !given && !in.HasDefault && in.Schema == nil {
			if reader := needed()[in.Name]; reader != "" {
				wrong = append(wrong, in.missing("phase "+reader+" reads input."+in.Name))
				continue
			}
		}
		wrong = append(wrong, in.Check(stopped, value, given)...)
	}
	return append(wrong, c.Undeclared(input)...)
}

// Undeclared returns an error for each input that the cascade does not declare. It
// returns nil for a cascade that declares no inputs.
func (c *Cascade) Undeclared(input map[string]any) (wrong InputErrors) {
	if len(c.Inputs) == 0 {
		return nil
	}
	names := c.inputNames()
	for _, name := range slices.Sorted(maps.Keys(input)) {
		if slices.Contains(names, name) {
			continue
		}
		e := InputError{Name: name, Kind: InputUndeclared, Message: "is not declared", Suggestion: spellings.Nearest(name, names)}
		if e.Suggestion == "" {
			e.Message += ": inputs_schema has " + reports.Fit(strings.Join(names, ", "), 200)
		}
		wrong = append(wrong, e)
	}
	return wrong
}

func (c *Cascade) inputNames() (names []string) {
	for _, in := range c.Inputs {
		names = append(names, in.Name)
	}
	return names
}

// Unread returns the errors of [Cascade.Undeclared] for a nested cascade, except
// for inputs that the cascade reads.
func (c *Cascade) Unread(input map[string]any) InputErrors {
	wrong := c.Undeclared(input)
	if len(wrong) == 0 {
		return nil
	}
	read, all := c.inputsRead()
	return slices.DeleteFunc(wrong, func(e InputError) bool { return all || read[e.Name] })
}

// inputsRead returns the inputs that templates and expressions of the phases
// read. The result all reports whether one of them reads the whole input.
func (c *Cascade) inputsRead() (read map[string]bool, all bool) {
	read = map[string]bool{}
	note := func(path []string) {
		if path[0] != "input" {
			return
		}
		if all = all || len(path) == 1; len(path) > 1 {
			read[path[1]] = true
		}
	}
	for _, p := range c.EveryPhase() {
		all = all || p.Context.Input
		for _, n := range p.names() {
			note(n.Path)
		}
		for _, h := range append([]Handoff{{When: p.When}}, p.Handoffs...) {
			if h.When != nil {
				for _, f := range h.When.Fields() {
					note(f.Path)
				}
			}
		}
		for _, check := range p.Checks() {
			for _, f := range check.Validator.fields {
				note(f.Path)
			}
		}
	}
	return read, all
}

// noteUnread adds the inputs in o that a nested cascade neither declares nor
// reads to the facts. It adds none if the cascade declares no inputs.
func (p *parser) noteUnread(o *reader.Object, c *Cascade) {
	if o == nil || c == nil {
		return
	}
	given := map[string]any{}
	for _, name := range o.Order {
		given[name] = nil
	}
	for _, e := range c.Unread(given) {
		p.facts.Unread = append(p.facts.Unread, checks.Unread{Node: o.Keys[e.Name], Name: e.Name, Cascade: c.ID, Inputs: c.inputNames()})
	}
}

// Check returns the errors of a value. An input that is not enforced has no errors.
func (in Input) Check(stopped func() error, value any, given bool) InputErrors {
	switch {
	case in.Schema == nil, !given && in.HasDefault:
		return nil
	case !given:
		return InputErrors{in.missing("")}
	}
	broken, err := in.Schema.Check(stopped, value)
	if err != nil {
		return InputErrors{in.unfit(err.Error())}
	}
	var wrong InputErrors
	for _, violation := range broken {
		wrong = append(wrong, in.unfit(strings.TrimPrefix(violation.String(), "$: ")))
	}
	return wrong
}

func (in Input) missing(hint string) InputError {
	e := InputError{Name: in.Name, Kind: InputMissing, Message: "is missing"}
	if in.Description != "" {
		e.Message += ": " + reports.Fit(in.Description, 200)
	}
	if hint != "" {
		e.Message += "; " + hint
	}
	return e
}

func (in Input) unfit(message string) InputError {
	return InputError{Name: in.Name, Kind: InputUnfit, Message: message}
}

// require sets the field Required of the inputs.
func (c *Cascade) require() {
	needed := c.needed()
	for i, in := range c.Inputs {
		c.Inputs[i].Required = !in.HasDefault && (in.Schema != nil || needed[in.Name] != "")
	}
}

// needed returns the inputs that every run needs, each with the first phase
// that reads it.
func (c *Cascade) needed() map[string]string {
	readers := map[string]string{}
	for _, p := range c.always() {
		for _, n := range p.inputs() {
			if name := n.Path[1]; len(n.Path)-n.Spared > 1 && readers[name] == "" {
				readers[name] = p.Name
			}
		}
	}
	return readers
}

// always returns phases that every run visits. It begins with the first phase. It
// stops at a phase with several possible next phases, or after which the run may
// end. It leaves out phases that may be skipped.
func (c *Cascade) always() []*Phase {
	var list []*Phase
	seen := map[int]bool{}
	for i := 0; i < len(c.Phases) && !seen[i]; {
		seen[i] = true
		p := c.Phases[i]
		for _, phase := range append([]*Phase{p}, p.Together...) {
			if p.When == nil && phase.When == nil {
				list = append(list, phase)
			}
		}
		next := i
		for _, w := range c.ways(i) {
			if next != i && w.To != next {
				return list
			}
			next = w.To
		}
		if c.mayEnd(i) {
			return list
		}
		i = next
	}
	return list
}

// names returns the variables that templates of the phase read. It leaves out the
// phases of a group and nested cascades.
func (p *Phase) names() []templates.Name {
	all := append(p.Soundings.templates(), p.System, p.Instructions, p.Compose, p.Rules.LoopPrompt, p.Rules.TurnPrompt, p.Rules.RetryInstructions)
	values := []Values{p.Inputs}
	if p.Each != nil {
		values = append(values, p.Each.In)
	}
	for _, s := range p.Subs {
		values = append(values, s.InputMap)
	}
	if p.Human != nil {
		all = append(all, p.Human.Prompt)
	}
	validator := func(v *Validator) {
		all, values = append(all, v.Criteria), append(values, v.With, v.InputMap)
	}
	if p.Tool != nil && p.Tool.Validator != nil {
		validator(p.Tool.Validator)
	}
	for _, c := range p.Checks() {
		validator(c.Validator)
	}
	var list []templates.Name
	for _, t := range all {
		if t != nil {
			list = append(list, t.Names()...)
		}
	}
	for _, v := range values {
		list = append(list, v.Names()...)
	}
	return list
}

// inputs returns the inputs that templates of the phase read.
func (p *Phase) inputs() []templates.Name {
	return slices.DeleteFunc(p.names(), func(n templates.Name) bool { return len(n.Path) < 2 || n.Path[0] != "input" })
}

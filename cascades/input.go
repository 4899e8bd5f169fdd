package cascades

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/runner/spellings"
)

// An InputError is one thing that is wrong with what a run is given.
type InputError struct {
	Name       string `json:"name"` // of the input
	Kind       string `json:"kind"` // [InputMissing], [InputUndeclared] or [InputUnfit]
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"` // what was probably meant
}

// What may be wrong with an input.
const (
	InputMissing    = "missing"
	InputUndeclared = "undeclared"
	InputUnfit      = "unfit" // not what its schema says
)

// Error names the input and tells what is wrong with it, in one line.
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

// InputErrors is everything that is wrong with what a run is given, in file
// order, what the file does not declare behind.
type InputErrors []InputError

// Error gives each mistake a line.
func (e InputErrors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Inherit gives a cascade's input what it declares and was not given, of the input
// of the one that it is part of.
func (c *Cascade) Inherit(input, outer map[string]any) {
	for _, in := range c.Inputs {
		value, there := outer[in.Name]
		if _, given := input[in.Name]; there && !given {
			input[in.Name] = value
		}
	}
}

// Again is the input of an earlier run for another one: what the cascade does not
// declare any more nobody gave to that.
func (c *Cascade) Again(input map[string]any) map[string]any {
	again := map[string]any{}
	maps.Copy(again, input)
	for _, wrong := range c.Undeclared(input) {
		delete(again, wrong.Name)
	}
	return again
}

// CheckInput tells everything that is wrong with an input of plain values before
// a run is made of it; there is nothing where it may run. An input without a
// default is missed where it is enforced, or where a template of a phase that no
// run goes around reads it unguarded. What is given and not declared is wrong
// only where inputs_schema declares anything. Where stopped, which may be nil,
// gives an error, checking ends.
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

// Undeclared tells what is given to a cascade that declares inputs, and not these.
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
			e.Message += ": inputs_schema has " + oneLine(strings.Join(names, ", "), 200)
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

// Unread is [Cascade.Undeclared] of a cascade within another, which may read what it
// does not declare: what it does not read either.
func (c *Cascade) Unread(input map[string]any) InputErrors {
	wrong := c.Undeclared(input)
	if len(wrong) == 0 {
		return nil
	}
	read, all := c.inputsRead()
	return slices.DeleteFunc(wrong, func(e InputError) bool { return all || read[e.Name] })
}

// inputsRead are the inputs that templates and expressions of the phases name; all
// tells that one reads the input whole.
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
				note(f.path)
			}
		}
	}
	return read, all
}

// checkGiven warns of inputs in o that a cascade within this one neither declares nor
// reads, where it declares any.
func (p *parser) checkGiven(o *object, c *Cascade) {
	if o == nil || c == nil {
		return
	}
	given := map[string]any{}
	for _, name := range o.order {
		given[name] = nil
	}
	for _, e := range c.Unread(given) {
		p.warn(o.keys[e.Name], CodeUndeclared, "cascade %s has no input %q, and does not read it", c.ID, e.Name)
		p.suggest(e.Name, c.inputNames)
	}
}

// Check tells what is wrong with a plain value as an enforced input; of one that
// is only documented nothing is.
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
	for _, one := range broken {
		wrong = append(wrong, in.unfit(strings.TrimPrefix(one.String(), "$: ")))
	}
	return wrong
}

func (in Input) missing(why string) InputError {
	e := InputError{Name: in.Name, Kind: InputMissing, Message: "is missing"}
	if in.Description != "" {
		e.Message += ": " + oneLine(in.Description, 200)
	}
	if why != "" {
		e.Message += "; " + why
	}
	return e
}

func (in Input) unfit(why string) InputError {
	return InputError{Name: in.Name, Kind: InputUnfit, Message: why}
}

// Asked are the cascade's inputs, of which each tells whether it is required.
func (c *Cascade) Asked() []Input {
	needed := c.needed()
	list := slices.Clone(c.Inputs)
	for i, in := range list {
		list[i].Required = !in.HasDefault && (in.Schema != nil || needed[in.Name] != "")
	}
	return list
}

// needed gives the inputs that no run can do without, each with the first phase
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

// always lists phases that every run visits, as far as that is plain: from the
// first on, while there is one way to go. A phase that may be skipped is not
// among them and does not end the list.
func (c *Cascade) always() []*Phase {
	var list []*Phase
	seen := map[int]bool{}
	for i := 0; i < len(c.Phases) && !seen[i]; {
		seen[i] = true
		p := c.Phases[i]
		for _, one := range append([]*Phase{p}, p.Together...) {
			if p.When == nil && one.When == nil {
				list = append(list, one)
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

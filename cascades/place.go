package cascades

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/wards"
)

// A Place identifies a check or a tool of a cascade in plain JSON. Another process that has
// loaded the same files can find the check or tool without data of the run.
type Place struct {
	Cascade string `json:"cascade"`          // the [Cascade.Digest] of the root
	File    string `json:"file"`             // the file of the cascade that contains the place, as in Files
	Phase   string `json:"phase,omitempty"`  // "" for a tool, and for a validator of the file
	Moment  string `json:"moment,omitempty"` // moment of a check; "" for a phase that is a validator
	Index   int    `json:"index,omitempty"`  // index of a check within its moment
	Name    string `json:"name,omitempty"`   // name of a tool, or of a validator of the file
}

// String returns the place as a path.
func (at Place) String() string {
	return fmt.Sprintf("%s: %s %s[%d] %s", at.File, at.Phase, at.Moment, at.Index, at.Name)
}

// Digest returns the digest of all files of the cascade. Equal digests mean equal cascades.
// The digest of a nested cascade is "".
func (c *Cascade) Digest() string { return c.digest }

func digestOf(files []File) string {
	h := sha256.New()
	for _, f := range files {
		for _, part := range []string{f.Name, string(f.Text)} {
			h.Write(strconv.AppendInt(nil, int64(len(part)), 10))
			h.Write([]byte{0})
			h.Write([]byte(part))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// filter is the moment in the place of a validator of soundings. The ward of the validator is
// a post-ward.
const filter = "soundings"

// threshold is the moment in the place of the threshold of a reforge.
const threshold = "reforge"

// place sets the places of all checks and tools, including those of nested
// cascades.
func (c *Cascade) place() {
	c.digest = digestOf(c.Files)
	for _, within := range c.Within() {
		in := Place{Cascade: c.digest, File: within.File}
		for _, t := range within.Tools {
			t.setPlace(in)
		}
		for _, p := range within.EveryPhase() {
			p.place(in)
		}
	}
}

func (t *Tool) setPlace(in Place) {
	in.Name = t.Name
	t.Place = &in
}

func (p *Phase) place(in Place) {
	for _, t := range p.tools() {
		t.setPlace(in)
	}
	in.Phase = p.Name
	if p.Tool != nil && p.Tool.Validator != nil {
		p.Tool.setPlace(in)
	}
	p.eachCheck(func(moment string, i int, check *Check) {
		at := in
		at.Moment, at.Index = moment, i
		check.Place = &at
	})
}

// eachCheck calls visit for every check of the phase, with its moment and its
// index.
func (p *Phase) eachCheck(visit func(moment string, i int, check *Check)) {
	type group struct {
		moment wards.Moment
		checks []*Check
	}
	w := &p.Wards
	groups := []group{{wards.Pre, w.Pre}, {wards.Tool, w.Tool}, {wards.Result, w.Result}, {wards.Turn, w.Turn}, {wards.Post, w.Post}}
	groups = append(groups, group{wards.LoopUntil, []*Check{p.Rules.Loop}}, group{threshold, []*Check{p.Soundings.threshold()}})
	if p.Soundings != nil {
		groups = slices.Insert(groups, len(groups)-1, group{filter, []*Check{p.Soundings.Filter}})
	}
	for _, g := range groups {
		for i, check := range g.checks {
			if check != nil {
				visit(string(g.moment), i, check)
			}
		}
	}
}

// within returns the cascade that contains the place: c or a nested cascade.
func (c *Cascade) within(at *Place) (found *Cascade, err error) {
	if at == nil || at.Cascade != c.digest || c.digest == "" {
		return nil, fmt.Errorf("place %v: it is in another cascade than %s: its files are not the same", at, c.ID)
	}
	for _, within := range c.Within() {
		if within.File == at.File {
			return within, nil
		}
	}
	return nil, fmt.Errorf("place %v: that file belongs to no cascade of %s", at, c.ID)
}

// ValidatorAt returns the validator at a place. The receiver must be the root cascade.
func (c *Cascade) ValidatorAt(at *Place) (*Validator, error) {
	within, err := c.within(at)
	if err != nil {
		return nil, err
	}
	var found *Validator
	if at.Phase == "" {
		found = within.Validators[at.Name]
	}
	for _, p := range within.EveryPhase() {
		switch {
		case p.Name != at.Phase:
		case at.Moment == "" && p.Tool != nil:
			found = p.Tool.Validator
		default:
			p.eachCheck(func(moment string, i int, check *Check) {
				if moment == at.Moment && i == at.Index {
					found = check.Validator
				}
			})
		}
	}
	if found == nil {
		return nil, fmt.Errorf("place %v: no validator stands there", at)
	}
	return found, nil
}

// ToolAt returns the tool at a place. The receiver must be the root cascade. The names of
// tools are unique within a file.
func (c *Cascade) ToolAt(at *Place) (*Tool, error) {
	within, err := c.within(at)
	if err != nil {
		return nil, err
	}
	if t := within.Tools[at.Name]; t != nil {
		return t, nil
	}
	for _, p := range within.EveryPhase() {
		for _, t := range p.tools() {
			if t.Name == at.Name {
				return t, nil
			}
		}
	}
	return nil, fmt.Errorf("place %v: no tool stands there", at)
}

// Bound returns the check of the validator. The check has the fixed parameters of the file, or
// else the parameters in with, which a run has computed.
func (v *Validator) Bound(with map[string]any) (validators.Check, error) {
	switch {
	case v.Check != nil:
		return v.Check, nil
	case v.Bind != nil:
		return v.Bind(with)
	default:
		return nil, fmt.Errorf("validator %s: it is computed by the run itself", v.Name)
	}
}

// digest returns the digest of the canonical form of a plain value.
func digest(v map[string]any) (string, error) {
	text, err := signatures.Canonical(unambiguous(v))
	if err != nil {
		return "", err
	}
	return signatures.Digest(text), nil
}

// unambiguous returns a copy of a value in which texts replace the numbers that JSON readers
// may read differently.
func unambiguous(v any) any {
	return replaced(v, func(v any) any {
		if signatures.Unambiguous(v) != nil {
			return fmt.Sprint(v)
		}
		return v
	})
}

// Use returns a known validator with parameters. It needs no cascade file.
func Use(name string, with map[string]any, known Known) (*Validator, error) {
	found, err := known.Validators.Find(name)
	if err != nil {
		return nil, err
	}
	v := &Validator{Name: found.Name, Description: found.Description, Pure: found.Pure, Faults: found.Faults(with)}
	check, err := found.Bind(with) // also for a judge, to check its parameters
	switch {
	case err != nil:
	case found.Criteria != "":
		v.Criteria, err = templates.Parse(found.Criteria)
	default:
		v.Check = check
	}
	return v, err
}

// uses reports whether a phase of the cascade or of a nested cascade has the tool.
func (c *Cascade) uses(name string) bool {
	return c.anyPhase(func(p *Phase) bool {
		return slices.ContainsFunc(p.tools(), func(t *Tool) bool { return t.Name == name })
	})
}

// RunsCommands returns the name of a built-in tool that runs commands of a model. It searches
// the phases of the cascade and of nested cascades, and returns "" if no phase has such a
// tool.
func (c *Cascade) RunsCommands() string {
	for _, name := range []string{"run_command", "run_code"} {
		if c.uses(name) {
			return name
		}
	}
	return ""
}

// anyPhase reports whether matches returns true for a phase of the cascade or of a nested
// cascade.
func (c *Cascade) anyPhase(matches func(*Phase) bool) bool {
	return slices.ContainsFunc(c.Within(), func(n *Cascade) bool { return slices.ContainsFunc(n.EveryPhase(), matches) })
}

// Within returns the cascade and all nested cascades, each once.
func (c *Cascade) Within() []*Cascade {
	var list []*Cascade
	seen := map[*Cascade]bool{}
	var add func(*Cascade)
	add = func(c *Cascade) {
		if seen[c] {
			return
		}
		seen[c] = true
		list = append(list, c)
		for _, p := range c.EveryPhase() {
			for _, n := range p.Cascades() {
				add(n)
			}
		}
	}
	add(c)
	return list
}

// tools returns the tools of the phase.
func (p *Phase) tools() []*Tool {
	if p.Tool != nil {
		return append(slices.Clone(p.Tackle), p.Tool)
	}
	return p.Tackle
}

// Cascades returns the cascades that the phase runs as sub-cascades, tools or checks. The
// result does not include cascades nested in them.
func (p *Phase) Cascades() []*Cascade {
	var list []*Cascade
	add := func(c *Cascade) {
		if c != nil {
			list = append(list, c)
		}
	}
	for _, s := range p.Subs {
		add(s.Cascade)
	}
	for _, t := range p.tools() {
		add(t.Cascade)
		if t.Validator != nil {
			add(t.Validator.Cascade)
		}
	}
	for _, c := range p.Checks() {
		add(c.Validator.Cascade)
	}
	return list
}

// EngineTools returns the tools of the engine. They are available in every run.
func EngineTools() []tool.Tool { return engineTools.List() }

// replaced returns a copy of v. It applies replace to every part that is neither an object nor
// a list.
func replaced(v any, replace func(any) any) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for key, value := range v {
			out[key] = replaced(value, replace)
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i, value := range v {
			out[i] = replaced(value, replace)
		}
		return out
	}
	return replace(v)
}

package capy

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/capy/reading"
)

//go:embed policy.yaml
var shipped []byte

// A Policy is the stage table and the bounds: what the gate asks of each
// stage's output. It is not changed once it was read.
type Policy struct {
	Extends   string              `yaml:"extends"`
	Stages    []Stage             `yaml:"stages"`
	Artifacts map[string]Artifact `yaml:"artifacts"`
	Mentions  map[string]Mention  `yaml:"mentions"`
	Bounds    map[string]Bound    `yaml:"bounds"`
}

// A Stage is a row of the stage table.
type Stage struct {
	Name       string      `yaml:"name"`
	Knows      int         `yaml:"knows"`      // the last state of the valuation that it may quote, 0 to 4
	Artifacts  []string    `yaml:"artifacts"`  // A.1 to A.14
	Needs      []string    `yaml:"needs"`      // values and mentions
	Forbids    []Forbidden `yaml:"forbids"`    // what only the kernel may state
	Questions  *Questions  `yaml:"questions"`  // the research questions of RQ_GEN
	Derivation bool        `yaml:"derivation"` // the X values must average
}

// A Forbidden is a value that a stage must not state; with a state above 0,
// only where the text says that it is of that state.
type Forbidden struct {
	Value string `yaml:"value"`
	State int    `yaml:"state"`
}

// Questions says which research questions there must be: so many of each
// platform, or exactly these.
type Questions struct {
	Platforms map[string]int `yaml:"platforms"`
	IDs       []string       `yaml:"ids"`
}

// An Artifact is what A.n is called; a heading that says A.n and more names it
// only with one of the words. A file of its own is A.n by one of the sure keys
// near the top of its JSON, or by two of the others.
type Artifact struct {
	Title string   `yaml:"title"`
	Words []string `yaml:"words"`
	Sure  []string `yaml:"sure"`
	Keys  []string `yaml:"keys"`
}

// A Mention is something that must be there by one of its phrases, with what
// it wants: present, value, number, grade, disposition or narrative.
type Mention struct {
	Title    string   `yaml:"title"`
	Wants    string   `yaml:"wants"`
	Phrases  []string `yaml:"phrases"`
	Artifact string   `yaml:"artifact"` // does as well
	Metric   string   `yaml:"metric"`   // a value of it does as well
}

// A Bound is the valid range of one number; the fields left out do not bound.
type Bound struct {
	WarnBelow  *float64 `yaml:"warn_below"`
	WarnAbove  *float64 `yaml:"warn_above"`
	WarnAtMost *float64 `yaml:"warn_at_most"`
	FailBelow  *float64 `yaml:"fail_below"`
	FailAbove  *float64 `yaml:"fail_above"`
	FailAtMost *float64 `yaml:"fail_at_most"`
	Near       float64  `yaml:"near"`
	Below      string   `yaml:"below"`
	Stages     []string `yaml:"stages"`
}

// ErrStage is wrapped by the error for a stage that the policy does not have.
var ErrStage = errors.New("unknown stage")

type policyFile struct {
	Default  string            `yaml:"default"`
	Policies map[string]Policy `yaml:"policies"`
}

var shelf = sync.OnceValues(func() (policyFile, error) {
	var f policyFile
	err := validators.ReadPolicy(shipped, &f)
	return f, err
})

// loadPolicy gives the shipped policy of that name ("1.0.0" and "1.0.1"; ""
// is 1.0.0), or reads one from YAML. What the YAML leaves out is as in the
// policy that it extends, 1.0.0 if it says nothing.
func loadPolicy(text []byte) (*Policy, error) {
	file, err := shelf()
	if err != nil {
		return nil, fmt.Errorf("shipped policies: %w", err)
	}
	name := cmp.Or(string(bytes.TrimSpace(text)), file.Default)
	if p, ok := file.Policies[name]; ok {
		return resolve(file, p, 0)
	}
	if !strings.ContainsAny(name, ":\n") {
		known := slices.Sorted(maps.Keys(file.Policies))
		return nil, fmt.Errorf("policy %q is neither shipped (%s) nor YAML", reading.Clip(name, 40), strings.Join(known, ", "))
	}
	var p Policy
	if err := validators.ReadPolicy(text, &p); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	p.Extends = cmp.Or(p.Extends, file.Default)
	return resolve(file, p, 0)
}

// resolve lays a policy over the one that it extends and checks the result.
func resolve(file policyFile, p Policy, depth int) (*Policy, error) {
	if p.Extends != "" {
		below, ok := file.Policies[p.Extends]
		if !ok || depth > len(file.Policies) {
			return nil, fmt.Errorf("policy: extends %q, which is not shipped", p.Extends)
		}
		ground, err := resolve(file, below, depth+1)
		if err != nil {
			return nil, err
		}
		p = ground.under(p)
	}
	return &p, p.check()
}

func (p *Policy) under(top Policy) Policy {
	rows := slices.Clone(p.Stages)
	for _, s := range top.Stages {
		if i := slices.IndexFunc(rows, func(r Stage) bool { return r.Name == s.Name }); i >= 0 {
			rows[i] = s
		} else {
			rows = append(rows, s)
		}
	}
	return Policy{
		Stages:    rows,
		Artifacts: over(p.Artifacts, top.Artifacts),
		Mentions:  over(p.Mentions, top.Mentions),
		Bounds:    over(p.Bounds, top.Bounds),
	}
}

func over[V any](ground, top map[string]V) map[string]V {
	m := maps.Clone(ground)
	if m == nil {
		m = map[string]V{}
	}
	maps.Copy(m, top)
	return m
}

// check finds names that nothing answers to: a policy that asks for nothing by
// a slip of the pen would pass everything.
func (p *Policy) check() error {
	for _, s := range p.Stages {
		for _, a := range s.Artifacts {
			if _, ok := p.Artifacts[a]; !ok || artifactNumber(a) == 0 {
				return fmt.Errorf("policy: stage %s: no artifact is called %q", s.Name, a)
			}
		}
		for _, n := range s.Needs {
			if _, ok := p.Mentions[n]; !ok && reading.MetricOf(n) == reading.None && n != needScenarios && n != needNarratives {
				return fmt.Errorf("policy: stage %s: nothing called %q can be needed", s.Name, n)
			}
		}
		for _, f := range s.Forbids {
			if reading.MetricOf(f.Value) == reading.None {
				return fmt.Errorf("policy: stage %s: nothing called %q can be forbidden", s.Name, f.Value)
			}
		}
	}
	return p.checkBounds()
}

func (p *Policy) checkBounds() error {
	for _, name := range slices.Sorted(maps.Keys(p.Bounds)) {
		if reading.MetricOf(name) == reading.None {
			return fmt.Errorf("policy: nothing called %q can be bounded", name)
		}
		if below := p.Bounds[name].Below; below != "" && reading.MetricOf(below) == reading.None {
			return fmt.Errorf("policy: bound %s: nothing called %q", name, below)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Mentions)) {
		if w := p.Mentions[name].Wants; wants[w] == nil && w != wantsDisposition {
			return fmt.Errorf("policy: mention %s: wants %q, not one of disposition, grade, narrative, number, present, value", name, w)
		}
	}
	return nil
}

// stage gives the row of a stage, or an error that lists them all.
func (p *Policy) stage(name string) (Stage, error) {
	names := make([]string, len(p.Stages))
	for i, s := range p.Stages {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return Stage{}, fmt.Errorf("%w %q: want one of %s", ErrStage, reading.Clip(name, 40), strings.Join(names, ", "))
}

// Stages lists the stages of the default policy in the order of its table.
func Stages() []string {
	p, err := loadPolicy(nil)
	if err != nil {
		return nil
	}
	names := make([]string, len(p.Stages))
	for i, s := range p.Stages {
		names[i] = s.Name
	}
	return names
}

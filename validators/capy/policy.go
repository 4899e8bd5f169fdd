package capy

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"github.com/seed61713e19/capstan/validators/patterns"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/schema"
)

//go:embed policies/*.yaml
var policyFiles embed.FS

// A policy is what the gate asks of the output of each stage. It is not changed once it
// was read. The file policies/1.0.0.yaml explains the keys.
type policy struct {
	Version    string              `yaml:"version"`
	Extends    string              `yaml:"extends"`
	Fabricated string              `yaml:"no_fabrication"`
	Minimum    *minimum            `yaml:"minimum"`
	Stages     []stage             `yaml:"stages"`
	Artifacts  map[string]artifact `yaml:"artifacts"`
	Needs      map[string]need     `yaml:"needs"`
	Values     map[string]value    `yaml:"values"`
	Derivation *derivation         `yaml:"derivation"`

	vocabulary *vocabulary
}

type minimum struct {
	Rows   int `yaml:"rows"`
	Leaves int `yaml:"leaves"`
	Items  int `yaml:"items"`
	Words  int `yaml:"words"`
}

type stage struct {
	Name       string      `yaml:"name"`
	State      int         `yaml:"state"`
	Artifacts  []string    `yaml:"artifacts"`
	Needs      []string    `yaml:"needs"`
	Forbids    []forbidden `yaml:"forbids"`
	Asks       []string    `yaml:"asks"`
	Questions  *questions  `yaml:"questions"`
	Derivation bool        `yaml:"derivation"`
}

type forbidden struct {
	Value string `yaml:"value"`
	State int    `yaml:"state"`
}

type questions struct {
	Platforms map[string]int `yaml:"platforms"`
	ID        string         `yaml:"id"`
	IDs       []string       `yaml:"ids"`
}

type artifact struct {
	Title  string         `yaml:"title"`
	In     []string       `yaml:"in"`
	Names  []string       `yaml:"names"`
	File   string         `yaml:"file"`
	Sure   []string       `yaml:"sure"`
	Keys   []string       `yaml:"keys"`
	JSON   bool           `yaml:"json"`
	Schema map[string]any `yaml:"schema"`

	file    *regexp.Regexp
	heading *regexp.Regexp
	check   *schema.Schema
}

type need struct {
	Title    string   `yaml:"title"`
	Holds    string   `yaml:"holds"`
	Words    int      `yaml:"words"`
	Artifact string   `yaml:"artifact"`
	Labels   []string `yaml:"labels"`
}

type value struct {
	Title    string    `yaml:"title"`
	Unit     string    `yaml:"unit"`
	Labels   []string  `yaml:"labels"`
	Pointers []string  `yaml:"pointers"`
	Above    *float64  `yaml:"above"`
	Min      *float64  `yaml:"min"`
	Max      *float64  `yaml:"max"`
	Near     float64   `yaml:"near"`
	FailAt   *float64  `yaml:"fail_above"`
	FailMin  *float64  `yaml:"fail_min"`
	FailMax  *float64  `yaml:"fail_max"`
	Under    string    `yaml:"under"`
	Doubt    []float64 `yaml:"doubt"`
	Only     []string  `yaml:"only"`
	Example  string    `yaml:"example"`
}

type derivation struct {
	Value      string   `yaml:"value"`
	Mean       []string `yaml:"mean"`
	Tolerance  float64  `yaml:"tolerance"`
	Divergence float64  `yaml:"divergence"`
}

// ErrStage is wrapped by the error for a stage that the policy does not have.
var ErrStage = errors.New("unknown stage")

// defaultPolicy is the seed's letter.
const defaultPolicy = "1.0.0"

// shippedNames lists the names of the policies that come with the gate.
func shippedNames() []string {
	entries, err := policyFiles.ReadDir("policies")
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), path.Ext(e.Name()))
	}
	return names
}

var shippedPolicies sync.Map // name → func() (*policy, error)

// shippedPolicy reads a policy that comes with the gate, once.
func shippedPolicy(name string) (*policy, error) {
	read, _ := shippedPolicies.LoadOrStore(name, sync.OnceValues(func() (*policy, error) {
		text, err := policyFiles.ReadFile("policies/" + name + ".yaml")
		if err != nil {
			return nil, fmt.Errorf("policy %q is neither shipped (%s) nor YAML", clip(name, 40), strings.Join(shippedNames(), ", "))
		}
		return readPolicy(text)
	}))
	return read.(func() (*policy, error))()
}

// loadPolicy returns the shipped policy of a name, 1.0.0 for "", or reads one from YAML.
// What the YAML leaves out is as in the policy that it extends, by default 1.0.0.
func loadPolicy(text string) (*policy, error) {
	name := cmp.Or(strings.TrimSpace(text), defaultPolicy)
	if slices.Contains(shippedNames(), name) || !strings.ContainsAny(name, ":\n") {
		return shippedPolicy(name)
	}
	return readPolicy([]byte(text))
}

func readPolicy(text []byte) (*policy, error) {
	var p policy
	if err := validators.ReadPolicy(bytes.TrimSpace(text), &p); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if p.Version != defaultPolicy {
		below := cmp.Or(p.Extends, defaultPolicy)
		if !slices.Contains(shippedNames(), below) || below == p.Version {
			return nil, fmt.Errorf("policy: extends %q; want one of %s", clip(below, 40), strings.Join(shippedNames(), ", "))
		}
		ground, err := shippedPolicy(below)
		if err != nil {
			return nil, err
		}
		p = ground.under(p)
	}
	return &p, p.prepare()
}

// under lays a policy over the one that it extends. A stage that it names replaces the
// other's; of an artifact, a need and a value it replaces the keys that it has.
func (p *policy) under(top policy) policy {
	list := slices.Clone(p.Stages)
	for _, s := range top.Stages {
		if i := slices.IndexFunc(list, func(r stage) bool { return r.Name == s.Name }); i >= 0 {
			list[i] = s
		} else {
			list = append(list, s)
		}
	}
	top.Stages = list
	top.Fabricated = cmp.Or(top.Fabricated, p.Fabricated)
	top.Minimum = cmp.Or(top.Minimum, p.Minimum)
	top.Derivation = cmp.Or(top.Derivation, p.Derivation)
	top.Artifacts, top.Needs, top.Values = over(p.Artifacts, top.Artifacts), over(p.Needs, top.Needs), over(p.Values, top.Values)
	return top
}

func over[V any](ground, top map[string]V) map[string]V {
	m := maps.Clone(ground)
	for name, v := range top {
		merged := m[name]
		from, to := reflect.ValueOf(v), reflect.ValueOf(&merged).Elem()
		for i := range from.NumField() {
			if to.Field(i).CanSet() && !from.Field(i).IsZero() {
				to.Field(i).Set(from.Field(i))
			}
		}
		m[name] = merged
	}
	return m
}

// prepare compiles the policy. A name that nothing has is an error: a policy that asks
// for nothing by a slip would pass everything.
func (p *policy) prepare() error {
	ground, err := tables()
	if err != nil {
		return err
	}
	labels, pointers := map[string][]string{}, map[string]string{}
	for name, v := range p.Values {
		if len(v.Labels) > 0 {
			labels[name] = v.Labels
		}
		for _, pointer := range v.Pointers {
			pointers[pointer] = name
		}
	}
	for name, n := range p.Needs {
		if len(n.Labels) > 0 {
			labels[name] = n.Labels
		}
	}
	p.vocabulary = ground.with(labels, pointers)
	for _, name := range slices.Sorted(maps.Keys(p.Artifacts)) {
		a := p.Artifacts[name]
		if err := a.prepare(name); err != nil {
			return fmt.Errorf("policy: artifact %s: %w", name, err)
		}
		p.Artifacts[name] = a
	}
	return p.check()
}

var artifactName = patterns.Lazy(`^A\.(\d{1,3})$`)

func (a *artifact) prepare(name string) (err error) {
	m := artifactName().FindStringSubmatch(name)
	if m == nil {
		return errors.New("want a name such as A.7")
	}
	if a.file, err = regexp.Compile(cmp.Or(a.File, `(?i)(^|[^a-z0-9])a[._]?`+m[1]+`([^0-9]|$)`)); err != nil {
		return err
	}
	if a.heading, err = regexp.Compile(`(?i)(^|[^\pL\pN.])A\.?` + m[1] + `([^\pN.]|\.?$|\.[^\pN])`); err != nil || len(a.Schema) == 0 {
		return err
	}
	a.check, err = schema.Compile(a.Schema)
	return err
}

func (p *policy) check() error {
	for _, s := range p.Stages {
		for _, a := range s.Artifacts {
			if _, ok := p.Artifacts[a]; !ok {
				return fmt.Errorf("policy: stage %s: no artifact is called %q", s.Name, a)
			}
		}
		for _, n := range s.Needs {
			if _, ok := p.Needs[n]; !ok && p.Values[n].Unit == "" {
				return fmt.Errorf("policy: stage %s: nothing called %q can be needed", s.Name, n)
			}
		}
		for _, f := range s.Forbids {
			if p.Values[f.Value].Unit == "" {
				return fmt.Errorf("policy: stage %s: nothing called %q can be forbidden", s.Name, f.Value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Values)) {
		v := p.Values[name]
		if !slices.Contains([]string{"money", "percent", "plain"}, v.Unit) {
			return fmt.Errorf("policy: value %s: unit %q: want money, percent or plain", name, v.Unit)
		}
		if v.Under != "" && p.Values[v.Under].Unit == "" {
			return fmt.Errorf("policy: value %s: under %q: there is no such value", name, v.Under)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Needs)) {
		if h := p.Needs[name].Holds; !slices.Contains([]string{"content", "number", "grade", "words", "scenarios", "dispositions"}, h) {
			return fmt.Errorf("policy: need %s: holds %q: want content, number, grade, words, scenarios or dispositions", name, h)
		}
	}
	if p.Fabricated != "warn" && p.Fabricated != "fail" {
		return fmt.Errorf("policy: no_fabrication: %q: want warn or fail", p.Fabricated)
	}
	return nil
}

// stage returns the row of a stage, or an error that lists them all.
func (p *policy) stage(name string) (stage, error) {
	names := make([]string, len(p.Stages))
	for i, s := range p.Stages {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return stage{}, fmt.Errorf("%w %q: want one of %s", ErrStage, clip(name, 40), strings.Join(names, ", "))
}

// stageNames lists the stages of the default policy in the order of its table.
func stageNames() []string {
	p, err := loadPolicy("")
	if err != nil {
		return nil
	}
	names := make([]string, len(p.Stages))
	for i, s := range p.Stages {
		names[i] = s.Name
	}
	return names
}

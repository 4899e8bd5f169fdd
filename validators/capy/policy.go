package capy

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

//go:embed policies/*.yaml
var policyFiles embed.FS

// A policy defines the requirements for the output of each stage. It is not changed
// once it was read. The file policies/1.0.0.yaml explains the keys.
type policy struct {
	Version, Extends string
	Fabricated       string `yaml:"no_fabrication"`
	Minimum          *minimum
	Stages           []stage
	Artifacts        map[string]artifact
	Needs            map[string]need
	Values           map[string]value
	Derivation       *derivation
	Files            []struct{ Name, Stage string }

	vocabulary *vocabulary
}

type minimum struct{ Rows, Leaves, Items, Words int }

type stage struct {
	Name                   string
	State                  int
	Artifacts, Needs, Asks []string
	Forbids                []forbidden
	Derivation             bool
}

// A forbidden value is one that a stage must not state. With a state, it is only the value
// of that state.
type forbidden struct {
	Value string
	State int
}

type artifact struct {
	Title, File     string
	In, Names, Keys []string
	JSON            bool
	Schema          any // or its name

	file, heading *regexp.Regexp
	check         *schema.Schema
}

type need struct {
	Title, Holds, Want, Artifact string
	Words, Scenarios             int
	Labels                       []string
	Each                         *each

	holds *regexp.Regexp
}

type each struct {
	ID, Kind string
	IDs      []string
	Count    map[string]int

	id *regexp.Regexp
}

type value struct {
	Title, Unit, Example               string
	Labels, Pointers, Warn, Fail, Only []string
	Near                               float64
	Doubt                              []float64

	limits []limit
}

type derivation struct {
	Value                 string
	Mean                  []string
	Tolerance, Divergence float64
}

// ErrStage is wrapped by the error for a stage that the policy does not have.
var ErrStage = errors.New("unknown stage")

// defaultPolicy is the seed's letter.
const defaultPolicy = "1.0.0"

// shippedNames lists the names of the policies that come with the gate.
func shippedNames() []string {
	entries, _ := policyFiles.ReadDir("policies") // embedded
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
			return nil, fmt.Errorf("policy %q is neither shipped (%s) nor YAML", reports.Fit(name, 40), strings.Join(shippedNames(), ", "))
		}
		return readPolicy(text, nil)
	}))
	return read.(func() (*policy, error))()
}

// loadPolicy returns the shipped policy of a name, 1.0.0 for "", or reads one from
// YAML. Missing keys come from the policy that it extends, by default 1.0.0. The
// schemas are those that the YAML names.
func loadPolicy(text string, schemas map[string]any) (*policy, error) {
	name := cmp.Or(strings.TrimSpace(text), defaultPolicy)
	if slices.Contains(shippedNames(), name) || !strings.ContainsAny(name, ":\n") {
		return shippedPolicy(name)
	}
	return readPolicy([]byte(text), schemas)
}

func readPolicy(text []byte, schemas map[string]any) (*policy, error) {
	var p policy
	if err := validators.ReadPolicy(bytes.TrimSpace(text), &p); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	if p.Version != defaultPolicy {
		below := cmp.Or(p.Extends, defaultPolicy)
		if !slices.Contains(shippedNames(), below) || below == p.Version {
			return nil, fmt.Errorf("policy: extends %q; want one of %s", reports.Fit(below, 40), strings.Join(shippedNames(), ", "))
		}
		ground, err := shippedPolicy(below)
		if err != nil {
			return nil, err
		}
		p = ground.under(p)
	}
	if err := p.prepare(schemas); err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return &p, nil
}

// under returns the policy extended by top. A stage of top replaces the one with its
// name, and its other keys override single fields.
func (p *policy) under(top policy) policy {
	stages := slices.Clone(p.Stages)
	for _, s := range top.Stages {
		if i := slices.IndexFunc(stages, func(r stage) bool { return r.Name == s.Name }); i >= 0 {
			stages[i] = s
		} else {
			stages = append(stages, s)
		}
	}
	top.Artifacts, top.Needs, top.Values = over(p.Artifacts, top.Artifacts), over(p.Needs, top.Needs), over(p.Values, top.Values)
	merged := laid(*p, top)
	merged.Stages = stages
	return merged
}

// laid returns ground with the fields that top has.
func laid[V any](ground, top V) V {
	from, to := reflect.ValueOf(top), reflect.ValueOf(&ground).Elem()
	for i := range from.NumField() {
		if to.Field(i).CanSet() && !from.Field(i).IsZero() {
			to.Field(i).Set(from.Field(i))
		}
	}
	return ground
}

func over[V any](ground, top map[string]V) map[string]V {
	m := maps.Clone(ground)
	for name, v := range top {
		m[name] = laid(m[name], v)
	}
	return m
}

// prepare compiles and checks the policy. An unknown name is an error, because a
// misspelt policy would pass everything.
func (p *policy) prepare(schemas map[string]any) error {
	labels, pointers := map[string][]string{}, map[string]string{}
	for _, name := range sortedKeys(p.Values) {
		v := p.Values[name]
		if err := v.prepare(p); err != nil {
			return fmt.Errorf("value %s: %w", name, err)
		}
		p.Values[name], labels[name] = v, v.Labels
		for _, pointer := range v.Pointers {
			pointers[pointer] = name
		}
	}
	for _, name := range sortedKeys(p.Needs) {
		n := p.Needs[name]
		if err := n.prepare(); err != nil {
			return fmt.Errorf("need %s: %w", name, err)
		}
		p.Needs[name] = n
		labels[name] = append(labels[name], n.Labels...)
	}
	for _, name := range sortedKeys(p.Artifacts) {
		a := p.Artifacts[name]
		if err := a.prepare(name, schemas); err != nil {
			return fmt.Errorf("artifact %s: %w", name, err)
		}
		p.Artifacts[name] = a
	}
	p.vocabulary = shipped().with(labels, pointers)
	for _, s := range p.Stages {
		if err := s.check(p); err != nil {
			return fmt.Errorf("stage %s: %w", s.Name, err)
		}
	}
	return oneOf("no_fabrication", p.Fabricated, "warn", "fail")
}

func oneOf(key, word string, words ...string) error {
	if slices.Contains(words, word) {
		return nil
	}
	return fmt.Errorf("%s: %q: want one of %s", key, word, strings.Join(words, ", "))
}

func (s *stage) check(p *policy) error {
	for _, a := range s.Artifacts {
		if _, ok := p.Artifacts[a]; !ok {
			return fmt.Errorf("no artifact is called %q", a)
		}
	}
	for _, n := range s.Needs {
		if _, ok := p.Needs[n]; !ok && p.Values[n].Unit == "" {
			return fmt.Errorf("nothing called %q can be needed", n)
		}
	}
	for _, f := range s.Forbids {
		if p.Values[f.Value].Unit == "" {
			return fmt.Errorf("nothing called %q can be forbidden", f.Value)
		}
	}
	return nil
}

func (n *need) prepare() (err error) {
	n.Want = cmp.Or(n.Want, "a value")
	if n.Each != nil {
		n.Each.id, err = regexp.Compile(n.Each.ID)
	}
	if err == nil {
		n.holds, err = regexp.Compile(n.Holds)
	}
	return err
}

func (v *value) prepare(p *policy) error {
	v.limits = nil
	for severity, list := range map[int][]string{1: v.Warn, 2: v.Fail} {
		for _, text := range list {
			operator, than, _ := strings.Cut(text, " ")
			l := limit{severity: severity, operator: operator}
			number, err := strconv.ParseFloat(than, 64)
			if l.number = number; err != nil {
				l.value = than
			}
			if err != nil && p.Values[than].Unit == "" || operators[operator] == nil {
				return fmt.Errorf("%q: want >, >=, <= or <, and a number or another value", text)
			}
			v.limits = append(v.limits, l)
		}
	}
	slices.SortStableFunc(v.limits, func(a, b limit) int { return b.severity - a.severity })
	return oneOf("unit", v.Unit, "money", "percent", "plain")
}

var artifactName = patterns.Lazy(`^A\.(\d{1,3})$`)

func (a *artifact) prepare(name string, schemas map[string]any) (err error) {
	m := artifactName().FindStringSubmatch(name)
	if m == nil {
		return errors.New("want a name such as A.7")
	}
	if a.file, err = regexp.Compile(cmp.Or(a.File, `(?i)(^|[^a-z0-9])a[._]?`+m[1]+`([^0-9]|$)`)); err != nil {
		return err
	}
	if a.heading, err = regexp.Compile(`(?i)(?:^|[^\pL\pN.])(A\.?` + m[1] + `)(?:[^\pN.]|\.?$|\.[^\pN])`); err != nil || a.Schema == nil {
		return err
	}
	if file, ok := a.Schema.(string); ok {
		if a.Schema, ok = schemas[file]; !ok {
			return fmt.Errorf("schema %q: the parameter schemas has no such file", reports.Fit(file, 80))
		}
	}
	a.check, err = schema.Compile(a.Schema)
	return err
}

// stage returns the row of a stage, or an error that lists them all.
func (p *policy) stage(name string) (stage, error) {
	for _, s := range p.Stages {
		if s.Name == name {
			return s, nil
		}
	}
	return stage{}, fmt.Errorf("%w %q: want one of %s", ErrStage, reports.Fit(name, 40), strings.Join(p.stageNames(), ", "))
}

// stageNames lists the stages in the order of the policy.
func (p *policy) stageNames() []string {
	names := make([]string, len(p.Stages))
	for i, s := range p.Stages {
		names[i] = s.Name
	}
	return names
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package cascades

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/graphs"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/wards"
)

// Soundings are parallel tries at a phase.
type Soundings struct {
	Factor      int
	MaxParallel int
	Models      Model // models of the tries; empty for the model of the phase
	Strategy    string
	Weights     []float64           // weights of Models, for [byWeight]
	Evaluator   *templates.Template // nil for none
	Aggregator  *templates.Template // merges all texts, with mode: aggregate; nil for another mode
	Model       Model               // model of the evaluator and the aggregator
	Filter      *Check
	Mutation    string                // changes the prompts of later tries: "", approach, augment or rewrite
	Mutations   []*templates.Template // texts of the mutation; empty for the default texts
	Reforge     *Reforge              // nil for none
}

// A Reforge improves the winner of soundings, step by step.
type Reforge struct {
	Steps     int
	Honing    *templates.Template // the instructions for an improvement
	Factor    int                 // the number of tries of a step
	Threshold *Check              // stops the improvement after a text passes; nil for none
}

// The strategies for the models of tries: in order, random by run, or random
// with weights.
const (
	inTurn   = "round_robin"
	atRandom = "random"
	byWeight = "weighted"
)

// maxSoundings is the maximum number of tries of a phase.
const maxSoundings = 100

// most returns the maximum number of tries. It includes those of a reforge and the
// aggregation.
func (s *Soundings) most() int {
	n := s.Factor
	if s.Reforge != nil {
		n += s.Reforge.Steps * s.Reforge.Factor
	}
	if s.Aggregator != nil {
		n++
	}
	return n
}

// threshold returns the check that ends a reforge, or nil.
func (s *Soundings) threshold() *Check {
	if s == nil || s.Reforge == nil {
		return nil
	}
	return s.Reforge.Threshold
}

// templates returns the templates of the soundings. Some may be nil.
func (s *Soundings) templates() []*templates.Template {
	if s == nil {
		return nil
	}
	list := append([]*templates.Template{s.Evaluator, s.Aggregator}, s.Mutations...)
	if s.Reforge != nil {
		list = append(list, s.Reforge.Honing)
	}
	return list
}

// Asked returns the model of try i, counted from 0. A random choice depends on the key, so
// that a try of a run always has the same model.
func (p *Phase) Asked(i int, key string) Model {
	s := p.Soundings
	n := len(s.Models)
	if n == 0 {
		return p.Model
	}
	if s.Strategy != inTurn {
		i = s.randomModel(key)
	}
	return s.Models[i%n : i%n+1]
}

// randomModel returns the index of a random model. It is the same for the same key.
func (s *Soundings) randomModel(key string) int {
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	if s.Strategy == atRandom {
		return r.IntN(len(s.Models))
	}
	sum := 0.0
	for _, w := range s.Weights {
		sum += w
	}
	at := r.Float64() * sum
	last := len(s.Weights) - 1
	for i, w := range s.Weights[:last] {
		if at -= w; at < 0 {
			return i
		}
	}
	return last
}

func (p *parser) soundings(o *reader.Object) *Soundings {
	if o == nil {
		return nil
	}
	byName := p.modelsByName(o, "models")
	s := &Soundings{Factor: o.Whole("factor", 1, 1)}
	if byName > 0 && !o.Has("factor") {
		s.Factor = byName
	}
	s.MaxParallel = o.Whole("max_parallel", 1, s.Factor)
	s.Strategy = o.OneOf("model_strategy", inTurn, atRandom, byWeight)
	if byName > 0 && !o.Has("weights") && s.Strategy == byWeight {
		s.Strategy = atRandom // the list has each model as often as its factor
	}
	s.Models = p.spread(o, "models", s.Factor, s.Strategy == inTurn)
	p.weights(o, s)
	s.Model = p.judgeModels(o, "evaluator_model")
	s.Evaluator = p.template(o.Get("evaluator_instructions"), "evaluator_instructions", phaseVariables)
	p.aggregate(o, s)
	if v := o.Get("validator"); v != nil {
		if found := p.named(v); found != nil {
			s.Filter = p.placed(v, found, wards.Post, wards.Retry, 1)
		}
	}
	p.mutations(o, s)
	s.Reforge = p.reforge(o.Child("reforge"))
	if byName == 0 {
		o.Needs("factor")
	}
	if n := s.most(); s.Factor > maxSoundings {
		at := o.Value["factor"]
		if at == nil {
			at = o.Value["models"]
		}
		p.Error(at, codes.Value, "factor must be at most %d, not %d", maxSoundings, s.Factor)
	} else if n > maxSoundings+1 {
		p.Error(o.Value["reforge"], codes.Value, "there may be %d tries with those of reforge, not %d", maxSoundings, n)
	}
	o.Done()
	return s
}

// weights reads the weights of the models.
func (p *parser) weights(o *reader.Object, s *Soundings) {
	for _, n := range o.List("weights") {
		s.Weights = append(s.Weights, p.Single("a weight", n).Number("a weight"))
	}
	switch {
	case o.Has("model_strategy") && !o.Has("models"):
		o.Conflict("model_strategy", "model_strategy means nothing without models")
	case s.Strategy == byWeight && !o.Has("weights"):
		o.Needs("weights")
	case s.Strategy != byWeight && o.Has("weights"):
		o.Conflict("weights", "weights means nothing without model_strategy: weighted")
	case s.Strategy == byWeight && len(s.Weights) != len(s.Models):
		p.Error(o.Value["weights"], codes.Value, "weights has %d numbers for %d models", len(s.Weights), len(s.Models))
	}
}

// aggregate reads the aggregation of the tries.
func (p *parser) aggregate(o *reader.Object, s *Soundings) {
	mode := o.OneOf("mode", "evaluate", "aggregate")
	s.Aggregator = p.template(o.Get("aggregator_instructions"), "aggregator_instructions", phaseVariables)
	switch {
	case mode == "aggregate" && !o.Has("aggregator_instructions"):
		o.Needs("aggregator_instructions")
	case mode != "aggregate" && o.Has("aggregator_instructions"):
		o.Conflict("aggregator_instructions", "aggregator_instructions means nothing without mode: aggregate")
	case mode == "aggregate" && o.Has("evaluator_instructions") && !o.Has("reforge"):
		o.Conflict("evaluator_instructions", "evaluator_instructions means nothing here: nothing is picked with mode: aggregate")
	case o.Has("evaluator_model") && !o.Has("evaluator_instructions") && mode != "aggregate":
		o.Conflict("evaluator_model", "evaluator_model means nothing without evaluator_instructions")
	}
}

// mutations reads the mutations of later tries.
func (p *parser) mutations(o *reader.Object, s *Soundings) {
	mutate := o.Flag("mutate", o.Has("mutations") || o.Has("mutation_mode"))
	mode := o.OneOf("mutation_mode", keywords.Approach, keywords.Augment, keywords.Rewrite)
	for i, n := range o.List("mutations") {
		s.Mutations = append(s.Mutations, p.template(p.Resolve(n), fmt.Sprintf("mutation %d", i+1), phaseVariables))
	}
	if n := o.Get("mutations"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.Error(n, codes.Value, "mutations must not be an empty list")
	}
	if mutate {
		s.Mutation = mode
	}
}

func (p *parser) reforge(o *reader.Object) *Reforge {
	if o == nil {
		return nil
	}
	r := &Reforge{Steps: o.Whole("steps", 1, 1), Factor: o.Whole("factor_per_step", 1, 2)}
	r.Honing = p.template(o.Get("honing_prompt"), "honing_prompt", phaseVariables)
	o.Needs("honing_prompt")
	if n := o.Get("threshold"); n != nil {
		if v := p.named(n); v != nil {
			r.Threshold = p.placed(n, v, wards.Post, wards.Advisory, 1)
		}
	}
	o.Done()
	return r
}

// ofPhases lists the keys that only the soundings of a phase may have. They make one text from
// several texts.
var ofPhases = []string{"mode", "aggregator_instructions"}

// tries reads the soundings of the file. They belong to a phase whose tool is the cascade
// without soundings. A try receives the input and the state of the run, and the run receives
// the result of the winner. The instructions of the phase are the description and the input of
// the cascade.
func (p *parser) tries(o *reader.Object) {
	of := o.Child("soundings")
	if of == nil {
		return
	}
	s := p.soundings(of)
	for _, key := range ofPhases {
		switch n := of.Value[key]; {
		case n == nil, key == "mode" && n.Value == "evaluate":
		default:
			p.Error(of.Keys[key], codes.Conflict,
				"%s is for the soundings of a phase: a sounding of the cascade is a whole run; to merge texts, add a last phase with soundings", key)
		}
	}
	if line, there := p.facts.Lines[keywords.Tries]; there {
		p.Error(o.Keys["soundings"], codes.Conflict, "with soundings of the file no phase can be called %q, as at line %d: in paths they are called so", keywords.Tries, line)
	}
	c := p.cascade
	one := *c
	one.Model, one.Budget = nil, Budget{MaxPhases: c.Budget.MaxPhases}
	c.Tries = &Phase{
		Name: keywords.Tries, Position: p.Position(of.Node), Soundings: s, Tool: &Tool{Name: c.ID, Cascade: &one},
		Rules: Rules{MaxTurns: 1, MaxAttempts: 1, OnExhausted: keywords.OnExhaustedFail},
	}
}

// tried describes the soundings of the file and the try that a run has selected. It returns ""
// without soundings.
func (c *Cascade) tried(m *graphs.Marks) string {
	if c.Tries == nil {
		return ""
	}
	s := c.Tries.Soundings
	parts := []string{fmt.Sprintf("the whole: %d soundings", s.Factor)}
	if s.Reforge != nil {
		parts = append(parts, fmt.Sprintf("%d × %d to improve it", s.Reforge.Steps, s.Reforge.Factor))
	}
	if s.Filter != nil {
		parts = append(parts, "through "+reports.Fit(s.Filter.Ward.Name, 30))
	}
	if s.Evaluator != nil {
		parts = append(parts, "a model picks")
	}
	if m != nil && m.Won > 0 {
		parts = append(parts, fmt.Sprintf("try %d won", m.Won))
	}
	return strings.Join(parts, " · ")
}

// varied reports whether later tries of the whole file have different prompts.
func (p *Phase) varied() bool {
	return p != nil && (p.Soundings.Mutation != "" || p.Soundings.Reforge != nil)
}

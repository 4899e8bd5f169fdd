package cascades

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/wards"
)

// Soundings are parallel tries at a phase.
type Soundings struct {
	Factor      int
	MaxParallel int
	Models      Model // that the tries ask; empty is the phase's own for all
	Strategy    string
	Weights     []float64           // of Models, for [Weighted]
	Evaluator   *templates.Template // nil: no evaluator
	Aggregator  *templates.Template // of mode: aggregate, where one text is made of all; else nil
	Model       Model               // the evaluator's and the aggregator's own model
	Filter      *Check
	Mutation    string                // how the tries behind the first are asked: "", [Approach], [Augment] or [Rewrite]
	Mutations   []*templates.Template // with what; empty for those that are shipped
	Reforge     *Reforge              // nil for none
}

// A Reforge improves the winner of soundings, step by step.
type Reforge struct {
	Steps     int
	Honing    *templates.Template // what is to be improved
	Factor    int                 // tries of a step
	Threshold *Check              // a text that it passes is not improved any further; nil for none
}

// How models are spread over tries: in order, by the run's own lot, or by lot
// with weights.
const (
	RoundRobin = "round_robin"
	Random     = "random"
	Weighted   = "weighted"
)

// How a try behind the first is asked: with a hint behind the instructions, with
// a text in front of them, or with instructions that a model has put in other
// words.
const (
	Approach = "approach"
	Augment  = "augment"
	Rewrite  = "rewrite"
)

// maxSoundings bounds the tries of one phase: each is a conversation.
const maxSoundings = 100

// Tries is how many tries there are at most, with those of reforge, and with the
// one that puts the others together.
func (s *Soundings) Tries() int {
	n := s.Factor
	if s.Reforge != nil {
		n += s.Reforge.Steps * s.Reforge.Factor
	}
	if s.Aggregator != nil {
		n++
	}
	return n
}

// threshold is the check that ends reforge; nil for none.
func (s *Soundings) threshold() *Check {
	if s == nil || s.Reforge == nil {
		return nil
	}
	return s.Reforge.Threshold
}

// templates are those that are rendered; some may be nil.
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

// Asked is the model of the i-th of the phase's soundings, from 0. Key is the
// try's own: by lot, the same try of the same run asks the same model always.
func (p *Phase) Asked(i int, key string) Model {
	s := p.Soundings
	n := len(s.Models)
	if n == 0 {
		return p.Model
	}
	if s.Strategy != RoundRobin {
		i = s.lot(key)
	}
	return s.Models[i%n : i%n+1]
}

// lot draws one of the models.
func (s *Soundings) lot(key string) int {
	h := fnv.New64a()
	h.Write([]byte(key))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	if s.Strategy == Random {
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

func (p *parser) soundings(o *object) *Soundings {
	if o == nil {
		return nil
	}
	byName := o.modelsByName("models")
	s := &Soundings{Factor: o.whole("factor", 1, 1)}
	if byName && !o.has("factor") {
		s.Factor = o.triesByName("models")
	}
	s.MaxParallel = o.whole("max_parallel", 1, s.Factor)
	s.Strategy = o.oneOf("model_strategy", RoundRobin, Random, Weighted)
	if byName && !o.has("weights") && s.Strategy == Weighted {
		s.Strategy = Random // each stands in the list as often as its factor says
	}
	s.Models = o.spread("models", s.Factor, s.Strategy == RoundRobin)
	p.weights(o, s)
	s.Model = o.judging("evaluator_model")
	s.Evaluator = p.template(o.get("evaluator_instructions"), "evaluator_instructions", phaseVariables)
	p.aggregate(o, s)
	if v := o.get("validator"); v != nil {
		if found := p.named(v); found != nil {
			s.Filter = p.placed(v, found, wards.Post, wards.Retry, 1)
		}
	}
	p.mutations(o, s)
	s.Reforge = p.reforge(o.child("reforge"))
	if !byName {
		o.needs("factor")
	}
	if n := s.Tries(); s.Factor > maxSoundings {
		at := o.value["factor"]
		if at == nil {
			at = o.value["models"]
		}
		p.report(at, CodeValue, "factor must be at most %d, not %d", maxSoundings, s.Factor)
	} else if n > maxSoundings+1 {
		p.report(o.value["reforge"], CodeValue, "there may be %d tries with those of reforge, not %d", maxSoundings, n)
	}
	o.done()
	return s
}

// weights reads how often each of the models is asked.
func (p *parser) weights(o *object, s *Soundings) {
	for _, n := range o.list("weights") {
		one := &object{p: p, value: map[string]*yaml.Node{"a weight": n}}
		s.Weights = append(s.Weights, one.number("a weight"))
	}
	switch {
	case o.has("model_strategy") && !o.has("models"):
		o.conflict("model_strategy", "model_strategy means nothing without models")
	case s.Strategy == Weighted && !o.has("weights"):
		o.needs("weights")
	case s.Strategy != Weighted && o.has("weights"):
		o.conflict("weights", "weights means nothing without model_strategy: weighted")
	case s.Strategy == Weighted && len(s.Weights) != len(s.Models):
		p.report(o.value["weights"], CodeValue, "weights has %d numbers for %d models", len(s.Weights), len(s.Models))
	}
}

// aggregate reads what is done with the tries that are left.
func (p *parser) aggregate(o *object, s *Soundings) {
	mode := o.oneOf("mode", "evaluate", "aggregate")
	s.Aggregator = p.template(o.get("aggregator_instructions"), "aggregator_instructions", phaseVariables)
	switch {
	case mode == "aggregate" && !o.has("aggregator_instructions"):
		o.needs("aggregator_instructions")
	case mode != "aggregate" && o.has("aggregator_instructions"):
		o.conflict("aggregator_instructions", "aggregator_instructions means nothing without mode: aggregate")
	case mode == "aggregate" && o.has("evaluator_instructions") && !o.has("reforge"):
		o.conflict("evaluator_instructions", "evaluator_instructions means nothing here: nothing is picked with mode: aggregate")
	case o.has("evaluator_model") && !o.has("evaluator_instructions") && mode != "aggregate":
		o.conflict("evaluator_model", "evaluator_model means nothing without evaluator_instructions")
	}
}

// mutations reads how the tries behind the first are asked otherwise.
func (p *parser) mutations(o *object, s *Soundings) {
	mutate := o.flag("mutate", o.has("mutations") || o.has("mutation_mode"))
	mode := o.oneOf("mutation_mode", Approach, Augment, Rewrite)
	for i, n := range o.list("mutations") {
		s.Mutations = append(s.Mutations, p.template(p.resolve(n), fmt.Sprintf("mutation %d", i+1), phaseVariables))
	}
	if n := o.get("mutations"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.report(n, CodeValue, "mutations must not be an empty list")
	}
	if mutate {
		s.Mutation = mode
	}
}

func (p *parser) reforge(o *object) *Reforge {
	if o == nil {
		return nil
	}
	r := &Reforge{Steps: o.whole("steps", 1, 1), Factor: o.whole("factor_per_step", 1, 2)}
	r.Honing = p.template(o.get("honing_prompt"), "honing_prompt", phaseVariables)
	o.needs("honing_prompt")
	if n := o.get("threshold"); n != nil {
		if v := p.named(n); v != nil {
			r.Threshold = p.placed(n, v, wards.Post, wards.Advisory, 1)
		}
	}
	o.done()
	return r
}

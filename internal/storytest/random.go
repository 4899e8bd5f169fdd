package storytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
)

// RandomStories returns n generated stories: cascades made of random parts,
// with models that reply anything. Their expected transcripts come from a run
// in this process. The stories are the same in each call.
func RandomStories(tb testing.TB, n int) []*Story {
	tb.Helper()
	list := make([]*Story, n)
	for seed := range list {
		list[seed] = Read(tb, fmt.Sprint("random ", seed), random(uint64(seed))).recorded(tb)
	}
	return list
}

// recorded returns the story with its actual transcript as the expected one.
func (s *Story) recorded(tb testing.TB) *Story {
	var lines Transcript
	result, _ := engine.Run(s.Host(tb, runner.WithSink(&lines)), s.Cascade, s.Start())
	return s.withWant(lines.Format(tb, result))
}

// random returns the story of a seed.
func random(seed uint64) []byte {
	text := generate(seed, 0)
	for again := uint64(1); !loads(text); again++ { // nine of ten load
		text = generate(seed, again)
	}
	return text
}

func loads(text []byte) bool {
	_, err := cascades.Load("cascade.yaml", unpacked(text), Known())
	return err == nil
}

func generate(seed, again uint64) []byte {
	a := &generator{Rand: rand.New(rand.NewPCG(seed, again)), withTools: map[string]bool{}}
	main := a.cascade("random", 1+a.IntN(4))
	answers := []any{}
	for range a.IntN(5) {
		answers = append(answers, pick[any](a, "ok", "yes", true, "bad", "no", "a better ok"))
	}
	files := slices.Concat([]txtar.File{{Name: "cascade.yaml", Data: plain(main)}}, a.files, []txtar.File{
		{Name: "script.yaml", Data: plain(a.script())},
		{Name: "input.json", Data: plain(object{"topic": "owls", "list": []any{1, "two", object{"three": 3}}})},
		{Name: "answers.json", Data: plain(answers)},
	})
	return txtar.Format(&txtar.Archive{Comment: fmt.Appendf(nil, "Written by chance: seed %d.\n", seed), Files: files})
}

type object = map[string]any

// plain returns a value as JSON, which is also YAML.
func plain(v any) []byte {
	text, _ := json.MarshalIndent(v, "", " ") // cannot fail for these values
	return append(text, '\n')
}

// A generator writes a random cascade.
type generator struct {
	*rand.Rand
	names     int // number of names so far
	depth     int // depth of the cascade within others
	files     []txtar.File
	phases    []string        // of the current cascade
	models    []string        // the phases with a model, of all cascades
	judges    []string        // the names of judges
	withTools map[string]bool // the phases whose model has tools
}

func pick[T any](a *generator, of ...T) T { return of[a.IntN(len(of))] }

// chance returns true in a percentage of its calls.
func (a *generator) chance(percent int) bool { return a.IntN(100) < percent }

// may sets a key of an object in a percentage of its calls.
func (a *generator) may(percent int, into object, key string, of ...any) {
	if a.chance(percent) {
		into[key] = pick(a, of...)
	}
}

func (a *generator) name(kind string) string {
	a.names++
	return fmt.Sprint(kind, a.names)
}

// cascade generates a cascade of n phases.
func (a *generator) cascade(id string, n int) object {
	c := object{"cascade_id": id}
	if a.depth == 0 {
		c["inputs_schema"] = object{"topic": "", "list": ""}
	}
	a.may(50, c, "model", models...)
	a.may(10, c, "budget", object{"max_calls": 3 + a.IntN(12)})
	var list []any
	for range n {
		p := a.phase(a.name("p"), false)
		list, a.phases = append(list, p), append(a.phases, p["name"].(string))
	}
	for i, p := range list[:n-1] {
		a.routes(p.(object), a.phases[i+1:])
	}
	c["phases"] = list
	if a.chance(10) {
		c["soundings"] = object{"factor": 2, "max_parallel": 1, "evaluator_instructions": "The best."}
		a.may(30, c["soundings"].(object), "reforge", object{"steps": 1, "honing_prompt": "Better.", "factor_per_step": 1})
	}
	return c
}

var models = []any{"one", []any{"one", object{"name": "two", "attempts": 2}, "three"}, object{"name": "four", "seed": 7}}

// sub generates a cascade within this one, in its own file. With verdict, its
// output must be a verdict.
func (a *generator) sub(verdict bool) string {
	id, outer := a.name("sub"), a.phases
	a.depth, a.phases = a.depth+1, nil
	c := a.cascade(id, 1+a.IntN(2))
	a.depth, a.phases = a.depth-1, outer
	if verdict {
		delete(c, "soundings")
		says := pick(a, `{"valid": true, "reason": "y"}`, `{"valid": {{ 'ok' in input.content }}, "reason": "r"}`, "nonsense")
		c["phases"] = append(c["phases"].([]any), object{"name": a.name("p"), "compose": says})
	}
	a.files = append(a.files, txtar.File{Name: id + ".yaml", Data: plain(c)})
	return id + ".yaml"
}

// routes generates the handoffs of a phase to later ones.
func (a *generator) routes(p object, behind []string) {
	to := func() string { return pick(a, behind...) }
	if p["each"] != nil {
		return
	}
	if a.chance(12) {
		p["handoffs"] = []any{to()}
		if p["instructions"] != nil && p["soundings"] == nil {
			p["handoffs"] = []any{object{"target": to()}, object{"target": "end", "description": "the end"}}
		}
	}
	if rules, ok := p["rules"].(object); ok {
		a.may(20, rules, "on_exhausted", to())
		a.may(15, rules, "on_error", to())
	}
}

// phase generates a phase. With beside, it is part of a group.
func (a *generator) phase(name string, beside bool) object {
	p := object{"name": name}
	kind := pick(a, "instructions", "instructions", "instructions", "instructions", "compose", "tool", "together")
	switch {
	case kind == "together" && !beside:
		var list []any
		for i := range 2 + a.IntN(2) {
			list = append(list, a.phase(fmt.Sprint(name, "_", i), true))
		}
		p["together"] = list
		return p
	case kind == "together":
		kind = "instructions"
	}
	item := ""
	if a.chance(20) {
		e := object{"in": pick[any](a, []any{"x", "y", "z"}, "{{ input.list }}")}
		a.may(50, e, "max_parallel", 1, 2)
		a.may(60, e, "on_failure", "keep", "stop")
		p["each"], item = e, " {{ item }}"
	}
	switch kind {
	case "tool":
		a.tool(p)
	case "compose":
		p["compose"] = a.text() + item
	default:
		p["instructions"] = a.text() + item
		a.model(p, beside)
	}
	if kind != "tool" {
		a.may(20, p, "output_schema", object{"type": "object", "required": []any{"n"}, "properties": object{"n": object{"type": "integer"}}})
		a.may(15, p, "output_extraction", object{"pattern": pick(a, "(ok.*)", "<a>(.*?)</a>"), "store_as": pick(a, "k", "part"), "required": a.chance(30)})
	}
	if w := a.wards(kind, p["tackle"] != nil); len(w) > 0 {
		p["wards"] = w
	}
	a.may(10, p, "when", "input.topic == 'owls'", "state.k == nil", "len(outputs) > 0")
	if p["each"] == nil && !beside {
		a.may(10, p, "human_input", object{"prompt": "Good?", "type": pick(a, "edit", "confirmation", "text")})
	}
	return p
}

func (a *generator) text() string {
	return pick(a, "Write.", "Write about {{ input.topic }}.", "It is {{ state.k | default('nothing') }}.", "{{ outputs | tojson }}", "{{ lineage | length }} {{ history | length }}")
}

func (a *generator) tool(p object) {
	p["tool"] = pick(a, "add", "send", "set_state", "non_empty", "breaks")
	inputs := map[string]object{
		"add": {"a": a.IntN(3), "b": a.IntN(3)}, "send": {"to": "kim"}, "set_state": {"key": "k", "value": a.IntN(3)}, "non_empty": {"content": a.text()},
	}
	if in, ok := inputs[p["tool"].(string)]; ok {
		p["inputs"] = in
	}
}

// model generates the keys of a phase with a model.
func (a *generator) model(p object, beside bool) {
	name := p["name"].(string)
	a.models = append(a.models, name)
	a.may(50, p, "model", models...)
	if a.chance(40) {
		tackle := []any{"add", "set_state"}
		for _, t := range []any{"send", "breaks", "leaves", "ask_human"} {
			if a.chance(20) {
				tackle = append(tackle, t)
			}
		}
		if a.depth == 0 && a.chance(15) {
			tackle = append(tackle, a.sub(false))
		}
		p["tackle"], a.withTools[name] = tackle, true
	}
	if r := a.rules(); len(r) > 0 {
		p["rules"] = r
	}
	if a.chance(20) {
		p["soundings"] = a.soundings()
	}
	a.may(15, p, "token_budget", object{"max_total": pick(a, 60, 120, 300), "strategy": pick(a, "fail", "prune_oldest", "summarize")})
	if a.depth == 0 && a.chance(15) {
		s := object{"ref": a.sub(false), "input_map": object{"topic": "{{ input.topic }}"}}
		a.may(30, s, "context_in", false)
		a.may(30, s, "context_out", false)
		p["sub_cascades"] = []any{s}
	}
	if len(a.phases) > 0 && !beside {
		a.may(30, p, "context", object{"from": []any{pick(a, append(slices.Clone(a.phases), "all", "previous", "first")...)}})
	}
}

func (a *generator) rules() object {
	r := object{}
	a.may(40, r, "max_turns", 1, 2, 3)
	a.may(40, r, "max_attempts", 1, 2, 3, 4)
	a.may(40, r, "on_exhausted", "fail", "last", "best", "best")
	a.may(15, r, "turn_prompt", "Turn {{ turn }} of {{ max_turns }}: {{ validation_error | default('-') }}")
	a.may(15, r, "retry_instructions", "Again: {{ validation_error }} {{ attempt }}")
	a.may(20, r, "timeout", "90s")
	if a.chance(30) {
		r["loop_until"] = a.check()
		a.may(30, r, "loop_until_silent", true)
	}
	return r
}

func (a *generator) soundings() object {
	s := object{"factor": 1 + a.IntN(3)}
	a.may(50, s, "max_parallel", 1)
	a.may(20, s, "mutate", true)
	a.may(30, s, "models", []any{"one", "two"})
	if a.chance(50) {
		s["validator"] = a.check()
	}
	if a.chance(20) {
		maps.Copy(s, object{"mutations": []any{"Be loud.", "Be {{ input.topic }}."}, "mutation_mode": pick(a, "approach", "augment", "rewrite")})
	}
	if a.chance(20) {
		maps.Copy(s, object{"mode": "aggregate", "aggregator_instructions": "Put together."})
		return s
	}
	a.may(50, s, "evaluator_instructions", "The best.")
	if a.chance(30) {
		f := object{"steps": 1 + a.IntN(2), "honing_prompt": "Better.", "factor_per_step": 1 + a.IntN(2)}
		if a.chance(30) {
			f["threshold"] = a.check()
		}
		s["reforge"] = f
	}
	return s
}

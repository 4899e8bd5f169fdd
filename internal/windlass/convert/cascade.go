package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

func (w *writer) cascade(m *mapping) {
	w.seen[m.node] = true
	if memory := m.text("memory"); memory != "" {
		w.memories = append(w.memories, memory)
	}
	m.arguments()
	m.words("the cascade")
	for _, n := range m.list("phases") {
		if n.Kind == yaml.MappingNode {
			w.phases = append(w.phases, (&mapping{node: n}).text("name"))
		}
	}
	m.model("model")
	if checks := m.child("validators"); checks != nil {
		for i := 0; i+1 < len(checks.node.Content); i += 2 {
			if v := checks.of(checks.node.Content[i].Value, follow(checks.node.Content[i+1])); v != nil {
				v.validator("a validator")
			}
		}
	}
	m.budget()
	if s := m.child("soundings"); s != nil {
		if s.text("mode") == "aggregate" {
			s.dropAll("a run has one result; combine texts in a last phase with soundings", "aggregator_instructions", "mode")
		}
		s.soundings()
	}
	for _, phase := range m.children("phases") {
		phase.phase()
	}
	if len(w.ignored) > 0 {
		slices.Sort(w.ignored)
		m.comment("convert: left out, without an effect here: " + strings.Join(w.ignored, ", "))
	}
}

// arguments adds the arguments of an SQL function to the inputs.
func (m *mapping) arguments() {
	function := m.get("sql_function")
	if function == nil || function.Kind != yaml.MappingNode {
		return
	}
	if !m.has("inputs_schema") {
		m.set("inputs_schema", pairs())
	}
	inputs := &mapping{w: m.w, node: m.get("inputs_schema"), outer: m}
	if inputs.node.Kind != yaml.MappingNode {
		return
	}
	for _, n := range (&mapping{node: function}).list("args") {
		arg := &mapping{node: n}
		name := arg.text("name")
		if was := inputs.get(name); n.Kind != yaml.MappingNode || name == "" || was != nil && was.Kind != yaml.ScalarNode {
			continue
		}
		description := cmp.Or(inputs.text(name), arg.text("description"), "The argument "+name+" of the SQL function")
		value := arg.get("default")
		if value == nil && arg.text("optional") == "true" {
			value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
		}
		if value != nil {
			inputs.set(name, pairs("description", description, "default", value))
		} else {
			inputs.set(name, scalar(description))
		}
	}
	if len(inputs.node.Content) == 0 {
		m.remove("inputs_schema")
	}
}

// budget rewrites the limit of a conversation. The limit of Windlass is 100,000 tokens.
func (m *mapping) budget() {
	b := m.child("token_budget")
	if b == nil {
		return
	}
	b.words("token_budget")
	b.value("strategy")
	if !b.has("strategy") {
		b.set("strategy", scalar("prune_oldest"))
	}
	if !b.has("max_total") {
		b.set("max_total", number(100_000))
	}
}

// model rewrites the name of a model.
func (m *mapping) model(key string) {
	n := m.get(key)
	switch {
	case n == nil || n.Kind != yaml.ScalarNode:
	case strings.Contains(n.Value, "{{"):
		m.drop(key, "a template cannot name a model; capstan run --model NAME names another")
	default:
		if to := modelOf(n.Value); to != nil {
			to.Line = n.Line
			m.set(key, to)
		}
	}
}

// modelOf returns the name of a model as Capstan writes it, or nil if it is the same. After a
// colon, LARS has an effort; before one, Capstan has a provider.
func modelOf(name string) *yaml.Node {
	if base, effort, ok := strings.Cut(name, "::"); ok {
		effort, _, _ = strings.Cut(effort, "(")
		n := pairs("name", base, "effort", effort)
		n.Style = yaml.FlowStyle
		return n
	}
	maker, rest, slash := strings.Cut(name, "/")
	switch {
	case slash && maker == "ollama":
		return scalar("ollama:" + rest)
	case slash && strings.Contains(rest, ":") && !strings.Contains(maker, ":"):
		return scalar("openrouter:" + name)
	}
	return nil
}

// checks rewrites the check under a key. Where a ward or a source of soundings names one,
// Capstan has the name; elsewhere it has the fields of the check in the mapping itself.
func (m *mapping) checks(key string) {
	if n := m.get(key); n != nil && n.Kind == yaml.ScalarNode {
		m.w.remember(n.Value, n.Line)
	}
	v := m.child(key)
	if v == nil {
		return
	}
	v.validator("a validator in place")
	if key != "validator" || m.inside == "soundings" || m.inside == "threshold" {
		return
	}
	m.remove(key)
	m.node.Content = append(slices.Clone(v.node.Content), m.node.Content...)
}

// validator rewrites a check that is written out. Code in it becomes the name of a program.
func (m *mapping) validator(place string) {
	for _, language := range []string{"python", "javascript", "bash", "sql", "clojure", "tool"} {
		if n := m.get(language); n != nil && !m.has("exec") {
			m.set("exec", sequence("./check_"+language))
			m.note(n, fmt.Sprintf("%s%s is a program here: write it so that it reads {content, input} as JSON and prints {valid, reason}", language, brief(n)))
			m.remove(language)
		}
	}
	m.words(place)
	m.model("model")
	if m.has("judge") && m.has("exec") {
		m.drop("judge", "exec is the check")
	}
}

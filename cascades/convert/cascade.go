package convert

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

func (w *writer) cascade(m *mapping) {
	w.seen[m.node] = true
	if memory := m.text("memory"); memory != "" {
		w.memories = append(w.memories, memory)
	}
	w.lars = m.has("cells")
	m.inputs()
	for _, key := range []string{"cells", "phases"} {
		for _, n := range m.list(key) {
			if n.Kind == yaml.MappingNode {
				w.phases = append(w.phases, (&mapping{node: n}).text("name"))
			}
		}
	}
	m.words("the cascade")
	m.model("model")
	if s := m.get("inputs_schema"); s != nil && s.Tag == "!!null" {
		m.remove("inputs_schema")
	}
	if defs := m.child("validators"); defs != nil {
		for i := 0; i+1 < len(defs.node.Content); i += 2 {
			if v := defs.of(defs.node.Content[i].Value, follow(defs.node.Content[i+1])); v != nil {
				v.validator("a validator")
			}
		}
	}
	m.budget()
	if s := m.child("soundings"); s != nil {
		s.soundings()
	}
	for _, phase := range m.children("phases") {
		phase.phase()
	}
	m.texts(m.node, map[*yaml.Node]bool{})
	if len(w.ignored) > 0 {
		slices.Sort(w.ignored)
		m.comment("convert: left out, since they change nothing here: " + strings.Join(w.ignored, ", "))
	}
}

// inputs makes the arguments of an SQL function the inputs of the cascade, as far
// as they are not, with the defaults that they have there.
func (m *mapping) inputs() {
	if f := m.get("sql_function"); f == nil || f.Kind != yaml.MappingNode {
		return
	}
	function := &mapping{w: m.w, node: m.get("sql_function"), outer: m}
	schema := m.get("inputs_schema")
	if schema == nil || schema.Kind != yaml.MappingNode {
		schema = pairs()
	}
	inputs := &mapping{w: m.w, node: schema, outer: m}
	for _, n := range function.list("args") {
		arg := &mapping{w: m.w, node: n, outer: m}
		name, about := arg.text("name"), arg.text("description")
		if n.Kind != yaml.MappingNode || name == "" {
			continue
		}
		about = first(inputs.text(name), about, "The argument "+name+" of the SQL function")
		was := inputs.get(name)
		if was != nil && was.Kind != yaml.ScalarNode {
			continue
		}
		value := arg.get("default")
		switch {
		case value != nil, arg.text("optional") == "true":
			if value == nil {
				value = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
			}
			inputs.set(name, pairs("description", about, "default", value))
		case was == nil:
			inputs.set(name, scalar(about))
		}
	}
	if !m.has("inputs_schema") && len(schema.Content) > 0 {
		i := m.at("sql_function")
		m.node.Content = slices.Insert(m.node.Content, i, scalar("inputs_schema"), schema)
	}
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// budget rewrites what a conversation may weigh.
func (m *mapping) budget() {
	b := m.child("token_budget")
	if b == nil {
		return
	}
	b.words("token_budget")
	if was := b.get("strategy"); b.text("strategy") == "sliding_window" {
		b.set("strategy", scalar("prune_oldest"))
		b.note(was, "the strategy sliding_window is prune_oldest here: the oldest goes first, and never the instructions")
	} else if !b.has("strategy") && b.has("max_total") {
		b.set("strategy", scalar("prune_oldest"))
	}
}

// model rewrites the name of a model under a key: what stands behind a colon is an
// effort there and a provider here.
func (m *mapping) model(key string) {
	n := m.get(key)
	if n == nil || n.Kind != yaml.ScalarNode {
		return
	}
	switch {
	case n.Tag == "!!null":
		m.remove(key)
	case strings.Contains(n.Value, "{{"):
		m.drop(key, "a model is named, and not filled in: capstan run --model NEW names another")
	default:
		if to := modelOf(n.Value); to != nil {
			to.Line = n.Line
			m.set(key, to)
		}
	}
}

// modelOf is a model's name as it is written here; nil where it is the same.
func modelOf(name string) *yaml.Node {
	if base, effort, ok := strings.Cut(name, "::"); ok {
		effort, _, _ = strings.Cut(effort, "(")
		n := pairs("name", base, "effort", effort)
		n.Style = yaml.FlowStyle
		return n
	}
	maker, rest, slashed := strings.Cut(name, "/")
	switch {
	case slashed && maker == "ollama":
		return scalar("ollama:" + rest)
	case slashed && strings.Contains(rest, ":"):
		return scalar("openrouter:" + name)
	}
	return nil
}

// texts rewrites what templates of LARS say that is called otherwise here, in every
// text.
func (m *mapping) texts(n *yaml.Node, done map[*yaml.Node]bool) {
	if done[n] || n.Kind == yaml.AliasNode || !m.w.lars {
		return
	}
	done[n] = true
	for _, e := range n.Content {
		m.texts(e, done)
	}
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "{{") && !strings.Contains(n.Value, "{%") {
		return
	}
	text := n.Value
	for _, name := range m.w.phases {
		if name != "" {
			text = strings.ReplaceAll(text, "state.output_"+name, "outputs."+name)
		}
	}
	for _, filter := range []string{"fingerprint", "structure"} {
		for _, bar := range []string{" | ", "|", " |", "| "} {
			if cut := strings.ReplaceAll(text, bar+filter, ""); cut != text {
				text = cut
				m.note(n, "the filter "+filter+" is left out: the value itself stands there")
			}
		}
	}
	if text != n.Value {
		n.Value, m.w.changed = text, true
	}
}

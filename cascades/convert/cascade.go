package convert

import (
	"cmp"
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
	m.unwrap()
	m.described()
	if defs := m.child("validators"); defs != nil {
		for i := 0; i+1 < len(defs.node.Content); i += 2 {
			if v := defs.of(defs.node.Content[i].Value, follow(defs.node.Content[i+1])); v != nil {
				v.validator("a validator")
			}
		}
	}
	m.budget()
	if s := m.child("soundings"); s != nil {
		if s.text("mode") == "aggregate" {
			for _, key := range []string{"aggregator_instructions", "mode"} {
				if s.has(key) {
					s.drop(key, "a run is what one try has left: a last phase with soundings puts texts together")
				}
			}
		}
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
		about = cmp.Or(inputs.text(name), about, "The argument "+name+" of the SQL function")
		was := inputs.get(name)
		if was != nil && was.Kind != yaml.ScalarNode {
			continue
		}
		value := arg.get("default")
		switch {
		case value != nil, arg.text("optional") == "true":
			if value == nil {
				value = null()
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

// unwrap takes the JSON Schema away that may stand around the inputs.
func (m *mapping) unwrap() {
	schema := m.child("inputs_schema")
	if schema == nil || schema.text("type") != "object" || schema.get("properties") == nil || schema.get("properties").Kind != yaml.MappingNode {
		return
	}
	inputs := &mapping{w: m.w, node: schema.get("properties"), outer: m}
	var required []string
	for _, n := range schema.list("required") {
		required = append(required, n.Value)
	}
	for i := 0; i+1 < len(inputs.node.Content); i += 2 {
		name, of := inputs.node.Content[i].Value, follow(inputs.node.Content[i+1])
		if of.Kind != yaml.MappingNode || slices.Contains(required, name) {
			continue
		}
		(&mapping{w: m.w, node: of}).optional()
	}
	m.set("inputs_schema", inputs.node)
}

// optional has an input be null where none is given, which its schema takes then.
func (m *mapping) optional() {
	if m.has("default") {
		return
	}
	switch is := m.get("type"); {
	case is == nil:
	case is.Kind == yaml.ScalarNode:
		m.set("type", &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{is, scalar("null")}})
	case is.Kind == yaml.SequenceNode && !slices.ContainsFunc(is.Content, func(n *yaml.Node) bool { return n.Value == "null" }):
		is.Content = append(is.Content, scalar("null"))
	}
	if one := m.get("enum"); one != nil && one.Kind == yaml.SequenceNode {
		one.Content = append(one.Content, null())
	}
	m.set("default", null())
}

func null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

// described gives every input a text or a schema: one may say nothing there, or
// say within its schema whether it must be given.
func (m *mapping) described() {
	inputs := &mapping{w: m.w, node: m.get("inputs_schema"), outer: m}
	if inputs.node == nil || inputs.node.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(inputs.node.Content); i += 2 {
		name, of := inputs.node.Content[i].Value, &mapping{w: m.w, node: follow(inputs.node.Content[i+1])}
		if of.node.Tag == "!!null" {
			inputs.set(name, scalar("The input "+name))
			continue
		}
		if must := of.text("required"); of.node.Kind == yaml.MappingNode && (must == "true" || must == "false") {
			of.remove("required")
			if must == "false" {
				of.optional()
			}
		}
	}
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
	} else if !b.has("strategy") {
		b.set("strategy", scalar("prune_oldest"))
	}
	if !b.has("max_total") {
		b.set("max_total", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "100000"}) // as there, where nothing is said
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

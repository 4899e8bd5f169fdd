package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/windlass"
)

// phase rewrites a phase. It first converts the keys that need more than a new name.
func (m *mapping) phase() {
	m.condition()
	m.screen()
	m.routing()
	m.moveToRules()
	m.words("a phase")
	if m.has("compose") || m.has("tool") && !m.has("instructions") {
		m.dropAll("the phase has no model", "model", "tackle", "context", "soundings")
	}
	m.model("model")
	m.tackle()
	m.tool()
	m.context()
	m.question()
	if e := m.child("output_extraction"); e != nil {
		e.value("format")
	}
	if s := m.child("soundings"); s != nil {
		s.soundings()
	}
	m.budget()
	m.rules()
	if w := m.child("wards"); w != nil {
		w.words("wards")
		for _, moment := range []string{"pre", "turn", "post"} {
			for _, ward := range w.children(moment) {
				ward.checks("validator")
			}
		}
	}
	for _, s := range m.children("sub_cascades") {
		s.words("a sub-cascade")
	}
}

// rules rewrites the rules. It drops a limit that is a template, because a plan needs a number.
func (m *mapping) rules() {
	r := m.child("rules")
	if r == nil {
		return
	}
	r.words("rules")
	for _, key := range []string{"max_turns", "max_attempts"} {
		if strings.Contains(r.text(key), "{{") {
			r.drop(key, "write a number")
		}
	}
	r.checks("loop_until")
	if len(r.node.Content) == 0 {
		m.remove("rules")
	}
}

// rule adds a rule unless the phase has it.
func (m *mapping) rule(key, value string) {
	if n := m.get("rules"); n == nil || n.Kind != yaml.MappingNode {
		m.set("rules", pairs())
	}
	r := &mapping{w: m.w, node: m.get("rules"), outer: m}
	if !r.has(key) {
		r.set(key, scalar(value))
	}
}

// condition rewrites a condition, which is a template, as an expression.
func (m *mapping) condition() {
	n := m.get("condition")
	if n == nil || n.Kind != yaml.ScalarNode || m.has("when") {
		return
	}
	m.rename("condition", "when")
	m.set("when", scalar(strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(n.Value), "{{"), "}}"))))
	m.note(n, "when is an expression, and no template")
}

// screen converts a page with a form into a composed text and a question.
func (m *mapping) screen() {
	key := "htmx"
	if !m.has(key) {
		key = "hitl"
	}
	page := m.get(key)
	if page == nil || page.Kind != yaml.ScalarNode {
		return
	}
	if m.has("instructions") || m.has("tool") {
		m.drop(key, "capstan serve has a page for each run")
		return
	}
	title := cmp.Or(m.text("hitl_title"), m.text("hitl_description"), fmt.Sprintf("What do you answer to %s?", m.text("name")))
	m.rename(key, "compose")
	m.note(page, key+" was a page with a form; here the phase composes the text and asks a person")
	m.set("human_input", pairs("prompt", title, "type", "text"))
}

// routing writes the routes by the result of a tool as handoffs.
func (m *mapping) routing() {
	routes := m.get("routing")
	if routes == nil || routes.Kind != yaml.MappingNode {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	var targets []string
	for i := 0; i+1 < len(routes.Content); i += 2 {
		to := follow(routes.Content[i+1])
		if to.Kind != yaml.ScalarNode {
			continue
		}
		word := "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(routes.Content[i].Value) + "'"
		h := pairs("target", to.Value, "when", fmt.Sprintf("output._route == %[1]s || output.status == %[1]s", word))
		h.Style = yaml.FlowStyle
		list.Content = append(list.Content, h)
		targets = append(targets, to.Value)
	}
	for _, n := range m.list("handoffs") {
		if n.Kind == yaml.ScalarNode && !slices.Contains(targets, n.Value) {
			list.Content = append(list.Content, n)
		}
	}
	m.remove("routing")
	m.set("handoffs", list)
	m.note(routes, "routing is handoffs with when here: _route or status of the output decides")
}

// moveToRules moves on_error and timeout to the rules.
func (m *mapping) moveToRules() {
	if n := m.get("on_error"); n != nil {
		if n.Kind == yaml.ScalarNode && slices.Contains(m.w.phases, n.Value) {
			m.remove("on_error")
			m.rule("on_error", n.Value)
		} else {
			m.drop("on_error", windlass.Value("on_error", "{}").Advice)
		}
	}
	if n := m.get("timeout"); n != nil && n.Kind == yaml.ScalarNode {
		m.remove("timeout")
		m.rule("timeout", n.Value)
	}
}

// tackle rewrites the list of tools.
func (m *mapping) tackle() {
	n := m.get("tackle")
	switch {
	case n == nil:
		return
	case n.Kind == yaml.ScalarNode && n.Value == "manifest":
		m.drop("tackle", windlass.Value("tackle", "manifest").Advice)
		return
	case n.Kind == yaml.ScalarNode:
		n = sequence(n.Value)
		m.set("tackle", n)
	}
	var list []*yaml.Node
	var names []string
	for _, e := range n.Content {
		name := follow(e).Value
		if slices.Contains(m.w.memories, name) {
			m.note(e, name+" was a memory: use an MCP server or a program")
			continue
		}
		m.w.remember(name, e.Line)
		if to, _ := windlass.Find("tool", name); to.Here != "" {
			m.note(e, fmt.Sprintf("%s: %s does the same here", name, to.Here))
			name, e = to.Here, scalar(to.Here)
		}
		if slices.Contains(names, name) && follow(e).Kind == yaml.ScalarNode {
			m.w.changed = true
			continue
		}
		names, list = append(names, name), append(list, e)
	}
	n.Content = list
}

// tool replaces the path of a phase's tool by a name.
func (m *mapping) tool() {
	n, name := m.get("tool"), m.text("tool")
	stem := windlass.Stem(name)
	if n != nil {
		m.w.remember(stem, n.Line)
	}
	file := strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || strings.HasSuffix(name, ".json")
	if stem == "" || file || !strings.ContainsAny(name, ":/ ") && !strings.Contains(name, "{{") {
		return
	}
	m.set("tool", scalar(stem))
	m.note(n, fmt.Sprintf("tool: %s is called %s here", name, stem))
}

// question rewrites the question to a person after a phase.
func (m *mapping) question() {
	n := m.get("human_input")
	prompt := windlass.Prompt(m.text("name"))
	if n != nil && n.Kind == yaml.ScalarNode {
		m.remove("human_input")
		if n.Value == "true" {
			m.set("human_input", pairs("prompt", prompt, "type", "confirmation"))
		}
		return
	}
	q := m.child("human_input")
	if q == nil {
		return
	}
	q.value("type")
	q.words("human_input")
	q.options()
	if !q.has("prompt") {
		q.set("prompt", scalar(prompt))
	}
}

// options replaces options that are mappings by their values.
func (m *mapping) options() {
	options := m.list("options")
	if kind := m.text("type"); len(options) > 0 && kind != "choice" && kind != "" {
		m.drop("options", "the type choice has options")
		return
	}
	for i, o := range options {
		if o.Kind == yaml.MappingNode {
			m.get("options").Content[i], m.w.changed = scalar((&mapping{node: o}).text("value")), true
		}
	}
}

// context rewrites the key context, which selects texts of other phases.
func (m *mapping) context() {
	c := m.child("context")
	if c == nil {
		return
	}
	if c.text("mode") == "auto" && !c.has("from") {
		c.set("from", sequence("all"))
	}
	c.words("context")
	if from := c.text("from"); from != "" {
		c.set("from", sequence(from))
	}
	c.sources()
	if from := c.get("from"); from != nil && len(from.Content) == 0 {
		c.remove("from")
	}
	if !c.has("from") && c.text("include_input") != "true" {
		m.remove("context")
	}
}

// word returns the name of a phase, or a word for several phases in Capstan's spelling.
func (w *writer) word(name string) string {
	word := strings.ToLower(name)
	word = cmp.Or(windlass.Value("from", word).Here, word)
	if slices.Contains(w.phases, name) || !slices.Contains([]string{"all", "first", "previous"}, word) {
		return name
	}
	return word
}

// sources rewrites the phases of a context.
func (m *mapping) sources() {
	for i, e := range m.list("from") {
		if word := m.w.word(e.Value); e.Kind == yaml.ScalarNode && word != e.Value {
			m.get("from").Content[i], m.w.changed = scalar(word), true
		}
	}
	for _, s := range m.children("from") {
		s.words("a phase of context")
		if name := s.text("phase"); m.w.word(name) != name {
			s.set("phase", scalar(m.w.word(name)))
		}
		include := s.get("include")
		if include == nil || include.Kind != yaml.SequenceNode {
			continue
		}
		var list []*yaml.Node
		for _, e := range include.Content {
			if v := follow(e).Value; v == "output" || v == "state" {
				list = append(list, e)
				continue
			}
			m.note(e, "include "+follow(e).Value+" is left out: a phase sees output, the released text, and state")
		}
		if include.Content = list; len(list) == 0 {
			include.Content = []*yaml.Node{scalar("output")}
		}
	}
}

// soundings rewrites soundings.
func (m *mapping) soundings() {
	m.words("soundings")
	models := m.get("models")
	if models != nil && models.Kind == yaml.SequenceNode {
		for i, e := range models.Content {
			if to := modelOf(follow(e).Value); to != nil {
				models.Content[i], m.w.changed = to, true
			}
		}
	}
	byName := models != nil && models.Kind == yaml.MappingNode
	if models != nil && !byName && m.text("model_strategy") == "weighted" && !m.has("weights") {
		m.set("model_strategy", scalar("random"))
		m.note(models, "the strategy weighted is random here: each entry of models has the same weight")
	}
	if m.text("mode") == "aggregate" {
		m.aggregate()
	}
	m.checks("validator")
	if r := m.child("reforge"); r != nil {
		r.words("reforge")
		if t := r.child("threshold"); t != nil {
			t.checks("validator")
		}
	}
	if !m.has("factor") && !byName {
		m.set("factor", number(1))
	}
}

// aggregate adds instructions for the model. Without instructions, Windlass joins the texts
// itself.
func (m *mapping) aggregate() {
	if !m.has("aggregator_instructions") {
		m.note(m.get("mode"), "Windlass joins the texts without a model; here a model does")
		m.set("aggregator_instructions", scalar("Put the texts one behind the other, whole and in order. Change nothing, and add nothing."))
	}
	if m.has("evaluator_instructions") && !m.has("reforge") {
		m.drop("evaluator_instructions", "the texts are combined, and none is chosen")
	}
}

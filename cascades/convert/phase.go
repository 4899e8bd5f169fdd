package convert

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/windlass"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// phase rewrites a phase: first what needs more than another word.
func (m *mapping) phase() {
	m.condition()
	m.screen()
	m.rows()
	m.routing()
	m.errors()
	m.words("a phase")
	if m.has("compose") || m.has("tool") && !m.has("instructions") {
		for _, key := range []string{"model", "tackle", "context", "soundings"} {
			if m.has(key) {
				m.drop(key, "there is no model here that it is for")
			}
		}
	}
	m.model("model")
	m.tackle()
	m.toolName()
	m.context()
	m.question()
	if e := m.child("output_extraction"); e != nil && e.text("format") == "code" {
		was := e.get("format")
		e.set("format", scalar("text"))
		e.note(was, "the format code is text here")
	}
	if s := m.child("soundings"); s != nil {
		s.soundings()
	}
	if b := m.get("token_budget"); b != nil {
		m.budget()
	}
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

// rules rewrites the rules; a number that is filled in when the run begins is one
// that lint and plan could not tell of, and goes.
func (m *mapping) rules() {
	r := m.child("rules")
	if r == nil {
		return
	}
	r.words("rules")
	for _, key := range []string{"max_turns", "max_attempts"} {
		switch n := r.get(key); {
		case n == nil:
		case strings.Contains(n.Value, "{{"):
			r.drop(key, "it is a number, which plan can tell before a run")
		}
	}
	r.checks("loop_until")
	if len(r.node.Content) == 0 {
		m.remove("rules")
	}
}

// rule puts a rule where there is none yet.
func (m *mapping) rule(key string, value *yaml.Node) {
	if m.get("rules") == nil || m.get("rules").Kind != yaml.MappingNode {
		m.set("rules", pairs())
	}
	r := &mapping{w: m.w, node: m.get("rules"), outer: m}
	if !r.has(key) {
		r.set(key, value)
	}
}

// condition makes an expression of a template that is true or false.
func (m *mapping) condition() {
	n := m.get("condition")
	if n == nil || n.Kind != yaml.ScalarNode || m.has("when") {
		return
	}
	text := strings.TrimSpace(n.Value)
	inner, ok := strings.CutPrefix(text, "{{")
	if end := strings.Index(inner, "}}"); ok && end == len(inner)-2 {
		text = strings.TrimSpace(strings.Trim(inner[:end], "-"))
	}
	text = strings.NewReplacer(" is not defined", " == nil", " is defined", " != nil", " is none", " == nil", " is not none", " != nil",
		"None", "nil", "True", "true", "False", "false").Replace(text)
	text = gotten().ReplaceAllString(countWord(text), "[$1]")
	m.rename("condition", "when")
	m.set("when", scalar(text))
	m.note(n, "condition is when here, an expression and no template: true or false, and not a text")
}

// gotten is how a key is read there that may not be there.
var gotten = patterns.Lazy(`\.get\(('[^']*'|"[^"]*")\)`)

// countWord writes x | length as len(x), where x is a word.
func countWord(text string) string {
	for _, filter := range []string{" | length", "|length"} {
		for {
			before, after, found := strings.Cut(text, filter)
			if !found {
				break
			}
			start := strings.LastIndexAny(before, " (") + 1
			text = before[:start] + "len(" + before[start:] + ")" + after
		}
	}
	return text
}

// screen makes a text and a question of a page that a person is shown.
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
		m.drop(key, "a page that shows how far the work is: capstan serve has one of every run")
		return
	}
	title := cmp.Or(m.text("hitl_title"), m.text("hitl_description"), "What do you answer to "+m.text("name")+"?")
	m.rename(key, "compose")
	m.note(page, key+" was a page with a form: its text is composed, and a person is asked")
	if m.has("human_input") {
		m.remove("human_input")
	}
	question := pairs("prompt", scalar(title), "type", scalar("text"))
	var ways []string
	for _, n := range m.list("handoffs") {
		if n.Kind == yaml.MappingNode {
			n = (&mapping{node: n}).get("target")
		}
		if n != nil && n.Kind == yaml.ScalarNode && !slices.Contains(ways, n.Value) {
			ways = append(ways, n.Value)
		}
	}
	if len(ways) > 1 {
		question = pairs("prompt", scalar(title), "type", scalar("choice"), "options", sequence(ways...))
		m.set("handoffs", handoffs(m.text("name")+"_answer", ways))
		question.Content = append(question.Content, scalar("store_as"), scalar(m.text("name")+"_answer"))
	}
	m.set("human_input", question)
}

// handoffs lead where a person chose, by a value of the state.
func handoffs(key string, ways []string) *yaml.Node {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, way := range ways {
		h := pairs("target", scalar(way), "when", scalar("state["+quoted(key)+"] == "+quoted(way)))
		h.Style = yaml.FlowStyle
		list.Content = append(list.Content, h)
	}
	return list
}

// quoted is a text as an expression has it.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

// rows makes a tool of a phase that is done for every row of a table, to be
// declared.
func (m *mapping) rows() {
	rows := m.get("for_each_row")
	if rows == nil || m.has("tool") || m.has("instructions") || rows.Kind != yaml.MappingNode {
		return
	}
	m.remove("for_each_row")
	m.set("tool", scalar("for_each_row"))
	asWritten(rows)
	m.set("inputs", rows)
	m.note(rows, "for_each_row: a phase with each is done for every item of a list; sql_query gives a list of rows")
}

// routing makes handoffs of what a tool's result leads to.
func (m *mapping) routing() {
	routes := m.get("routing")
	if routes == nil || routes.Kind != yaml.MappingNode {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	var led []string
	for i := 0; i+1 < len(routes.Content); i += 2 {
		word, to := routes.Content[i].Value, follow(routes.Content[i+1])
		if to.Kind != yaml.ScalarNode {
			continue
		}
		if slices.Contains([]string{"error", "failed", "failure", "timeout", "exception"}, word) && slices.Contains(m.w.phases, to.Value) {
			m.rule("on_error", scalar(to.Value))
		}
		h := pairs("target", scalar(to.Value), "when", scalar("output._route == "+quoted(word)+" || output.status == "+quoted(word)))
		h.Style = yaml.FlowStyle
		list.Content = append(list.Content, h)
		led = append(led, to.Value)
	}
	for _, n := range m.list("handoffs") {
		if n.Kind == yaml.ScalarNode && !slices.Contains(led, n.Value) {
			list.Content = append(list.Content, n)
		}
	}
	m.remove("routing")
	m.set("handoffs", list)
	m.note(routes, "routing is handoffs with when here: the output's _route or status leads on")
}

// errors puts where it belongs what is to be done when a tool breaks.
func (m *mapping) errors() {
	if n := m.get("on_error"); n != nil {
		if n.Kind == yaml.ScalarNode && slices.Contains(m.w.phases, n.Value) {
			m.remove("on_error")
			m.rule("on_error", scalar(n.Value))
		} else {
			m.drop("on_error", "nothing is mended by itself: rules: {on_error: PHASE} names the phase that mends it")
		}
	}
	if n := m.get("timeout"); n != nil && n.Kind == yaml.ScalarNode {
		m.remove("timeout")
		m.rule("timeout", scalar(n.Value))
	}
}

// tackle rewrites the list of tools.
func (m *mapping) tackle() {
	n := m.get("tackle")
	switch {
	case n == nil:
		return
	case n.Kind == yaml.ScalarNode && n.Tag != "!!null" && n.Value != "manifest":
		n = sequence(n.Value)
		m.set("tackle", n)
	case n.Kind == yaml.ScalarNode:
		m.drop("tackle", windlass.Value("tackle", "manifest"))
		return
	}
	var kept []*yaml.Node
	var names []string
	for _, e := range n.Content {
		line := e.Line
		name := follow(e).Value
		if slices.Contains(m.w.memories, name) {
			m.note(e, name+" was a memory: an MCP server or a program that remembers takes its place")
			continue
		}
		if to, theirs := windlass.Tool(name); theirs && to.Here != "" {
			m.note(e, name+": "+to.Here+" does here what it did")
			name, e = to.Here, scalar(to.Here)
		}
		if slices.Contains(names, name) && follow(e).Kind == yaml.ScalarNode {
			m.w.changed = true
			continue
		}
		names, kept = append(names, name), append(kept, e)
		m.w.lines[name] = line
	}
	n.Content = kept
}

// toolName gives the tool of a phase without a model a name: theirs may be the path
// of a function or of a query.
func (m *mapping) toolName() {
	name := m.text("tool")
	if n := m.get("tool"); n != nil {
		m.w.lines[windlass.Stem(name)] = n.Line
	}
	if !strings.ContainsAny(name, ":/ ") && !strings.Contains(name, "{{") || windlass.Stem(name) == "" {
		return
	}
	if ext := name[strings.LastIndex(name, ".")+1:]; ext == "yaml" || ext == "yml" || ext == "json" {
		return
	}
	n := m.get("tool")
	m.set("tool", scalar(windlass.Stem(name)))
	m.note(n, "tool: "+name+" is called "+windlass.Stem(name)+" here")
}

package convert

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/windlass"
)

// context rewrites what a phase is told of others.
func (m *mapping) context() {
	n := m.get("context")
	if n != nil && n.Tag == "!!null" {
		m.remove("context")
	}
	c := m.child("context")
	if c == nil {
		return
	}
	if c.text("mode") == "auto" && !c.has("from") {
		c.set("from", sequence("all"))
	}
	c.words("context")
	if n := c.get("from"); n != nil && n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		c.set("from", sequence(n.Value))
	}
	c.sources()
	c.excludes()
	if from := c.get("from"); from != nil && len(from.Content) == 0 {
		c.remove("from")
	}
	if !c.has("from") && c.text("include_input") != "true" {
		m.remove("context")
	}
}

// excludes leaves of exclude what a word for several phases brings.
func (m *mapping) excludes() {
	if !m.has("exclude") {
		return
	}
	var named []string
	for _, n := range m.list("from") {
		if n.Kind == yaml.MappingNode {
			named = append(named, (&mapping{node: n}).text("phase"))
		} else {
			named = append(named, n.Value)
		}
	}
	if !slices.ContainsFunc(named, func(name string) bool { return slices.Contains(several, name) }) {
		m.drop("exclude", "from names its phases one by one")
		return
	}
	exclude := m.get("exclude")
	var kept []*yaml.Node
	for _, n := range m.list("exclude") {
		switch {
		case slices.Contains(named, n.Value):
			m.note(n, "exclude "+n.Value+" is left out: from names it")
		case !slices.Contains(m.w.phases, n.Value):
			m.note(n, "exclude "+n.Value+" is left out: no phase is called so")
		default:
			kept = append(kept, n)
		}
	}
	if exclude.Content = kept; len(kept) == 0 {
		m.remove("exclude")
	}
}

// several are the words for other phases.
var several = []string{"all", "first", "previous"}

// word gives a phase's name, or a word for several as it is written here.
func (m *mapping) word(name string) string {
	word := strings.ToLower(name)
	word = cmp.Or(windlass.Reads("from", word), word)
	if slices.Contains(m.w.phases, name) || !slices.Contains(several, word) {
		return name
	}
	return word
}

func (m *mapping) sources() {
	from := m.get("from")
	if from == nil || from.Kind != yaml.SequenceNode {
		return
	}
	for i, e := range from.Content {
		if e.Kind != yaml.ScalarNode {
			continue
		}
		if word := m.word(e.Value); word != e.Value {
			from.Content[i] = scalar(word)
			m.w.changed = true
		}
	}
	for _, s := range m.children("from") {
		s.words("a phase of context")
		if name := s.text("phase"); m.word(name) != name {
			s.set("phase", scalar(m.word(name)))
		}
		include := s.get("include")
		if include == nil || include.Kind != yaml.SequenceNode {
			continue
		}
		var kept []*yaml.Node
		for _, e := range include.Content {
			if v := follow(e).Value; v == "output" || v == "state" {
				kept = append(kept, e)
				continue
			}
			m.note(e, "include "+follow(e).Value+" is left out: a phase is told what another released (output) and what it set (state)")
		}
		if include.Content = kept; len(kept) == 0 {
			include.Content = []*yaml.Node{scalar("output")}
		}
	}
}

// answers are what a question may be answered with here, by what it is there.
var answers = map[string]string{"multi_choice": "text", "rating": "text", "form": "text", "review": "confirmation", "auto": "text", "htmx": "text"}

// question rewrites what a person is asked behind a phase.
func (m *mapping) question() {
	n := m.get("human_input")
	if n == nil {
		return
	}
	prompt := "Is what " + m.text("name") + " gave right?"
	if n.Kind == yaml.ScalarNode {
		m.remove("human_input")
		if n.Value == "true" {
			m.set("human_input", pairs("prompt", scalar(prompt), "type", scalar("confirmation")))
		}
		return
	}
	q := m.child("human_input")
	if q == nil {
		return
	}
	if seconds := q.text("timeout_seconds"); seconds != "" && !q.has("expires") {
		if _, err := strconv.Atoi(seconds); err == nil {
			q.set("expires", scalar(seconds+"s"))
			q.remove("timeout_seconds")
		}
		if q.text("on_timeout") == "abort" {
			q.remove("on_timeout")
		}
	}
	if to := answers[q.text("type")]; to != "" {
		q.note(q.get("type"), "the type "+q.text("type")+" is "+to+" here")
		q.set("type", scalar(to))
	}
	q.words("human_input")
	if options := q.list("options"); len(options) > 0 {
		var texts []string
		for _, o := range options {
			if o.Kind == yaml.MappingNode {
				one := &mapping{node: o}
				texts = append(texts, cmp.Or(one.text("value"), one.text("label"), one.text("id")))
			}
		}
		switch {
		case q.text("type") != "choice" && q.text("type") != "":
			q.drop("options", "the type choice has options")
		case len(texts) == len(options):
			q.set("options", sequence(texts...))
		}
	}
	if !q.has("prompt") {
		q.set("prompt", scalar(prompt))
	}
}

// soundings rewrites parallel tries.
func (m *mapping) soundings() {
	m.words("soundings")
	models := m.get("models")
	switch {
	case models == nil:
	case models.Kind == yaml.MappingNode:
		m.spread(models)
	case models.Kind == yaml.SequenceNode:
		for i, e := range models.Content {
			if to := modelOf(follow(e).Value); to != nil {
				models.Content[i], m.w.changed = to, true
			}
		}
	}
	if n := m.get("models"); n != nil && m.text("model_strategy") == "weighted" && !m.has("weights") {
		m.set("model_strategy", scalar("random"))
		m.note(n, "the strategy weighted is random here, without weights: the same weight for each of the list")
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
	if !m.has("factor") {
		m.set("factor", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1"})
	}
}

// aggregate says what is made of all the tries, where nobody picks one.
func (m *mapping) aggregate() {
	if !m.has("aggregator_instructions") {
		m.note(m.get("mode"), "what is put together was put one behind the other, without a model: here a model is asked to")
		m.set("aggregator_instructions", scalar("Put the texts one behind the other, whole and in order. Change nothing, and add nothing."))
	}
	if m.has("evaluator_instructions") && !m.has("reforge") {
		m.drop("evaluator_instructions", "nothing is picked: the tries are put together")
	}
}

// maxSpread bounds how often one model is listed.
const maxSpread = 100

// spread makes the list of models of a mapping of models to how many tries each
// has.
func (m *mapping) spread(models *yaml.Node) {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for i := 0; i+1 < len(models.Content); i += 2 {
		name, of := models.Content[i].Value, follow(models.Content[i+1])
		one := cmp.Or(modelOf(name), scalar(name))
		times := 1
		if of.Kind == yaml.MappingNode {
			has := &mapping{node: of}
			if n, err := strconv.Atoi(has.text("factor")); err == nil {
				times = max(1, min(n, maxSpread))
			}
			full := pairs("name", scalar(name))
			if one.Kind == yaml.MappingNode {
				full = one
			} else {
				full.Content[1] = one
			}
			full.Style = yaml.FlowStyle
			for _, p := range [][2]string{{"temperature", "temperature"}, {"max_tokens", "max_output_tokens"}} {
				if v := has.get(p[0]); v != nil && v.Tag != "!!null" {
					full.Content = append(full.Content, scalar(p[1]), v)
					one = full
				}
			}
		}
		for range times {
			list.Content = append(list.Content, one)
		}
	}
	m.set("models", list)
	if m.text("model_strategy") == "weighted" && !m.has("weights") {
		m.set("model_strategy", scalar("random"))
		m.note(models, "the strategy weighted is random here, over a list that has each model as often as its factor says")
	}
	factor, err := strconv.Atoi(m.text("factor"))
	if !m.has("factor") || err == nil && factor < len(list.Content) {
		if m.has("factor") {
			m.note(models, "the models together have more tries than factor: the first "+m.text("factor")+" of them are used")
			list.Content = list.Content[:max(1, min(factor, len(list.Content)))]
		} else {
			m.set("factor", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(min(len(list.Content), maxSpread))})
		}
	}
}

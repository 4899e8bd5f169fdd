package cascades

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/windlass"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// near reports whether a name is the name of a similar tool in Windlass or LARS.
func near(name string, t *Tool) bool {
	w, _ := windlass.Find("tool", name)
	return w.Here == t.Name
}

// nearTool returns the Capstan tool that is similar to a tool of Windlass or LARS, or nil. The
// model receives the name of the Capstan tool.
func (p *parser) nearTool(n *yaml.Node, name string) *Tool {
	w, _ := windlass.Find("tool", name)
	if w.Here == "" {
		return nil
	}
	t := p.findTool(w.Here)
	if t != nil {
		p.Warn(n, codes.Meaning, "tackle: %s is read as %s, which does the same here%s", name, w.Here, w.Difference)
	}
	return t
}

// noTool reports an unknown tool and suggests a correction.
func (p *parser) noTool(n *yaml.Node, what, name string, names func() []string) {
	if name == tool.SQLQuery {
		p.Error(n, codes.Tool,
			"%s has no databases here: databases: {shop: {url: shop.db}} beside phases names a file of SQLite, {url: \"postgres://me:{{ env.PGPASSWORD }}@host/shop\"} a server", name)
		return
	}
	advice, known := windlass.Declaration(name)
	p.Error(n, codes.Tool, "no %s is called %q", what, name)
	if !known {
		p.Suggest(name, names)
	}
	if d := p.Last(); d.Suggestion == "" {
		d.Message += ": " + advice
	}
}

// asThere returns a judge for the name of a validator that has no parameters in Windlass.
func (p *parser) asThere(n *yaml.Node, name string) *Validator {
	w, _ := windlass.Find("judge", name)
	p.Warn(n, codes.Meaning, "%s without parameters is a judge, as in Windlass: %s", name, w.Advice)
	return p.bound(n, validators.NewJudge(name, w.Advice, w.Advice), nil)
}

// question reads human_input. As in Windlass, true asks whether the output is right.
func (p *parser) question(o *reader.Object, phase string) *reader.Object {
	const key = "human_input"
	n := o.Get(key)
	if n == nil || n.Tag != "!!bool" || n.Value != "true" {
		return o.Child(key)
	}
	prompt := windlass.Prompt(strings.NewReplacer("{", "", "}", "").Replace(phase))
	p.Warn(n, codes.Meaning, "human_input: true is read as {prompt: %q, type: confirmation}", prompt)
	asked := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
	for _, text := range []string{"prompt", prompt, "type", Confirmation} {
		asked.Content = append(asked.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
	}
	return p.Fields(asked, key)
}

// options reads the options of a choice. As in Windlass, an option may be a mapping with a
// value.
func (p *parser) options(o *reader.Object) (list []string) {
	for _, n := range o.List("options") {
		if n = p.Resolve(n); n.Kind == yaml.MappingNode {
			value := p.Fields(n, "an option").Required("value")
			p.Warn(n, codes.Meaning, "options: an option is a text here: this one is %q", value)
			list = append(list, value)
			continue
		}
		s, _ := p.Text(n, "an entry of options")
		list = append(list, s)
	}
	return list
}

// modelsByName replaces a mapping from models to numbers of tries, as in Windlass, with a
// list. It returns the number of tries, or 0 if models is not a mapping.
func (p *parser) modelsByName(o *reader.Object, key string) int {
	n := o.Get(key)
	if n == nil || n.Kind != yaml.MappingNode {
		return 0
	}
	p.Warn(n, codes.Meaning, "models by name are read as in Windlass; write a list with an entry for each try: [a, a, b]")
	by := p.Fields(n, "models by name")
	models := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Column: n.Column}
	for _, name := range by.Order {
		times := 1
		if value := p.Resolve(by.Value[name]); value.Tag != "!!null" {
			if of := p.Object(value, "models by name"); of != nil {
				times = min(of.Whole("factor", 1, 1), maxSoundings)
				for _, key := range of.Order {
					if key != "factor" && !of.Foreign(key) {
						p.Error(of.Keys[key], codes.UnknownKey, "a model by name has no key %q", key)
					}
				}
			}
		}
		models.Content = append(models.Content, slices.Repeat([]*yaml.Node{by.Keys[name]}, times)...)
	}
	o.Value[key] = models
	return max(len(models.Content), 1)
}

package cascades

import (
	"cmp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/windlass"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// translate lets a key of another vocabulary stand for ours where ours is not
// there, so that what is wrong within is told too. The file does not load for all
// that: nobody asks for the key itself.
func (o *object) translate() {
	for _, key := range windlass.Synonyms(o.kind) {
		w, _ := windlass.Key(o.kind, key)
		if o.has(key) && !o.has(w.Here) {
			o.keys[w.Here], o.value[w.Here] = o.keys[key], o.value[key]
		}
	}
}

// foreign tells of a key that is Windlass's or LARS's, and whether it is.
func (o *object) foreign(key string) bool {
	w, ok := windlass.Key(o.kind, key)
	switch {
	case !ok:
	case w.Fate == windlass.Ignored:
		o.p.ignored = append(o.p.ignored, o.keys[key])
	case w.Fate == windlass.Without:
		o.p.warn(o.keys[key], CodeIgnored, "%s of %s changes nothing: %s", key, o.what, w.Told())
	default:
		o.p.report(o.keys[key], CodeUnknownKey, "%s has no key %q: %s", o.what, key, w.Told())
		if w.Here != "" {
			o.p.last().Fix = &Fix{Text: w.Here}
			o.p.fix(key)
		}
	}
	return ok
}

// tellIgnored is one note for all the keys of a file that change nothing.
func (p *parser) tellIgnored() {
	if len(p.ignored) == 0 {
		return
	}
	slices.SortFunc(p.ignored, func(a, b *yaml.Node) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	var names []string
	seen := map[string]bool{}
	for _, n := range p.ignored {
		if !seen[n.Value] {
			names = append(names, n.Value)
		}
		seen[n.Value] = true
	}
	change := "change"
	if len(names) == 1 {
		change = "changes"
	}
	p.warn(p.ignored[0], CodeIgnored, "%s %s nothing here: a cascade may have what its editor or another program reads", strings.Join(names, ", "), change)
}

// instead says what to write for a value under a key that is of the wrong kind,
// where another program reads it.
func instead(key string, n *yaml.Node) string {
	if told := windlass.Value(key, n.Value); told != "" {
		return ": " + told
	}
	return asWritten(key, n)
}

// otherwise tells of a value of theirs that is read as one of ours.
func (p *parser) otherwise(n *yaml.Node, key, there, here string) {
	p.warn(n, CodeOtherwise, "%s: %s is read as %s, which it is called here", key, there, here)
}

// near tells whether a name is one of theirs for a tool of ours.
func near(name string, t *Tool) bool {
	w, _ := windlass.Tool(name)
	return w.Here == t.Name
}

// nearTool is the tool of ours that does what one of theirs did, nil for none. The
// model is offered ours, under its own name.
func (p *parser) nearTool(n *yaml.Node, name string) *Tool {
	w, _ := windlass.Tool(name)
	if w.Here == "" {
		return nil
	}
	t := p.findTool(w.Here)
	if t != nil {
		p.warn(n, CodeOtherwise, "tackle: %s is read as %s, which does here what it did%s", name, w.Here, w.Unlike)
	}
	return t
}

// filled says what takes the place of a number that is to be filled in when the run
// begins, as LARS does.
func filled(key string, n *yaml.Node) string {
	switch {
	case !strings.Contains(n.Value, "{{"):
		return ""
	case key == "factor":
		return ": it is known before a run; a phase with each is done for every item of a list: each: {in: \"{{ … }}\"}"
	}
	return ": it is known before a run; capstan convert FILE leaves it out"
}

// noTool reports a tool that nobody knows, with what takes its place.
func (p *parser) noTool(n *yaml.Node, what, name string, names func() []string) {
	if name == tool.SQLQuery {
		p.report(n, CodeTool, "%s has no databases here: databases: {shop: {url: shop.db}} beside phases names a file of SQLite, {url: \"postgres://me:{{ env.PGPASSWORD }}@host/shop\"} a server", name)
		return
	}
	w, theirs := windlass.Tool(name)
	p.report(n, CodeTool, "no %s is called %q", what, name)
	if !theirs {
		p.suggest(name, names)
	}
	if d := p.last(); d.Suggestion == "" {
		d.Message += ": " + w.Instead
	}
}

// inPlaceOf says what a template may read where a variable is none of these.
func inPlaceOf(variable string, these []string) string {
	return cmp.Or(windlass.Variable(variable), "there are "+list(these))
}

// asThere makes a judge of a validator of Windlass that stands without the
// parameters that it needs here, or that is none here.
func (p *parser) asThere(n *yaml.Node, name string) *Validator {
	criteria := windlass.Judge(name)
	p.warn(n, CodeOtherwise, "%s without parameters is asked of a model, as Windlass has it: %s", name, criteria)
	return p.bound(n, validators.NewJudge(name, criteria, criteria), nil)
}

// question reads what a person is asked behind a phase: true, as Windlass may have
// it, is whether it is right.
func (o *object) question(phase string) *object {
	const key = "human_input"
	n := o.get(key)
	if n == nil || n.Tag != "!!bool" || n.Value != "true" {
		return o.child(key)
	}
	prompt := "Is what " + strings.NewReplacer("{", "", "}", "").Replace(phase) + " gave right?"
	o.p.warn(n, CodeOtherwise, "human_input: true is read as {prompt: %q, type: confirmation}", prompt)
	asked := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
	for _, pair := range [][2]string{{"prompt", prompt}, {"type", Confirmation}} {
		for _, text := range pair {
			asked.Content = append(asked.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
		}
	}
	return o.p.fields(asked, key)
}

// options reads what a person may choose. One that is a mapping, as Windlass has
// them, is its value.
func (o *object) options() (list []string) {
	for _, n := range o.list("options") {
		if n = o.p.resolve(n); n.Kind == yaml.MappingNode {
			one := o.p.fields(n, "an option")
			value := one.required("value")
			o.p.warn(n, CodeOtherwise, "options: an option is a text here: this one is %q", value)
			list = append(list, value)
			continue
		}
		s, _ := o.p.text(n, "an entry of options")
		list = append(list, s)
	}
	return list
}

// modelsByName tells whether models are written as Windlass may write them: how
// many tries each has, by name.
func (o *object) modelsByName(key string) bool {
	n := o.get(key)
	return n != nil && n.Kind == yaml.MappingNode
}

// triesByName is how many tries models by name have together.
func (o *object) triesByName(key string) (sum int) {
	n := o.get(key)
	for i := 0; i < len(n.Content); i += 2 {
		times := 1
		of := o.p.resolve(n.Content[i+1])
		for j := 0; j < len(of.Content) && of.Kind == yaml.MappingNode; j += 2 {
			if of.Content[j].Value == "factor" {
				_ = of.Content[j+1].Decode(&times) // what is no number is reported where it is read
			}
		}
		sum += min(max(times, 1), maxSoundings)
	}
	return max(sum, 1)
}

// modelList gives the models of a list, or those of a mapping, each as often as
// its factor says.
func (o *object) modelList(key string) []*yaml.Node {
	if !o.modelsByName(key) {
		return o.list(key)
	}
	n := o.get(key)
	o.p.warn(n, CodeOtherwise, "models by name are read as Windlass has them: a list is what stands here, each as often as it has tries: [a, a, b]")
	by := o.p.fields(n, "models by name")
	var list []*yaml.Node
	for _, name := range by.order {
		times := 1
		if value := o.p.resolve(by.value[name]); value.Tag != "!!null" {
			if of := o.p.object(value, "models by name"); of != nil {
				times = min(of.whole("factor", 1, 1), maxSoundings)
				for _, key := range of.order {
					if key != "factor" && !of.foreign(key) {
						o.p.report(of.keys[key], CodeUnknownKey, "a model by name has no key %q", key)
					}
				}
			}
		}
		list = append(list, slices.Repeat([]*yaml.Node{by.keys[name]}, times)...)
	}
	return list
}

package cascades

import (
	"encoding/json"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/model"
)

// model reads what is asked: a name, an object, or a list of these, of which
// each serves attempts.
func (o *object) model(key string) Model { return o.ladder(key, "") }

// judging reads what is asked of a judge or an evaluator, which have no attempts.
func (o *object) judging(key string) Model {
	return o.ladder(key, "attempts means nothing in "+key+": a judge's ladder is for models that give no answer alone")
}

// ladder reads models; unbounded says why none of them may have attempts.
func (o *object) ladder(key, unbounded string) Model {
	n := o.get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return o.p.rung(n, key, unbounded)
	}
	if len(n.Content) == 0 {
		o.p.report(n, CodeValue, "%s must not be an empty list", key)
	}
	var m Model
	for _, e := range n.Content {
		if e = o.p.resolve(e); e.Kind == yaml.ScalarNode && e.Tag == "!!str" && strings.TrimSpace(e.Value) == "" {
			o.p.report(e, CodeValue, "a model of a ladder must not be empty")
			continue
		}
		m = append(m, o.p.rung(e, "a model of a ladder", unbounded)...)
	}
	return m
}

// spread reads models that are not a ladder: each is asked by some of n tries,
// and, in order, no more of them than there are tries.
func (o *object) spread(key string, n int, inOrder bool) Model {
	m := Model{}
	unbounded := "attempts means nothing in " + key + ": each model is one try's, for all of its attempts"
	for _, e := range o.modelList(key) {
		e = o.p.resolve(e)
		found := o.p.rung(e, "an entry of "+key, unbounded)
		if len(found) == 0 && e.Kind == yaml.ScalarNode {
			o.p.report(e, CodeValue, "an entry of %s must not be empty", key)
		}
		m = append(m, found...)
	}
	switch list := o.get(key); {
	case list != nil && list.Kind == yaml.SequenceNode && len(list.Content) == 0:
		o.p.report(list, CodeValue, "%s must not be an empty list", key)
	case inOrder && len(m) > n:
		o.p.warn(list, CodeConflict, "%s has %d models for %d tries: the last %d are never asked", key, len(m), n, len(m)-n)
	}
	if inOrder {
		m = m[:min(len(m), n)]
	}
	return m
}

// rung reads one model: none where it is an empty text, or was reported.
// Where unbounded is not "", it says why the model may have no attempts.
func (p *parser) rung(n *yaml.Node, what, unbounded string) Model {
	if n.Kind != yaml.MappingNode {
		if n.Kind == yaml.SequenceNode {
			p.report(n, CodeType, "%s must be text or a mapping, not %s", what, kindOf(n))
			return nil
		}
		name, _ := p.text(n, what)
		if name == "" {
			return nil
		}
		p.checkModel(n, name)
		return Model{{Name: name, Attempts: 1}}
	}
	o := p.fields(n, "a model")
	r := Rung{Name: o.required("name"), Attempts: o.whole("attempts", 1, 1)}
	if unbounded != "" {
		o.conflict("attempts", "%s", unbounded)
	}
	p.checkModel(o.get("name"), r.Name)
	r.Params = p.params(o)
	o.done()
	return Model{r}
}

// params reads what a model is asked for beside the conversation; nil for
// nothing.
func (p *parser) params(o *object) *model.Params {
	a := &model.Params{
		Temperature: o.within("temperature", 0, 2), TopP: o.within("top_p", 0, 1),
		MaxOutputTokens: o.whole("max_output_tokens", 1, 0), Seed: o.integer("seed"), Stop: p.stops(o),
	}
	if o.has("effort") {
		a.Effort = o.required("effort")
	}
	if n := o.get("response_format"); n != nil {
		if a.NoFormat = n.Kind == yaml.ScalarNode && n.Value == "off"; !a.NoFormat {
			p.report(n, CodeValue, "response_format can only be off: what the phase's output_schema says is sent unless it is")
		}
	}
	a.Extra = p.extra(o)
	if a.String() == "{}" {
		return nil
	}
	return a
}

// stops reads the texts that end an answer, one or several.
func (p *parser) stops(o *object) []string {
	n := o.get("stop")
	if n == nil {
		return nil
	}
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	if len(nodes) == 0 {
		p.report(n, CodeValue, "stop must not be an empty list")
	}
	var texts []string
	for _, e := range nodes {
		switch text, ok := p.text(e, "a text of stop"); {
		case ok && text == "":
			p.report(e, CodeValue, "a text of stop must not be empty")
		case ok:
			texts = append(texts, text)
		}
	}
	return texts
}

// extra reads what is merged into the request's body as it is.
func (p *parser) extra(o *object) model.Extra {
	n := o.get("extra")
	if n == nil {
		return ""
	}
	if n.Kind != yaml.MappingNode {
		p.report(n, CodeType, "extra must be a mapping, not %s", kindOf(n))
		return ""
	}
	text, _ := json.Marshal(p.plain(n, verbatim)) // what is plain is JSON, and of a mapping an object
	extra, _ := model.ExtraOf(text)
	if err := (&model.Params{Extra: extra}).Check(); err != nil {
		p.report(n, CodeValue, "%v", err)
	}
	return extra
}

// checkModel reports a name whose provider there is not.
func (p *parser) checkModel(n *yaml.Node, name string) {
	more := append(slices.Sorted(slices.Values(p.providers)), "scripted", "replay")
	if _, _, err := model.SplitName(name, more...); err != nil {
		p.report(n, CodeValue, "%v", err)
		prefix, rest, _ := strings.Cut(name, ":")
		if rest == "" {
			return
		}
		p.suggest(prefix, func() []string {
			for _, known := range model.Providers() {
				more = append(more, known.Name)
			}
			return more
		})
	}
}

// within is a number from low to high, or nil when it is not there.
func (o *object) within(key string, low, high float64) *float64 {
	n := o.get(key)
	if n == nil {
		return nil
	}
	var f float64
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&f) != nil:
		o.p.report(n, CodeType, "%s must be a number, not %s", key, kindOf(n))
		return nil
	case !(f >= low && f <= high):
		o.p.report(n, CodeValue, "%s must be from %v to %v, not %s", key, low, high, n.Value)
		return nil
	}
	return &f
}

// integer is a whole number, or nil when it is not there.
func (o *object) integer(key string) *int64 {
	n := o.get(key)
	if n == nil {
		return nil
	}
	var i int64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&i) != nil {
		o.p.report(n, CodeType, "%s must be a whole number, not %s", key, kindOf(n))
		return nil
	}
	return &i
}

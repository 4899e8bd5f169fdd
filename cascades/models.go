package cascades

import (
	"encoding/json"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/runner/model"
)

// model reads the model under a key: a name, a mapping, or a list. The models of a list serve
// the attempts in order.
func (p *parser) model(o *reader.Object, key string) Model { return p.models(o, key, "") }

// judgeModels reads the model of a judge or an evaluator. Its models cannot have attempts.
func (p *parser) judgeModels(o *reader.Object, key string) Model {
	return p.models(o, key, "attempts means nothing in "+key+": a judge's fallback list is only for models that give no answer")
}

// models reads the model under a key. If unbounded is not "", it is the reason why the models
// cannot have attempts.
func (p *parser) models(o *reader.Object, key, unbounded string) Model {
	n := o.Get(key)
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return p.candidate(n, key, unbounded)
	}
	if len(n.Content) == 0 {
		p.Error(n, codes.Value, "%s must not be an empty list", key)
	}
	var m Model
	for _, e := range n.Content {
		if e = p.Resolve(e); e.Kind == yaml.ScalarNode && e.Tag == "!!str" && strings.TrimSpace(e.Value) == "" {
			p.Error(e, codes.Value, "a model of a fallback list must not be empty")
			continue
		}
		m = append(m, p.candidate(e, "a model of a fallback list", unbounded)...)
	}
	return m
}

// spread reads a list of models for n tries. If inOrder is true, each try has its own model.
func (p *parser) spread(o *reader.Object, key string, n int, inOrder bool) Model {
	m := Model{}
	unbounded := "attempts means nothing in " + key + ": each model is one try's, for all of its attempts"
	for _, e := range o.List(key) {
		e = p.Resolve(e)
		found := p.candidate(e, "an entry of "+key, unbounded)
		if len(found) == 0 && e.Kind == yaml.ScalarNode {
			p.Error(e, codes.Value, "an entry of %s must not be empty", key)
		}
		m = append(m, found...)
	}
	switch list := o.Get(key); {
	case list != nil && list.Kind == yaml.SequenceNode && len(list.Content) == 0:
		p.Error(list, codes.Value, "%s must not be an empty list", key)
	case inOrder && len(m) > n:
		p.Warn(list, codes.Conflict, "%s has %d models for %d tries: the last %d are never asked", key, len(m), n, len(m)-n)
	}
	if inOrder {
		m = m[:min(len(m), n)]
	}
	return m
}

// candidate reads one model. It returns nil for an empty text, and for a value of another
// type.
func (p *parser) candidate(n *yaml.Node, what, unbounded string) Model {
	if n.Kind != yaml.MappingNode {
		if n.Kind == yaml.SequenceNode {
			p.Error(n, codes.Type, "%s must be text or a mapping, not %s", what, reader.KindOf(n))
			return nil
		}
		name, _ := p.Text(n, what)
		if name == "" {
			return nil
		}
		p.checkModel(n, name)
		return Model{{Name: name, Attempts: 1}}
	}
	o := p.Fields(n, "a model")
	r := Candidate{Name: o.Required("name"), Attempts: o.Whole("attempts", 1, 1)}
	if unbounded != "" {
		o.Conflict("attempts", "%s", unbounded)
	}
	p.checkModel(o.Get("name"), r.Name)
	r.Params = p.params(o)
	o.Done()
	return Model{r}
}

// params reads the parameters of model requests. It returns nil if there are none.
func (p *parser) params(o *reader.Object) *model.Params {
	a := &model.Params{
		Temperature: o.Between("temperature", 0, 2), TopP: o.Between("top_p", 0, 1),
		MaxOutputTokens: o.Whole("max_output_tokens", 1, 0), Seed: o.Integer("seed"), Stop: p.stops(o),
	}
	if o.Has("effort") {
		a.Effort = o.Required("effort")
	}
	if n := o.Get("response_format"); n != nil {
		if a.NoFormat = n.Kind == yaml.ScalarNode && n.Value == "off"; !a.NoFormat {
			p.Error(n, codes.Value, "response_format must be off, or absent to send the phase's output_schema")
		}
	}
	a.Extra = p.extra(o)
	if a.String() == "{}" {
		return nil
	}
	return a
}

// stops reads the stop texts: one text or a list of texts.
func (p *parser) stops(o *reader.Object) []string {
	n := o.Get("stop")
	if n == nil {
		return nil
	}
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	if len(nodes) == 0 {
		p.Error(n, codes.Value, "stop must not be an empty list")
	}
	var texts []string
	for _, e := range nodes {
		switch text, ok := p.Text(e, "a text of stop"); {
		case ok && text == "":
			p.Error(e, codes.Value, "a text of stop must not be empty")
		case ok:
			texts = append(texts, text)
		}
	}
	return texts
}

// extra reads additional fields of the request.
func (p *parser) extra(o *reader.Object) model.Extra {
	n := o.Get("extra")
	if n == nil {
		return ""
	}
	if n.Kind != yaml.MappingNode {
		p.Error(n, codes.Type, "extra must be a mapping, not %s", reader.KindOf(n))
		return ""
	}
	text, _ := json.Marshal(p.Plain(n, reader.Verbatim)) // a plain value is JSON, and a mapping is an object
	extra, _ := model.ExtraOf(text)
	if err := (&model.Params{Extra: extra}).Check(); err != nil {
		p.Error(n, codes.Value, "%v", err)
	}
	return extra
}

// checkModel reports a model name with an unknown provider.
func (p *parser) checkModel(n *yaml.Node, name string) {
	more := append(slices.Sorted(slices.Values(p.providers)), "scripted", "replay")
	if _, _, err := model.SplitName(name, more...); err != nil {
		p.Error(n, codes.Value, "%v", err)
		prefix, rest, _ := strings.Cut(name, ":")
		if rest == "" {
			return
		}
		p.Suggest(prefix, func() []string {
			for _, known := range model.Providers() {
				more = append(more, known.Name)
			}
			return more
		})
	}
}

package cascades

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/spellings"
	"github.com/seed61713e19/capstan/validators/schema"
)

// schema reads a JSON Schema, with everything that is wrong in it at its place, and
// warns of words that JSON Schema does not have and that are near to one it has.
func (p *parser) schema(n *yaml.Node) *schema.Schema {
	before := len(p.found)
	source, file := p.schemaSource(n)
	if len(p.found) > before {
		return nil
	}
	if inner, at := unwrapped(source); at != "" {
		_, value := p.within(n, at)
		p.warn(n, CodeStray, "schema: this is the json_schema of OpenAI's response_format: write what is under %s alone", strings.TrimPrefix(at, "$."))
		source, n = inner, value
	}
	before = len(p.found)
	source = p.bundled(n, source, file)
	if len(p.found) > before {
		return nil
	}
	if file != "" {
		file += ": "
	}
	source, words := schema.Nullable(source)
	for _, s := range words {
		key, _ := p.within(n, schema.Named(s.Path, s.Key))
		p.warn(key, CodeStray, `%sschema %s: "nullable" is a word of OpenAPI 3.0; it is read as type: [TYPE, "null"], so write that`, file, s.Path)
	}
	s, err := p.known.Memo.schema(source)
	if err == nil {
		p.strays(n, source)
		return s
	}
	faults := append(schema.Faults(source), schema.Lost(source)...)
	slices.SortStableFunc(faults, func(a, b schema.Violation) int { return strings.Compare(b.Rule, a.Rule) })
	told := map[*yaml.Node]bool{} // of all that a word may be, the enum says most
	for _, f := range slices.Backward(faults) {
		_, value := p.within(n, f.Path)
		if told[value] {
			continue
		}
		told[value] = true
		p.report(value, CodeSchema, "%sschema %s", file, f)
		if word, ok := value.Value, value.Kind == yaml.ScalarNode; ok && strings.HasSuffix(f.Path, ".type") {
			p.suggest(word, schema.Types)
		}
	}
	if len(faults) == 0 {
		p.report(n, CodeSchema, "%s%v", file, err)
	}
	p.strays(n, source)
	return nil
}

// constraints are words of other validators that look like constraints: methods of Zod
// and Joi, and argparse and Django's choices.
var constraints = map[string]string{
	"min":      "use minimum, minLength or minItems",
	"max":      "use maximum, maxLength or maxItems",
	"length":   "use minLength and maxLength, or minItems and maxItems",
	"regex":    "use pattern",
	"choices":  "use enum",
	"optional": "a property is optional unless required lists it",
}

// strays warns of misspelt words of a schema, and of words that look like constraints.
func (p *parser) strays(n *yaml.Node, source any) {
	keywords := schema.Keywords(source)
	found := schema.Strays(source)
	if asksNothing(source, found, keywords) {
		p.warn(n, CodeStray, "schema: it asks for nothing: in JSON Schema fields stand under properties, {type: object, properties: {…}}")
		return
	}
	for _, s := range found {
		if p.compared += len(keywords); p.compared > maxComparisons {
			return
		}
		key, _ := p.within(n, schema.Named(s.Path, s.Key))
		if word := constraints[s.Key]; word != "" {
			p.warn(key, CodeStray, "schema %s: %q means nothing in JSON Schema: %s", s.Path, s.Key, word)
			continue
		}
		if spellings.Nearest(s.Key, keywords) == "" {
			continue
		}
		p.warn(key, CodeStray, "schema %s: %q means nothing in JSON Schema", s.Path, s.Key)
		p.suggest(s.Key, func() []string { return keywords })
	}
}

// asksNothing tells of a schema of nothing but words that mean nothing, of which none
// is near to one that does: fields, where their schemas must stand.
func asksNothing(source any, found []schema.Stray, keywords []string) bool {
	words, _ := source.(map[string]any)
	left := len(words)
	for _, word := range []string{"title", "description"} { // names of fields as well
		if _, ok := words[word]; ok {
			left--
		}
	}
	top := 0
	for _, s := range found {
		if s.Path == "$" {
			if top++; spellings.Nearest(s.Key, keywords) != "" {
				return false
			}
		}
	}
	return top > 0 && top == left
}

// within finds the value at a path of [schema.Violation] within the one of n, and
// its key where it has one: as far as the path leads there.
func (p *parser) within(n *yaml.Node, path string) (key, value *yaml.Node) {
	at := "$"
	key, value = n, p.resolve(n)
	for at != path {
		next, below, found := "", key, value
		step := func(name string, k, v *yaml.Node) {
			if next == "" && (name == path || strings.HasPrefix(path, name) && strings.ContainsAny(path[len(name):len(name)+1], ".[")) {
				next, below, found = name, k, v
			}
		}
		switch value.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(value.Content); i += 2 {
				step(schema.Named(at, value.Content[i].Value), value.Content[i], value.Content[i+1])
			}
		case yaml.SequenceNode:
			for i, e := range value.Content {
				step(schema.Indexed(at, i), e, e)
			}
		}
		if next == "" {
			return key, value
		}
		at, key, value = next, below, p.resolve(found)
	}
	return key, value
}

// fit reports what of values written out a schema of parameters does not take,
// each at its place; what is a template is known when it is rendered. It tells
// whether there was nothing.
func (p *parser) fit(n *yaml.Node, what string, params map[string]any, with Values) bool {
	before := len(p.found)
	properties, _ := params["properties"].(map[string]any)
	if params["additionalProperties"] == false && n.Kind == yaml.MappingNode {
		for _, name := range slices.Sorted(maps.Keys(with)) {
			if _, ok := properties[name]; !ok {
				key, _ := p.within(n, schema.Named("$", name))
				p.report(key, CodeParameters, "%s has no parameter %q", what, name)
				p.suggest(name, func() []string {
					return slices.DeleteFunc(slices.Sorted(maps.Keys(properties)), func(known string) bool { return with[known] != nil })
				})
			}
		}
	}
	strange := len(p.found) > before
	plain := map[string]any{}
	for name, value := range with {
		if static(value) && properties[name] != nil {
			plain[name], _ = render(value, nil)
		}
	}
	s, _ := p.known.Memo.schema(params) // what a host's tool brings may be none, which asks for nothing
	broken, err := s.Check(nil, plain)
	if err != nil {
		p.report(n, CodeParameters, "%s: %v", what, err)
	}
	for _, b := range broken {
		if (b.Rule == "required" || b.Rule == "anyOf" || b.Rule == "oneOf") && b.Path == "$" && (strange || len(plain) < len(with)) {
			continue // what is misspelt, or a template
		}
		key, value := p.within(n, b.Path)
		p.report(value, CodeParameters, "%s: %s", what, strings.TrimPrefix(strings.TrimPrefix(b.String(), "$: "), "$."))
		if b.Rule == "enum" {
			p.suggest(value.Value, func() []string { return choices(properties[key.Value]) })
		}
	}
	return len(p.found) == before
}

// choices are the texts that a schema lets a value be.
func choices(schema any) (list []string) {
	source, _ := schema.(map[string]any)
	values, _ := source["enum"].([]any)
	for _, v := range values {
		if text, ok := v.(string); ok {
			list = append(list, text)
		}
	}
	return list
}

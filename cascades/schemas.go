package cascades

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/schema"
)

// schema reads a JSON Schema. It reports all of its errors at their places, and warns of
// misspelt keywords.
func (p *parser) schema(n *yaml.Node) *schema.Schema {
	before := len(p.Found)
	source, file := p.schemaSource(n)
	if len(p.Found) > before {
		return nil
	}
	if inner, at := unwrapped(source); at != "" {
		_, value := findings.Within(n, at)
		p.Warn(n, findings.CodeKeyword, "schema: this is the json_schema of OpenAI's response_format: write only the value of %s", strings.TrimPrefix(at, "$."))
		source, n = inner, value
	}
	before = len(p.Found)
	source = p.bundled(n, source, file)
	if len(p.Found) > before {
		return nil
	}
	if file != "" {
		file += ": "
	}
	source, words := schema.Nullable(source)
	for _, s := range words {
		key, _ := findings.Within(n, schema.MemberPath(s.Path, s.Key))
		p.Warn(key, findings.CodeKeyword, `%sschema %s: "nullable" is a word of OpenAPI 3.0; it is read as type: [TYPE, "null"], so write that`, file, s.Path)
	}
	s, err := p.known.Cache.schema(source)
	if err == nil {
		p.facts.Schemas = append(p.facts.Schemas, checks.Schema{Node: n, Source: source})
		return s
	}
	faults := append(schema.Faults(source), schema.BrokenReferences(source)...)
	slices.SortStableFunc(faults, func(a, b schema.Violation) int { return strings.Compare(b.Rule, a.Rule) })
	reported := map[*yaml.Node]bool{} // the report of an enum is the most specific
	for _, f := range slices.Backward(faults) {
		_, value := findings.Within(n, f.Path)
		if reported[value] {
			continue
		}
		reported[value] = true
		p.Error(value, findings.CodeSchema, "%sschema %s", file, f)
		if word, ok := value.Value, value.Kind == yaml.ScalarNode; ok && strings.HasSuffix(f.Path, ".type") {
			p.Suggest(word, schema.Types)
		}
	}
	if len(faults) == 0 {
		p.Error(n, findings.CodeSchema, "%s%v", file, err)
	}
	p.facts.Schemas = append(p.facts.Schemas, checks.Schema{Node: n, Source: source})
	return nil
}

// fit reports the values that a schema of parameters refuses, except templates, which have
// their values later. It returns whether there were none.
func (p *parser) fit(n *yaml.Node, what string, params map[string]any, with Values) bool {
	before := len(p.Found)
	properties, _ := params["properties"].(map[string]any)
	if params["additionalProperties"] == false && n.Kind == yaml.MappingNode {
		for _, name := range slices.Sorted(maps.Keys(with)) {
			if _, ok := properties[name]; !ok {
				key, _ := findings.Within(n, schema.MemberPath("$", name))
				p.Error(key, findings.CodeParameters, "%s has no parameter %q", what, name)
				p.Suggest(name, func() []string {
					return slices.DeleteFunc(slices.Sorted(maps.Keys(properties)), func(known string) bool { return with[known] != nil })
				})
			}
		}
	}
	strange := len(p.Found) > before
	plain := map[string]any{}
	for name, value := range with {
		if static(value) && properties[name] != nil {
			plain[name], _ = render(value, nil)
		}
	}
	s, _ := p.known.Cache.schema(params) // the schema of a host's tool may be invalid, and accepts everything then
	broken, err := s.Check(nil, plain)
	if err != nil {
		p.Error(n, findings.CodeParameters, "%s: %v", what, err)
	}
	for _, b := range broken {
		if (b.Rule == "required" || b.Rule == "anyOf" || b.Rule == "oneOf") && b.Path == "$" && (strange || len(plain) < len(with)) {
			continue // a misspelt name or a template
		}
		key, value := findings.Within(n, b.Path)
		p.Error(value, findings.CodeParameters, "%s: %s", what, strings.TrimPrefix(strings.TrimPrefix(b.String(), "$: "), "$."))
		if b.Rule == "enum" {
			p.Suggest(value.Value, func() []string { return choices(properties[key.Value]) })
		}
	}
	return len(p.Found) == before
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

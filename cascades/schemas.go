package cascades

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
)

// schema reads a JSON Schema. It reports every error at its position, and records the schema
// for the rule about misspelt keywords.
func (p *parser) schema(n *yaml.Node) *schema.Schema {
	before := len(p.Found)
	source, file := p.schemaSource(n)
	if len(p.Found) > before {
		return nil
	}
	if inner, at := unwrapped(source); at != "" {
		_, value := findings.Within(n, at)
		p.Warn(n, codes.Keyword,
			"schema: this is the json_schema of OpenAI's response_format: write only the value of %s", strings.TrimPrefix(at, "$."))
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
		p.Warn(key, codes.Keyword,
			`%sschema %s: "nullable" is a word of OpenAPI 3.0; it is read as type: [TYPE, "null"], so write that`, file, s.Path)
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
		p.Error(value, codes.Schema, "%sschema %s", file, f)
		if word, ok := value.Value, value.Kind == yaml.ScalarNode; ok && strings.HasSuffix(f.Path, ".type") {
			p.Suggest(word, schema.Types)
		}
	}
	if len(faults) == 0 {
		p.Error(n, codes.Schema, "%s%v", file, err)
	}
	p.facts.Schemas = append(p.facts.Schemas, checks.Schema{Node: n, Source: source})
	return nil
}

// fit reports whether a schema of parameters accepts the values. It does not check templates,
// because their values are unknown before a run. A rule reports the rejected values.
func (p *parser) fit(n *yaml.Node, what string, params map[string]any, with Values) bool {
	properties, _ := params["properties"].(map[string]any)
	plain := map[string]any{}
	for name, value := range with {
		if static(value) && properties[name] != nil {
			plain[name], _ = render(value, nil)
		}
	}
	s, _ := p.known.Cache.schema(params) // the schema of a host's tool may be invalid; it then accepts every value
	facts := &checks.Parameters{Node: n, What: what, Params: params, Schema: s, Given: with, Plain: plain}
	p.facts.Parameters = append(p.facts.Parameters, facts)
	return facts.Judge()
}

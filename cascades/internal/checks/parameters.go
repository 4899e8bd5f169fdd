package checks

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
)

// Parameters are the given parameters of a validator or a tool.
type Parameters struct {
	Node   *yaml.Node // the values, or the name of the tool
	What   string     // name in messages, such as "validator contains"
	Params map[string]any
	Schema *schema.Schema // compiled Params; nil if it is invalid, and then accepts everything
	Given  map[string]any // all values, including templates, which a run renders
	Plain  map[string]any // known values of Given, without templates

	unknown []string
	broken  []schema.Violation
	err     error
}

// Judge finds the values that the schema rejects, and reports whether the schema accepts all
// values.
func (p *Parameters) Judge() bool {
	if p.Params["additionalProperties"] == false && p.Node.Kind == yaml.MappingNode {
		p.unknown = slices.DeleteFunc(slices.Sorted(maps.Keys(p.Given)),
			func(name string) bool { _, known := p.properties()[name]; return known })
	}
	p.broken, p.err = p.Schema.Check(nil, p.Plain)
	p.broken = slices.DeleteFunc(p.broken, func(b schema.Violation) bool { // a misspelt name or a template
		return (b.Rule == "required" || b.Rule == "anyOf" || b.Rule == "oneOf") && b.Path == "$" && (len(p.unknown) > 0 || len(p.Plain) < len(p.Given))
	})
	return len(p.unknown) == 0 && p.err == nil && len(p.broken) == 0
}

func (p *Parameters) properties() map[string]any {
	properties, _ := p.Params["properties"].(map[string]any)
	return properties
}

// parameters reports the values that a schema of parameters rejects.
func parameters(c *Cascade, r *findings.Report) {
	for _, p := range c.Parameters {
		for _, name := range p.unknown {
			key, _ := findings.Within(p.Node, schema.MemberPath("$", name))
			r.Error(key, codes.Parameters, "%s has no parameter %q", p.What, name)
			r.Suggest(name, func() []string {
				return slices.DeleteFunc(slices.Sorted(maps.Keys(p.properties())), func(known string) bool { return p.Given[known] != nil })
			})
		}
		if p.err != nil {
			r.Error(p.Node, codes.Parameters, "%s: %v", p.What, p.err)
		}
		for _, b := range p.broken {
			key, value := findings.Within(p.Node, b.Path)
			r.Error(value, codes.Parameters, "%s: %s", p.What, strings.TrimPrefix(strings.TrimPrefix(b.String(), "$: "), "$."))
			if b.Rule == "enum" {
				r.Suggest(value.Value, func() []string { return choices(p.properties()[key.Value]) })
			}
		}
	}
}

// choices returns the texts that a schema allows for a value.
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

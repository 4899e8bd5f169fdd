package checks

import (
	"maps"
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A Field is a field of the output of a phase, which a template or an expression reads.
type Field struct {
	Phase string
	Path  []string
	At    func() syntax.Position
}

// fields warns about fields that an output cannot have, because its schema is closed.
func fields(c *Cascade, r *findings.Report) {
	schemas := map[string]*schema.Schema{}
	for _, p := range c.Phases {
		if p.Schema != nil {
			schemas[p.Name] = p.Schema
		}
	}
	for _, f := range c.Fields {
		s := schemas[f.Phase]
		if s == nil {
			continue
		}
		if field, known := missing(s.Source(), f.Path); field == f.Path[len(f.Path)-1] { // another field has its own read
			r.WarnAt(f.At(), codes.Field, "the output_schema of phase %s has no %q, and no room for it", f.Phase, field)
			r.Suggest(field, func() []string { return known })
		}
	}
}

// missing returns the first name of a path that a schema does not allow, and the names that
// the schema allows instead. It returns "" if another keyword of the schema may allow the
// name.
func missing(source any, path []string) (name string, known []string) {
	for _, name := range path {
		object, _ := source.(map[string]any)
		properties, listed := object["properties"].(map[string]any)
		for _, word := range []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"} {
			if object[word] != nil {
				return "", nil
			}
		}
		below, declared := properties[name]
		switch {
		case !declared && listed && object["additionalProperties"] == false:
			return name, slices.Sorted(maps.Keys(properties))
		case !declared:
			return "", nil
		}
		source = below
	}
	return "", nil
}

package checks

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/findings"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/spellings"
)

// A Schema is a JSON Schema of the file.
type Schema struct {
	Node   *yaml.Node
	Source any
}

// constraints contains words that look like constraints of JSON Schema, with the keywords to
// use. They are methods of Zod and Joi, and choices of argparse and Django.
var constraints = map[string]string{
	"min":      "use minimum, minLength or minItems",
	"max":      "use maximum, maxLength or maxItems",
	"length":   "use minLength and maxLength, or minItems and maxItems",
	"regex":    "use pattern",
	"choices":  "use enum",
	"optional": "a property is optional unless required lists it",
}

// keywords warns about misspelt keywords of JSON Schema, and about words that look like
// constraints.
func keywords(c *Cascade, r *findings.Report) {
	for _, s := range c.Schemas {
		s.keywords(r)
	}
}

func (s Schema) keywords(r *findings.Report) {
	known := schema.Keywords(s.Source)
	found := schema.UnknownKeys(s.Source)
	if s.isEmpty(found, known) {
		r.Warn(s.Node, codes.Keyword,
			"schema: it asks for nothing: in JSON Schema fields stand under properties, {type: object, properties: {…}}")
		return
	}
	for _, u := range found {
		if !r.Compare(len(known)) {
			return
		}
		key, _ := findings.Within(s.Node, schema.MemberPath(u.Path, u.Key))
		if advice := constraints[u.Key]; advice != "" {
			r.Warn(key, codes.Keyword, "schema %s: %q means nothing in JSON Schema: %s", u.Path, u.Key, advice)
			continue
		}
		if spellings.Nearest(u.Key, known) == "" {
			continue
		}
		r.Warn(key, codes.Keyword, "schema %s: %q means nothing in JSON Schema", u.Path, u.Key)
		r.Suggest(u.Key, func() []string { return known })
	}
}

// isEmpty reports whether the schema only has unknown keys that are not similar to known ones.
// For example, the author may have forgotten the key properties.
func (s Schema) isEmpty(found []schema.UnknownKey, known []string) bool {
	words, _ := s.Source.(map[string]any)
	left := len(words)
	for _, word := range []string{"title", "description"} { // may also be names of fields
		if _, ok := words[word]; ok {
			left--
		}
	}
	top := 0
	for _, u := range found {
		if u.Path == "$" {
			if top++; spellings.Nearest(u.Key, known) != "" {
				return false
			}
		}
	}
	return top > 0 && top == left
}

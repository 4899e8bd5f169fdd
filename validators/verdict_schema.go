package validators

import (
	"sync"

	"github.com/seed61713e19/capstan/validators/schema"
)

// VerdictSchema is the JSON Schema of a verdict's must: what a model is asked
// to answer with where the endpoint takes schemas.
func VerdictSchema() map[string]any {
	return map[string]any{
		"type":     "object",
		"required": []any{"valid", "reason"},
		"properties": map[string]any{
			"valid":  map[string]any{"type": "boolean"},
			"reason": map[string]any{"type": "string"},
		},
	}
}

// verdictLike finds a verdict among the JSON of a text: "true" alone is one.
var verdictLike = sync.OnceValue(func() *schema.Schema {
	s, err := schema.Compile(map[string]any{
		"anyOf": []any{
			map[string]any{"const": true},
			map[string]any{"type": "object", "required": []any{"valid"}, "properties": map[string]any{"valid": map[string]any{"type": "boolean"}}},
		},
	})
	if err != nil {
		panic(err)
	}
	return s
})

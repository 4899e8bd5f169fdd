package batch

import (
	"github.com/seed61713e19/capstan/internal/schema"
)

// DatasetSchema returns the JSON Schema of a row in JSON Lines, as a plain value.
func DatasetSchema() map[string]any {
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A row of a set",
		"description": "The inputs of one run by their names. In CSV the first row names them.",
		"type":        "object",
		"properties": map[string]any{
			"expect": map[string]any{
				"description": "What the output should be: a value, or an expression about it. Where the cascade has an input of this name it is that.",
				"anyOf": []any{
					map[string]any{"type": "object", "properties": map[string]any{"expr": map[string]any{"type": "string"}}, "required": []any{"expr"}, "additionalProperties": false},
					map[string]any{"type": "object", "properties": map[string]any{"value": true}, "required": []any{"value"}, "additionalProperties": false},
					true,
				},
			},
			"input": map[string]any{"description": "With nothing but expect beside it, the object of the inputs."},
		},
	}
}

// ResultSchema returns the JSON Schema of a line of results, as a plain value.
func ResultSchema() map[string]any { return schema.For[Outcome]() }

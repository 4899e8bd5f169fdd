package batch

// SetSchema is the JSON Schema of a row of a set in JSON Lines, as a plain value.
func SetSchema() map[string]any {
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

// ResultSchema is the JSON Schema of a line of results, as a plain value.
func ResultSchema() map[string]any {
	whole := func(says string) map[string]any {
		return map[string]any{"type": "integer", "minimum": 0, "description": says}
	}
	text := func(says string) map[string]any { return map[string]any{"type": "string", "description": says} }
	return map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A result of a batch",
		"type": "object", "required": []any{"row", "line", "status", "output", "usage", "seconds", "error"},
		"properties": map[string]any{
			"row": whole("from 1"), "line": whole("of the set, where the row begins, from 1"), "time": whole("from 1, where every row is done more than once"),
			"run_id":   text("the run that is kept; not there where there is none"),
			"status":   map[string]any{"enum": []any{"succeeded", "blocked", "exhausted", "failed", "waiting", "over_budget", "cancelled"}},
			"output":   map[string]any{"description": "null unless succeeded"},
			"expected": map[string]any{"type": "boolean", "description": "whether the output is what the row expects; not there where that is not known"},
			"degraded": map[string]any{"type": "boolean", "description": "the output did not pass every check"},
			"usage": map[string]any{"type": "object", "properties": map[string]any{
				"model_calls": whole(""), "input_tokens": whole(""), "output_tokens": whole(""), "cost_usd": map[string]any{"type": "number"},
			}},
			"seconds": map[string]any{"type": "number"},
			"error": map[string]any{"type": []any{"object", "null"}, "properties": map[string]any{
				"code": text("that of the run, or unreadable"), "phase": text(""), "message": text(""),
				"position": map[string]any{"type": "object", "description": "of what ended the run in its file; not there where it has no place there"},
			}},
			"other_columns": text("how the row's columns differ from the first row's"),
		},
	}
}

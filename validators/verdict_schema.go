package validators

// VerdictSchema is the JSON Schema of a judge's verdict: what a model is asked
// to answer with where the endpoint takes schemas. It is one that endpoints can
// enforce word by word: every object closed, every key required, null for none.
func VerdictSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return closed(map[string]any{
		"valid":  map[string]any{"type": "boolean"},
		"reason": text,
		"score":  map[string]any{"type": []any{"number", "null"}},
		"issues": map[string]any{"type": "array", "items": closed(map[string]any{
			"check": text, "severity": map[string]any{"enum": []any{"error", "warning"}}, "message": text, "location": text,
		}, "check", "severity", "message", "location")},
	}, "valid", "reason", "score", "issues")
}

// closed is the schema of an object that has these keys and no others.
func closed(properties map[string]any, required ...any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

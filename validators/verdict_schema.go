package validators

// VerdictSchema returns the JSON Schema of a judge's verdict, for endpoints
// that enforce schemas. It uses only what endpoints can enforce: every object
// is closed, every key is required, and null replaces a missing value.
func VerdictSchema() map[string]any {
	text := map[string]any{"type": "string"}
	return closedObject(map[string]any{
		"valid":  map[string]any{"type": "boolean"},
		"reason": text,
		"score":  map[string]any{"type": []any{"number", "null"}},
		"issues": map[string]any{"type": "array", "items": closedObject(map[string]any{
			"check": text, "severity": map[string]any{"enum": []any{"error", "warning"}}, "message": text, "location": text,
		}, "check", "severity", "message", "location")},
	}, "valid", "reason", "score", "issues")
}

// closedObject returns the schema of an object that has exactly these keys.
func closedObject(properties map[string]any, required ...any) map[string]any {
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

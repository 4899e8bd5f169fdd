package mcpserver

import (
	"bytes"
	"encoding/json"
)

// cleaned removes secrets from the texts of a message, and keeps its JSON valid.
func cleaned(message []byte, clean func(string) string) []byte {
	d := json.NewDecoder(bytes.NewReader(message))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil {
		return message
	}
	for _, part := range []string{"params", "result", "error"} {
		if value, ok := m[part]; ok {
			m[part] = scrubbed(value, clean)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return message
	}
	return out
}

func scrubbed(value any, clean func(string) string) any {
	switch value := value.(type) {
	case string:
		return clean(value)
	case json.Number:
		if text := clean(value.String()); text != value.String() {
			return text
		}
	case []any:
		for i := range value {
			value[i] = scrubbed(value[i], clean)
		}
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, v := range value {
			out[clean(key)] = scrubbed(v, clean)
		}
		return out
	}
	return value
}

package mcpserver

import (
	"bytes"
	"encoding/json"
)

// cleaned is a message without secrets. They are taken out of its texts, not of
// its JSON: a secret may look like a part of that.
func cleaned(told []byte, clean func(string) string) []byte {
	d := json.NewDecoder(bytes.NewReader(told))
	d.UseNumber()
	var m map[string]any
	if d.Decode(&m) != nil {
		return told
	}
	for _, part := range []string{"params", "result", "error"} {
		if value, ok := m[part]; ok {
			m[part] = scrubbed(value, clean)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return told
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

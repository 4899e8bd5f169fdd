package openai

import (
	"slices"
	"strings"
)

// formatName converts the name of a phase to a name that endpoints accept: up
// to 64 letters,
// digits, _ and -.
func formatName(phase string) string {
	name := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, phase)
	if name == "" {
		return "answer"
	}
	return name[:min(len(name), 64)]
}

// The limits of strict schemas, from OpenAI's guide to structured outputs.
const (
	strictDepth      = 10
	strictProperties = 5000
)

// strictWords are the keywords of a strict schema, without those that contain
// schemas.
// strictFormats are the values of format.
var (
	strictWords = []string{"type", "description", "title", "enum", "const", "required", "additionalProperties", "$ref", "$schema",
		"pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems"}
	strictFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)

// strict reports whether a schema is in the subset of strict endpoints. The
// root is an object. All objects are closed and require all properties. Every
// keyword is supported.
func strict(schema any) bool {
	root, ok := schema.(map[string]any)
	if !ok || root["type"] != "object" || root["anyOf"] != nil {
		return false
	}
	properties := strictProperties
	return strictSchema(root, strictDepth, &properties)
}

func strictSchema(schema any, depth int, properties *int) bool {
	s, ok := schema.(map[string]any)
	if !ok || depth < 0 {
		return false
	}
	for word, value := range s {
		switch {
		case word == "properties", word == "$defs":
			if !eachStrict(value, depth-1, properties) {
				return false
			}
		case word == "items":
			if !strictSchema(value, depth-1, properties) {
				return false
			}
		case word == "anyOf":
			list, ok := value.([]any)
			if !ok || slices.ContainsFunc(list, func(v any) bool { return !strictSchema(v, depth-1, properties) }) {
				return false
			}
		case !strictWord(word, value):
			return false
		}
	}
	return s["properties"] == nil && s["type"] != "object" || closed(s)
}

// strictWord reports whether a keyword without schemas is supported.
func strictWord(word string, value any) bool {
	if word == "format" {
		name, _ := value.(string)
		return slices.Contains(strictFormats, name)
	}
	return slices.Contains(strictWords, word)
}

// eachStrict reports whether all schemas in a map are strict.
func eachStrict(value any, depth int, properties *int) bool {
	all, ok := value.(map[string]any)
	if *properties -= len(all); !ok || *properties < 0 {
		return false
	}
	for _, v := range all {
		if !strictSchema(v, depth, properties) {
			return false
		}
	}
	return true
}

// closed reports whether an object allows only its own properties and requires
// all of them.
func closed(s map[string]any) bool {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if s["additionalProperties"] != false || len(required) != len(properties) {
		return false
	}
	for _, name := range required {
		text, _ := name.(string)
		if _, ok := properties[text]; !ok {
			return false
		}
	}
	return true
}

package lsp

import (
	"slices"
	"strings"
)

// The grammar declares an output_schema and an input as a JSON Schema without
// details.

// schemaAt reports whether the value at a path of a cascade is a JSON Schema.
func schemaAt(path []string) bool {
	within := -1
	for i, name := range path {
		if name == "output_schema" || i == 1 && path[0] == "inputs_schema" || i >= 2 && (name == "schema" || name == "parameters" && path[0] == "tools") {
			within = i
			break
		}
	}
	return within >= 0 && schemaWithin(path[within+1:])
}

// schemaWithin reports whether the value at a path of a JSON Schema is a JSON
// Schema.
func schemaWithin(path []string) bool {
	if len(path) == 0 {
		return true
	}
	switch word := path[0]; {
	case slices.Contains([]string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}, word),
		slices.Contains([]string{"anyOf", "oneOf", "allOf", "prefixItems"}, word):
		return len(path) > 1 && schemaWithin(path[2:])
	case word == "items" && len(path) > 1 && strings.HasPrefix(path[1], "["):
		return schemaWithin(path[2:])
	case slices.Contains([]string{"items", "not", "if", "then", "else", "contains", "additionalProperties", "unevaluatedProperties", "propertyNames"}, word):
		return schemaWithin(path[1:])
	}
	return false
}

package lsp

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A grammar is the JSON Schema of cascade files.
type grammar struct{ root map[string]any }

func newGrammar() (grammar, error) {
	source, err := schema.Parse(cascades.JSONSchema())
	if err != nil {
		return grammar{}, err
	}
	root, _ := source.(map[string]any)
	return grammar{root}, nil
}

// at returns every schema that can apply to a path.
func (g grammar) at(path []string) []map[string]any {
	here := g.spread(g.root, nil)
	for _, name := range path {
		var next []map[string]any
		for _, s := range here {
			if strings.HasPrefix(name, "[") {
				next = g.spread(s["items"], next)
				continue
			}
			properties, _ := s["properties"].(map[string]any)
			if below, ok := properties[name]; ok {
				next = g.spread(below, next)
			} else {
				next = g.spread(s["additionalProperties"], next)
			}
		}
		here = next
	}
	return here
}

// spread adds a schema with the schemas that it references and its
// alternatives.
func (g grammar) spread(raw any, to []map[string]any) []map[string]any {
	s, ok := raw.(map[string]any)
	if !ok || len(to) > 200 {
		return to
	}
	to = append(to, s)
	if ref, _ := s["$ref"].(string); ref != "" {
		definitions, _ := g.root["$defs"].(map[string]any)
		to = g.spread(definitions[strings.TrimPrefix(ref, "#/$defs/")], to)
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := s[word].([]any)
		for _, one := range list {
			to = g.spread(one, to)
		}
	}
	return to
}

// keys returns the keys that a mapping at a path can have, with their
// descriptions.
func (g grammar) keys(path []string) map[string]string {
	all := map[string]string{}
	for _, s := range g.at(path) {
		properties, _ := s["properties"].(map[string]any)
		for name := range properties {
			if all[name] == "" {
				all[name] = g.about(append(slices.Clip(path), name))
			}
		}
	}
	return all
}

// about returns the description of a key, or "".
func (g grammar) about(path []string) string {
	for _, s := range g.at(path) {
		if words, _ := s["description"].(string); words != "" {
			return words
		}
	}
	return ""
}

// values returns the words that the value at a path can have.
func (g grammar) values(path []string) []string {
	var words []string
	add := func(v any) {
		if word, ok := v.(string); ok && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	for _, s := range g.at(path) {
		add(s["const"])
		list, _ := s["enum"].([]any)
		for _, v := range list {
			add(v)
		}
		if s["type"] == "boolean" {
			add("true")
			add("false")
		}
	}
	return words
}

// A kind is the kind of a name.
type kind string

const (
	phases      kind = "phase"
	validations kind = "validator"
	toolNames   kind = "tool"
	inputs      kind = "input"
	models      kind = "model"
	filesNamed  kind = "file"
)

// named returns the kinds of names that the value at a path can be.
func named(path []string) []kind {
	name, up := "", ""
	for _, word := range slices.Backward(path) {
		switch {
		case strings.HasPrefix(word, "["):
		case name == "":
			name = word
		case up == "":
			up = word
		}
	}
	entry := len(path) > 0 && strings.HasPrefix(path[len(path)-1], "[")
	switch {
	case entry && name == "handoffs", entry && name == "from", !entry && slices.Contains([]string{"target", "on_exhausted", "on_error", "on_expired"}, name):
		return []kind{phases}
	case entry && name == "tackle", entry && name == "tools" && up != "":
		return []kind{toolNames}
	case entry && name == "models", !entry && (name == "model" || name == "evaluator_model"), name == "name" && (up == "model" || up == "models"):
		return []kind{models}
	case entry:
		return nil
	case name == "validator" || name == "loop_until" || name == "use":
		return []kind{validations}
	case name == "tool":
		return []kind{toolNames, validations}
	case name == "ref" || name == "cascade":
		return []kind{filesNamed}
	}
	return nil
}

// defines returns the kind of name that a token defines, or "".
func defines(t token) kind {
	p := t.path
	switch {
	case t.key && len(p) == 1 && p[0] == "validators":
		return validations
	case t.key && len(p) == 1 && p[0] == "tools":
		return toolNames
	case t.key && len(p) == 1 && p[0] == "inputs_schema":
		return inputs
	case !t.key && len(p) == 3 && p[0] == "phases" && p[2] == "name", !t.key && len(p) == 5 && p[2] == "together" && p[4] == "name":
		return phases
	}
	return ""
}

// A notation is the language of a text: a template, an expression or plain
// text.
type notation int

const (
	plainText notation = iota
	templateText
	expressionText
)

var templated = []string{"system", "instructions", "compose", "judge", "turn_prompt", "retry_instructions", "loop_until_prompt", "prompt", "evaluator_instructions", "in"}

func notationOf(t token) notation {
	switch {
	case t.key:
		return plainText
	case t.name() == "expr" || t.name() == "when":
		return expressionText
	case slices.Contains(templated, t.name()):
		return templateText
	}
	for _, word := range t.path[:max(0, len(t.path)-1)] {
		if word == "inputs" || word == "input_map" || word == "with" {
			return templateText
		}
	}
	return plainText
}

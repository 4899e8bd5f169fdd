package lsp

import (
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A grammar is the JSON Schema of cascade files, looked into by paths.
type grammar struct{ root map[string]any }

func newGrammar() (grammar, error) {
	source, err := schema.Parse(cascades.JSONSchema())
	if err != nil {
		return grammar{}, err
	}
	root, _ := source.(map[string]any)
	return grammar{root}, nil
}

// at gives every schema that may hold for a path.
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

// spread adds a schema and those that it refers to or chooses from.
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

// keys are those that may stand at a path, each with what it means.
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

// about is what a key means, "" where the schema does not say.
func (g grammar) about(path []string) string {
	for _, s := range g.at(path) {
		if words, _ := s["description"].(string); words != "" {
			return words
		}
	}
	return ""
}

// values are the words that may stand at a path.
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

// A kind is what a name is the name of.
type kind string

const (
	phases      kind = "phase"
	validations kind = "validator"
	toolNames   kind = "tool"
	inputs      kind = "input"
	models      kind = "model"
	filesNamed  kind = "file"
)

// named are the kinds of names that stand as a value at a path.
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

// defines tells what a token gives a name to, "" where it does not.
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

// A writing is how a text is read: as a template, as an expression, or as it is.
type writing int

const (
	asIs writing = iota
	asTemplate
	asExpression
)

var templated = []string{"system", "instructions", "compose", "judge", "turn_prompt", "retry_instructions", "loop_until_prompt", "prompt", "evaluator_instructions", "in"}

func written(t token) writing {
	switch {
	case t.key:
		return asIs
	case t.name() == "expr" || t.name() == "when":
		return asExpression
	case slices.Contains(templated, t.name()):
		return asTemplate
	}
	for _, word := range t.path[:max(0, len(t.path)-1)] {
		if word == "inputs" || word == "input_map" || word == "with" {
			return asTemplate
		}
	}
	return asIs
}

package cascades

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/cascades/windlass"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
)

//go:embed cascade.schema.json
var jsonSchema []byte

// links finds where a sentence leads within the pages, which only these can follow.
var links = patterns.Lazy(`\[([^\]"]*)\]\((?:#|[\w./-]+\.md)[^)"]*\)`)

// published is the schema without what is said for those who write it: the editions
// and the cases, each a line.
var published = sync.OnceValue(func() []byte {
	var out []byte
	for line := range bytes.Lines(jsonSchema) {
		if !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte(`"$comment"`)) {
			out = append(out, line...)
		}
	}
	return links().ReplaceAll(out, []byte("$1"))
})

// JSONSchema is the JSON Schema (2020-12) of cascade files, for editors: every
// key with what it means, the values it may have and its default. Of names it
// says that there is one, see [JSONSchemaOf].
func JSONSchema() []byte { return bytes.Clone(published()) }

// JSONSchemaOf is [JSONSchema] with the names of what is known, each with what it
// is, and with the parameters of each validator under its with. Any other name
// may stand there too: files give names of their own. It is valid in the strict
// mode of ajv. What needs more than the file alone, such as whether a phase of
// that name exists, only [Parse] can tell.
func JSONSchemaOf(known Known) ([]byte, error) {
	source, _ := schema.Parse(published()) // it is this package's own
	root, _ := source.(map[string]any)
	definitions, _ := root["$defs"].(map[string]any)
	var gates, tools []any
	var parameters, arguments []any
	for _, v := range known.Validators.List() {
		gates = append(gates, constant(v.Name, v.Description))
		parameters = append(parameters, parametersOf(v)...)
		arguments = append(arguments, argumentsOf(v.Name, v.Params()))
	}
	for _, t := range slices.Concat(known.Tools.List(), EngineTools()) {
		tools = append(tools, constant(t.Name, t.Description))
		if !t.Remote() {
			arguments = append(arguments, argumentsOf(t.Name, t.Params()))
		}
	}
	for name, words := range map[string][]any{"validator_name": gates, "builtin_name": gates, "tool_name": tools, "worker_name": slices.Concat(tools, gates)} {
		one, _ := definitions[name].(map[string]any)
		open, _ := one["anyOf"].([]any)
		one["anyOf"] = slices.Concat(words, open)
	}
	for name, list := range map[string][]any{"parameters": parameters, "arguments": arguments} {
		one, _ := definitions[name].(map[string]any)
		one["allOf"] = list
	}
	definitions["rendered"] = rendered()
	return json.MarshalIndent(root, "", "  ")
}

func constant(name, description string) any {
	return map[string]any{"const": name, "description": description}
}

// parametersOf are the rules for what stands under the with of a validator. Where
// the file defines a validator of that name none may stand there at all, so that
// they hold for any with beside the name.
func parametersOf(v validators.Validator) []any {
	then := mapping(map[string]any{"with": withTemplates(v.Params())})
	rules := []any{map[string]any{
		"if":   map[string]any{"anyOf": []any{named("validator", v.Name, "with"), named("use", v.Name, "with")}},
		"then": then,
	}}
	if needed, _ := v.Params()["required"].([]any); len(needed) > 0 && windlass.Judge(v.Name) == "" { // one of Windlass's is a judge without parameters
		rules = append(rules, map[string]any{"if": named("use", v.Name), "then": mapping(map[string]any{"with": true}, "with")})
	}
	return rules
}

// argumentsOf tells what the inputs of a phase may have where it runs the tool or
// the validator. It refuses nothing: a file may define another one of that name.
func argumentsOf(name string, params map[string]any) any {
	told := map[string]any{}
	properties, _ := params["properties"].(map[string]any)
	for key, one := range properties {
		property, _ := one.(map[string]any)
		told[key] = true
		if about, _ := property["description"].(string); about != "" {
			told[key] = map[string]any{"description": about}
		}
	}
	inputs := map[string]any{"type": "object", "properties": told}
	return map[string]any{"if": named("tool", name, "inputs"), "then": mapping(map[string]any{"inputs": inputs})}
}

// named is the schema of an object with a key that is a name, and with others.
func named(key, name string, others ...string) map[string]any {
	properties := map[string]any{key: map[string]any{"const": name}}
	for _, other := range others {
		properties[other] = true
	}
	return mapping(properties, append([]string{key}, others...)...)
}

func mapping(properties map[string]any, required ...string) map[string]any {
	o := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// withTemplates is the schema of parameters of which each may be a template, or
// have one in it: what it gives is known when it is rendered.
func withTemplates(params map[string]any) map[string]any {
	own := maps.Clone(params)
	properties, _ := params["properties"].(map[string]any)
	loose := map[string]any{}
	for name, one := range properties {
		property, _ := one.(map[string]any)
		choice := map[string]any{"anyOf": []any{one, map[string]any{"$ref": "#/$defs/rendered"}}}
		if about, _ := property["description"].(string); about != "" {
			choice["description"] = about
		}
		loose[name] = choice
	}
	if len(loose) > 0 {
		own["properties"] = loose
	}
	return own
}

// rendered is the schema of a text that is a template, and of lists and objects
// with one in them.
func rendered() any {
	self := map[string]any{"$ref": "#/$defs/rendered"}
	return map[string]any{
		"description": "A value with a template in it.",
		"anyOf": []any{
			map[string]any{"type": "string", "pattern": `\{[{%#]`},
			map[string]any{"type": "array", "contains": self},
			map[string]any{"type": "object", "not": map[string]any{"type": "object", "additionalProperties": map[string]any{"not": self}}},
		},
	}
}

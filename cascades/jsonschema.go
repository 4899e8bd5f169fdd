package cascades

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/windlass"
	"github.com/seed61713e19/capstan/validators"
)

//go:embed cascade.schema.json
var jsonSchema []byte

// published returns the schema without the editions. Only authors of the schema need them.
var published = sync.OnceValue(func() []byte {
	var out []byte
	for line := range bytes.Lines(jsonSchema) {
		if !bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte(`"$comment"`)) {
			out = append(out, line...)
		}
	}
	return out
})

// JSONSchema returns the JSON Schema (2020-12) of cascade files for editors. It
// describes every key with its values and its default. It accepts any name of a
// tool or a validator. [JSONSchemaOf] adds the known names.
func JSONSchema() []byte { return bytes.Clone(published()) }

// JSONSchemaOf returns [JSONSchema] with the known names, their descriptions and
// the parameters of each validator. Other names are valid too, because files
// define names. The schema is valid in the strict mode of ajv. Only [Parse] checks
// references, such as the names of phases.
func JSONSchemaOf(known Known) ([]byte, error) {
	source, _ := schema.Parse(published()) // the schema of this package is valid
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
		definition, _ := definitions[name].(map[string]any)
		open, _ := definition["anyOf"].([]any)
		definition["anyOf"] = slices.Concat(words, open)
	}
	for name, list := range map[string][]any{"parameters": parameters, "arguments": arguments} {
		definition, _ := definitions[name].(map[string]any)
		definition["allOf"] = list
	}
	definitions["rendered"] = rendered()
	return json.MarshalIndent(root, "", "  ")
}

func constant(name, description string) any {
	return map[string]any{"const": name, "description": description}
}

// parametersOf returns the rules for the parameters of a validator in the key with.
// The rules apply to every validator with the name. A validator that a file defines
// has no parameters in its uses, so that the rules cannot reject them.
func parametersOf(v validators.Validator) []any {
	then := mapping(map[string]any{"with": withTemplates(v.Params())})
	rules := []any{map[string]any{
		"if":   map[string]any{"anyOf": []any{named("validator", v.Name, "with"), named("use", v.Name, "with")}},
		"then": then,
	}}
	_, judge := windlass.Find("judge", v.Name) // without parameters
	if needed, _ := v.Params()["required"].([]any); len(needed) > 0 && !judge {
		rules = append(rules, map[string]any{"if": named("use", v.Name), "then": mapping(map[string]any{"with": true}, "with")})
	}
	return rules
}

// argumentsOf returns the schema of the inputs of a phase that runs the tool or validator. It
// rejects no inputs, because a file may redefine the name.
func argumentsOf(name string, params map[string]any) any {
	described := map[string]any{}
	properties, _ := params["properties"].(map[string]any)
	for key, value := range properties {
		property, _ := value.(map[string]any)
		described[key] = true
		if about, _ := property["description"].(string); about != "" {
			described[key] = map[string]any{"description": about}
		}
	}
	inputs := map[string]any{"type": "object", "properties": described}
	return map[string]any{"if": named("tool", name, "inputs"), "then": mapping(map[string]any{"inputs": inputs})}
}

// named returns the schema of an object with a name under a key. The object must
// also have the keys in others.
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

// withTemplates returns a schema of parameters that also accepts templates, because
// their values are only known at run time.
func withTemplates(params map[string]any) map[string]any {
	own := maps.Clone(params)
	properties, _ := params["properties"].(map[string]any)
	loose := map[string]any{}
	for name, value := range properties {
		property, _ := value.(map[string]any)
		choice := map[string]any{"anyOf": []any{value, map[string]any{"$ref": "#/$defs/rendered"}}}
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

// rendered returns the schema of a template, or of a list or object with a
// template in it.
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

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// forms are those of types that JSON has otherwise than what they are made of.
var forms = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[json.Number]():     {Type: "number"},
	reflect.TypeFor[[]byte]():          {Types: []string{"null", "string"}, ContentEncoding: "base64"},
}

// For gives the JSON Schema of the parameters type P as a plain value: names
// from its json tags, descriptions from its jsonschema tags, required where a
// field is not omitempty, no other keys allowed. It panics where P cannot be
// described, which is a mistake in the program.
func For[P any]() map[string]any {
	s, err := jsonschema.For[P](&jsonschema.ForOptions{TypeSchemas: forms})
	if err != nil {
		panic(fmt.Sprintf("parameters %T: %v", *new(P), err))
	}
	v, err := Plain(s)
	if err != nil {
		panic(fmt.Sprintf("parameters %T: %v", *new(P), err))
	}
	m, ok := v.(map[string]any)
	if !ok {
		return map[string]any{"type": "object"}
	}
	return m
}

// Decode turns a plain value into P strictly: an unknown key or a value of the
// wrong type is an error that names it. What is any in P is a plain value. An
// integer may be written 5.0, as in JSON Schema.
func Decode[P any](value any) (P, error) {
	p, err := decode[P](value, true)
	if err != nil {
		return p, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return p, nil
}

// As is [Decode] that passes over unknown keys. Its error is that of
// encoding/json.
func As[P any](value any) (P, error) { return decode[P](value, false) }

func decode[P any](value any, strict bool) (P, error) {
	p, err := encoded[P](value, strict)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if again, err := encoded[P](wholes(value), strict); err == nil {
			return again, nil
		}
	}
	return p, err
}

func encoded[P any](value any, strict bool) (p P, err error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = unmarshal(text, &p, strict)
	}
	return p, err
}

// wholes is a value with all whole numbers in it as integers.
func wholes(v any) any {
	return copied(v, func(v any) any {
		if i, ok := Whole(v); ok {
			return i
		}
		return v
	})
}

// Params is the strict door to parameters: the schema of a type, checked and
// decoded in one go.
type Params[P any] struct {
	schema map[string]any
	check  *Schema
}

// NewParams describes and compiles P's schema.
func NewParams[P any]() *Params[P] {
	source := For[P]()
	check, err := Compile(source)
	if err != nil {
		panic(fmt.Sprintf("parameters %T: %v", *new(P), err))
	}
	return &Params[P]{schema: source, check: check}
}

// Schema is P's JSON Schema as a plain value.
func (p *Params[P]) Schema() map[string]any { return p.schema }

// Read checks value against the schema and decodes it. An error lists every
// violation.
func (p *Params[P]) Read(value map[string]any) (P, error) {
	if value == nil {
		value = map[string]any{}
	}
	var zero P
	if err := p.check.Refusal(nil, value); err != nil {
		return zero, err
	}
	return Decode[P](value)
}

// Without is the schema of an object but for some properties.
func Without(params map[string]any, names []string) map[string]any {
	rest := maps.Clone(params)
	properties, _ := params["properties"].(map[string]any)
	properties = maps.Clone(properties)
	required, _ := params["required"].([]any)
	required = slices.Clone(required)
	for _, name := range names {
		delete(properties, name)
		required = slices.DeleteFunc(required, func(r any) bool { return r == name })
	}
	rest["properties"] = properties
	if delete(rest, "required"); len(required) > 0 {
		rest["required"] = required
	}
	return rest
}

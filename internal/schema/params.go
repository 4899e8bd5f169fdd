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

// typeSchemas are the schemas of types whose JSON form differs from their Go
// form.
var typeSchemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[json.RawMessage](): {},
	reflect.TypeFor[json.Number]():     {Type: "number"},
	reflect.TypeFor[[]byte]():          {Types: []string{"null", "string"}, ContentEncoding: "base64"},
}

// For returns the JSON Schema of the parameter type P as a plain value. Names
// come from json tags and descriptions from jsonschema tags. A field without
// omitempty is required, and other keys are not allowed. For panics if P has no
// schema, which is a mistake in the program.
func For[P any]() map[string]any {
	s, err := jsonschema.For[P](&jsonschema.ForOptions{TypeSchemas: typeSchemas})
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

// Decode converts a plain value to P. An unknown key or a value of the wrong
// type is an error that names it. An any within P is a plain value. An integer
// may be written 5.0, as in JSON Schema.
func Decode[P any](value any) (P, error) {
	p, err := decode[P](value, true)
	if err != nil {
		return p, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return p, nil
}

// As is [Decode], but ignores unknown keys. Its error is an error of
// encoding/json.
func As[P any](value any) (P, error) { return decode[P](value, false) }

func decode[P any](value any, strict bool) (P, error) {
	p, err := decodeJSON[P](value, strict)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if again, err := decodeJSON[P](withIntegers(value), strict); err == nil {
			return again, nil
		}
	}
	return p, err
}

func decodeJSON[P any](value any, strict bool) (p P, err error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = unmarshal(text, &p, strict)
	}
	return p, err
}

// withIntegers returns a copy of a value in which every integral number is an
// int.
func withIntegers(v any) any {
	return cloneWith(v, func(v any) any {
		if i, ok := Whole(v); ok {
			return i
		}
		return v
	})
}

// Params checks and decodes parameters of type P.
type Params[P any] struct {
	schema map[string]any
	check  *Schema
}

// NewParams returns the Params of P. It panics if P has no schema.
func NewParams[P any]() *Params[P] {
	source := For[P]()
	check, err := Compile(source)
	if err != nil {
		panic(fmt.Sprintf("parameters %T: %v", *new(P), err))
	}
	return &Params[P]{schema: source, check: check}
}

// Schema returns the JSON Schema of P as a plain value.
func (p *Params[P]) Schema() map[string]any { return p.schema }

// Read checks value against the schema and decodes it. The error lists every
// violation.
func (p *Params[P]) Read(value map[string]any) (P, error) {
	if value == nil {
		value = map[string]any{}
	}
	var zero P
	if err := p.check.Validate(nil, value); err != nil {
		return zero, err
	}
	return Decode[P](value)
}

// WithoutProperties returns the schema of an object without some of its
// properties.
func WithoutProperties(params map[string]any, names []string) map[string]any {
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

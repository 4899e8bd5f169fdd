package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
)

// toolName matches the tool names that the endpoints of models accept.
var toolName = patterns.Lazy(`^[A-Za-z0-9_-]{1,64}$`)

// An offer is one tool of the server.
type offer struct {
	tool  sdk.Tool
	input *schema.Schema // checks the arguments; nil if the called code does that
	call  func(context.Context, call) (*sdk.CallToolResult, error)

	closed []string // arguments of the operator
}

// A call is one call of an offer.
type call struct {
	*sdk.CallToolRequest
	arguments map[string]any
}

// newOffer returns an offer with this schema of its arguments.
func newOffer(name, description string, input map[string]any, hints sdk.ToolAnnotations, f func(context.Context, call) (*sdk.CallToolResult, error)) *offer {
	o := &offer{tool: sdk.Tool{Name: name, Description: description, InputSchema: shown(input), Annotations: &hints}, call: f}
	o.input, _ = schema.Compile(input) // a schema with external references is checked where it is used
	return o
}

// combined are keywords that the endpoints of models refuse at the top of a tool's schema.
var combined = []string{"allOf", "anyOf", "oneOf"}

// shown returns the schema for clients.
func shown(input map[string]any) map[string]any {
	input = maps.Clone(input)
	maps.DeleteFunc(input, func(name string, _ any) bool { return slices.Contains(combined, name) })
	return input
}

// handler answers calls of an offer. Errors are results, which the client's model can read.
func (s *Server) handler(f *offer) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
		defer func() {
			if p := recover(); p != nil {
				s.o.Log.Error("panic", "tool", f.tool.Name, "value", p, "stack", string(debug.Stack()))
				result = failed(fmt.Errorf("panic: %v", p))
			}
		}()
		arguments, err := f.read(req.Params.Arguments)
		if err == nil {
			result, err = f.call(ctx, call{req, arguments})
		}
		if err != nil {
			return failed(err), nil
		}
		return result, nil
	}
}

// read decodes arguments. It refuses unknown and missing arguments and wrong types. It treats
// null as missing, because many clients send it.
func (f *offer) read(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	value, err := schema.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("arguments: %w", err)
	}
	arguments, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("arguments: want an object")
	}
	if f.input == nil {
		return arguments, nil
	}
	maps.DeleteFunc(arguments, func(name string, value any) bool { return value == nil && !f.requires(name) })
	var words []string
	if err := f.input.Validate(nil, arguments); err != nil {
		words = append(words, err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if slices.Contains(f.closed, name) {
			words = append(words, name+" is the operator's to set, and not a model's to choose")
		}
	}
	if len(words) > 0 {
		return nil, fmt.Errorf("arguments: %s", strings.Join(words, "; "))
	}
	return arguments, nil
}

func (f *offer) requires(name string) bool {
	input, _ := f.tool.InputSchema.(map[string]any)
	required, _ := input["required"].([]any)
	return slices.Contains(required, any(name))
}

// failed returns the result of a failed call.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}, IsError: true}
}

// answered returns a result with an object. If text is not "", it replaces the object's JSON.
func answered(object any, text string) (*sdk.CallToolResult, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: cmp.Or(text, string(raw))}}, StructuredContent: json.RawMessage(raw)}, nil
}

// object returns the schema of an object with only these properties.
func object(properties map[string]any, required ...any) map[string]any {
	o := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// text returns the schema of a text.
func text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// held checks the operator's values against the schema of the parameters.
func held(name string, params, fixed map[string]any) error {
	properties, _ := params["properties"].(map[string]any)
	for key, value := range fixed {
		s, err := schema.Compile(properties[key])
		if err != nil || properties[key] == nil {
			return fmt.Errorf("%s has no parameter %q", name, key)
		}
		if err := s.Validate(nil, value); err != nil {
			return fmt.Errorf("%s: %s %w", name, key, err)
		}
	}
	return nil
}

// hinted returns the annotations of an effect.
func hinted(e tool.Effect) sdk.ToolAnnotations {
	if e == tool.Reads || e == tool.None {
		return sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false), OpenWorldHint: new(true)}
	}
	return sdk.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(true)}
}

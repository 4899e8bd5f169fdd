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

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
)

// toolName is what the endpoints of models take as the name of a tool.
var toolName = patterns.Lazy(`^[A-Za-z0-9_-]{1,64}$`)

// An offer is one tool of the server.
type offer struct {
	tool  sdk.Tool
	input *schema.Schema // what arguments are held against; nil: what is called does that itself
	call  func(context.Context, call) (*sdk.CallToolResult, error)

	closed []string // arguments that are the operator's
}

// A call is one use of an offer.
type call struct {
	*sdk.CallToolRequest
	arguments map[string]any
}

// newOffer makes an offer that takes what the schema says.
func newOffer(name, description string, input map[string]any, hints sdk.ToolAnnotations, f func(context.Context, call) (*sdk.CallToolResult, error)) *offer {
	o := &offer{tool: sdk.Tool{Name: name, Description: description, InputSchema: shown(input), Annotations: &hints}, call: f}
	o.input, _ = schema.Compile(input) // one that refers to what is not in it is checked where it is used
	return o
}

// combined are the keywords that the endpoints of models refuse at the top of
// a tool's schema.
var combined = []string{"allOf", "anyOf", "oneOf"}

// shown is a schema as clients are told of it.
func shown(input map[string]any) map[string]any {
	input = maps.Clone(input)
	maps.DeleteFunc(input, func(name string, _ any) bool { return slices.Contains(combined, name) })
	return input
}

// handler answers calls of an offer. Whatever goes wrong is told in the result,
// where a model can read it.
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

// read reads arguments strictly: one that is unknown, is missing or is of the
// wrong type is an error that names it. A null for one that may be missing is
// what many clients send for none.
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
	if err := f.input.Refusal(nil, arguments); err != nil {
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

// failed is the result of a call that could not be done.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: err.Error()}}, IsError: true}
}

// answered is a result with an object; text stands for its JSON where it is
// not "".
func answered(object any, text string) (*sdk.CallToolResult, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: cmp.Or(text, string(raw))}}, StructuredContent: json.RawMessage(raw)}, nil
}

// object is the schema of an object that has these properties and no others.
func object(properties map[string]any, required ...any) map[string]any {
	o := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
}

// text is the schema of a text.
func text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

// held checks values that the operator fixes against the parameters that they
// are for.
func held(name string, params, fixed map[string]any) error {
	properties, _ := params["properties"].(map[string]any)
	for key, value := range fixed {
		s, err := schema.Compile(properties[key])
		if err != nil || properties[key] == nil {
			return fmt.Errorf("%s has no parameter %q", name, key)
		}
		if err := s.Refusal(nil, value); err != nil {
			return fmt.Errorf("%s: %s %w", name, key, err)
		}
	}
	return nil
}

// hinted is what a client is told of an effect on the world.
func hinted(e tool.Effect) sdk.ToolAnnotations {
	if e == tool.Reads || e == tool.None {
		return sdk.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: new(false), OpenWorldHint: new(true)}
	}
	return sdk.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(true)}
}

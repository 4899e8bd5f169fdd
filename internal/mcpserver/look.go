package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
)

// lint returns the tool that checks a cascade.
func (s *Server) lint() *offer {
	input := object(map[string]any{"source": text("a cascade, YAML or JSON"), "file": text("or the name of its file")})
	hints := sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)}
	o := newOffer("lint", "Tell everything that is wrong with a cascade", input, hints, func(_ context.Context, c call) (*sdk.CallToolResult, error) {
		source, hasSource := c.arguments["source"].(string)
		file, hasFile := c.arguments["file"].(string)
		if hasSource == hasFile {
			return nil, errors.New("arguments: give source or file, one of them")
		}
		var err error
		if hasSource {
			name := filepath.ToSlash(filepath.Join(s.o.Root, "cascade.yaml")) // other files are relative to it
			_, err = cascades.Parse(name, []byte(source), s.root().read, s.root().confine(s.o.Known))
		} else {
			_, err = s.root().load(file, s.o.Known)
		}
		found := syntax.Diagnostics{}
		if err != nil && !errors.As(err, &found) {
			return nil, err
		}
		words := "Nothing is wrong with it."
		if len(found) > 0 {
			words = found.Error()
		}
		return answered(map[string]any{"diagnostics": found}, words)
	})
	o.tool.OutputSchema = map[string]any{
		"type": "object", "required": []any{"diagnostics"},
		"properties": map[string]any{"diagnostics": map[string]any{"type": "array", "items": map[string]any{"type": "object"}}},
	}
	return o
}

// validateRequest returns the tool that executes a request of the validation request protocol.
func (s *Server) validateRequest() *offer {
	request := map[string]any{
		"type": "object", "description": "a ValidationRequest of the validation request protocol",
		"properties": map[string]any{
			"task_id": map[string]any{"type": "string"}, "validation_type": map[string]any{"enum": []any{"code", "browser", "both"}},
			"worktree_path":       map[string]any{"type": "string"},
			"acceptance_criteria": map[string]any{"type": "array", "items": map[string]any{"type": "object"}},
		},
		"required": []any{"task_id", "validation_type", "acceptance_criteria"},
	}
	hints := sdk.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(true)}
	if s.o.Programs {
		hints.DestructiveHint = new(true) // hints may name commands
	}
	input := object(map[string]any{"request": request}, "request")
	return newOffer("validate_request", "Validate finished work against the acceptance criteria of a request, for real", input, hints, func(ctx context.Context, c call) (*sdk.CallToolResult, error) {
		text, err := json.Marshal(c.arguments["request"])
		if err != nil {
			return nil, err
		}
		response, err := s.o.Validate(ctx, text)
		if err != nil {
			return nil, err
		}
		return answered(response, "")
	})
}

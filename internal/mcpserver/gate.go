package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A Gate is an offered validator. Its parameters root and evidence name folders in the server's
// root.
type Gate struct {
	validators.Validator
	Fixed  map[string]any                  // parameters that the operator sets; clients do not see them
	Writes bool                            // it may write files, by default in the server's root
	Own    func(validators.Verdict) []byte // returns the verdict in the gate's own form; nil means JSON
}

func (s *Server) gate(g Gate) (*offer, error) {
	if err := held(g.Name, g.Params(), g.Fixed); err != nil {
		return nil, err
	}
	g.Validator = g.Validator.Fixed(g.Fixed)
	with := g.Params()
	if g.Criteria != "" {
		with = map[string]any{"type": "object", "additionalProperties": false, "properties": map[string]any{}}
	}
	required := []any{"content"}
	if with["required"] != nil {
		required = append(required, "with")
	}
	input := object(map[string]any{"content": text("the text to judge"), "with": with}, required...)
	hints := sdk.ToolAnnotations{ReadOnlyHint: !g.Writes, IdempotentHint: g.Criteria == "", DestructiveHint: new(false), OpenWorldHint: new(false)}
	if !g.Pure {
		hints.OpenWorldHint = new(true)
	}
	description := g.Description
	if g.Criteria != "" {
		description += " (a model judges)"
	}
	o := newOffer(g.Name, description, input, hints, func(ctx context.Context, c call) (*sdk.CallToolResult, error) { return s.judge(ctx, g, c) })
	o.tool.OutputSchema = verdictSchema
	return o, nil
}

// verdictSchema describes a verdict.
var verdictSchema = map[string]any{
	"type": "object", "required": []any{"valid", "reason"},
	"properties": map[string]any{
		"valid": map[string]any{"type": "boolean"}, "reason": map[string]any{"type": "string"},
		"score":  map[string]any{"type": "number", "minimum": 0, "maximum": 1},
		"issues": issuesSchema, "warnings": issuesSchema,
		"fix": map[string]any{"type": "string"}, "status": map[string]any{"type": "string"},
		"evidence": map[string]any{}, "details": map[string]any{},
	},
}

var issuesSchema = map[string]any{"type": "array", "items": map[string]any{"type": "object"}}

// judge answers a call with the gate's verdict. It returns an error if there is none.
func (s *Server) judge(ctx context.Context, g Gate, c call) (*sdk.CallToolResult, error) {
	content, _ := c.arguments["content"].(string)
	given, _ := c.arguments["with"].(map[string]any)
	with, err := s.parameters(g, given)
	if err != nil {
		return nil, err
	}
	v, err := cascades.Use(g.Name, with, s.root().confine(cascades.Known{Validators: validators.NewSet(g.Validator)}))
	if err != nil {
		return nil, err
	}
	asker := s.o.Judge
	if asker == nil {
		if asker, err = runner.New(); err != nil {
			return nil, err
		}
	}
	subject := validators.Subject{Content: content, Attempt: 1}
	subject.Output, _ = schema.Parse([]byte(content))
	verdict, err := asker.Judge(ctx, &cascades.Cascade{ID: "gate"}, v, subject)
	if err != nil {
		return nil, fmt.Errorf("no verdict: %w", err)
	}
	own := ""
	if g.Own != nil {
		own = string(g.Own(verdict))
	}
	return answered(verdict, own)
}

// folders are the parameters of gates that name folders.
var folders = []string{"root", "evidence"}

// parameters returns the parameters of a call, with folders relative to the working directory.
func (s *Server) parameters(g Gate, given map[string]any) (map[string]any, error) {
	with := map[string]any{}
	maps.Copy(with, given)
	for _, key := range folders {
		if dir, ok := with[key].(string); ok && dir != "" {
			inside, err := s.root().dir(dir)
			if err != nil {
				return nil, fmt.Errorf("with.%s: %w", key, err)
			}
			with[key] = inside
		}
	}
	if _, given := with["root"]; !given && g.Writes && g.Fixed["root"] == nil {
		with["root"] = s.o.Root
	}
	return with, nil
}

// A Tool is an offered tool.
type Tool struct {
	tool.Tool
	Fixed  map[string]any // arguments that the operator sets; clients do not see them
	Hidden []string       // arguments that only the operator may set
}

func (s *Server) effect(t Tool) (*offer, error) {
	params := t.Params()
	if err := held(t.Name, params, t.Fixed); err != nil {
		return nil, err
	}
	hidden := slices.Concat(t.Hidden, slices.Collect(maps.Keys(t.Fixed)))
	hints := hinted(t.Effect)
	hints.IdempotentHint = t.Repeatable()
	o := newOffer(t.Name, t.Description, schema.WithoutProperties(params, hidden), hints, func(ctx context.Context, c call) (*sdk.CallToolResult, error) {
		maps.Copy(c.arguments, t.Fixed)
		// The ID marks a call of a model, which may not choose every argument.
		result, err := t.Run(ctx, tool.Call{ID: "mcp", Name: t.Name, Arguments: c.arguments})
		switch {
		case err != nil:
			return nil, err
		case result.Failed:
			return nil, errors.New(result.Text())
		}
		out, err := answered(result.Value, result.Text())
		if _, ok := result.Value.(map[string]any); !ok && err == nil {
			out.StructuredContent = nil // MCP requires an object
		}
		return out, err
	})
	o.closed = hidden
	return o, nil
}

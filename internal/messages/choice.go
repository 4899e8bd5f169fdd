package messages

import (
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/model"
)

// RouteTool returns the tool with which a model picks one of its phase's
// handoffs.
func RouteTool(p *cascades.Phase) model.Tool {
	var b strings.Builder
	b.WriteString("Choose the phase that follows this one. It does not replace your answer.")
	var targets []any
	for _, h := range p.Handoffs {
		if h.When != nil {
			continue
		}
		targets = append(targets, h.Target)
		if h.Description != "" {
			fmt.Fprintf(&b, "\n- %s: %s", h.Target, h.Description)
		}
	}
	target := map[string]any{"type": "string", "enum": targets}
	return model.Tool{Name: keywords.RouteTo, Description: b.String(), Parameters: map[string]any{
		"type": "object", "properties": map[string]any{"target": target}, "required": []any{"target"},
	}}
}

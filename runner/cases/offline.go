package cases

import (
	"context"
	"errors"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

var errOffline = errors.New("a test reaches nothing outside of it")

// offline is what cascades may name, without anything that would ask a server
// when a cascade is loaded or a model is told of a tool.
func offline(known cascades.Known) cascades.Known {
	known.Remote = unasked{known.Remote}
	for _, t := range known.Tools.List() {
		if t.Description == "" { // so it is with every tool that has to ask for one
			known.Tools = known.Tools.With(untold(t.Name))
		}
	}
	return known
}

// unasked stands for MCP servers that are not reached.
type unasked struct{ named cascades.Remote }

// Validator is one that cannot be run. Its description comes from the caller's
// servers, which are not reached for it.
func (u unasked) Validator(s cascades.Server, name string) validators.Validator {
	if u.named != nil {
		return u.named.Validator(s, name)
	}
	refuse := func(context.Context, map[string]any, validators.Subject) (validators.Verdict, error) {
		return validators.Verdict{}, errOffline
	}
	return validators.New("mcp", "what "+name+" says of the text", refuse, validators.Impure)
}

// Tool is one that has no description yet.
func (unasked) Tool(_ cascades.Server, name string) tool.Tool { return untold(name) }

// untoldKey marks the parameters of a tool whose description stands in the case.
const untoldKey = "capstan:untold"

func untold(name string) tool.Tool {
	params := map[string]any{"type": "object", untoldKey: true}
	ask := func(context.Context) (string, map[string]any, error) { return "", params, nil }
	return tool.Remote(name, ask, func(context.Context, tool.Call) (any, error) { return nil, errOffline })
}

// told gives the tools with the descriptions that the case has of those that
// could not be asked.
func told(tools []model.Tool, frozen func() []model.Tool) []model.Tool {
	out := make([]model.Tool, len(tools))
	for i, t := range tools {
		out[i] = t
		params, _ := t.Parameters.(map[string]any)
		if params[untoldKey] == nil {
			continue
		}
		out[i].Parameters = map[string]any{"type": "object"}
		for _, f := range frozen() {
			if f.Name == t.Name {
				out[i] = f
			}
		}
		if t.Description != "" {
			out[i].Description = t.Description
		}
	}
	return out
}

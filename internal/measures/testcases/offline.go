package testcases

import (
	"context"
	"errors"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

var errOffline = errors.New("a test reaches nothing outside of it")

// offline returns what cascades may name, without anything that calls a server while a cascade
// loads or a model learns of a tool.
func offline(known cascades.Known) cascades.Known {
	known.Remote = offlineServers{known.Remote}
	for _, t := range known.Tools.List() {
		if t.Description == "" { // the description is on a server
			known.Tools = known.Tools.With(offlineTool(t.Name))
		}
	}
	return known
}

// offlineServers stands for MCP servers, which are not called.
type offlineServers struct{ named cascades.Remote }

// Validator returns a validator that cannot run. Its description comes from the servers of the
// caller.
func (u offlineServers) Validator(s cascades.Server, name string) validators.Validator {
	if u.named != nil {
		return u.named.Validator(s, name)
	}
	refuse := func(context.Context, map[string]any, validators.Subject) (validators.Verdict, error) {
		return validators.Verdict{}, errOffline
	}
	return validators.New("mcp", "the verdict of "+name+" on the text", refuse, validators.Impure)
}

// Tool returns a tool without a description.
func (offlineServers) Tool(_ cascades.Server, name string) tool.Tool { return offlineTool(name) }

// placeholderKey marks the parameters of a tool whose description is in the test case.
const placeholderKey = "capstan:untold"

func offlineTool(name string) tool.Tool {
	params := map[string]any{"type": "object", placeholderKey: true}
	ask := func(context.Context) (string, map[string]any, error) { return "", params, nil }
	return tool.Remote(name, ask, func(context.Context, tool.Call) (any, error) { return nil, errOffline })
}

// described returns the tools with the descriptions that the test case has for tools on servers.
func described(tools []model.Tool, stored func() []model.Tool) []model.Tool {
	out := make([]model.Tool, len(tools))
	for i, t := range tools {
		out[i] = t
		params, _ := t.Parameters.(map[string]any)
		if params[placeholderKey] == nil {
			continue
		}
		out[i].Parameters = map[string]any{"type": "object"}
		for _, f := range stored() {
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

package cascades

import (
	"path"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A Server says where an MCP server is: a program to start, in a directory, or
// the URL of one that runs.
type Server struct {
	Command []string
	URL     string
	Dir     string
}

// A Remote makes validators and tools of what MCP servers offer. It reaches a
// server when something of it is first used, not before.
type Remote interface {
	Validator(s Server, tool string) validators.Validator
	Tool(s Server, tool string) tool.Tool
}

// server reads what follows mcp: a command or a URL, and the tool's name.
func (p *parser) server(o *object) (s Server, name string, ok bool) {
	m := o.child("mcp")
	if m == nil {
		return s, "", false
	}
	before := len(p.found)
	name = m.required("tool")
	s.URL = m.text("url")
	if m.has("command") {
		s.Command, s.Dir = m.texts("command"), path.Dir(p.file)
	}
	switch command := len(s.Command) > 0 && s.Command[0] != ""; {
	case command && s.URL != "":
		m.conflict("url", "mcp has both command and url")
	case !command && s.URL == "":
		p.report(m.node, CodeMissing, "mcp needs a command or a url")
	case p.known.Remote == nil:
		p.report(m.node, CodeConflict, "MCP servers cannot be reached from here")
	}
	m.done()
	return s, name, len(p.found) == before
}

func (p *parser) mcpForm(o *object) *Validator {
	with := p.values(o.child("with"), checkVariables)
	s, name, ok := p.server(o)
	if !ok {
		return nil
	}
	found := p.known.Remote.Validator(s, name)
	return &Validator{Name: found.Name, Description: found.Description, With: with, Bind: found.Bind}
}

func (p *parser) mcpTool(o *object, t *Tool) {
	s, name, ok := p.server(o)
	if !ok {
		return
	}
	t.Tool = p.known.Remote.Tool(s, name)
	t.remote, t.Params = true, nil
}

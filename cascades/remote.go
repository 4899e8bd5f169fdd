package cascades

import (
	"path"
	"slices"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A Server says where an MCP server is: a program to start, in a directory, or
// the URL of one that runs.
type Server struct {
	Command []string
	Dir     string
	Env     []string // of Command, as [process.Environment] has it
	URL     string
	Headers map[string]string // of every request to URL; their texts may hold {{ env.NAME }}
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
		p.starts(Program{What: "an MCP server", Argv: s.Command, Dir: s.Dir})
	}
	s.Env, s.Headers = p.environment(m), p.headers(m)
	switch command := len(s.Command) > 0 && s.Command[0] != ""; {
	case command && s.URL != "":
		m.conflict("url", "mcp has both command and url")
	case !command && s.URL == "":
		p.report(m.node, CodeMissing, "mcp needs a command or a url")
	case command && m.has("headers"):
		m.conflict("headers", "a server that is a command has no headers: env is what it sees")
	case !command && m.has("env"):
		m.conflict("env", "a server with a url sees nothing of the environment: headers are what it is sent")
	case p.known.Remote == nil:
		p.report(m.node, CodeConflict, "MCP servers cannot be reached from here")
	}
	m.done()
	return s, name, len(p.found) == before
}

func (p *parser) mcpForm(o *object) *Validator {
	with := p.values(o.child("with"), checkVariables)
	p.refuseEnv(o)
	s, name, ok := p.server(o)
	if !ok {
		return nil
	}
	found := p.known.Remote.Validator(s, name)
	v := &Validator{Name: found.Name, Description: found.Description, With: with, Bind: found.Bind}
	v.needs = p.remoteNeeds(o, s, name)
	return v
}

func (p *parser) mcpTool(o *object, t *Tool) {
	s, name, ok := p.server(o)
	if !ok {
		return
	}
	t.Tool = p.known.Remote.Tool(s, name)
	t.needs, t.remote, t.Params = p.remoteNeeds(o, s, name), true, nil
}

// refuseEnv reports an env beside mcp.
func (p *parser) refuseEnv(o *object) {
	o.without("env")
	o.conflict("env", "what an MCP server sees stands within mcp")
}

// remoteNeed is what a tool of a server needs.
func (p *parser) remoteNeeds(o *object, s Server, name string) []Need {
	texts := slices.Concat(s.Env, entries(s.Headers))
	return []Need{{Position: p.position(o.keys["mcp"]), Variables: process.Needed(texts), Remote: p.known.Remote.Tool(s, name)}}
}

package cascades

import (
	"path"
	"slices"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// A Server is the address of an MCP server: the program to start with its
// directory, or a URL.
type Server struct {
	Command []string
	Dir     string
	Env     []string // of Command, in the form of [process.Environment]
	URL     string
	Headers map[string]string // of every request to URL; they may contain {{ env.NAME }}
}

// A Remote returns the validators and tools of MCP servers. It connects to a server at the
// first use.
type Remote interface {
	Validator(s Server, tool string) validators.Validator
	Tool(s Server, tool string) tool.Tool
}

// server reads the mapping under mcp: a command or a URL, and the name of the
// tool.
func (p *parser) server(o *reader.Object) (s Server, name string, ok bool) {
	m := o.Child("mcp")
	if m == nil {
		return s, "", false
	}
	before := len(p.Found)
	name = m.Required("tool")
	s.URL = m.Text("url")
	if m.Has("command") {
		s.Command, s.Dir = m.Texts("command"), path.Dir(p.File.Name)
		p.starts(Program{What: "an MCP server", Argv: s.Command, Dir: s.Dir})
	}
	s.Env, s.Headers = p.environment(m), p.headers(m)
	switch command := len(s.Command) > 0 && s.Command[0] != ""; {
	case command && s.URL != "":
		m.Conflict("url", "mcp has both command and url")
	case !command && s.URL == "":
		p.Error(m.Node, codes.Missing, "mcp needs a command or a url")
	case command && m.Has("headers"):
		m.Conflict("headers", "a server that is a command has no headers: env is what it sees")
	case !command && m.Has("env"):
		m.Conflict("env", "a server with a url sees nothing of the environment: headers are what it is sent")
	case p.known.Remote == nil:
		p.Error(m.Node, codes.Conflict, "MCP servers cannot be reached from here")
	}
	m.Done()
	return s, name, len(p.Found) == before
}

func (p *parser) mcpForm(o *reader.Object) *Validator {
	with := p.values(o.Child("with"), checkVariables)
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

func (p *parser) mcpTool(o *reader.Object, t *Tool) {
	s, name, ok := p.server(o)
	if !ok {
		return
	}
	t.Tool = p.known.Remote.Tool(s, name)
	t.needs, t.remote, t.Params = p.remoteNeeds(o, s, name), true, nil
}

// refuseEnv reports an env beside mcp.
func (p *parser) refuseEnv(o *reader.Object) {
	o.Without("env")
	o.Conflict("env", "what an MCP server sees stands within mcp")
}

// remoteNeeds returns the requirements of a tool of a server.
func (p *parser) remoteNeeds(o *reader.Object, s Server, name string) []Need {
	texts := slices.Concat(s.Env, entries(s.Headers))
	return []Need{{Position: p.Position(o.Keys["mcp"]), Variables: process.Needed(texts), Remote: p.known.Remote.Tool(s, name)}}
}

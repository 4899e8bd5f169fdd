package main

import (
	"fmt"
	"io"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/mcp"
	"github.com/seed61713e19/capstan/validators"
)

// remote makes what cascades use of MCP servers. The zero value is ready; it
// must be closed for the servers it started to end.
type remote struct{ client mcp.Client }

// Validator is a validator of a server's tool.
func (r *remote) Validator(s cascades.Server, tool string) validators.Validator {
	return r.client.Validator("mcp", mcp.Server(s), tool)
}

// Tool is a tool of a server.
func (r *remote) Tool(s cascades.Server, name string) tool.Tool {
	return r.client.Tool(mcp.Server(s), name)
}

// close ends what was started, and notes what was odd about it.
func (r *remote) close(notes io.Writer) {
	r.client.Close()
	for _, note := range r.client.Notes() {
		fmt.Fprintln(notes, "note:", note)
	}
}

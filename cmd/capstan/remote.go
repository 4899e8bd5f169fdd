package main

import (
	"fmt"
	"io"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/mcp"
	"github.com/seed61713e19/capstan/validators"
)

// remote resolves the MCP servers of cascades. The zero value is ready for use.
// Close ends the servers that it started.
type remote struct{ client mcp.Client }

// Validator returns the validator for a server's tool.
func (r *remote) Validator(s cascades.Server, tool string) validators.Validator {
	return r.client.Validator("mcp", mcp.Server(s), tool)
}

// Tool returns a tool of a server.
func (r *remote) Tool(s cascades.Server, name string) tool.Tool {
	return r.client.Tool(mcp.Server(s), name)
}

// close ends the started servers and prints their anomalies.
func (r *remote) close(notes io.Writer) {
	r.client.Close()
	for _, note := range r.client.Notes() {
		fmt.Fprintln(notes, "note:", note)
	}
}

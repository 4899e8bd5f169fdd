package mcp_test

import (
	"testing"

	"github.com/seed61713e19/capstan/runner/tool/mcp"
)

// Numbers in structured content and in arguments keep all digits.
func TestNumbersAreExact(t *testing.T) {
	each(t, func(t *testing.T, c *mcp.Client, s mcp.Server) {
		for _, want := range []string{
			`{"list":[1.10,-0],"n":12345678901234567890,"over":1e400}`, `[1.0,1e2]`, `12345678901234567890`, `"a text"`, `{"structuredContent":0.1000}`,
		} {
			if r := run(t, c.Tool(s, "structured"), map[string]any{"content": want}); r.Failed || r.Text() != want && r.Value != "a text" {
				t.Errorf("got %s, want %s", r.Text(), want)
			}
		}
	})
}

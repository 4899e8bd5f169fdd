package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestRemote runs a cascade with the validator and the tool of an MCP server,
// over a real socket.
func TestRemote(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "owls", Version: "1"}, nil)
	type judged struct {
		Content string `json:"content"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "check", Description: "Is it about owls?"}, func(_ context.Context, _ *sdk.CallToolRequest, a judged) (*sdk.CallToolResult, any, error) {
		verdict := `{"valid": true, "reason": "owls"}`
		if !strings.Contains(a.Content, "owl") {
			verdict = `{"valid": false, "reason": "no owls in it"}`
		}
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: verdict}}}, nil, nil
	})
	type asked struct {
		Bird string `json:"bird"`
	}
	sdk.AddTool(server, &sdk.Tool{Name: "legs", Description: "How many legs?"}, func(_ context.Context, _ *sdk.CallToolRequest, a asked) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: a.Bird + " has two legs"}}}, nil, nil
	})
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer web.Close()
	defer web.CloseClientConnections()

	dir := t.TempDir()
	for name, text := range map[string]string{
		"birds.yaml": `
cascade_id: birds
validators:
  owls: {mcp: {url: "` + web.URL + `", tool: check}}
tools:
  legs: {mcp: {url: "` + web.URL + `", tool: legs}}
phases:
  - name: write
    instructions: Write.
    tackle: [legs]
    wards: {post: [{validator: owls, mode: retry}]}
`,
		"birds.scripted.yaml": `
- {phase: write, attempt: 1, contains: Write., tool_calls: [{name: legs, arguments: {bird: a finch}}]}
- {phase: write, attempt: 1, contains: a finch has two legs, reply: A finch has two legs.}
- {phase: write, attempt: 2, contains: no owls in it, reply: "An owl, too."}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out, stderr bytes.Buffer
	c := &Command{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr, Getenv: func(string) string { return "" }}
	status := c.Run(t.Context(), []string{"run", filepath.Join(dir, "birds.yaml"), "--model", "scripted"})
	if status != exitOK || out.String() != "An owl, too.\n" || strings.Contains(stderr.String(), "not used") {
		t.Errorf("status %d\n%s%s", status, out.String(), stderr.String())
	}
}

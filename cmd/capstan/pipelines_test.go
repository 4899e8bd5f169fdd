package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"
)

// steps runs what a workflow of GitHub's types, step by step as its shell does,
// but for what installs the program.
func steps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: steps FILE")
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(ts.ReadFile(args[0])), &workflow); err != nil {
		ts.Fatalf("%v", err)
	}
	ran := 0
	for _, job := range workflow.Jobs {
		for _, s := range job.Steps {
			if s.Run == "" || strings.HasPrefix(s.Run, "go install ") {
				continue
			}
			if err := ts.Exec("sh", "-e", "-c", s.Run); err != nil {
				ts.Fatalf("%s: %v", s.Run, err)
			}
			ran++
		}
	}
	if ran == 0 {
		ts.Fatalf("%s types nothing", args[0])
	}
}

// What the page on pipelines gives an MCP client to start is a server that
// judges and runs.
func TestPipelineMCP(t *testing.T) {
	text, err := os.ReadFile("../../docs/pipelines/mcp.json")
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../cascades/examples")
	server := config.MCPServers["capstan"]
	if server.Command != "capstan" || server.Args[0] != "mcp" {
		t.Fatalf("it starts %+v", server)
	}
	client := serveMCP(t.Context(), t, nil, server.Args[1:]...).client(t, nil)
	tools, err := client.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 2 {
		t.Fatalf("%+v, %v", tools, err)
	}
	said, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "word_count", Arguments: map[string]any{"content": "two words", "with": map[string]any{"min": 3}}})
	if err != nil || said.IsError || said.StructuredContent.(map[string]any)["valid"] != false {
		t.Errorf("%+v, %v", said, err)
	}
}

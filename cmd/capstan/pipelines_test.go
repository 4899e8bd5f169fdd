package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	"gopkg.in/yaml.v3"
)

// steps runs the commands of a GitHub workflow in order, as the shell of GitHub does.
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
			if s.Run == "" {
				continue
			}
			if err := ts.Exec("sh", "-e", "-c", s.Run); err != nil {
				ts.Fatalf("%s: %v", s.Run, err)
			}
			ran++
		}
	}
	if ran == 0 {
		ts.Fatalf("%s has no commands", args[0])
	}
}

// hook runs a hook of .pre-commit-hooks.yaml with the files that follow its ID.
func hook(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: hook ID FILE...")
	}
	var hooks []struct {
		ID, Entry string
		Args      []string
	}
	text, err := os.ReadFile(filepath.Join(ts.Getenv("ROOT"), ".pre-commit-hooks.yaml"))
	if err != nil {
		ts.Fatalf("%v", err)
	}
	if err := yaml.Unmarshal(text, &hooks); err != nil {
		ts.Fatalf("%v", err)
	}
	for _, h := range hooks {
		if h.ID != args[0] {
			continue
		}
		words := slices.Concat(strings.Fields(h.Entry), h.Args, args[1:])
		if err := ts.Exec(words[0], words[1:]...); (err != nil) != neg {
			ts.Fatalf("%q: %v", words, err)
		}
		return
	}
	ts.Fatalf("no hook %s", args[0])
}

// TestPipelineMCP checks that the server of the configuration in docs/pipelines
// judges texts and runs cascades.
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
	answer, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "word_count", Arguments: map[string]any{"content": "two words", "with": map[string]any{"min": 3}}})
	if err != nil || answer.IsError || answer.StructuredContent.(map[string]any)["valid"] != false {
		t.Errorf("%+v, %v", answer, err)
	}
}

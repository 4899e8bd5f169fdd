package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A served is a running MCP server and its streams.
type served struct {
	in     *io.PipeWriter
	out    *io.PipeReader
	stderr *bytes.Buffer // standard error, after the server has ended
	db     string
	ended  chan int
}

// serveMCP runs capstan mcp until the test or its input ends.
func serveMCP(ctx context.Context, t *testing.T, environ []string, args ...string) *served {
	t.Helper()
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	s := &served{in, out, &bytes.Buffer{}, filepath.Join(t.TempDir(), "runs.db"), make(chan int, 1)}
	getenv := func(name string) string { return map[string]string{"CAPSTAN_STORE": s.db}[name] }
	c := &Command{Stdin: stdin, Stdout: stdout, Stderr: s.stderr, Getenv: getenv, Environ: environ}
	go func() {
		status := c.Run(ctx, append([]string{"mcp"}, args...))
		stdout.Close()
		s.ended <- status
	}()
	t.Cleanup(func() { in.Close(); out.Close() })
	return s
}

func (s *served) client(t *testing.T, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &sdk.IOTransport{Reader: s.out, Writer: s.in}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, s.stderr)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// mcpTool returns a listed tool.
func mcpTool(t *testing.T, s *sdk.ClientSession, name string) *sdk.Tool {
	t.Helper()
	for tool, err := range s.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == name {
			return tool
		}
	}
	t.Fatalf("no tool is called %s", name)
	return nil
}

// TestMCPOffers checks that every validator, gate and schedule tool is listed.
// The list must not contain tools that clients provide themselves.
func TestMCPOffers(t *testing.T) {
	s := serveMCP(t.Context(), t, nil)
	var got []string
	session := s.client(t, nil)
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, tool.Name)
		if tool.Description == "" || tool.Annotations == nil {
			t.Errorf("%s says nothing of itself", tool.Name)
		}
	}
	want := []string{"get_content_type_rankings", "get_send_type_captions", "get_top_captions", "get_vault_availability", "lint", "run", "save_schedule", "validate_request"}
	var listed []struct{ Name string }
	var list bytes.Buffer
	(&Command{Stdout: &list, Stderr: io.Discard, Getenv: func(string) string { return "" }}).Run(t.Context(), []string{"list", "validators", "--json"})
	if err := json.Unmarshal(list.Bytes(), &listed); err != nil {
		t.Fatal(err)
	}
	for _, v := range listed {
		want = append(want, v.Name)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	hints := func(name string) string {
		text, _ := json.Marshal(mcpTool(t, session, name).Annotations)
		return string(text)
	}
	for name, reads := range map[string]bool{"schedule_quality": true, "edit_verifier": false, "save_schedule": false, "get_top_captions": true, "run": false, "lint": true, "validate_request": false} {
		if strings.Contains(hints(name), `"readOnlyHint":true`) != reads {
			t.Errorf("%s: %s", name, hints(name))
		}
	}
	session.Close()
	if status := <-s.ended; status != exitOK || s.stderr.Len() > 0 {
		t.Errorf("it ended with status %d: %s", status, s.stderr)
	}
}

// TestMCPWith checks that the operator's settings apply, including a key that
// no call may set.
func TestMCPWith(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "week.db")
	quiet := &Command{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	for _, args := range [][]string{{"schedule", "init", db, "--demo"}, {"receipt", "keygen", "--dir", dir}} {
		if status := quiet.Run(t.Context(), args); status != exitOK {
			t.Fatalf("%v: status %d", args, status)
		}
	}
	session := serveMCP(t.Context(), t, nil, "--with", "db="+db, "--with", "verification_key="+filepath.Join(dir, "public.pem"), "--with", "max=3", "--with", "root="+dir).client(t, nil)
	for name, hidden := range map[string][]string{"save_schedule": {"db", "verification_key"}, "schedule_certificate": {"db", "verification_key"}, "word_count": {"max"}, "edit_verifier": {"root"}} {
		schema, _ := json.Marshal(mcpTool(t, session, name).InputSchema)
		for _, parameter := range hidden {
			if strings.Contains(string(schema), `"`+parameter+`":`) {
				t.Errorf("%s shows %s: %s", name, parameter, schema)
			}
		}
		if strings.Contains(string(schema), "anyOf") {
			t.Errorf("%s: the endpoints of models take no anyOf at the top: %s", name, schema)
		}
	}
	for _, c := range []struct{ tool, arguments, want string }{
		{"word_count", `{"content": "a b c d"}`, `"valid":false`},
		{"word_count", `{"content": "a b c d", "with": {"max": 9}}`, "'max' not allowed"},
		{"get_vault_availability", `{"creator_id": "ada"}`, `"available_content":[`},
		{"save_schedule", `{"creator_id": "ada", "week_start": "2026-01-05", "items": [{"scheduled_date": "2026-01-05", "scheduled_time": "10:00", "send_type_key": "bump_normal"}]}`, "CERTIFICATE_MISSING"},
		{"save_schedule", `{"creator_id": "ada", "week_start": "2026-01-05", "items": [], "verification_key": "x"}`, "'verification_key' not allowed"},
		{"save_schedule", `{"creator_id": "ada"}`, "missing properties 'week_start', 'items'"},
	} {
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.arguments)})
		if err != nil {
			t.Fatal(err)
		}
		if text := r.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %s", c.tool, c.arguments, text)
		}
	}
}

// TestMCPForeignKey checks that save_schedule rejects a key in a call, because
// a model could have written it.
func TestMCPForeignKey(t *testing.T) {
	session := serveMCP(t.Context(), t, nil).client(t, nil)
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "save_schedule", Arguments: json.RawMessage(`{"creator_id": "ada", "week_start": "2026-01-05", "items": [], "db": "x", "verification_key": "x"}`)})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "not a model's to choose") {
		t.Errorf("%v %+v", err, r)
	}
	session = serveMCP(t.Context(), t, nil, "--with", "verification_key=none.pem", "--with", "db=x").client(t, nil)
	r, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "save_schedule", Arguments: json.RawMessage(`{"creator_id": "ada", "week_start": "2026-01-05", "items": []}`)})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "none.pem") {
		t.Errorf("the operator's key is not looked at: %v %+v", err, r)
	}
}

// TestMCPInterrupt checks that an interrupt ends the server, and that the
// current run is stored and can be resumed.
func TestMCPInterrupt(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"slow.yaml":          "cascade_id: slow\nphases: [{name: think, instructions: think}]",
		"slow.scripted.yaml": "- {phase: think, reply: done, delay: 1h}",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, interrupt := context.WithCancel(t.Context())
	s := serveMCP(ctx, t, nil, dir, "--model", "scripted")
	session := s.client(t, &sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { interrupt() }})
	params := &sdk.CallToolParams{Name: "slow"}
	params.SetProgressToken("p")
	if r, err := session.CallTool(t.Context(), params); err == nil && !r.IsError {
		t.Errorf("got %v", r)
	}
	if status := <-s.ended; status != exitInterrupted || !strings.Contains(s.stderr.String(), "a run was cancelled") {
		t.Errorf("status %d: %s", status, s.stderr)
	}
	j, err := journal.Open(s.db, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if run, err := j.Run(t.Context(), "last"); err != nil || run.Status != engine.Cancelled || run.Start.Settings[settingDir] == "" {
		t.Errorf("%v: %+v", err, run)
	}
}

// TestMCPSecrets checks that messages contain no secret of the environment,
// whatever the secret looks like, and remain valid.
func TestMCPSecrets(t *testing.T) {
	s := serveMCP(t.Context(), t, []string{"PIN_TOKEN=12345678", "ODD_SECRET=\"jsonrpc\":\"2.0\"", "WORD_KEY=structuredContent"}, "--tool", "json")
	lines := bufio.NewReader(s.out)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":12345678,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":12345678,"method":"tools/call","params":{"name":"json","arguments":{"content":"","a 12345678":1, "\"jsonrpc\":\"2.0\"":1}}}`,
		`{"jsonrpc":"2.0","id":12345678,"method":"tools/call","params":{"name":"json","arguments":{"content":"1"}}}`,
	} {
		fmt.Fprintln(s.in, line)
		text, err := lines.ReadBytes('\n')
		var m struct {
			JSONRPC string
			ID      int
			Result  map[string]any
		}
		if err != nil || json.Unmarshal(text, &m) != nil || m.JSONRPC != "2.0" || m.ID != 12345678 || m.Result == nil {
			t.Errorf("%v: %s", err, text)
		}
		if strings.Contains(line, "arguments") && strings.Contains(line, "a 123") != strings.Contains(string(text), "[redacted PIN_TOKEN]") || strings.Contains(string(text), "a 123") {
			t.Errorf("got %s", text)
		}
	}
	s.in.Close()
	if rest, err := io.ReadAll(lines); len(rest) > 0 || err != nil {
		t.Errorf("%v: behind the answers there is %s", err, rest)
	}
	if status := <-s.ended; status != exitOK {
		t.Errorf("it ended with status %d: %s", status, s.stderr)
	}
}

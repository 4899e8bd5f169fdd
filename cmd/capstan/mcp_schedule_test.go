package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/validators/schedule"
)

// TestMCPSchedule calls the selection, quality and save tools with the week of
// the schedule example. The operator sets the database and the keys.
func TestMCPSchedule(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	runs := at("runs.db")
	capstan := func(args ...string) []byte {
		t.Helper()
		var out, stderr bytes.Buffer
		getenv := func(name string) string { return map[string]string{"CAPSTAN_STORE": runs}[name] }
		if status := (&Command{Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &stderr, Getenv: getenv}).Run(t.Context(), args); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, stderr.String())
		}
		return out.Bytes()
	}
	capstan("schedule", "init", at("week.db"), "--demo")
	capstan("receipt", "keygen", "--dir", dir)
	capstan("run", "../../cascades/examples/schedule.yaml", "--model", "scripted", "--run-id", "plan", "--root", at("."),
		"--input", "creator_id=ada", "--input", "week_start=2026-01-05", "--input", "db="+at("week.db"),
		"--input", "signing_key="+at("private.pem"), "--input", "verification_key="+at("public.pem"))
	week := saved(t, capstan("events", "plan"))
	delete(week, "validation_certificate")
	delete(week, "validation_proof")

	s := serveMCP(t.Context(), t, nil, "--with", "db="+at("week.db"), "--with", "signing_key="+at("private.pem"), "--with", "verification_key="+at("public.pem"))
	session := s.client(t, nil)
	call := func(name string, arguments map[string]any) (*sdk.CallToolResult, map[string]any) {
		t.Helper()
		r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			t.Fatal(err)
		}
		object, _ := r.StructuredContent.(map[string]any)
		return r, object
	}
	judge := func(gate string, subject any) map[string]any {
		t.Helper()
		text, err := json.Marshal(subject)
		if err != nil {
			t.Fatal(err)
		}
		r, verdict := call(gate, map[string]any{"content": string(text)})
		if r.IsError || verdict["valid"] != true {
			t.Fatalf("%s: %v", gate, verdict)
		}
		details, _ := verdict["details"].(map[string]any)
		return details
	}
	review := map[string]any{"strategic_score": 78, "revenue_aggressiveness": 65, "subscriber_health": 72, "brand_consistency": 85}
	week["validation_proof"] = judge("schedule_selection", week)["validation_proof"]
	week["critic_certificate"] = judge("schedule_critic", map[string]any{"schedule": week, "review": review})["critic_certificate"]
	certificate := judge("schedule_quality", week)["validation_certificate"]
	order := map[string]any{"creator_id": week["creator_id"], "week_start": week["week_start"], "items": week["items"]}
	if r, answer := call("save_schedule", order); !r.IsError {
		t.Errorf("saved without a certificate: %v", answer)
	}
	order["validation_certificate"] = certificate
	for name, value := range map[string]any{"policy": "v2", "db": at("week.db"), "phase": 1, "verification_key": at("public.pem")} {
		own := maps.Clone(order)
		own[name] = value
		if r, _ := call("save_schedule", own); !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "operator's to set") {
			t.Errorf("a client sets %s: %v", name, r.Content[0])
		}
	}
	if r, answer := call("save_schedule", order); r.IsError || answer["status"] != "APPROVED" || answer["revision"] != 2.0 {
		t.Errorf("%v: %v", r.IsError, answer)
	}
	if err := session.Close(); err != nil && err != io.EOF {
		t.Error(err)
	}
}

// TestMCPScheduleUnset checks the tools without the operator's settings. They
// use the shipped policy and no database. A client can neither see nor set the
// deciding parameters.
func TestMCPScheduleUnset(t *testing.T) {
	dir := t.TempDir()
	quiet := &Command{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	for _, args := range [][]string{{"schedule", "init", filepath.Join(dir, "week.db"), "--demo"}, {"receipt", "keygen", "--dir", dir}} {
		if status := quiet.Run(t.Context(), args); status != exitOK {
			t.Fatalf("%v: status %d", args, status)
		}
	}
	session := serveMCP(t.Context(), t, nil).client(t, nil)
	for _, v := range schedule.Validators(schedule.Options{}) {
		shown, _ := json.Marshal(mcpTool(t, session, v.Name).InputSchema)
		for _, name := range schedule.Operator() {
			if strings.Contains(string(shown), `"`+name+`":`) {
				t.Errorf("%s shows %s", v.Name, name)
			}
			r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: v.Name, Arguments: map[string]any{"content": "{}", "with": map[string]any{name: filepath.Join(dir, "private.pem")}}})
			if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "'"+name+"' not allowed") {
				t.Errorf("%s takes %s: %v", v.Name, name, err)
			}
		}
	}
	for _, name := range []string{"get_vault_availability", "get_content_type_rankings", "get_send_type_captions", "get_top_captions", "save_schedule"} {
		shown, _ := json.Marshal(mcpTool(t, session, name).InputSchema)
		if strings.Contains(string(shown), `"db":`) {
			t.Errorf("%s shows the database", name)
		}
	}
	r, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "schedule_quality", Arguments: map[string]any{"content": `{"creator_id": "ada", "items": []}`}})
	if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "no database") {
		t.Errorf("judged without a database: %v", err)
	}
}

// saved returns the schedule that a run has saved, from its events.
func saved(t *testing.T, events []byte) map[string]any {
	t.Helper()
	for line := range bytes.Lines(events) {
		var e event.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.Kind == event.ToolCalled && e.Call != nil && e.Call.Name == "save_schedule" {
			week := e.Call.Arguments
			if whole, ok := week["schedule"].(map[string]any); ok {
				week = whole
			}
			return week
		}
	}
	t.Fatal("nothing was saved")
	return nil
}

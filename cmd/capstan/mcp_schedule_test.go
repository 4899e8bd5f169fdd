package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed61713e19/capstan/runner/event"
)

// A client takes the week that the example plans through selection, quality
// and save; the operator has fixed the database and the keys.
func TestMCPSchedule(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	runs := at("runs.db")
	capstan := func(args ...string) []byte {
		t.Helper()
		var out, said bytes.Buffer
		getenv := func(name string) string { return map[string]string{"CAPSTAN_DB": runs}[name] }
		if status := (&Command{Stdin: bytes.NewReader(nil), Stdout: &out, Stderr: &said, Getenv: getenv}).Run(t.Context(), args); status != 0 {
			t.Fatalf("%v: status %d: %s", args, status, said.String())
		}
		return out.Bytes()
	}
	capstan("schedule", "init", at("week.db"), "--demo")
	capstan("keygen", "--dir", dir)
	capstan("run", "../../cascades/examples/schedule.yaml", "--model", "scripted", "--run-id", "plan",
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
	judge := func(gate string) map[string]any {
		t.Helper()
		text, err := json.Marshal(week)
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
	week["validation_proof"] = judge("schedule_selection")["validation_proof"]
	certificate := judge("schedule_quality")["validation_certificate"]
	order := map[string]any{"creator_id": week["creator_id"], "week_start": week["week_start"], "items": week["items"]}
	if r, answer := call("save_schedule", order); !r.IsError {
		t.Errorf("saved without a certificate: %v", answer)
	}
	order["validation_certificate"] = certificate
	if r, answer := call("save_schedule", order); r.IsError || answer["status"] != "APPROVED" || answer["revision"] != 2.0 {
		t.Errorf("%v: %v", r.IsError, answer)
	}
	if err := session.Close(); err != nil && err != io.EOF {
		t.Error(err)
	}
}

// saved is the schedule that a run has saved, by its events.
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

package hooks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/hooks"
)

// captured is the folder of payloads that real programs sent.
const captured = "../../../shared/harness/payloads"

// camelCase are the events of the payloads of Copilot CLI that have no event, by their fields.
func camelCase(in object) string {
	switch {
	case in["toolName"] != nil && in["toolResult"] != nil:
		return "postToolUse"
	case in["toolName"] != nil:
		return "preToolUse"
	case in["stopReason"] != nil:
		return "agentStop"
	case in["prompt"] != nil:
		return "userPromptSubmitted"
	case in["source"] != nil:
		return "sessionStart"
	}
	return "sessionEnd"
}

// TestCapturedPayloads checks that every payload that a real program sent is read, as the
// payload of that program, and that its text is that of the tool.
func TestCapturedPayloads(t *testing.T) {
	names, _ := filepath.Glob(filepath.Join(captured, "*.jsonl"))
	if len(names) == 0 {
		t.Skip("no captured payloads beside the repository")
	}
	root := t.TempDir()
	note := filepath.Join(root, "note.md")
	seen := map[string]map[string]int{}
	for _, name := range names {
		want, _, _ := strings.Cut(filepath.Base(name), "-")
		if strings.Contains(name, "exec-json") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		book := []byte(`{"cells": [{"id": "c1", "source": "print(1)"}]}`)
		if err := os.WriteFile(filepath.Join(root, "nb.ipynb"), book, 0o600); err != nil {
			t.Fatal(err)
		}
		seen[want] = map[string]int{}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if err := os.WriteFile(note, []byte("one\ntwo\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			line := bytes.ReplaceAll(lines.Bytes(), []byte("/repo"), []byte(filepath.ToSlash(root)))
			var in object
			if err := json.Unmarshal(line, &in); err != nil {
				t.Fatal(err)
			}
			event := ""
			if in["hook_event_name"] == nil {
				event = camelCase(in)
			}
			if in["hookName"] != nil {
				event = "permissionRequest"
			}
			for _, given := range []string{"", want} {
				e, err := hooks.Decode(given, event, line)
				unnamed := given == "" && in["hook_event_name"] == "SessionEnd" // Codex and Claude Code send the same
				if err != nil || e.Agent != want && !unnamed || e.Session == "" {
					t.Errorf("%s, %q: %+v, %v\n%.300s", name, given, e, err, line)
					continue
				}
				for _, one := range e.Texts {
					seen[want][e.On+" "+one.File+" "+strings.TrimSpace(one.Content)]++
					if one.Err != nil && in["transcript_path"] == nil {
						t.Errorf("%s: %v", name, one.Err)
					}
				}
			}
		}
	}
	for agent, texts := range seen {
		want := []string{"write note.md one\ntwo", "write note.md one\nthree", "command  exit 3", "command  echo hi >> note.md; cat note.md"}
		if agent != "copilot" { // its messages are in the transcript
			want = append(want, "prompt  write a note")
		}
		for _, text := range want {
			if texts[text] == 0 {
				t.Errorf("%s: no %q", agent, text)
			}
		}
		stops := slices.DeleteFunc(slices.Collect(maps.Keys(texts)), func(s string) bool { return !strings.HasPrefix(s, "stop") })
		if len(stops) == 0 {
			t.Errorf("%s: no end", agent)
		}
	}
}

// TestFormsOfAgents checks payloads of each agent that no program on this machine sent:
// forms of the documentation, and the answer in the protocol of the agent.
func TestFormsOfAgents(t *testing.T) {
	dir := t.TempDir()
	transcript := filepath.Join(dir, "events.jsonl")
	lines := `{"type":"assistant.message","data":{"content":"owls"}}` + "\n" + `{"type":"user.message","data":{"content":"x"}}` + "\n" + `{"type":"assistant.message","data":{"content":"cats"}}` + "\n"
	if err := os.WriteFile(transcript, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	file := dir + "/a.md"
	for name, c := range map[string]struct {
		agent, event string
		payload      object
		answer       string
	}{
		"opencode":               {"opencode", "tool.execute.before", object{"sessionID": "s", "cwd": dir, "tool_name": "write", "tool_input": object{"filePath": file, "content": "cats"}}, `{"decision":"deny","reason":"Refused by the gate (write-1`},
		"copilot without events": {"copilot", "preToolUse", object{"sessionId": "s", "cwd": dir, "toolName": "create", "toolArgs": object{"path": file, "file_text": "cats"}}, `"permissionDecision":"deny"`},
		"copilot's end":          {"copilot", "", object{"session_id": "s", "cwd": dir, "timestamp": "t", "hook_event_name": "Stop", "transcript_path": transcript, "stop_reason": "end_turn"}, `{"decision":"block","reason":"Refused by the gate (stop-3`},
		"gemini":                 {"gemini", "", object{"session_id": "s", "cwd": dir, "timestamp": "t", "transcript_path": "x", "hook_event_name": "AfterAgent", "prompt_response": "cats"}, `{"decision":"deny","reason":"Refused by the gate (stop-3`},
		"codex":                  {"codex", "", object{"session_id": "s", "cwd": dir, "model": "m", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": object{"command": []any{"bash", "-lc", "rm x"}}}, `"permissionDecision":"deny"`},
	} {
		for _, given := range []string{"", c.agent} {
			d, a := decide(t, newGate(t, rules, "hold"), given, c.event, c.payload)
			if !d.Refuse || a.Status != 0 || !strings.Contains(string(a.Stdout), c.answer) {
				t.Errorf("%s: %+v: %s", name, d, a.Stdout)
			}
		}
	}
	other := write(dir, "a.md", "owls")
	if e, err := hooks.Decode("opencode", "", mustJSON(t, other)); err == nil {
		t.Errorf("a payload of Claude Code is read as %+v", e)
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

package hooks_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/internal/hooks"
)

// strictRules refuse every text without a platypus.
const strictRules = `cascade_id: strict
validators:
  animal: {expr: "content contains 'platypus'"}
hooks:
- {on: write, wards: [{validator: animal}]}
- {on: command, wards: [{validator: animal}]}
- {on: stop, wards: [{validator: animal}]}
- {on: subagent, wards: [{validator: animal}]}
- {on: prompt, wards: [{validator: animal}]}
`

// A sent payload is what an agent sends. The event is an argument where the payload has none.
type sent struct {
	agent, event string
	payload      []byte
}

// formsOf returns payloads in the form of every agent, none with a platypus.
func formsOf(t *testing.T, dir string) (list []sent) {
	file := filepath.ToSlash(dir) + "/a.md"
	common := map[string]object{
		"claude": {"session_id": "s", "cwd": dir}, "codex": {"session_id": "s", "cwd": dir, "model": "m", "turn_id": "t"},
		"qwen":    {"session_id": "s", "cwd": dir, "timestamp": "t", "permission_mode": "yolo"},
		"gemini":  {"session_id": "s", "cwd": dir, "timestamp": "t", "transcript_path": "x"},
		"copilot": {"sessionId": "s", "cwd": dir}, "opencode": {"sessionID": "s", "cwd": dir},
	}
	add := func(agent, event string, more object) {
		payload := maps.Clone(common[agent])
		maps.Copy(payload, more)
		given := event
		if agent != "copilot" && agent != "opencode" {
			payload["hook_event_name"], given = event, ""
		}
		list = append(list, sent{agent, given, mustJSON(t, payload)})
	}
	for _, agent := range []string{"claude", "codex", "qwen"} {
		add(agent, "PreToolUse", object{"tool_name": "Write", "tool_input": object{"file_path": file, "content": "cats"}})
		add(agent, "PreToolUse", object{"tool_name": "Bash", "tool_input": object{"command": "ls"}})
		add(agent, "Stop", object{"last_assistant_message": "cats", "stop_hook_active": false})
		add(agent, "UserPromptSubmit", object{"prompt": "cats"})
	}
	add("codex", "PreToolUse", object{"tool_name": "apply_patch", "tool_input": object{"command": "*** Begin Patch\n*** Add File: b.md\n+cats\n*** End Patch\n"}})
	add("claude", "SubagentStop", object{"agent_id": "x", "last_assistant_message": "cats"})
	add("gemini", "BeforeTool", object{"tool_name": "write_file", "tool_input": object{"file_path": file, "content": "cats"}})
	add("gemini", "AfterAgent", object{"prompt": "x", "prompt_response": "cats"})
	add("copilot", "preToolUse", object{"toolName": "create", "toolArgs": object{"path": file, "file_text": "cats"}})
	add("opencode", "tool.execute.before", object{"tool_name": "write", "tool_input": object{"filePath": file, "content": "cats"}})
	add("opencode", "session.idle", object{"last_assistant_message": "cats"})
	return list
}

// capturedForms returns the payloads that real programs sent and that a rule covers.
func capturedForms(t *testing.T, dir string) (list []sent) {
	names, _ := filepath.Glob(filepath.Join(captured, "*.jsonl"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		agent, _, _ := strings.Cut(filepath.Base(name), "-")
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() && !strings.Contains(name, "exec-json") {
			var in object
			line := bytes.ReplaceAll(lines.Bytes(), []byte("/repo"), []byte(filepath.ToSlash(dir)))
			if err := json.Unmarshal(line, &in); err != nil {
				t.Fatal(err)
			}
			event := ""
			if in["hook_event_name"] == nil {
				event = camelCase(in)
			}
			if e, err := hooks.Decode(agent, event, line); err == nil && len(e.Texts) > 0 {
				list = append(list, sent{agent, event, slices.Clone(line)})
			}
		}
	}
	return list
}

// hostile are payloads that no agent sends, made of one that an agent sends. n varies where
// the payload is cut.
func hostile(t *testing.T, good []byte, n int) map[string][]byte {
	t.Helper()
	list := map[string][]byte{"empty": nil, "no object": []byte("[]"), "two documents": append(slices.Clone(good), good...), "null": []byte("null")}
	for i := 1 + n; i < len(good); i += max(1, len(good)/6) {
		list[fmt.Sprintf("the first %d bytes", i)] = good[:i]
	}
	var in object
	if err := json.Unmarshal(good, &in); err != nil {
		t.Fatal(err)
	}
	put := func(name string, at object, key string, value any) {
		old := at[key]
		if at[key] = value; value == nil {
			delete(at, key)
		}
		if list[name], at[key] = mustJSON(t, in), old; old == nil {
			delete(at, key)
		}
	}
	input, _ := in["tool_input"].(object)
	if input == nil {
		input, _ = in["toolArgs"].(object)
	}
	wrong := []any{nil, 1, true, []any{object{}}, object{"a": 1}}
	for i, key := range slices.Sorted(maps.Keys(in)) {
		value := wrong[(i+n)%len(wrong)]
		put(fmt.Sprintf("%s is %v", key, value), in, key, value)
	}
	for i, key := range slices.Sorted(maps.Keys(input)) {
		for _, value := range wrong[(i+n)%2:] {
			put(fmt.Sprintf("input %s is %v", key, value), input, key, value)
		}
	}
	if in["hook_event_name"] != nil {
		put("unknown event", in, "hook_event_name", "pretooluse")
	}
	for _, key := range []string{"content", "file_text"} { // a text that passes, beside one that a tool may use
		if input["content"] != nil || input["file_text"] != nil {
			old := input[key]
			input[key] = "platypus"
			other := map[string]string{"content": "file_text", "file_text": "content"}[key]
			put("two texts, "+key, input, other, "cats")
			if input[key] = old; old == nil {
				delete(input, key)
			}
		}
	}
	if input != nil {
		put("a command beside the text", input, "cmd", "ls")
	}
	list["session twice"] = bytes.Replace(good, []byte(`{`), []byte(`{"session_id":"other","session_id":"s",`), 1)
	list["input twice"] = bytes.Replace(good, []byte(`{`), []byte(`{"cwd":"/","cwd":"/",`), 1)
	return list
}

// TestHostilePayloads checks that no payload that an agent does not send passes, and that
// none crashes. Every answer refuses in a form that an agent reads.
func TestHostilePayloads(t *testing.T) {
	dir := t.TempDir()
	g := newGate(t, strictRules, "")
	own := formsOf(t, dir)
	bases := append(slices.Clone(own), capturedForms(t, dir)...)
	count := 0
	try := func(name string, s sent, payload []byte) {
		t.Helper()
		count++
		d, a := decide(t, g, s.agent, s.event, payload)
		if d.Verdict == hooks.Broken && len(d.Runs) > 0 && a.Stderr != "" {
			return // a transcript that does not exist holds an end twice
		}
		refused := bytes.Contains(a.Stdout, []byte("deny")) || bytes.Contains(a.Stdout, []byte("block"))
		if !d.Refuse || a.Status == 0 && !refused || a.Status != 0 && (a.Status != 2 || strings.TrimSpace(a.Stderr) == "") {
			t.Errorf("%s of %s: %+v, %+v\n%.300s", name, s.agent, d, a, payload)
		}
	}
	for n, s := range bases {
		try("the payload itself", s, s.payload)
		if n >= len(own) && n%9 > 0 {
			continue
		}
		for name, payload := range hostile(t, s.payload, n) {
			try(name, s, payload)
		}
		for _, agent := range []string{"claude", "gemini", "copilot", "opencode"} {
			try("a payload of "+s.agent, sent{agent: agent}, s.payload)
		}
	}
	seen := map[string]bool{}
	for _, s := range own {
		if large := bytes.Replace(s.payload, []byte("cats"), []byte(strings.Repeat("cats ", 2<<20)), 1); !seen[s.agent] {
			seen[s.agent] = true
			try("10 MB", s, large)
		}
	}
	t.Logf("%d payloads", count)
	if count < 300 {
		t.Errorf("only %d payloads", count)
	}
}

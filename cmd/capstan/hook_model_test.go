package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// A scriptedModel speaks the protocols of Claude Code (Messages) and Codex (Responses),
// streamed. It replies to requests with tools from a script, and to others with one word.
type scriptedModel struct {
	*httptest.Server
	mu    sync.Mutex
	turns int
	note  string
	act   func(turn int, refused bool) act
}

func newScriptedModel(t *testing.T, note string, script func(int, bool) act) *scriptedModel {
	m := &scriptedModel{note: note, act: script}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// ServeHTTP implements [http.Handler].
func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var request struct {
		Tools []struct{ Name, Type string }
		Input []struct {
			Type  string
			Tools []struct{ Name, Type string }
		}
	}
	messages := strings.HasSuffix(r.URL.Path, "/messages")
	if r.Method != http.MethodPost || !messages && !strings.HasSuffix(r.URL.Path, "/responses") || json.Unmarshal(body, &request) != nil && messages {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	tools := map[string]bool{}
	for _, tool := range request.Tools {
		tools[tool.Name] = true
	}
	next := act{text: "ok"}
	if len(tools) > 0 {
		m.mu.Lock()
		next = m.act(m.turns, strings.Contains(string(body), "Refused by the gate"))
		m.turns++
		m.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if messages {
		m.messages(w, next)
	} else {
		m.responses(w, next, tools)
	}
}

func writeEvent(w io.Writer, name string, v any) {
	text, _ := json.Marshal(v)
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, text)
}

type fields = map[string]any

// messages replies in the protocol of Anthropic Messages.
func (m *scriptedModel) messages(w io.Writer, a act) {
	send := func(kind string, more fields) {
		more["type"] = kind
		writeEvent(w, kind, more)
	}
	id := fmt.Sprint("call_", m.turns)
	block, delta, why := fields{"type": "text", "text": ""}, fields{"type": "text_delta", "text": a.text}, "end_turn"
	if a.text == "" {
		name, input := "Bash", fields{"command": a.command, "description": "as asked"}
		if a.write != "" {
			name, input = "Write", fields{"file_path": m.note, "content": a.write}
		}
		text, _ := json.Marshal(input)
		block, delta, why = fields{"type": "tool_use", "id": id, "name": name, "input": fields{}}, fields{"type": "input_json_delta", "partial_json": string(text)}, "tool_use"
	}
	usage := fields{"input_tokens": 9, "output_tokens": 9}
	send("message_start", fields{"message": fields{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "fake", "content": []any{}, "stop_reason": nil, "usage": usage}})
	send("content_block_start", fields{"index": 0, "content_block": block})
	send("content_block_delta", fields{"index": 0, "delta": delta})
	send("content_block_stop", fields{"index": 0})
	send("message_delta", fields{"delta": fields{"stop_reason": why, "stop_sequence": nil}, "usage": usage})
	send("message_stop", fields{})
}

// responses replies in the protocol of OpenAI Responses. Files are written by a command,
// because Codex offers apply_patch to models that it knows.
func (m *scriptedModel) responses(w io.Writer, a act, tools map[string]bool) {
	n := 0
	send := func(kind string, more fields) {
		more["type"], more["sequence_number"] = kind, n
		n++
		writeEvent(w, kind, more)
	}
	id := fmt.Sprint("call_", m.turns)
	item := fields{"type": "message", "id": "m" + id, "role": "assistant", "status": "completed", "content": []any{fields{"type": "output_text", "text": a.text, "annotations": []any{}}}}
	if a.text == "" {
		command := a.command
		if a.write != "" {
			command = fmt.Sprintf("printf '%%s' %q > %q", a.write, m.note)
		}
		name, input := "exec_command", fields{"cmd": command}
		if !tools[name] {
			name, input = "shell_command", fields{"command": command}
		}
		text, _ := json.Marshal(input)
		item = fields{"type": "function_call", "id": "f" + id, "call_id": id, "name": name, "arguments": string(text), "status": "completed"}
	}
	response := fields{"id": "resp_" + id, "object": "response", "status": "completed", "model": "fake", "output": []any{item},
		"usage": fields{"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}}
	send("response.created", fields{"response": fields{"id": "resp_" + id, "object": "response", "status": "in_progress", "model": "fake", "output": []any{}}})
	send("response.output_item.added", fields{"output_index": 0, "item": item})
	send("response.output_item.done", fields{"output_index": 0, "item": item})
	send("response.completed", fields{"response": response})
}

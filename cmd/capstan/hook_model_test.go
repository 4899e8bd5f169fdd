package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

type fields = map[string]any

// An act is one reply of the scripted model: a call of a tool, or a text.
type act struct {
	write   string // the content of the file
	command string
	text    string
}

// A scriptedModel speaks Anthropic Messages, OpenAI Responses, OpenAI chat
// completions and Gemini, streamed. A request with tools gets the next reply of
// a script. Any other request gets a single word.
type scriptedModel struct {
	*httptest.Server
	mu      sync.Mutex
	turns   int
	file    string
	last    string // the last text
	act     func(turn int, refused bool) act
	tooMany func(turns int) // called with the number of each turn; may be nil
}

func newScriptedModel(t *testing.T, file string, script func(int, bool) act) *scriptedModel {
	m := &scriptedModel{file: file, act: script}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

// A modelRequest is the part of a request that the scripted model reads: the names of tools.
type modelRequest struct {
	Tools []modelTool
	Input json.RawMessage
}

type modelTool struct {
	Name                 string
	Function             struct{ Name string }
	FunctionDeclarations []struct{ Name string }
	Tools                []modelTool
}

func (r modelRequest) tools() (names []string) {
	var inner []modelTool
	if json.Unmarshal(r.Input, &inner) == nil { // Codex sends tools as items of the input, too
		for _, item := range inner {
			r.Tools = append(r.Tools, item.Tools...)
		}
	}
	for i := 0; i < len(r.Tools); i++ {
		tool := r.Tools[i]
		r.Tools = append(r.Tools, tool.Tools...)
		names = append(names, tool.Name, tool.Function.Name)
		for _, f := range tool.FunctionDeclarations {
			names = append(names, f.Name)
		}
	}
	return slices.DeleteFunc(names, func(s string) bool { return s == "" })
}

// ServeHTTP implements [http.Handler].
func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var request modelRequest
	path := r.URL.Path
	protocol := path[strings.LastIndexAny(path, "/:")+1:]
	if r.Method != http.MethodPost || json.Unmarshal(body, &request) != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	tools, next := request.tools(), act{text: "ok"}
	m.mu.Lock()
	if len(tools) > 0 {
		next = m.act(m.turns, strings.Contains(string(body), "Refused by the gate"))
		if m.turns++; m.tooMany != nil {
			m.tooMany(m.turns)
		}
		if next.text != "" {
			m.last = next.text
		}
	}
	id := fmt.Sprint("call_", m.turns)
	m.mu.Unlock()
	name, input := m.call(next, tools)
	w.Header().Set("Content-Type", "text/event-stream")
	switch protocol {
	case "messages":
		replyMessages(w, id, name, input, next.text)
	case "responses":
		replyResponses(w, id, name, input, next.text)
	case "completions":
		replyChat(w, id, name, input, next.text)
	case "streamGenerateContent", "generateContent":
		part := fields{"text": next.text}
		if name != "" {
			part = fields{"functionCall": fields{"id": id, "name": name, "args": input}}
		}
		if protocol == "generateContent" {
			w.Header().Set("Content-Type", "application/json")
		} else {
			fmt.Fprint(w, "data: ")
		}
		writeValue(w, fields{"candidates": []any{fields{"index": 0, "finishReason": "STOP", "content": fields{"role": "model", "parts": []any{part}}}},
			"modelVersion": "fake", "responseId": id, "usageMetadata": fields{"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}})
		fmt.Fprint(w, "\n\n")
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// call returns the call of the tool that the agent offers for an act; "" for a text.
func (m *scriptedModel) call(a act, tools []string) (name string, input any) {
	has := func(name string) bool { return slices.Contains(tools, name) }
	command := a.command
	switch {
	case a.text != "":
		return "", nil
	case a.write == "":
	case has("Write"):
		return "Write", fields{"file_path": m.file, "content": a.write}
	case has("apply_patch"):
		lines := strings.ReplaceAll("+"+strings.TrimSuffix(a.write, "\n"), "\n", "\n+")
		return "apply_patch", "*** Begin Patch\n*** Add File: " + m.file + "\n" + lines + "\n*** End Patch\n"
	case has("write_file"):
		return "write_file", fields{"file_path": m.file, "content": a.write}
	case has("write"):
		return "write", fields{"filePath": m.file, "content": a.write}
	case has("create"):
		return "create", fields{"path": m.file, "file_text": a.write}
	default:
		command = fmt.Sprintf("printf '%%s' %q > %q", a.write, m.file)
	}
	for name, input := range map[string]fields{
		"Bash": {"command": command, "description": "as asked"}, "bash": {"command": command, "description": "as asked"}, "exec_command": {"cmd": command},
		"shell_command": {"command": command}, "run_shell_command": {"command": command, "is_background": false, "description": "as asked"},
	} {
		if has(name) {
			return name, input
		}
	}
	return "", nil
}

func writeValue(w io.Writer, v any) {
	text, _ := json.Marshal(v)
	_, _ = w.Write(text)
}

func writeEvent(w io.Writer, name string, v any) {
	if name != "" {
		fmt.Fprintf(w, "event: %s\n", name)
	}
	fmt.Fprint(w, "data: ")
	writeValue(w, v)
	fmt.Fprint(w, "\n\n")
}

func argumentText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	text, _ := json.Marshal(v)
	return string(text)
}

func replyMessages(w io.Writer, id, name string, input any, text string) {
	send := func(kind string, more fields) {
		more["type"] = kind
		writeEvent(w, kind, more)
	}
	block, delta, stop := fields{"type": "text", "text": ""}, fields{"type": "text_delta", "text": text}, "end_turn"
	if name != "" {
		block, delta, stop = fields{"type": "tool_use", "id": id, "name": name, "input": fields{}}, fields{"type": "input_json_delta", "partial_json": argumentText(input)}, "tool_use"
	}
	usage := fields{"input_tokens": 9, "output_tokens": 9}
	send("message_start", fields{"message": fields{"id": "msg_" + id, "type": "message", "role": "assistant", "model": "fake", "content": []any{}, "stop_reason": nil, "usage": usage}})
	send("content_block_start", fields{"index": 0, "content_block": block})
	send("content_block_delta", fields{"index": 0, "delta": delta})
	send("content_block_stop", fields{"index": 0})
	send("message_delta", fields{"delta": fields{"stop_reason": stop, "stop_sequence": nil}, "usage": usage})
	send("message_stop", fields{})
}

func replyResponses(w io.Writer, id, name string, input any, text string) {
	n := 0
	send := func(kind string, more fields) {
		more["type"], more["sequence_number"] = kind, n
		n++
		writeEvent(w, kind, more)
	}
	item := fields{"type": "message", "id": "m" + id, "role": "assistant", "status": "completed", "content": []any{fields{"type": "output_text", "text": text, "annotations": []any{}}}}
	if name != "" {
		item = fields{"type": "function_call", "id": "f" + id, "call_id": id, "name": name, "arguments": argumentText(input), "status": "completed"}
		if patch, ok := input.(string); ok {
			item = fields{"type": "custom_tool_call", "id": "f" + id, "call_id": id, "name": name, "input": patch, "status": "completed"}
		}
	}
	response := fields{"id": "resp_" + id, "object": "response", "status": "completed", "model": "fake", "output": []any{item},
		"usage": fields{"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}}
	send("response.created", fields{"response": fields{"id": "resp_" + id, "object": "response", "status": "in_progress", "model": "fake", "output": []any{}}})
	send("response.output_item.added", fields{"output_index": 0, "item": item})
	send("response.output_item.done", fields{"output_index": 0, "item": item})
	send("response.completed", fields{"response": response})
}

func replyChat(w io.Writer, id, name string, input any, text string) {
	chunk := func(more fields) fields {
		more["id"], more["object"], more["created"], more["model"] = id, "chat.completion.chunk", 1, "fake"
		return more
	}
	delta := func(delta fields, finish any) fields {
		return chunk(fields{"choices": []any{fields{"index": 0, "delta": delta, "finish_reason": finish}}})
	}
	content, finish := fields{"content": text}, "stop"
	if name != "" {
		content, finish = fields{"tool_calls": []any{fields{"index": 0, "id": id, "type": "function", "function": fields{"name": name, "arguments": argumentText(input)}}}}, "tool_calls"
	}
	writeEvent(w, "", delta(fields{"role": "assistant", "content": ""}, nil))
	writeEvent(w, "", delta(content, nil))
	writeEvent(w, "", delta(fields{}, finish))
	writeEvent(w, "", chunk(fields{"choices": []any{}, "usage": fields{"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}}))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

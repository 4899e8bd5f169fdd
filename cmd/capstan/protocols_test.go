package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// A protocolReply is one reply of a fake endpoint, in the protocol of the request.
type protocolReply struct {
	Text, Thinking string
	Call           *struct {
		Name  string
		Input map[string]any
	}
}

// serveProtocols is the command protocols REPLIES REQUESTS of scripts. It serves models at
// $ENDPOINT, in the protocol of each request, as a stream if the request asks for one. Request
// N gets line N of the file REPLIES. The file REQUESTS gets the path and the body of each request.
func serveProtocols(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: protocols REPLIES REQUESTS")
	}
	var replies []protocolReply
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var r protocolReply
		ts.Check(json.Unmarshal([]byte(line), &r))
		replies = append(replies, r)
	}
	requests, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	e := &protocolEndpoint{replies: replies, requests: requests}
	s := httptest.NewServer(e)
	ts.Defer(func() {
		s.Close()
		requests.Close()
	})
	ts.Setenv("ENDPOINT", s.URL)
}

// A protocolEndpoint speaks chat completions, Messages and Responses.
type protocolEndpoint struct {
	mu       sync.Mutex
	replies  []protocolReply
	requests io.Writer
	count    int
}

// ServeHTTP implements [http.Handler].
func (e *protocolEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	e.mu.Lock()
	defer e.mu.Unlock()
	fmt.Fprintf(e.requests, "%s %s\n", r.URL.Path, body)
	if e.count == len(e.replies) {
		http.Error(w, "no reply is left", http.StatusGone)
		return
	}
	reply := e.replies[e.count]
	e.count++
	protocols := map[string]func(int) fields{"completions": reply.chat, "messages": reply.messages, "responses": reply.responses}
	protocol := path.Base(r.URL.Path)
	whole := protocols[protocol](e.count)
	var request struct{ Stream bool }
	if _ = json.Unmarshal(body, &request); request.Stream {
		streamReply(w, protocol, reply, whole)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(whole)
}

// arguments returns the input of a call as JSON.
func (r protocolReply) arguments() string {
	text, _ := json.Marshal(r.Call.Input)
	return string(text)
}

func (r protocolReply) chat(n int) fields {
	finish, message := "stop", fields{"role": "assistant", "content": r.Text}
	if r.Call != nil {
		finish = "tool_calls"
		message["tool_calls"] = []any{fields{"index": 0, "id": fmt.Sprint("call_", n), "type": "function", "function": fields{"name": r.Call.Name, "arguments": r.arguments()}}}
	}
	usage := fields{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
	return fields{"id": fmt.Sprint("c", n), "model": "m-1", "usage": usage, "choices": []any{fields{"index": 0, "message": message, "finish_reason": finish}}}
}

func (r protocolReply) messages(n int) fields {
	stop, content := "end_turn", []any{}
	if r.Thinking != "" {
		content = append(content, fields{"type": "thinking", "thinking": r.Thinking, "signature": fmt.Sprint("signature-", n)})
	}
	if r.Text != "" {
		content = append(content, fields{"type": "text", "text": r.Text})
	}
	if r.Call != nil {
		stop, content = "tool_use", append(content, fields{"type": "tool_use", "id": fmt.Sprint("toolu_", n), "name": r.Call.Name, "input": r.Call.Input})
	}
	usage := fields{"input_tokens": 40, "cache_read_input_tokens": 50, "cache_creation_input_tokens": 10, "output_tokens": 10}
	return fields{"id": fmt.Sprint("msg_", n), "type": "message", "role": "assistant", "model": "m-1", "content": content, "stop_reason": stop, "usage": usage}
}

func (r protocolReply) responses(n int) fields {
	output := []any{}
	if r.Thinking != "" {
		output = append(output, fields{"type": "reasoning", "id": fmt.Sprint("rs_", n), "summary": []any{fields{"type": "summary_text", "text": r.Thinking}}})
	}
	if r.Text != "" {
		output = append(output, fields{"type": "message", "id": fmt.Sprint("m", n), "role": "assistant", "status": "completed",
			"content": []any{fields{"type": "output_text", "text": r.Text, "annotations": []any{}}}})
	}
	if r.Call != nil {
		output = append(output, fields{"type": "function_call", "id": fmt.Sprint("f", n), "call_id": fmt.Sprint("call_", n), "name": r.Call.Name, "arguments": r.arguments(), "status": "completed"})
	}
	return fields{"id": fmt.Sprint("resp_", n), "object": "response", "status": "completed", "model": "m-1", "output": output,
		"usage": fields{"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}}
}

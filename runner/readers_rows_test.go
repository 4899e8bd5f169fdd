package runner_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/hooks"
	"github.com/seed61713e19/capstan/internal/mcpserver"
	"github.com/seed61713e19/capstan/internal/receipts"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/signatures"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/openai"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/tool/mcp"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/builtins"
	"github.com/seed61713e19/capstan/validators/request"
)

type inputs = map[string]func(n int) string

// lines are texts in JSON strings with an escape every few bytes.
const lines = `It went round and round, said the crew aboard.\n`

func readers() []reader {
	return slices.Concat(replyReaders(), jsonReaders(), toolReaders(), serverReaders(), fileReaders(), gateReaders())
}

// replyReaders read what model endpoints send.
func replyReaders() []reader {
	const whole, end = `{"choices":[{"finish_reason":"stop","message":{"content":"yes`, `"}}]}`
	const last = "data: {\"choices\":[{\"delta\":{\"content\":\"yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	return []reader{
		{name: "whole reply", limit: 64 * mib, inputs: inputs{
			"line ends": filled(whole, lines, end),
			"escapes":   filled(whole, `\u0001`, end),
			"arguments": filled(`{"choices":[{"finish_reason":"stop","message":{"tool_calls":[{"function":{"name":"f","arguments":"`, `\"\\`, `"}}]}}]}`),
			"parts":     filled(`{"choices":[{"finish_reason":"stop","message":{"content":[{"text":"yes"}`, `,{"text":"`+lines+lines+lines+`"}`, `]}}]}`),
			"extras":    filled(`{"choices":[{"finish_reason":"stop","message":{"content":"yes","x":["`, lines+lines+`","`, `"]}}]}`),
		}, read: func(t testing.TB, text string) error { return call(t, http.StatusOK, "application/json", text) }},
		{name: "reply of many values", limit: 64 * mib, inputs: inputs{
			"numbers": filled(`{"choices":[{"finish_reason":"stop","message":{"content":"yes","x":[1`, `,1`, `]}}]}`),
			"objects": filled(`{"choices":[{"finish_reason":"stop","message":{"content":"yes","x":[1`, `,{}`, `]}}]}`),
			"names":   named(`{"choices":[{"finish_reason":"stop","message":{"content":"yes","x":{`, `"":0}}}]}`),
		}, read: func(t testing.TB, text string) error {
			if err := call(t, http.StatusOK, "application/json", text); err != nil && !strings.Contains(err.Error(), "the limit is 1000000") {
				return err
			}
			return nil
		}},
		{name: "streamed reply", limit: 64 * mib, inputs: inputs{
			"pieces": filled("", "data: {\"choices\":[{\"delta\":{\"content\":\""+strings.Repeat(lines, 10)+"\"}}]}\n\n", last),
			"lists":  filled("", "data: {\"choices\":[{\"delta\":{\"x\":[{\"index\":0,\"t\":\""+strings.Repeat(lines, 10)+"\"}]}}]}\n\n", last),
			"calls":  filled("", "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\""+strings.Repeat(lines, 10)+"\"}}]}}]}\n\n", last),
			"lines":  filled("", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\""+strings.Repeat(lines, 10)+"\"}}]}\n\n", last),
		}, read: func(t testing.TB, text string) error { return call(t, http.StatusOK, "text/event-stream", text) }},
		{name: "reply of Messages", limit: 64 * mib, inputs: inputs{
			"escapes": filled(`{"content":[{"type":"text","text":"yes`, `\u0001`, `"}],"stop_reason":"end_turn"}`),
			"input":   filled(`{"content":[{"type":"tool_use","id":"a","name":"f","input":{"x":"`, lines, `"}}],"stop_reason":"tool_use"}`),
			"thought": filled(`{"content":[{"type":"thinking","thinking":"`, lines, `"},{"type":"text","text":"yes"}],"stop_reason":"end_turn"}`),
			"blocks":  filled(`{"content":[{"type":"text","text":"yes"}`, `,{"type":"text","text":"`+lines+lines+lines+`"}`, `],"stop_reason":"end_turn"}`),
		}, read: func(t testing.TB, text string) error {
			return call(t, http.StatusOK, "application/json", text, model.Messages)
		}},
		{name: "streamed reply of Messages", limit: 64 * mib, inputs: inputs{
			"pieces":   filled("", messagesPiece("text_delta", "text", "0"), messagesEnd),
			"thoughts": filled(messagesBegin("thinking"), messagesPiece("thinking_delta", "thinking", "7"), messagesBegin("text")+messagesEnd),
			"blocks":   filled("", messagesBegin("text"), messagesEnd),
			"others":   filled(messagesBegin("text"), messagesBegin("search_result"), messagesEnd),
		}, read: func(t testing.TB, text string) error {
			return call(t, http.StatusOK, "text/event-stream", text, model.Messages)
		}},
		{name: "reply of the Responses protocol", limit: 64 * mib, inputs: inputs{
			"parts": filled("data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"content\":[",
				`{"type":"output_text","text":"`+strings.Repeat(lines, 10)+`"},`, "{}]}]}}\n\n"),
			"thoughts": filled("", "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"reasoning\",\"content\":[{\"text\":\""+strings.Repeat(lines, 10)+"\"}]}}\n\n", responded),
			"deltas":   filled("", "data: {\"type\":\"response.output_text.delta\",\"delta\":\""+strings.Repeat(lines, 10)+"\"}\n\n", "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"no\"}}}\n\n"),
		}, read: func(t testing.TB, text string) error {
			err := call(t, http.StatusOK, "text/event-stream", text, "responses")
			if err != nil && strings.HasSuffix(err.Error(), ": no") {
				return nil
			}
			return err
		}},
		{name: "error of an endpoint", limit: mib, inputs: inputs{
			"line ends": filled(`{"error":{"message":"`, lines, `"}}`),
			"details":   filled(`{"error":{"message":"no","details":[`, `{"retryDelay":"1s"},`, `{}]}}`),
		}, read: func(t testing.TB, text string) error {
			if err := call(t, http.StatusBadRequest, "application/json", text); err == nil {
				return errors.New("no failure")
			}
			return nil
		}},
	}
}

// responded is the last event of a reply of the Responses protocol.
const responded = "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":" +
	"[{\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"yes\"}]}]}}\n\n"

// named returns a function that makes texts of about n bytes with as many names.
func named(open, end string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(open)
		for i := 0; b.Len() < n-len(end)-20; i++ {
			fmt.Fprintf(&b, `"%x":0,`, i)
		}
		return b.String() + end
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// call asks a model whose endpoint replies with a text.
func call(t testing.TB, status int, kind, text string, api ...string) error {
	p, _ := model.Builtin(model.OpenAI)
	p.API = strings.Join(api, "")
	c, err := openai.New(openai.Options{Provider: p, MaxTries: 1, Stream: kind == "text/event-stream", HTTP: &http.Client{
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		}),
	}})
	if err != nil {
		return err
	}
	_, err = c.Call(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Go."}}})
	return err
}

// jsonReaders read JSON that models write.
func jsonReaders() []reader {
	texts := inputs{
		"line ends": filled(`{"a":"`, lines, `"}`),
		"escapes":   filled(`{"a":"`, `\u0001`, `"}`),
		"strings":   filled(`{"a":["`, strings.Repeat("x", 90)+`","`, `"]}`),
	}
	return []reader{
		{name: "JSON text", inputs: texts, read: func(_ testing.TB, text string) error {
			_, err := schema.Parse([]byte(text))
			return err
		}},
		{name: "JSON text of many values", inputs: inputs{
			"numbers": filled(`[1`, `,1`, `]`),
			"objects": filled(`[1`, `,{}`, `]`),
		}, read: func(_ testing.TB, text string) error {
			_, err := schema.Parse([]byte(text))
			return err
		}, refused: "more than 1000000 values"},
		{name: "JSON in prose", limit: mib, inputs: inputs{
			"line ends": texts["line ends"],
			"prose":     filled("", "It went { round, [ and round.\n", `{"a":1}`),
			"fences":    filled("", "```json\n{\n```\n", "```json\n{\"a\":1}\n```\n"),
			"brackets":  filled("", "{[x ", `{"a":1}`),
			"broken":    filled("", "{\"x\" it went round and round and round\n", `{"a":1}`),
		}, read: func(t testing.TB, text string) error {
			s, err := schema.Compile(map[string]any{"type": "object"})
			if err != nil {
				return err
			}
			_, _, err = schema.Extract(t.Context().Err, text, s)
			return err
		}},
		{name: "members that go back", inputs: texts, read: func(_ testing.TB, text string) error {
			_, err := model.ExtraOf([]byte(text))
			return err
		}},
		{name: "verdict of a judge", limit: mib, inputs: inputs{
			"reason":   filled(`{"valid": true, "reason": "`, lines, `"}`),
			"prose":    filled("", "It went round, and I think that it is valid.\n", "{\"valid\": true}"),
			"brackets": filled("", "{[x ", "\n{\"valid\": true}"),
			"tags":     filled("", "<b>", "\n{\"valid\": true}"),
		}, read: func(_ testing.TB, text string) error {
			_, err := validators.VerdictIn(text)
			return err
		}},
	}
}

// toolReaders read what tools, programs and servers of tools return.
func toolReaders() []reader {
	print := func(t testing.TB, text string) string {
		file := filepath.Join(t.TempDir(), "printed")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	messages := inputs{
		"text":       filled(`{"content":[{"type":"text","text":"`, lines, `"}]}`),
		"contents":   filled(`{"content":[{"type":"text","text":"a"}`, `,{"type":"text","text":"`+lines+`"}`, `]}`),
		"structured": filled(`{"content":[],"structuredContent":{"a":["`, strings.Repeat("x", 90)+`","`, `"]}}`),
		"meta":       filled(`{"content":[],"_meta":{"a":[1`, `,1`, `]}}`),
	}
	return []reader{
		{name: "output of an exec tool", limit: 10 * mib, inputs: inputs{
			"line ends": filled(`{"a":"`, lines, `"}`),
			"strings":   filled(`["`, strings.Repeat("x", 90)+`","`, `"]`),
		}, read: func(t testing.TB, text string) error {
			return failed(tool.Exec{Argv: []string{"cat", print(t, text)}}.Tool("f", "f", nil).Run(t.Context(), tool.Call{Name: "f"}))
		}},
		{name: "output of an exec validator", limit: mib, inputs: inputs{
			"reason":  filled(`{"valid":true,"reason":"`, lines, `"}`),
			"details": filled(`{"valid":true,"details":["`, strings.Repeat("x", 90)+`","`, `"]}`),
		}, read: func(t testing.TB, text string) error {
			_, err := validators.Exec{Argv: []string{"cat", print(t, text)}}.Check(nil)(t.Context(), validators.Subject{})
			return err
		}},
		{name: "page of http_get", limit: 4 * mib, inputs: inputs{"text": filled("", "It went round and round. ", "")}, read: func(t testing.TB, text string) error {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
			defer s.Close()
			address, _ := url.Parse(s.URL)
			host, _, _ := net.SplitHostPort(address.Host)
			get, _ := tool.NewSet(tool.Builtins(tool.Options{Hosts: []string{host}})...).Find("http_get")
			return failed(get.Run(t.Context(), tool.Call{Name: "http_get", Arguments: map[string]any{"url": s.URL}}))
		}},
		{name: "message of an MCP server, HTTP", limit: 4 * mib, inputs: messages, read: func(t testing.TB, text string) error {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked, _ := io.ReadAll(r.Body)
				reply := answerMCP(asked, text)
				if reply == "" {
					w.WriteHeader(http.StatusAccepted)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, reply)
			}))
			defer s.Close()
			return callMCP(t, mcp.Server{URL: s.URL})
		}},
		{name: "message of an MCP server, stdio", limit: 4 * mib, inputs: messages, read: func(t testing.TB, text string) error {
			t.Setenv("CAPSTAN_READER_MCP", print(t, text))
			return callMCP(t, mcp.Server{Command: []string{os.Args[0], "-test.run=^TestReadersMCPServer$"}, Env: []string{"CAPSTAN_READER_MCP"}})
		}},
	}
}

// callMCP calls the one tool of a server.
func callMCP(t testing.TB, s mcp.Server) error {
	var c mcp.Client
	defer c.Close()
	return failed(c.Tool(s, "f").Run(t.Context(), tool.Call{Name: "f"}))
}

// answerMCP returns the reply of a server whose tool returns result.
func answerMCP(asked []byte, result string) string {
	var r struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(asked, &r) != nil || r.ID == nil {
		return ""
	}
	switch r.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"f","inputSchema":{"type":"object"}}]}`
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, result)
}

// TestReadersMCPServer is a server of one tool, in a process of its own.
func TestReadersMCPServer(t *testing.T) {
	name := os.Getenv("CAPSTAN_READER_MCP")
	if name == "" {
		t.Skip("a process of the readers of MCP messages")
	}
	result, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if reply := answerMCP(in.Bytes(), string(result)); reply != "" {
			fmt.Println(reply)
		}
	}
	os.Exit(0)
}

func failed(r tool.Result, err error) error {
	if err != nil {
		return err
	}
	if r.Failed {
		return errors.New(r.Text())
	}
	return nil
}

// serverReaders read what clients of our servers send.
func serverReaders() []reader {
	body := reader{name: "body of an HTTP request", limit: 16 * mib, inputs: inputs{
		"text":    filled(`{"content":"`, lines, `"}`),
		"escapes": filled(`{"content":"`, `\u0001`, `"}`),
		"numbers": filled(`{"content":"a","with":{"x":[1`, `,1`, `]}}`),
	}, read: func(t testing.TB, text string) error {
		switch r := servetest.MadeUp(t).Send("POST", "/v1/gates/non_empty", text); r.StatusCode {
		case http.StatusOK, http.StatusUnprocessableEntity, http.StatusBadRequest:
			return nil
		default:
			return errors.New(r.Status)
		}
	}}
	return []reader{body, {name: "message of an MCP client", limit: 64 * mib, inputs: inputs{
		"text":    filled(`{"content":"`, lines, `"}`),
		"escapes": filled(`{"content":"`, `\u0001`, `"}`),
		"numbers": filled(`{"content":"a","x":[1`, `,1`, `]}`),
	}, read: func(t testing.TB, text string) error {
		o := mcpserver.Options{Version: "test", Known: cascades.Known{Validators: builtins.Default()}, Clean: func(s string) string { return strings.ReplaceAll(s, "a secret", "") }}
		for _, v := range builtins.Default().List() {
			o.Gates = append(o.Gates, mcpserver.Gate{Validator: v})
		}
		s, err := mcpserver.New(o)
		if err != nil {
			return err
		}
		const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"p","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
		in := io.MultiReader(strings.NewReader(hello+`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"non_empty","arguments":`), strings.NewReader(text), strings.NewReader("}}\n"))
		var out bytes.Buffer
		if err := s.Serve(t.Context(), in, &out); err != nil {
			return err
		}
		if !strings.Contains(out.String(), `"id":2`) && !strings.Contains(out.String(), "at most") {
			return fmt.Errorf("no answer: %.500s", out.String())
		}
		return nil
	}}}
}

// fileReaders read files that come from elsewhere.
func fileReaders() []reader {
	const write = `{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/a","content":"`
	return []reader{
		{name: "payload of a coding agent", limit: 64 * mib, inputs: inputs{
			"line ends": filled(write, lines, `"}}`),
			"escapes":   filled(write, `\u0001`, `"}}`),
			"edits":     filled(`{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_input":{"file_path":"/none","x":"`, strings.Repeat("x", 50), `","edits":[{"old_string":"a","new_string":"b"}]}}`),
		}, read: func(_ testing.TB, text string) error {
			_, err := hooks.Decode("claude", "", []byte(text))
			return err
		}},
		{name: "receipt", limit: 0, inputs: inputs{
			"line ends":  filled(`{"payload":"`, lines, `"}`),
			"base64":     filled(`{"payloadType":"application/vnd.in-toto+json","payload":"`, "e30K", `","signatures":[{"keyid":"a","sig":"AA=="}]}`),
			"signatures": filled(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"a","sig":"AA=="}`, `,{"keyid":"a","sig":"AA=="}`, `]}`),
		}, read: func(_ testing.TB, text string) error {
			if r := receipts.Verify(receipts.Bytes([]byte("text")), []byte(text), signatures.Trust{}, receipts.Demand{}); r.Verdict == receipts.Passed {
				return errors.New("it passes")
			}
			return nil
		}},
		{name: "file of keys", inputs: inputs{
			"line ends": filled(`{"format":"capstan.keys/1","keys":[{"name":"`, lines, `"}]}`),
			"keys":      filled(`{"format":"capstan.keys/1","keys":[{}`, `,{"name":"`+strings.Repeat("x", 50)+`"}`, `]}`),
			"PEM":       filled("", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: make([]byte, 44)})), ""),
		}, read: func(_ testing.TB, text string) error {
			if _, err := signatures.ParseTrust([]byte(text)); err == nil {
				return errors.New("it is one")
			}
			return nil
		}},
		{name: "response to a validation request", limit: 8 * mib, inputs: inputs{
			"line ends": filled(`{"a":"`, lines, `"}`),
			"fences":    filled("", "```json\n{\n```\n", ""),
			"brackets":  filled("", "{ [", ""),
		}, read: func(_ testing.TB, text string) error {
			if _, err := request.ParseResponse([]byte(text)); err == nil {
				return errors.New("it is one")
			}
			return nil
		}},
		{name: "canonical JSON", inputs: inputs{
			"line ends": filled(`{"a":"`, lines, `"}`),
			"names":     func(n int) string { return named(`{`, `"":0}`)(min(n, 8*mib)) },
		}, read: func(_ testing.TB, text string) error {
			_, err := signatures.CanonicalText([]byte(text))
			return err
		}},
	}
}

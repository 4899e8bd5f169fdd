package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/jsonvalue"
)

// Wire returns the messages in the form of the chat completions protocol: the elements
// of a JSON array without brackets. Only the provider of an Extra gets it back. Later
// requests of the same conversation begin with the same bytes. The caller must not
// change the bytes.
func (r Request) Wire(to Provider) ([]byte, error) {
	if t := r.Thread; t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.starts(r.Messages) {
			return t.wire(len(r.Messages), to)
		}
	}
	return NewThread(r.Messages...).wire(len(r.Messages), to)
}

func (m Message) equal(o Message) bool {
	return m.Role == o.Role && m.Content == o.Content && m.ToolCallID == o.ToolCallID && slices.Equal(m.ToolCalls, o.ToolCalls) &&
		m.Extra == o.Extra && m.Provider == o.Provider
}

// A wireMessage is a message in the form of the chat completions protocol.
type wireMessage struct {
	Role       Role              `json:"role"`
	Content    *string           `json:"content"`
	ToolCalls  []json.RawMessage `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
}

// appendMessage appends an encoded message. The content of a message with calls and no
// text is null, as endpoints require.
func appendMessage(encoded []byte, m Message, to Provider) ([]byte, error) {
	if m.plain() { // the usual case
		encoded = slices.Grow(encoded, len(m.Content)+len(m.Content)/16+64)
		encoded = jsonvalue.AppendText(append(encoded, `{"role":`...), string(m.Role))
		encoded = jsonvalue.AppendText(append(encoded, `,"content":`...), m.Content)
		return append(encoded, '}'), nil
	}
	foreign := m.Provider != to.Name
	if foreign {
		m.Extra = ""
	}
	s := wireMessage{Role: m.Role, Content: &m.Content, ToolCallID: to.callID(m.ToolCallID)}
	if m.Content == "" && len(m.ToolCalls) > 0 {
		s.Content = nil
	}
	for _, c := range m.ToolCalls {
		if foreign {
			c.Extra = to.ForeignCall
		}
		call, err := appendWire(nil, wireCall{ID: to.callID(c.ID), Type: "function", Function: wireFunction{c.Name, c.Object()}})
		if err != nil {
			return nil, err
		}
		s.ToolCalls = append(s.ToolCalls, c.Extra.join(call))
	}
	if m.Extra == "" {
		return appendWire(encoded, s)
	}
	var message any = s
	if m.Extra.Has("content") { // a list of parts, which contains the text
		message = struct {
			wireMessage
			Content *string `json:"content,omitempty"`
		}{wireMessage: s}
	}
	object, err := appendWire(nil, message)
	return append(encoded, m.Extra.join(object)...), err
}

// plain reports whether the message contains only a text.
func (m Message) plain() bool { return len(m.ToolCalls) == 0 && m.ToolCallID == "" && m.Extra == "" }

// Whole reports whether the arguments are empty or one JSON object.
func (c ToolCall) Whole() bool {
	text := strings.TrimSpace(c.Arguments)
	return text == "" || text[0] == '{' && json.Valid([]byte(text))
}

// Object returns the arguments as a JSON object. Many endpoints reject a request with
// other arguments of earlier calls.
func (c ToolCall) Object() string {
	switch {
	case strings.TrimSpace(c.Arguments) == "":
		return "{}"
	case c.Whole():
		return c.Arguments
	}
	return string(jsonvalue.AppendText([]byte(`{"invalid_arguments":`), c.Arguments)) + "}"
}

// appendWire appends the JSON of v without escaping < > and &.
func appendWire(wire []byte, v any) ([]byte, error) {
	grown := growing(wire)
	e := json.NewEncoder(&grown)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(grown, []byte("\n")), nil
}

type growing []byte

func (g *growing) Write(p []byte) (int, error) {
	*g = append(*g, p...)
	return len(p), nil
}

package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// Wire is the request's messages as the elements of a JSON array in the chat
// completions protocol, without the brackets, as they go to a provider. What is
// extra in a message goes to the one that it came from and to no other. The
// bytes of what was sent before are the same in every later request of a
// conversation. They may be shared and must not be changed.
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

// A sent message is one as endpoints take it.
type sent struct {
	Role       Role              `json:"role"`
	Content    *string           `json:"content"`
	ToolCalls  []json.RawMessage `json:"tool_calls,omitempty"`
	ToolCallID string            `json:"tool_call_id,omitempty"`
}

// appendMessage appends a message as endpoints take it: they want null, as
// they send it themselves, where an assistant said nothing and called a tool.
func appendMessage(encoded []byte, m Message, to Provider) ([]byte, error) {
	if m.plain() { // most are so
		encoded = slices.Grow(encoded, len(m.Content)+len(m.Content)/16+64)
		encoded = AppendText(append(encoded, `{"role":`...), string(m.Role))
		encoded = AppendText(append(encoded, `,"content":`...), m.Content)
		return append(encoded, '}'), nil
	}
	foreign := m.Provider != to.Name
	if foreign {
		m.Extra = ""
	}
	s := sent{Role: m.Role, Content: &m.Content, ToolCallID: to.callID(m.ToolCallID)}
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
	if m.Extra.Has("content") { // in parts, of which the text is one
		message = struct {
			sent
			Content *string `json:"content,omitempty"`
		}{sent: s}
	}
	object, err := appendWire(nil, message)
	return append(encoded, m.Extra.join(object)...), err
}

// plain reports whether a message is a text and nothing more.
func (m Message) plain() bool { return len(m.ToolCalls) == 0 && m.ToolCallID == "" && m.Extra == "" }

// Whole reports whether the arguments are empty or one JSON object.
func (c ToolCall) Whole() bool {
	text := strings.TrimSpace(c.Arguments)
	return text == "" || text[0] == '{' && json.Valid([]byte(text))
}

// Object returns the arguments as endpoints take them. Many parse the arguments of
// earlier calls and refuse the whole request if one of them is no object.
func (c ToolCall) Object() string {
	switch {
	case strings.TrimSpace(c.Arguments) == "":
		return "{}"
	case c.Whole():
		return c.Arguments
	}
	return string(AppendText([]byte(`{"invalid_arguments":`), c.Arguments)) + "}"
}

// appendWire appends v's JSON to wire, with < > and & as they are: escaped for
// HTML they would be six bytes each of a history that is sent again each turn.
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

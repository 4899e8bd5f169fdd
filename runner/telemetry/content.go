package telemetry

import (
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/model"
)

// maxContent is the maximum size of an attribute of content, in bytes. A full queue of spans
// then has about 100 MB.
const maxContent = 32 << 10

// maxName is the maximum size of a name that a model or an endpoint chose, in bytes.
const maxName = 128

// A message is a message in the JSON schemas of gen_ai.input.messages and
// gen_ai.output.messages.
type message struct {
	Role   model.Role `json:"role"`
	Parts  []part     `json:"parts"`
	Finish string     `json:"finish_reason,omitempty"`
}

type part struct {
	Type      string `json:"type"`
	Content   string `json:"content,omitempty"`
	ID        string `json:"id,omitempty"`
	Name      string `json:"name,omitempty"`
	Arguments any    `json:"arguments,omitempty"`
	Response  string `json:"response,omitempty"`
}

// inputOf returns the last messages of a conversation that fit into the limit. cut reports that
// older messages are missing.
func inputOf(messages []model.Message, cut bool) []attribute.KeyValue {
	var fitting []json.RawMessage
	left := maxContent
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		text, shorter := encoded(messageOf(messages[i]), left)
		cut = cut || shorter
		left -= len(text) + 1
		if left < 0 && len(fitting) > 0 {
			break
		}
		fitting = append([]json.RawMessage{text}, fitting...)
	}
	return list(inputMessages, fitting, cut || len(fitting) < len(messages))
}

// outputOf returns the reply of a model as one message.
func outputOf(r model.Response) []attribute.KeyValue {
	m := messageOf(model.Message{Role: model.Assistant, Content: r.Text, ToolCalls: r.ToolCalls})
	m.Finish = finished(r)
	text, cut := encoded(m, maxContent)
	return list(outputMessages, []json.RawMessage{text}, cut)
}

func list(key attribute.Key, messages []json.RawMessage, cut bool) []attribute.KeyValue {
	text, err := json.Marshal(messages)
	if err != nil || messages == nil {
		text = []byte("[]")
	}
	return marked(key.String(string(text)), cut)
}

func marked(a attribute.KeyValue, cut bool) []attribute.KeyValue {
	if cut {
		return []attribute.KeyValue{a, shortened.Bool(true)}
	}
	return []attribute.KeyValue{a}
}

// finished returns the reason why the model stopped.
func finished(r model.Response) string {
	switch {
	case r.Failure == nil && len(r.ToolCalls) > 0:
		return "tool_call"
	case r.Failure == nil:
		return "stop"
	case r.Failure.Class == model.Truncated:
		return "length"
	case r.Failure.Class == model.Refused:
		return "content_filter"
	}
	return "error"
}

func messageOf(m model.Message) message {
	out := message{Role: m.Role, Parts: []part{}}
	switch {
	case m.Role == model.ToolReply:
		out.Parts = append(out.Parts, part{Type: "tool_call_response", ID: m.ToolCallID, Response: m.Content})
	case m.Content != "":
		out.Parts = append(out.Parts, part{Type: "text", Content: m.Content})
	}
	for _, c := range m.ToolCalls {
		out.Parts = append(out.Parts, part{Type: "tool_call", ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return out
}

// encoded returns a message as JSON. If it is larger than size, its texts are cut to half of
// size together.
func encoded(m message, size int) (text []byte, cut bool) {
	if m.length() <= size {
		if text = parsed(m); len(text) <= size {
			return text, false
		}
	}
	const most = 8 // parts; a model that calls more tools at once is hostile
	m.Parts = m.Parts[:min(len(m.Parts), most)]
	each := size / (2 * (len(m.Parts) + 1))
	for i := range m.Parts {
		p := &m.Parts[i]
		p.Content, p.Response = clips.Bytes(p.Content, each), clips.Bytes(p.Response, each)
		p.Name, p.ID = clips.Bytes(p.Name, maxName), clips.Bytes(p.ID, maxName)
		if a, ok := p.Arguments.(string); ok {
			p.Arguments = clips.Bytes(a, each)
		}
	}
	return parsed(m), true
}

// length returns a lower bound of the message's size as JSON.
func (m message) length() (n int) {
	for _, p := range m.Parts {
		arguments, _ := p.Arguments.(string)
		n += len(p.Content) + len(p.Response) + len(arguments)
	}
	return n
}

// parsed returns a message as JSON, with the arguments of tools as values.
func parsed(m message) []byte {
	parts := append([]part(nil), m.Parts...)
	for i, p := range parts {
		if a, ok := p.Arguments.(string); ok && json.Valid([]byte(a)) {
			parts[i].Arguments = json.RawMessage(a)
		}
	}
	m.Parts = parts
	text, _ := schema.Encode(m) // text and JSON always encode
	return text
}

// text returns an attribute of content, or nothing without content.
func (r *run) text(key attribute.Key, text string) []attribute.KeyValue {
	if !r.t.content {
		return nil
	}
	short := clips.Bytes(text, maxContent)
	return marked(key.String(short), short != text)
}

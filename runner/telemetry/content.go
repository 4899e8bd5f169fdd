package telemetry

import (
	"encoding/json"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// maxContent bounds one attribute of content, in bytes: a queue of spans then
// holds some 100 MB at worst.
const maxContent = 32 << 10

// maxName bounds a name that a model or an endpoint made up, in bytes.
const maxName = 128

// A message and its parts are those of the conventions' JSON schemas for
// gen_ai.input.messages and gen_ai.output.messages.
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

// inputOf is the conversation so far: as many of the last messages as fit. Cut
// says that those before are not there.
func inputOf(messages []model.Message, cut bool) []attribute.KeyValue {
	var kept []json.RawMessage
	left := maxContent
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		text, shorter := encoded(messageOf(messages[i]), left)
		cut = cut || shorter
		left -= len(text) + 1
		if left < 0 && len(kept) > 0 {
			break
		}
		kept = append([]json.RawMessage{text}, kept...)
	}
	return list(inputMessages, kept, cut || len(kept) < len(messages))
}

// outputOf is what a model has said, as the one message that it is.
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

// finished is why the model stopped, as far as it is known.
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

// encoded is a message in at most size bytes or so: where it is larger, its
// texts are cut so that together they are half of that, and it stays JSON.
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
		p.Content, p.Response, p.Name, p.ID = start(p.Content, each), start(p.Response, each), start(p.Name, maxName), start(p.ID, maxName)
		if a, ok := p.Arguments.(string); ok {
			p.Arguments = start(a, each)
		}
	}
	return parsed(m), true
}

// length is at least how long the message is as JSON.
func (m message) length() (n int) {
	for _, p := range m.Parts {
		arguments, _ := p.Arguments.(string)
		n += len(p.Content) + len(p.Response) + len(arguments)
	}
	return n
}

// parsed is a message as JSON, the arguments of tools as the values they are.
func parsed(m message) []byte {
	parts := append([]part(nil), m.Parts...)
	for i, p := range parts {
		if a, ok := p.Arguments.(string); ok && json.Valid([]byte(a)) {
			parts[i].Arguments = json.RawMessage(a)
		}
	}
	m.Parts = parts
	text, _ := schema.Encode(m) // all of it is text or JSON
	return text
}

// text is an attribute of content, and none where content was not asked for.
func (r *run) text(key attribute.Key, text string) []attribute.KeyValue {
	if !r.t.content {
		return nil
	}
	short := start(text, maxContent)
	return marked(key.String(short), len(short) < len(text))
}

// start is the beginning of a text: at most size bytes and then an ellipsis,
// which is there only where something is missing.
func start(text string, size int) string {
	if len(text) <= size {
		return text
	}
	end := max(size-len("…"), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

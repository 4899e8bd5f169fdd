package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// streamPause is the time between the halves of a streamed text. The live line of a terminal
// is drawn several times in it.
const streamPause = 300 * time.Millisecond

// An eventStream writes the events of a streamed reply.
type eventStream struct {
	w     http.ResponseWriter
	named bool // each event has a line with its type
}

// streamReply writes a reply as the stream of a protocol. Each text, thought and input of a
// call arrives in two pieces.
func streamReply(w http.ResponseWriter, protocol string, r protocolReply, whole fields) {
	w.Header().Set("Content-Type", "text/event-stream")
	s := &eventStream{w: w, named: protocol != "completions"}
	switch protocol {
	case "completions":
		s.chat(r, whole)
	case "messages":
		s.messages(whole)
	case "responses":
		s.responses(r, whole)
	}
}

// send writes one event.
func (s *eventStream) send(kind string, event fields) {
	if s.named {
		event["type"] = kind
		fmt.Fprintf(s.w, "event: %s\n", kind)
	}
	text, _ := json.Marshal(event)
	fmt.Fprintf(s.w, "data: %s\n\n", text)
	_ = http.NewResponseController(s.w).Flush()
}

// pieces writes the event of each half of a text, with a pause between them.
func (s *eventStream) pieces(text, kind string, event func(piece string) fields) {
	if text == "" {
		return
	}
	half := len(text) / 2
	s.send(kind, event(text[:half]))
	time.Sleep(streamPause)
	s.send(kind, event(text[half:]))
}

func (s *eventStream) chat(r protocolReply, whole fields) {
	choice := whole["choices"].([]any)[0].(fields)
	chunk := func(delta fields, finish any) fields {
		return fields{"id": whole["id"], "model": whole["model"], "choices": []any{fields{"index": 0, "delta": delta, "finish_reason": finish}}}
	}
	s.send("", chunk(fields{"role": "assistant"}, nil))
	s.pieces(r.Thinking, "", func(piece string) fields { return chunk(fields{"reasoning_content": piece}, nil) })
	s.pieces(r.Text, "", func(piece string) fields { return chunk(fields{"content": piece}, nil) })
	if r.Call != nil {
		id, name := any("call_1"), any(r.Call.Name)
		s.pieces(r.arguments(), "", func(piece string) fields {
			call := fields{"index": 0, "id": id, "type": "function", "function": fields{"name": name, "arguments": piece}}
			id, name = nil, nil
			return chunk(fields{"tool_calls": []any{call}}, nil)
		})
	}
	s.send("", chunk(fields{}, choice["finish_reason"]))
	s.send("", fields{"id": whole["id"], "choices": []any{}, "usage": whole["usage"]})
	fmt.Fprint(s.w, "data: [DONE]\n\n")
}

func (s *eventStream) messages(whole fields) {
	s.send("message_start", fields{"message": fields{"id": whole["id"], "model": whole["model"], "content": []any{}, "usage": whole["usage"]}})
	for i, content := range whole["content"].([]any) {
		block := content.(fields)
		delta := func(kind, member string) func(string) fields {
			return func(piece string) fields { return fields{"index": i, "delta": fields{"type": kind, member: piece}} }
		}
		start := fields{"type": block["type"]}
		switch block["type"] {
		case "thinking":
			start["thinking"] = ""
			s.send("content_block_start", fields{"index": i, "content_block": start})
			s.pieces(block["thinking"].(string), "content_block_delta", delta("thinking_delta", "thinking"))
			s.send("content_block_delta", delta("signature_delta", "signature")(block["signature"].(string)))
		case "text":
			start["text"] = ""
			s.send("content_block_start", fields{"index": i, "content_block": start})
			s.pieces(block["text"].(string), "content_block_delta", delta("text_delta", "text"))
		case "tool_use":
			start["id"], start["name"], start["input"] = block["id"], block["name"], fields{}
			s.send("content_block_start", fields{"index": i, "content_block": start})
			input, _ := json.Marshal(block["input"])
			s.pieces(string(input), "content_block_delta", delta("input_json_delta", "partial_json"))
		}
		s.send("content_block_stop", fields{"index": i})
	}
	s.send("message_delta", fields{"delta": fields{"stop_reason": whole["stop_reason"]}, "usage": fields{"output_tokens": 10}})
	s.send("message_stop", fields{})
}

func (s *eventStream) responses(r protocolReply, whole fields) {
	s.send("response.created", fields{"response": fields{"id": whole["id"], "status": "in_progress", "output": []any{}}})
	for i, item := range whole["output"].([]any) {
		if item.(fields)["type"] == "message" {
			s.pieces(r.Text, "response.output_text.delta", func(piece string) fields { return fields{"output_index": i, "delta": piece} })
		}
		s.send("response.output_item.done", fields{"output_index": i, "item": item})
	}
	s.send("response.completed", fields{"response": whole})
}

package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/internal/jsontree"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/protocol"
)

// The types of the items and parts of a reply that are read.
const (
	messageItem   = "message"
	functionCall  = "function_call"
	reasoningItem = "reasoning"
	textPart      = "output_text"
	refusalPart   = "refusal"
)

// Decode implements [protocol.Protocol].
func (r responses) Decode(ctx context.Context, reply []byte) (protocol.Draft, error) {
	v, err := protocol.Parse(ctx, reply, true)
	if err != nil {
		return protocol.Draft{}, err
	}
	var o output
	err = o.finish(v, reply)
	return o.draft, err
}

// Stream implements [protocol.Protocol].
func (r responses) Stream() protocol.Stream { return &responsesStream{} }

// An output joins the items of a reply.
type output struct {
	draft   protocol.Draft
	pending []json.RawMessage // reasoning items that belong to the next text or call
}

// finish completes the draft by a response object. Some endpoints leave out the items
// there that they have streamed. The error is the one that the object reports.
func (o *output) finish(v jsontree.Value, raw []byte) error {
	var reply struct {
		ID, Model         string
		Status            api.ResponseStatus
		IncompleteDetails api.ResponseIncompleteDetails `json:"incomplete_details"`
	}
	decode(v, &reply)
	var items []jsontree.Value
	var usage protocol.Tally
	for name, value := range v.Members() {
		switch string(name) {
		case "error":
			if !protocol.Empty(value) {
				return protocol.Reported(v, raw)
			}
		case "usage":
			usage.Read(value)
		case "output":
			items = slices.Collect(value.Elements())
		}
	}
	if len(items) > 0 {
		*o = output{}
		for _, item := range items {
			o.add(item)
		}
	}
	d := &o.draft
	d.ID, d.Model, d.Usage, d.Finish = reply.ID, reply.Model, usage, string(reply.Status)
	if reply.Status == api.ResponseStatusIncomplete && reply.IncompleteDetails.Reason != "" {
		d.Finish = reply.IncompleteDetails.Reason
	}
	d.Answered = d.Answered || d.Finish != ""
	return nil
}

// add adds an item of the output.
func (o *output) add(v jsontree.Value) {
	var item api.ResponseOutputItem
	decode(v, &item)
	d := &o.draft
	d.Answered = true
	switch item.Type {
	case messageItem:
		for _, part := range item.Content {
			switch part.Type {
			case textPart:
				d.Text += part.Text
			case refusalPart:
				d.Refusal += part.Refusal
			}
		}
		d.Extra = o.before(d.Extra)
	case functionCall:
		if d.Count++; d.Count <= protocol.MaxCalls {
			d.Calls = append(d.Calls, model.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments, Extra: o.before("")})
		}
	case reasoningItem:
		o.think(item, v)
	default:
		d.Shape = fmt.Sprintf("the answer has an item of the type %s and no text", item.Type)
	}
}

// think adds a reasoning item. It goes back if it has its thoughts, encrypted or in plain
// text: the endpoint does not find it by its id.
func (o *output) think(item api.ResponseOutputItem, v jsontree.Value) {
	texts := []string{o.draft.Thinking}
	for _, part := range item.Summary {
		texts = append(texts, part.Text)
	}
	for _, part := range item.Content {
		texts = append(texts, part.Text)
	}
	o.draft.Thinking = strings.TrimSpace(strings.Join(texts, "\n\n"))
	var sealed struct {
		Content string `json:"encrypted_content"`
	}
	if decode(v, &sealed); sealed.Content != "" || len(item.Content) > 0 {
		o.pending = append(o.pending, json.RawMessage(v.Raw()))
	}
}

// before returns an extra with the thoughts that wait for a text or a call.
func (o *output) before(extra model.Extra) model.Extra {
	if len(o.pending) == 0 {
		return extra
	}
	var all thoughts
	_ = json.Unmarshal([]byte(cmp.Or(extra, "{}")), &all) // this function's own
	object, _ := protocol.Encode(thoughts{append(all.Reasoning, o.pending...)})
	o.pending = nil
	made, _ := model.ExtraOf(object) // of items that were parsed
	return made
}

// decode decodes a value that was parsed. A member of an unexpected kind counts as
// missing, and the rest of the value counts.
func decode(v jsontree.Value, into any) { _ = json.Unmarshal(v.Raw(), into) }

// A responsesStream joins the events of a reply. The texts of deltas are for the listener:
// the answer is made of whole items and of the last event.
type responsesStream struct {
	output
	heard    protocol.Text
	finished bool
}

// Add implements [protocol.Stream].
func (s *responsesStream) Add(ctx context.Context, name string, data []byte) (text string, err error) {
	if string(data) == doneEvent {
		return "", &model.Failure{Class: model.Unavailable, Message: "the answer was cut: it has no event " + string(api.ResponseStreamEventCompleted)}
	}
	v, err := protocol.Parse(ctx, data, !strings.HasSuffix(name, ".delta")) // whose end may be half a character
	if err != nil {
		return "", err
	}
	var kind api.ResponseStreamEventType
	var delta, item, response jsontree.Value
	for member, value := range v.Members() {
		switch string(member) {
		case "type":
			kind = api.ResponseStreamEventType(protocol.Word(value))
		case "delta":
			delta = value
		case "item":
			item = value
		case "response":
			response = value
		}
	}
	switch kind {
	case api.ResponseStreamEventOutputTextDelta:
		text, _ = s.heard.Read(delta)
	case api.ResponseStreamEventOutputItemDone:
		s.add(item)
	case api.ResponseStreamEventCompleted, api.ResponseStreamEventIncomplete, api.ResponseStreamEventFailed:
		if err := s.finish(response, data); err != nil {
			return "", err
		}
		s.finished = true
		return s.unheard()
	case api.ResponseStreamEventError:
		return "", protocol.Reported(v, data)
	}
	return text, s.check()
}

// unheard returns the end of the answer's text that came in no delta, and [io.EOF].
func (s *responsesStream) unheard() (string, error) {
	s.heard.Finish()
	rest, ok := strings.CutPrefix(s.draft.Text, s.heard.String())
	switch {
	case s.heard.Invalid:
		return "", protocol.ErrInvalid()
	case !ok && s.draft.Refusal == "":
		return "", &model.Failure{Class: model.Unavailable, Message: "the events of the answer have another text than the answer itself"}
	}
	return rest, io.EOF
}

// check returns the failure of an answer that is beyond a limit.
func (s *responsesStream) check() error {
	switch {
	case s.heard.Invalid:
		return protocol.ErrInvalid()
	case s.draft.Count > protocol.MaxCalls:
		return protocol.ErrManyCalls()
	}
	return nil
}

// Ended implements [protocol.Stream].
func (s *responsesStream) Ended() bool { return s.finished }

// Finish implements [protocol.Stream].
func (s *responsesStream) Finish() (string, protocol.Draft) {
	d := s.draft
	if !s.finished {
		d.Text = s.heard.String()
		d.Answered = d.Answered || d.Text != ""
	}
	return "", d
}

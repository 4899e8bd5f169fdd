package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/internal/jsontree"
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
	return respond(v, reply, &output{})
}

// Stream implements [protocol.Protocol].
func (r responses) Stream() protocol.Stream { return &responsesStream{} }

// An output joins the items of a reply.
type output struct {
	text, refusal strings.Builder
	thinking      []string
	reasoning     []json.RawMessage // items before a text
	pending       []json.RawMessage // items since the last text or call
	calls         []model.ToolCall
	count         int // of calls
	shape         string
	answered      bool
}

// An outputItem has the members that are read, of items of any type.
type outputItem struct {
	Type    string
	Content []struct{ Type, Text, Refusal string }
	Summary []api.ResponseSummaryPart
	Sealed  string `json:"encrypted_content"`

	Name, Arguments string
	CallID          string `json:"call_id"`
}

// add adds an item.
func (o *output) add(v jsontree.Value) {
	var item outputItem
	decode(v, &item)
	o.answered = true
	switch item.Type {
	case messageItem:
		for _, part := range item.Content {
			switch part.Type {
			case textPart:
				o.text.WriteString(part.Text)
			case refusalPart:
				o.refusal.WriteString(part.Refusal)
			}
		}
		o.reasoning, o.pending = append(o.reasoning, o.pending...), nil
	case functionCall:
		if o.count++; o.count <= protocol.MaxCalls {
			o.calls = append(o.calls, model.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments, Extra: thoughts{o.pending}.extra()})
			o.pending = nil
		}
	case reasoningItem:
		for _, part := range item.Summary {
			o.thinking = append(o.thinking, part.Text)
		}
		for _, part := range item.Content {
			o.thinking = append(o.thinking, part.Text)
		}
		// The endpoint does not find an item by its id. It goes back if it has its thoughts.
		if item.Sealed != "" || len(item.Content) > 0 {
			o.pending = append(o.pending, json.RawMessage(v.Raw()))
		}
	default:
		o.shape = fmt.Sprintf("the answer has an item of the type %s and no text", item.Type)
	}
}

// draft returns the draft of the items.
func (o *output) draft() protocol.Draft {
	return protocol.Draft{
		Text: o.text.String(), Refusal: o.refusal.String(), Thinking: strings.TrimSpace(strings.Join(o.thinking, "\n\n")),
		Calls: o.calls, Count: o.count, Extra: thoughts{o.reasoning}.extra(), Shape: o.shape, Answered: o.answered,
	}
}

// respond returns the draft of a response object. The items are those of streamed, or those of
// the object if it has any. The error is the one that the object reports.
func respond(v jsontree.Value, raw []byte, streamed *output) (protocol.Draft, error) {
	var reply struct {
		ID, Model         string
		Status            api.ResponseStatus
		IncompleteDetails api.ResponseIncompleteDetails `json:"incomplete_details"`
	}
	decode(v, &reply)
	var items output
	var usage protocol.Tally
	for name, value := range v.Members() {
		switch string(name) {
		case "error":
			if !protocol.Empty(value) {
				return protocol.Draft{}, protocol.Reported(v, raw)
			}
		case "usage":
			usage.Read(value)
		case "output":
			for item := range value.Elements() {
				items.add(item)
			}
		}
	}
	d := items.draft()
	if !d.Answered {
		d = streamed.draft()
	}
	d.ID, d.Model, d.Usage, d.Finish = reply.ID, reply.Model, usage, string(reply.Status)
	if reply.Status == api.ResponseStatusIncomplete && reply.IncompleteDetails.Reason != "" {
		d.Finish = reply.IncompleteDetails.Reason
	}
	d.Answered = d.Answered || d.Finish != ""
	return d, nil
}

// decode decodes a value that was parsed. A member of an unexpected kind counts as
// missing, and the rest of the value counts.
func decode(v jsontree.Value, into any) { _ = json.Unmarshal(v.Raw(), into) }

// A responsesStream joins the events of a reply. The texts of deltas are for
// the listener. The answer consists of the whole items and the last event.
type responsesStream struct {
	items    output
	streamed protocol.Text
	last     *protocol.Draft // of the last event
}

// Add implements [protocol.Stream].
func (s *responsesStream) Add(ctx context.Context, name string, data []byte) (text string, err error) {
	if string(data) == doneEvent {
		return "", &model.Failure{Class: model.Unavailable, Message: "the answer was cut: it has no event " + string(api.ResponseStreamEventCompleted)}
	}
	v, err := protocol.Parse(ctx, data, !strings.HasSuffix(name, ".delta")) // a delta may end with half a character
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
		text, _ = s.streamed.Read(delta)
	case api.ResponseStreamEventOutputItemDone:
		s.items.add(item)
	case api.ResponseStreamEventCompleted, api.ResponseStreamEventIncomplete, api.ResponseStreamEventFailed:
		d, err := respond(response, data, &s.items)
		if err != nil {
			return "", err
		}
		s.last = &d
		return s.remaining()
	case api.ResponseStreamEventError:
		return "", protocol.Reported(v, data)
	}
	return text, s.check()
}

// remaining returns the end of the answer's text that was in no delta, and
// [io.EOF].
func (s *responsesStream) remaining() (string, error) {
	s.streamed.Finish()
	rest, ok := strings.CutPrefix(s.last.Text, s.streamed.String())
	switch {
	case s.streamed.Invalid:
		return "", protocol.ErrInvalid()
	case !ok && s.last.Refusal == "":
		return "", &model.Failure{Class: model.Unavailable, Message: "the events of the answer have another text than the answer itself"}
	}
	return rest, io.EOF
}

// check returns the failure of an answer that is beyond a limit.
func (s *responsesStream) check() error {
	switch {
	case s.streamed.Invalid:
		return protocol.ErrInvalid()
	case s.items.count > protocol.MaxCalls:
		return protocol.ErrManyCalls()
	}
	return nil
}

// Ended implements [protocol.Stream].
func (s *responsesStream) Ended() bool { return s.last != nil }

// Finish implements [protocol.Stream]. The draft of a reply that was cut has the text of the
// deltas.
func (s *responsesStream) Finish() (string, protocol.Draft) {
	if s.last != nil {
		return "", *s.last
	}
	return "", protocol.Draft{Text: s.streamed.String(), Answered: s.items.answered || s.streamed.Len() > 0}
}

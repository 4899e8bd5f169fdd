package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	api "github.com/sashabaranov/go-openai"

	"github.com/seed61713e19/capstan/runner/model"
)

// A draft is what a model said, however it came.
type draft struct {
	model   string
	text    string
	refusal string
	calls   []model.ToolCall
	finish  api.FinishReason
	usage   *api.Usage
}

// A reply is a whole answer. Content is a string, or a list of parts with some
// endpoints. It has only what we need of go-openai's type, which is decoded
// three times over and not at all if a field that we do not need is not as it
// has it.
type reply[Content any] struct {
	Model   string `json:"model"`
	Choices []struct {
		Message struct {
			Content   Content     `json:"content"`
			Refusal   string      `json:"refusal"`
			ToolCalls []replyCall `json:"tool_calls"`
		} `json:"message"`
		FinishReason api.FinishReason `json:"finish_reason"`
	} `json:"choices"`
	Usage *api.Usage `json:"usage"`
}

type replyCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // JSON in a string, or as it is with some endpoints
	} `json:"function"`
}

type parts []struct {
	Text string `json:"text"`
}

func (p parts) join() (text string) {
	for _, part := range p {
		text += part.Text
	}
	return text
}

// read makes a response of a whole answer.
func (t *try) read() (model.Response, error) {
	d, err := decode(t.answer.Bytes(), func(s string) string { return s })
	if field := (*json.UnmarshalTypeError)(nil); errors.As(err, &field) {
		d, err = decode(t.answer.Bytes(), parts.join)
	}
	if err != nil {
		return model.Response{}, fmt.Errorf("the answer does not decode: %w", err)
	}
	return t.finish(d)
}

// decode reads an answer whose content is of a kind that text makes a text of.
func decode[Content any](answer []byte, text func(Content) string) (draft, error) {
	var r reply[Content]
	if err := json.Unmarshal(answer, &r); err != nil {
		return draft{}, err
	}
	if len(r.Choices) == 0 {
		if f := failureOf(0, answer); f != nil {
			return draft{}, f
		}
		return draft{model: r.Model, usage: r.Usage}, nil
	}
	c := r.Choices[0]
	d := draft{model: r.Model, usage: r.Usage, text: text(c.Message.Content), refusal: c.Message.Refusal, finish: c.FinishReason}
	for _, call := range c.Message.ToolCalls {
		d.calls = append(d.calls, call.plain())
	}
	return d, nil
}

func (c replyCall) plain() model.ToolCall {
	call := model.ToolCall{ID: c.ID, Name: c.Function.Name}
	if raw := c.Function.Arguments; bytes.HasPrefix(raw, []byte(`"`)) {
		_ = json.Unmarshal(raw, &call.Arguments) // it was decoded once: it is a string
	} else if string(raw) != "null" {
		call.Arguments = string(raw)
	}
	return call
}

// finish judges a draft: it is a response, or it is none.
func (t *try) finish(d draft) (model.Response, error) {
	resp := model.Response{Text: d.text, Model: d.model, Usage: t.usage(d)}
	for i, call := range d.calls {
		if call.ID == "" { // some endpoints give none, but want one back
			call.ID = fmt.Sprintf("call_%d_%d", t.q.count, i+1)
		}
		resp.ToolCalls = append(resp.ToolCalls, call)
	}
	if f := d.unanswered(); f != nil {
		return model.Response{Usage: resp.Usage}, f
	}
	return resp, nil
}

// unanswered is why a draft is no answer; nil if it is one.
func (d draft) unanswered() *model.Failure {
	switch {
	case d.refusal != "":
		return &model.Failure{Class: model.Refused, Message: d.refusal}
	case d.finish == api.FinishReasonContentFilter:
		return &model.Failure{Class: model.Refused, Message: "a content filter held the answer back"}
	case d.finish == api.FinishReasonLength:
		return &model.Failure{Class: model.Truncated, Message: fmt.Sprintf("the answer hit the token limit after %d characters", len([]rune(d.text)))}
	case d.finish == "error", d.finish == "insufficient_system_resource":
		return &model.Failure{Class: model.Unavailable, Message: "the endpoint broke off: " + string(d.finish)}
	case strings.TrimSpace(d.text) == "" && len(d.calls) == 0:
		return &model.Failure{Class: model.Empty, Message: "the model said nothing"}
	}
	return nil
}

// usage is what the endpoint counted, or else an estimate.
func (t *try) usage(d draft) model.Usage {
	u, cached := model.Usage{}, 0
	if d.usage != nil {
		u.InputTokens, u.OutputTokens = max(d.usage.PromptTokens, 0), max(d.usage.CompletionTokens, 0)
		if d.usage.PromptTokensDetails != nil {
			cached = d.usage.PromptTokensDetails.CachedTokens
		}
	}
	if u.Tokens() == 0 {
		said := len(d.text)
		for _, c := range d.calls {
			said += len(c.Name) + len(c.Arguments)
		}
		u.InputTokens, u.OutputTokens = model.EstimateTokens(int(t.sent)), model.EstimateTokens(said)
	}
	if price, ok := t.c.prices.find(t.q.name); ok {
		u.CostUSD = price.cost(u.InputTokens, cached, u.OutputTokens)
	}
	return u
}

package event

import (
	"github.com/seed61713e19/capstan/runner/model"
)

// The members of what events are made of, in the order and under the names of
// the fields' tags: a test holds them together.

func (w *object) event(e *Event) {
	w.text(`,"path":`, string(e.Path))
	w.someText(`,"run_id":`, e.RunID)
	w.someText(`,"cascade_id":`, e.CascadeID)
	w.someValue(`,"input":`, len(e.Input) > 0, e.Input)
	w.someText(`,"phase":`, e.Phase)
	w.someNumber(`,"attempt":`, e.Attempt)
	if e.Turn != nil {
		w.number(`,"turn":`, *e.Turn)
	}
	w.someText(`,"validator":`, e.Validator)
	if e.Request != nil {
		w.request(e)
	}
	if e.Response != nil {
		w.response(e.Response)
	}
	w.someValue(`,"call":`, e.Call != nil, e.Call)
	w.someValue(`,"result":`, e.Result != nil, e.Result)
	w.someText(`,"conversation":`, string(e.Conversation))
	w.someText(`,"status":`, e.Status)
	w.someText(`,"by":`, e.By)
	w.someText(`,"text":`, e.Text)
	w.someText(`,"message":`, e.Message)
	w.someValue(`,"output":`, e.Output != nil, e.Output)
	w.someText(`,"released":`, string(e.Released))
	w.someText(`,"from":`, e.From)
	w.someText(`,"to":`, e.To)
	if e.Usage != nil {
		w.usage(e.Usage)
	}
	w.someValue(`,"error":`, e.Error != nil, e.Error)
	w.someValue(`,"pruning":`, e.Pruning != nil, e.Pruning)
	w.someNumber(`,"items":`, e.Items)
	w.someValue(`,"failures":`, len(e.Failures) > 0, e.Failures)
	if e.Kind == ModelCalled && e.Request != nil {
		w.number(`,"messages_before":`, e.Before)
	}
}

func (w *object) verdict(v *Verdict) {
	w.text(`,"path":`, string(v.Path))
	w.text(`,"phase":`, v.Phase)
	w.number(`,"attempt":`, v.Attempt)
	w.number(`,"turn":`, v.Turn)
	w.text(`,"moment":`, v.Moment)
	w.text(`,"validator":`, v.Validator)
	w.text(`,"mode":`, v.Mode)
	w.value(`,"valid":`, v.Valid)
	w.text(`,"reason":`, v.Reason)
	w.value(`,"error":`, v.Error)
	w.someValue(`,"score":`, v.Score != nil, v.Score)
	w.someValue(`,"issues":`, len(v.Issues) > 0, v.Issues)
	w.someValue(`,"warnings":`, len(v.Warnings) > 0, v.Warnings)
	w.someText(`,"fix":`, v.Fix)
	w.someValue(`,"evidence":`, v.Evidence != nil, v.Evidence)
	w.someText(`,"status":`, v.Status)
	w.someValue(`,"details":`, v.Details != nil, v.Details)
}

// request writes a request with the messages that are new.
func (w *object) request(e *Event) {
	r, news := e.Request, e.news()
	w.text(`,"request":{"model":`, r.Model)
	if news == nil && e.Kind != ModelCalled {
		w.b = append(w.b, `,"messages":null`...)
	} else { // a list, never null
		w.messages(news)
	}
	w.someText(`,"talk":`, r.Talk)
	w.someValue(`,"tools":`, len(r.Tools) > 0, r.Tools)
	w.someValue(`,"schema":`, len(r.Schema) > 0, r.Schema)
	w.someValue(`,"params":`, r.Params != nil, r.Params)
	w.someText(`,"phase":`, r.Phase)
	w.someNumber(`,"attempt":`, r.Attempt)
	w.number(`,"turn":`, r.Turn)
	w.someText(`,"validator":`, r.Validator)
	w.someText(`,"role":`, r.Role)
	w.b = append(w.b, '}')
}

func (w *object) messages(list []model.Message) {
	w.b = append(w.b, `,"messages":[`...)
	for i, m := range list {
		if i > 0 {
			w.b = append(w.b, ',')
		}
		w.text(`{"role":`, string(m.Role))
		w.text(`,"content":`, m.Content)
		w.someValue(`,"tool_calls":`, len(m.ToolCalls) > 0, m.ToolCalls)
		w.someText(`,"tool_call_id":`, m.ToolCallID)
		w.someValue(`,"extra":`, m.Extra != "", m.Extra)
		w.someText(`,"provider":`, m.Provider)
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ']')
}

func (w *object) response(r *model.Response) {
	w.text(`,"response":{"text":`, r.Text)
	w.someText(`,"thinking":`, r.Thinking)
	w.someValue(`,"tool_calls":`, len(r.ToolCalls) > 0, r.ToolCalls)
	w.someValue(`,"extra":`, r.Extra != "", r.Extra)
	w.someText(`,"model":`, r.Model)
	w.someText(`,"finish":`, r.Finish)
	w.someText(`,"id":`, r.ID)
	w.someText(`,"provider":`, r.Provider)
	w.someText(`,"server":`, r.Server)
	w.someValue(`,"without":`, len(r.Without) > 0, r.Without)
	w.usage(&r.Usage)
	w.someValue(`,"failure":`, r.Failure != nil, r.Failure)
	w.b = append(w.b, '}')
}

func (w *object) usage(u *model.Usage) {
	w.number(`,"usage":{"model_calls":`, u.Calls)
	w.number(`,"input_tokens":`, u.InputTokens)
	w.number(`,"output_tokens":`, u.OutputTokens)
	w.someNumber(`,"cached_tokens":`, u.Cached)
	w.someNumber(`,"cache_write_tokens":`, u.CacheWrite)
	w.someNumber(`,"reasoning_tokens":`, u.Reasoning)
	if u.CostUSD == 0 {
		w.number(`,"cost_usd":`, 0)
	} else {
		w.value(`,"cost_usd":`, u.CostUSD)
	}
	w.someValue(`,"estimated":`, u.Estimated, true)
	w.b = append(w.b, '}')
}

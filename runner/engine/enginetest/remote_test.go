package enginetest

import (
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Remote is a host whose effects travel as JSON to a worker. The worker loads
// the cascade itself and has a host for the effects. Questions are asked
// locally.
type Remote struct {
	engine.Host
	Cascade *cascades.Cascade // the worker's
	Run     string
	Texts   effects.Texts
	Talks   *model.Conversations
}

func (h Remote) send(e effects.Effect) (result effects.Outcome, err error) {
	text, err := effects.Encode(e, h.Texts)
	if err != nil {
		return result, err
	}
	var read effects.Effect
	if err := effects.Decode(text, h.Texts, &read); err != nil {
		return result, err
	}
	if err := read.Follow(h.Texts, h.Talks); err != nil {
		return result, err
	}
	if err := read.Resolve(h.Cascade); err != nil {
		return result, err
	}
	made, err := read.Make(h.Host)
	if err != nil {
		return result, err
	}
	if text, err = effects.Encode(made, h.Texts); err != nil {
		return result, err
	}
	err = effects.Decode(text, h.Texts, &result)
	return result, err
}

// Model calls the model in the worker.
func (h Remote) Model(at event.Path, req model.Request) (model.Response, error) {
	result, err := h.send(effects.Effect{At: at, Run: h.Run, Request: &req})
	if err != nil {
		return model.Response{}, err
	}
	return *result.Response, nil
}

// Tool calls the tool in the worker.
func (h Remote) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	result, err := h.send(effects.Effect{At: at, Run: h.Run, Job: &job})
	if err != nil {
		return tool.Result{}, err
	}
	return *result.Result, nil
}

// Validate runs the validator in the worker.
func (h Remote) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	result, err := h.send(effects.Effect{At: at, Run: h.Run, Validation: &v})
	if err != nil {
		return engine.Finding{}, err
	}
	return *result.Finding, nil
}

// Each makes the effects of the branches in the worker too.
func (h Remote) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error {
		return body(Remote{inner, h.Cascade, h.Run, h.Texts, h.Talks}, i)
	})
}

// Within makes the effects of the body in the worker too.
func (h Remote) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return h.Host.Within(at, d, func(inner engine.Host) error { return body(Remote{inner, h.Cascade, h.Run, h.Texts, h.Talks}) })
}

package enginetest

import (
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/effects"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Elsewhere is a host whose effects travel as JSON to a worker that knows
// nothing of the run: it has the cascade, loaded for itself, and the host that
// makes them. Questions stay here.
type Elsewhere struct {
	engine.Host
	Cascade *cascades.Cascade // the worker's
	Run     string
	Texts   effects.Texts
	Talks   *model.Talks
}

func (h Elsewhere) send(e effects.Effect) (came effects.Came, err error) {
	text, err := effects.Encode(e, h.Texts)
	if err != nil {
		return came, err
	}
	var read effects.Effect
	if err := effects.Decode(text, h.Texts, &read); err != nil {
		return came, err
	}
	if err := read.Follow(h.Texts, h.Talks); err != nil {
		return came, err
	}
	if err := read.Resolve(h.Cascade); err != nil {
		return came, err
	}
	made, err := read.Make(h.Host)
	if err != nil {
		return came, err
	}
	if text, err = effects.Encode(made, h.Texts); err != nil {
		return came, err
	}
	return came, effects.Decode(text, h.Texts, &came)
}

// Model has the worker ask.
func (h Elsewhere) Model(at event.Path, req model.Request) (model.Response, error) {
	came, err := h.send(effects.Effect{At: at, Run: h.Run, Request: &req})
	if err != nil {
		return model.Response{}, err
	}
	return *came.Response, nil
}

// Tool has the worker call.
func (h Elsewhere) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	came, err := h.send(effects.Effect{At: at, Run: h.Run, Job: &job})
	if err != nil {
		return tool.Result{}, err
	}
	return *came.Result, nil
}

// Validate has the worker judge.
func (h Elsewhere) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	came, err := h.send(effects.Effect{At: at, Run: h.Run, Validation: &v})
	if err != nil {
		return engine.Finding{}, err
	}
	return *came.Finding, nil
}

// Each has the effects of the branches made there too.
func (h Elsewhere) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error {
		return body(Elsewhere{inner, h.Cascade, h.Run, h.Texts, h.Talks}, i)
	})
}

// Within has the effects of the body made there too.
func (h Elsewhere) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return h.Host.Within(at, d, func(inner engine.Host) error { return body(Elsewhere{inner, h.Cascade, h.Run, h.Texts, h.Talks}) })
}

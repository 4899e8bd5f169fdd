package effects_test

import (
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// TestStoriesElsewhere makes every effect of the transcripts in a worker that knows only the
// cascade.
func TestStoriesElsewhere(t *testing.T) {
	for _, s := range storytest.Stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			texts, err := effects.NewFolder(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			var transcript storytest.Transcript
			world := s.Host(t, runner.WithSink(&transcript))
			result, _ := engine.Run(remote{world, s.Load(t), "run", texts, &model.Conversations{}}, s.Cascade, s.Start())
			storytest.Same(t, "elsewhere", transcript.Format(t, result), s.Want())
		})
	}
}

// A remote is a host whose effects travel as JSON to a worker. The worker loads
// the cascade itself and has a host for the effects. Questions are asked
// locally.
type remote struct {
	engine.Host
	Cascade *cascades.Cascade // the worker's
	Run     string
	Texts   effects.Texts
	Talks   *model.Conversations
}

func (h remote) send(e effects.Effect) (result effects.Outcome, err error) {
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
func (h remote) Model(at event.Path, req model.Request) (model.Response, error) {
	result, err := h.send(effects.Effect{At: at, Run: h.Run, Request: &req})
	if err != nil {
		return model.Response{}, err
	}
	return *result.Response, nil
}

// Tool calls the tool in the worker.
func (h remote) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	result, err := h.send(effects.Effect{At: at, Run: h.Run, Job: &job})
	if err != nil {
		return tool.Result{}, err
	}
	return *result.Result, nil
}

// Validate runs the validator in the worker.
func (h remote) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	result, err := h.send(effects.Effect{At: at, Run: h.Run, Validation: &v})
	if err != nil {
		return engine.Finding{}, err
	}
	return *result.Finding, nil
}

// Each makes the effects of the branches in the worker too.
func (h remote) Each(n, limit int, body func(engine.Host, int) error) error {
	return h.Host.Each(n, limit, func(inner engine.Host, i int) error {
		return body(remote{inner, h.Cascade, h.Run, h.Texts, h.Talks}, i)
	})
}

// Within makes the effects of the body in the worker too.
func (h remote) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return h.Host.Within(at, d, func(inner engine.Host) error { return body(remote{inner, h.Cascade, h.Run, h.Texts, h.Talks}) })
}

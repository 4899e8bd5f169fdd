package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/telemetry"
)

// refused is the type of errors that must not be retried.
const refused = "capstan.refused"

// A worker sends a heartbeat every beat and counts as dead after deadAfter
// without one.
const (
	beat      = 10 * time.Second
	deadAfter = 2 * beat
)

// A Payload is JSON in a history: the JSON itself if it is short, otherwise the
// digest of a stored text.
type Payload struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
}

// maxPayload is the maximum size of JSON in a history, in bytes.
const maxPayload = 4 << 10

func payload(v any, to effects.Texts) (p Payload, err error) {
	raw, err := effects.Encode(v, to)
	if err == nil && len(raw) > maxPayload {
		p.Text, err = to.Put(raw)
		return p, err
	}
	return Payload{JSON: raw}, err
}

func (p Payload) open(from effects.Texts, into any) (err error) {
	if p.Text != "" {
		if p.JSON, err = from.Get(p.Text); err != nil {
			return err
		}
	}
	return effects.Decode(p.JSON, from, into)
}

// A Task is an effect for a worker.
type Task struct {
	Cascade string  `json:"cascade"` // the digest of its files: see [Bundle]
	Effect  Payload `json:"effect"`
}

func send(cascade string, e effects.Effect, to effects.Texts) (Task, error) {
	p, err := payload(e, to)
	return Task{Cascade: cascade, Effect: p}, err
}

// A World returns a host for one effect. The context is that of the activity.
type World func(ctx context.Context) engine.Host

// NewWorkers returns the configuration of workers that load cascades and
// perform effects with a runner.
func NewWorkers(r *runner.Runner, texts effects.Texts, log Log) *Workers {
	return &Workers{
		Texts: texts, Log: log, Load: r.Unpack,
		World: func(c *cascades.Cascade) World { return r.Hosts(c) },
	}
}

// Register registers the workflow and its effects on a worker.
func (crew *Workers) Register(to worker.Registry) {
	to.RegisterWorkflowWithOptions(crew.Run, workflow.RegisterOptions{Name: WorkflowRun})
	crew.RegisterEffects(to)
}

// RegisterEffects registers only the effects on a worker.
func (crew *Workers) RegisterEffects(to worker.ActivityRegistry) {
	for _, name := range []string{activityModel, activityTool, activityValidate} {
		to.RegisterActivityWithOptions(crew.Make, activity.RegisterOptions{Name: name})
	}
}

// loaded caches cascades by the digests of their files.
type loaded struct {
	mu  sync.Mutex
	all map[string]*cascade
}

type cascade struct {
	*cascades.Cascade
	world World
}

func (crew *Workers) load(digest string) (*cascade, error) {
	crew.loaded.mu.Lock()
	defer crew.loaded.mu.Unlock()
	if known, ok := crew.loaded.all[digest]; ok {
		return known, nil
	}
	files, err := Unbundle(digest, crew.Texts)
	if err != nil {
		return nil, fmt.Errorf("its files are missing from this worker's store; check that the client and the worker use the same store: %w", err)
	}
	c, err := crew.Load(files)
	if err != nil {
		return nil, err
	}
	found := &cascade{c, crew.World(c)}
	if crew.loaded.all == nil {
		crew.loaded.all = map[string]*cascade{}
	}
	crew.loaded.all[digest] = found
	return found, nil
}

func (crew *Workers) cascade(digest string) (*cascades.Cascade, error) {
	c, err := crew.load(digest)
	if err != nil {
		return nil, fmt.Errorf("cascade %.12s: %w", digest, err)
	}
	return c.Cascade, nil
}

// Make is the activity: it performs one effect. After an error, the cluster
// retries it on any worker, except for errors of the type refused.
func (crew *Workers) Make(ctx context.Context, t Task) (Payload, error) {
	c, err := crew.load(t.Cascade)
	if err != nil {
		var wrong syntax.Diagnostics
		if errors.As(err, &wrong) {
			err = temporal.NewNonRetryableApplicationError("this worker cannot load the cascade: "+err.Error(), refused, nil)
		}
		return Payload{}, err
	}
	var e effects.Effect
	if err := t.Effect.open(crew.Texts, &e); err != nil {
		return Payload{}, err
	}
	if err := e.Follow(crew.Texts, &crew.talks); err != nil {
		return Payload{}, err
	}
	if err := e.Resolve(c.Cascade); err != nil {
		return Payload{}, temporal.NewNonRetryableApplicationError(err.Error(), refused, nil)
	}
	defer heartbeat(ctx)()
	outcome, err := e.Make(c.world(telemetry.Propagate(ctx)))
	if err != nil {
		return Payload{}, err
	}
	return payload(outcome, crew.Texts)
}

// heartbeat sends heartbeats until the returned function is called. The
// activity also learns of its cancellation by them.
func heartbeat(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	activity.RecordHeartbeat(ctx)
	go func() {
		t := time.NewTicker(beat)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

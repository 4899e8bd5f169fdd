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
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/effects"
	"github.com/seed61713e19/capstan/runner/engine"
)

// refused is the type of an error that trying again does not mend.
const refused = "capstan.refused"

// A worker is heard of every beat; one that is not for heardAfter is dead.
const (
	beat       = 10 * time.Second
	heardAfter = 2 * beat
)

// A Parcel is JSON as a history has it: itself where it is short, else the digest
// of a text.
type Parcel struct {
	JSON json.RawMessage `json:"json,omitempty"`
	Text string          `json:"text,omitempty"`
}

// maxParcel is how many bytes of JSON stand in a history.
const maxParcel = 4 << 10

func parcel(v any, to effects.Texts) (p Parcel, err error) {
	raw, err := effects.Encode(v, to)
	if err == nil && len(raw) > maxParcel {
		p.Text, err = to.Put(raw)
		return p, err
	}
	return Parcel{JSON: raw}, err
}

func (p Parcel) open(from effects.Texts, into any) (err error) {
	if p.Text != "" {
		if p.JSON, err = from.Get(p.Text); err != nil {
			return err
		}
	}
	return effects.Decode(p.JSON, from, into)
}

// A Task is an effect on its way to a worker.
type Task struct {
	Cascade string `json:"cascade"` // the digest of its files: see [Bundle]
	Effect  Parcel `json:"effect"`
}

func send(cascade string, e effects.Effect, to effects.Texts) (Task, error) {
	p, err := parcel(e, to)
	return Task{Cascade: cascade, Effect: p}, err
}

// A World makes a host for one effect: its context is that of the activity.
type World func(ctx context.Context) engine.Host

// NewCrew makes a crew of a runner: it loads cascades, and makes effects, as this
// runner does.
func NewCrew(r *runner.Runner, texts effects.Texts, log Log) *Crew {
	return &Crew{
		Texts: texts, Log: log, Load: r.Unpack,
		World: func(c *cascades.Cascade) World { return r.Hosts(c) },
	}
}

// Register has a worker run cascades and make their effects.
func (crew *Crew) Register(to worker.Registry) {
	to.RegisterWorkflowWithOptions(crew.Run, workflow.RegisterOptions{Name: WorkflowRun})
	crew.RegisterEffects(to)
}

// RegisterEffects has a worker make effects, and run nothing.
func (crew *Crew) RegisterEffects(to worker.ActivityRegistry) {
	for _, name := range []string{activityModel, activityTool, activityValidate} {
		to.RegisterActivityWithOptions(crew.Make, activity.RegisterOptions{Name: name})
	}
}

// loaded are the cascades of a crew by the digests of their files.
type loaded struct {
	mu  sync.Mutex
	all map[string]*cascade
}

type cascade struct {
	*cascades.Cascade
	world World
}

func (crew *Crew) load(digest string) (*cascade, error) {
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

func (crew *Crew) cascade(digest string) (*cascades.Cascade, error) {
	c, err := crew.load(digest)
	if err != nil {
		return nil, fmt.Errorf("cascade %.12s: %w", digest, err)
	}
	return c.Cascade, nil
}

// Make is the activity: it makes one effect. Its error says that nothing came of
// it, and it is tried again, here or elsewhere, unless it was refused.
func (crew *Crew) Make(ctx context.Context, t Task) (Parcel, error) {
	c, err := crew.load(t.Cascade)
	if err != nil {
		var wrong cascades.Diagnostics
		if errors.As(err, &wrong) {
			err = temporal.NewNonRetryableApplicationError("this worker cannot load the cascade: "+err.Error(), refused, nil)
		}
		return Parcel{}, err
	}
	var e effects.Effect
	if err := t.Effect.open(crew.Texts, &e); err != nil {
		return Parcel{}, err
	}
	if err := e.Follow(crew.Texts, &crew.talks); err != nil {
		return Parcel{}, err
	}
	if err := e.Resolve(c.Cascade); err != nil {
		return Parcel{}, temporal.NewNonRetryableApplicationError(err.Error(), refused, nil)
	}
	defer heard(ctx)()
	came, err := e.Make(c.world(ctx))
	if err != nil {
		return Parcel{}, err
	}
	return parcel(came, crew.Texts)
}

// heard tells the cluster every beat that the worker is alive, until the function
// that it gives is called. So the activity hears of it, too, when it is cancelled.
func heard(ctx context.Context) (stop func()) {
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

// Package temporal runs cascades on Temporal: the engine, as it is, over a host
// whose effects are activities.
//
// A run is one workflow. The engine runs in it; a call of a model, a tool or a
// program is an activity, which travels as data ([effects.Effect]) and is made by
// whichever worker takes it, with a runner of its own that has loaded the same
// files. What is computed from a text alone is computed in the workflow. A person
// is a signal or an update that the workflow waits for, at no cost. Where the
// history grows long the run goes on in a new one, from its state.
//
// No text is in a history: the cascade, conversations, subjects, outputs and
// states lie in [effects.Texts] under their digests, which every worker has to
// reach. Events go to a [Log], each under its number, so that a workflow that is
// done over again tells nothing twice.
//
// A write that may not be made twice is tried once; where nobody knows what came
// of it a person is asked, as on any host (docs/reference).
package temporal

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/effects"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/validators/schema"
)

// The names by which a cluster knows what workers do.
const (
	WorkflowRun      = "capstan.run"
	activityModel    = "capstan.model"
	activityTool     = "capstan.tool"
	activityValidate = "capstan.validate"

	// SignalAnswer, and an update of that name, bring an [Answer].
	SignalAnswer = "capstan.answer"
	// QueryQuestions gives the questions that wait: a list of [engine.Asked].
	QueryQuestions = "capstan.questions"
)

// Version is that of the commands that the workflow gives. It travels with each
// run: a worker that is older than a run's refuses it.
const Version = 1

// A Start is the input of a workflow: a run that begins, or one that goes on.
type Start struct {
	Version int    `json:"version"`
	RunID   string `json:"run_id"`
	Cascade string `json:"cascade"` // the digest of its files: see [Bundle]
	Input   string `json:"input,omitempty"`
	Model   string `json:"model,omitempty"`

	State string `json:"state,omitempty"` // of one that goes on, as a text
	Seq   int64  `json:"seq,omitempty"`   // events told so far
}

// An End is what a workflow gives.
type End struct {
	Status string `json:"status"` // the run's
	Result string `json:"result"` // an [engine.Result], as a text
}

// Bundle keeps the files of a cascade as one text, by which a [Start] names them.
func Bundle(c *cascades.Cascade, texts effects.Texts) (digest string, err error) {
	return keep(c.Files, texts)
}

// Unbundle reads the files of a cascade.
func Unbundle(digest string, texts effects.Texts) (files []cascades.File, err error) {
	err = read(digest, texts, &files)
	return files, err
}

func keep(v any, texts effects.Texts) (digest string, err error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return texts.Put(raw)
}

func read(digest string, texts effects.Texts, into any) error {
	raw, err := texts.Get(digest)
	if err != nil {
		return err
	}
	return schema.Unmarshal(raw, into)
}

// A Log keeps the events of runs.
type Log interface {
	// Tell keeps an event. One of the same run and number is the same event, and
	// may come again.
	Tell(e event.Event) error
}

// A Keeper is a [Log] that hears how runs begin and end, too: a journal's guest,
// which shows them where the runs of one machine are shown.
type Keeper interface {
	Log
	// Begin notes a run; one that is noted may come again.
	Begin(s runner.Start) error
	// Waits notes the open questions of a run, in the order of their keys; maybe again.
	Waits(run string, open []engine.Asked) error
	// GoesOn notes that no question waits any more, maybe again.
	GoesOn(run string) error
	// End notes what a run came to, maybe again.
	End(run string, r engine.Result) error
	// Gone notes that a run was ended that could not say so, maybe again. Why is asked
	// for the reason where the run has not ended; nil says that it goes on.
	Gone(run string, why func() (*event.Error, error)) error
}

// A Crew is what workers have in common: where texts and events are, and how a
// cascade is loaded. It is safe for concurrent use.
type Crew struct {
	Texts effects.Texts
	Log   Log
	// Load loads a cascade from its files, with what the worker knows. It is
	// called once for each digest.
	Load func(files []cascades.File) (*cascades.Cascade, error)
	// World is the host that makes effects here.
	World func(c *cascades.Cascade) World
	// Sink takes the events that this worker tells, once the log has them; may be nil.
	// Of a run that changes its worker each has a part.
	Sink event.Sink
	// Search sets the search attributes CapstanCascade, CapstanStatus and
	// CapstanPhase, which the namespace has to know.
	Search bool

	atWork int // effects of a run at a time; 0: see most
	loaded loaded
	talks  model.Talks
	judge  sync.Once
	plain  engine.Host
}

// pure is the host of what is computed from a text alone.
func (crew *Crew) pure() engine.Host {
	crew.judge.Do(func() {
		r, _ := runner.New() // it has no options that could be wrong
		crew.plain = r.Host(context.Background())
	})
	return crew.plain
}

// Run is the workflow. Where this worker cannot go on with the run, as it is older
// than the run, does not know what the cascade names or does not reach the store, it
// panics: the step is tried again, here or by a worker that can, and Temporal's page
// says why.
func (crew *Crew) Run(ctx workflow.Context, start Start) (End, error) {
	if start.Version > Version {
		panic(fmt.Errorf("run %s is of version %d, and this worker of %d: it is for a newer one", start.RunID, start.Version, Version))
	}
	c, err := crew.cascade(start.Cascade)
	s := engine.State{RunID: start.RunID, Model: start.Model}
	switch {
	case err != nil:
	case start.State != "":
		err = read(start.State, crew.Texts, &s)
	case start.Input != "":
		err = read(start.Input, crew.Texts, &s.Input)
	}
	if err != nil {
		panic(err)
	}
	h := newHost(ctx, crew, c, start)
	h.keep(func(k Keeper) error {
		return k.Begin(runner.Start{RunID: start.RunID, CascadeID: c.ID, Files: c.Files, Input: s.Input, Model: start.Model})
	})
	result, err := engine.Run(h, c, s)
	if h.run.err != nil {
		panic(h.run.err)
	}
	if y, ok := err.(*engine.Yield); ok {
		return End{}, crew.again(ctx, h.run, start, y.State)
	}
	end := End{Status: result.Status}
	if end.Result, err = keep(result, h.run.texts()); err != nil {
		panic(err)
	}
	h.noted(result.Status, "")
	h.keep(func(k Keeper) error { return k.End(start.RunID, result) })
	if h.run.err != nil {
		panic(h.run.err)
	}
	if ctx.Err() != nil {
		return end, temporal.NewCanceledError(end)
	}
	return end, nil
}

// again goes on with the run in a history of its own.
func (crew *Crew) again(ctx workflow.Context, r *run, start Start, s engine.State) error {
	var err error
	if start.State, err = keep(s, r.texts()); err != nil {
		panic(err)
	}
	start.Seq = r.seq
	return workflow.NewContinueAsNewError(ctx, WorkflowRun, start)
}

// StuckAfter is what a worker of runs takes for its DeadlockDetectionTimeout. What
// it does of a workflow in one go reads and writes the store: a text of 50 MB takes
// seconds, where the SDK takes a workflow that computes for one second to be stuck,
// and has it done over again, for ever.
const StuckAfter = 15 * time.Second

// taskWithin bounds the same for the cluster: a worker that dies in it is noticed as
// soon as one that dies in an effect.
const taskWithin = heardAfter

// attempts is how often an effect that may be made again is tried.
const attempts = 10

// options are those of an activity: how long nobody hears of a worker before it
// is taken for dead, and how often what it did is tried again.
func options(queue string, once bool) workflow.ActivityOptions {
	o := workflow.ActivityOptions{
		TaskQueue:           queue,
		StartToCloseTimeout: 24 * time.Hour, // each effect bounds its own time
		HeartbeatTimeout:    heardAfter,
		WaitForCancellation: true,
		RetryPolicy: &temporal.RetryPolicy{
			InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: 30 * time.Second, MaximumAttempts: attempts,
			NonRetryableErrorTypes: []string{refused, "payloadSizeError"},
		},
	}
	if once {
		o.RetryPolicy.MaximumAttempts = 1
	}
	return o
}

// Package temporal runs cascades on Temporal. It uses the unchanged engine with
// a host whose effects are activities.
//
// A run is one workflow, and the engine runs inside it. Calls of models, tools
// and programs are activities. An activity receives its effect as data
// ([effects.Effect]); any worker that has loaded the same files can perform it.
// Computations on a text alone run in the workflow. For an answer of a person,
// the workflow waits for a signal or an update, at no cost. When the history
// becomes long, the run continues from its state in a new one.
//
// Histories contain no texts. The cascade, conversations, subjects, outputs and
// states are stored in [effects.Texts] under their digests, and every worker
// must reach that store. Events go to a [Log] with their numbers, so a replay
// stores none twice.
//
// A write that must not be repeated is tried once. If its result is unknown, a
// person decides, like with other hosts (docs/reference).
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
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/model"
)

// The names of the workflow, its activities, signals and queries.
const (
	WorkflowRun      = "capstan.run"
	activityModel    = "capstan.model"
	activityTool     = "capstan.tool"
	activityValidate = "capstan.validate"

	// SignalAnswer is the name of the signal and of the update that deliver an
	// [Answer].
	SignalAnswer = "capstan.answer"
	// QueryQuestions returns the open questions: a list of [engine.Asked].
	QueryQuestions = "capstan.questions"
)

// Version is the version of the workflow's commands. A worker refuses a run of
// a newer version.
const Version = 1

// A Start is the input of a workflow. The run begins or continues.
type Start struct {
	Version int    `json:"version"`
	RunID   string `json:"run_id"`
	Cascade string `json:"cascade"` // the digest of its files: see [Bundle]
	Input   string `json:"input,omitempty"`
	Model   string `json:"model,omitempty"`

	State string `json:"state,omitempty"` // the state of a run that continues, as a text
	Seq   int64  `json:"seq,omitempty"`   // the number of events so far
}

// An End is the result of a workflow.
type End struct {
	Status string `json:"status"` // of the run
	Result string `json:"result"` // an [engine.Result], as a text
}

// Bundle stores the files of a cascade as one text and returns its digest for
// [Start].
func Bundle(c *cascades.Cascade, texts effects.Texts) (digest string, err error) {
	return keep(c.Files, texts)
}

// Unbundle returns the files of a cascade.
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

// A Log stores the events of runs.
type Log interface {
	// Append stores an event. An event with the same run and number is the same event,
	// and may be appended again.
	Append(e event.Event) error
}

// A Keeper is a [Log] that also records the start and the end of runs, such as an
// ExternalRuns of package journal. All calls may be repeated.
type Keeper interface {
	Log
	// Begin stores a new run.
	Begin(s runner.Start) error
	// SetWaiting stores the open questions of a run, in the order of their keys. Without a
	// question the run no longer waits.
	SetWaiting(run string, open []engine.Asked) error
	// End stores the result of a run.
	End(run string, r engine.Result) error
	// EndLost ends a run that could not report its end. It calls why only for an
	// unfinished run; nil means that the run is still running.
	EndLost(run string, why func() (*event.Error, error)) error
}

// Workers has the configuration that workers share: the stores of texts and
// events, and the loader of cascades. It is safe for concurrent use.
type Workers struct {
	Texts effects.Texts
	Log   Log
	// Load loads a cascade from its files, with the worker's tools and
	// validators. It is called once for each digest.
	Load func(files []cascades.File) (*cascades.Cascade, error)
	// World returns the host that performs effects in this process.
	World func(c *cascades.Cascade) World
	// Sink receives the events of this worker after the log; may be nil. If a run
	// changes its worker, each worker has a part of the events.
	Sink event.Sink
	// Search sets the search attributes CapstanCascade, CapstanStatus and
	// CapstanPhase. The namespace must define them.
	Search bool

	atWork int // effects of a run at a time; 0: see most
	loaded loaded
	talks  model.Conversations
	judge  sync.Once
	plain  engine.Host
}

// pure returns a host for computations on a text alone.
func (crew *Workers) pure() engine.Host {
	crew.judge.Do(func() {
		r, _ := runner.New() // New fails only for wrong options
		crew.plain = r.Host(context.Background())
	})
	return crew.plain
}

// Run is the workflow. It panics if this worker cannot continue the run: the
// worker is older than the run, lacks tools or validators of the cascade, or
// cannot reach the store. The cluster then retries the step on any worker, and
// Temporal's page shows the reason.
func (crew *Workers) Run(ctx workflow.Context, start Start) (End, error) {
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
	h.withKeeper(func(k Keeper) error {
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
	h.setAttributes(result.Status, "")
	h.withKeeper(func(k Keeper) error { return k.End(start.RunID, result) })
	if h.run.err != nil {
		panic(h.run.err)
	}
	if ctx.Err() != nil {
		return end, temporal.NewCanceledError(end)
	}
	return end, nil
}

// again continues the run in a new history.
func (crew *Workers) again(ctx workflow.Context, r *run, start Start, s engine.State) error {
	var err error
	if start.State, err = keep(s, r.texts()); err != nil {
		panic(err)
	}
	start.Seq = r.seq
	return workflow.NewContinueAsNewError(ctx, WorkflowRun, start)
}

// StuckAfter is the DeadlockDetectionTimeout for workers that run cascades. One
// step of a workflow reads and writes the store, and a text of 50 MB takes
// seconds. The default of the SDK is one second; it would repeat such a step
// forever.
const StuckAfter = 15 * time.Second

// taskWithin is the same limit for the cluster. The death of a worker is
// noticed as fast in a step as in an effect.
const taskWithin = deadAfter

// attempts is the maximum number of tries of a repeatable effect.
const attempts = 10

// options returns the options of an activity: the time without a heartbeat
// after which a worker counts as dead, and the number of tries.
func options(queue string, once bool) workflow.ActivityOptions {
	o := workflow.ActivityOptions{
		TaskQueue:           queue,
		StartToCloseTimeout: 24 * time.Hour, // each effect has its own time limit
		HeartbeatTimeout:    deadAfter,
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

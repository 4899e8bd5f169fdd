package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/internal/effects"
)

// A Client begins and manages runs.
type Client struct {
	Temporal client.Client
	Texts    effects.Texts // the store of the workers
	Queue    string        // the task queue of workers that run cascades
}

// A Request describes a run to begin.
type Request struct {
	RunID   string
	Cascade *cascades.Cascade
	Input   map[string]any // plain values
	Model   string         // replaces the model of the cascade
}

// Begin begins a run. It returns an error if a run with that ID exists.
func (c *Client) Begin(ctx context.Context, o Request) error {
	start := Start{Version: Version, RunID: o.RunID, Model: o.Model}
	input, err := schema.Plain(o.Input)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	if start.Cascade, err = Bundle(o.Cascade, c.Texts); err == nil {
		start.Input, err = keep(input, c.Texts)
	}
	if err != nil {
		return err
	}
	_, err = c.Temporal.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: o.RunID, TaskQueue: c.Queue, WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowExecutionErrorWhenAlreadyStarted: true, StaticSummary: o.Cascade.ID, WorkflowTaskTimeout: taskWithin,
	}, WorkflowRun, start)
	return err
}

// Wait returns the result of a run when the run has ended. A run that was
// cancelled or terminated on the cluster has a result with that status.
func (c *Client) Wait(ctx context.Context, id string) (engine.Result, error) {
	var end End
	err := c.Temporal.GetWorkflow(ctx, id, "").Get(ctx, &end)
	var cancelled *temporal.CanceledError
	if errors.As(err, &cancelled) && cancelled.HasDetails() {
		err = cancelled.Details(&end)
	}
	if err != nil && ctx.Err() == nil {
		if failure, unknown := ended(ctx, c.Temporal, id); unknown == nil && failure != nil {
			return engine.Result{RunID: id, Status: failure.Code, Error: failure}, nil
		}
	}
	var result engine.Result
	if err == nil {
		err = read(end.Result, c.Texts, &result)
	}
	return result, err
}

// Questions returns the open questions of a run, in the order of their keys.
func (c *Client) Questions(ctx context.Context, id string) (list []engine.Asked, err error) {
	reply, err := c.Temporal.QueryWorkflow(ctx, id, "", QueryQuestions)
	if err == nil {
		err = reply.Get(&list)
	}
	return list, err
}

// answerWithin is the maximum time to wait for a worker that accepts an answer.
const answerWithin = 30 * time.Second

// Answer answers a question. If the answer is invalid, Answer returns the
// reason and the question stays open. Without a key, Answer returns an error if
// several questions are open.
func (c *Client) Answer(ctx context.Context, id string, a Answer) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	taken, err := c.Temporal.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateName: SignalAnswer, Args: []any{a}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err != nil {
		return err
	}
	return taken.Get(ctx, nil)
}

// Cancel cancels a run.
func (c *Client) Cancel(ctx context.Context, id string) error {
	return c.Temporal.CancelWorkflow(ctx, id, "")
}

package temporal

import (
	"context"
	"fmt"
	"time"

	common "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
)

// Explain reports why a run does not continue, until the context is over.
// Either no worker takes its next step, or the step fails. It fails if the
// workers use another store, or lack tools or validators of the cascade.
// Explain reports each step once.
func (c *Client) Explain(ctx context.Context, id string, tell func(reason string)) {
	var seen, reported time.Time // the times of due steps, by the clock of the cluster
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(beat):
		}
		d, err := c.Temporal.DescribeWorkflowExecution(ctx, id, "")
		step := d.GetPendingWorkflowTask()
		if err != nil || step == nil {
			continue // the caller that waits for the run gets the error
		}
		due := step.GetOriginalScheduledTime().AsTime()
		switch {
		case due.Equal(reported):
		case step.GetAttempt() > 1:
			reported = due
			tell("no worker could go on with it so far" + prefixed(": ", c.failed(ctx, d.GetWorkflowExecutionInfo().GetExecution())))
		case due.Equal(seen) && step.GetState() == enums.PENDING_WORKFLOW_TASK_STATE_SCHEDULED:
			reported = due
			tell(fmt.Sprintf("no worker takes it: start a worker for the queue %s", c.Queue))
		}
		seen = due
	}
}

// failed returns the error of the newest step of a history.
func (c *Client) failed(ctx context.Context, of *common.WorkflowExecution) string {
	events := c.Temporal.GetWorkflowHistory(ctx, of.GetWorkflowId(), of.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	message := ""
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			break
		}
		if a := e.GetWorkflowTaskFailedEventAttributes(); a != nil {
			message = a.GetFailure().GetMessage()
		}
	}
	return message
}

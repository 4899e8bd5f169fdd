package temporal

import (
	"context"
	"fmt"
	"time"

	common "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
)

// Explain tells why a run does not go on though it could, until the context is over:
// no worker takes its next step, or those that do cannot make it, since they have
// another store or do not know what the cascade names. Of each step it tells once.
func (c *Client) Explain(ctx context.Context, id string, tell func(why string)) {
	var seen, told time.Time // when steps were due, by the cluster's clock
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(beat):
		}
		d, err := c.Temporal.DescribeWorkflowExecution(ctx, id, "")
		step := d.GetPendingWorkflowTask()
		if err != nil || step == nil {
			continue // whoever waits for the run hears of the error
		}
		due := step.GetOriginalScheduledTime().AsTime()
		switch {
		case due.Equal(told):
		case step.GetAttempt() > 1:
			told = due
			tell("no worker could go on with it so far" + among(": ", c.failed(ctx, d.GetWorkflowExecutionInfo().GetExecution())))
		case due.Equal(seen) && step.GetState() == enums.PENDING_WORKFLOW_TASK_STATE_SCHEDULED:
			told = due
			tell(fmt.Sprintf("no worker takes it: start a worker for the queue %s", c.Queue))
		}
		seen = due
	}
}

// failed is what the newest step of a history failed with.
func (c *Client) failed(ctx context.Context, of *common.WorkflowExecution) string {
	events := c.Temporal.GetWorkflowHistory(ctx, of.GetWorkflowId(), of.GetRunId(), false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	why := ""
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			break
		}
		if a := e.GetWorkflowTaskFailedEventAttributes(); a != nil {
			why = a.GetFailure().GetMessage()
		}
	}
	return why
}

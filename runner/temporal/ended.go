package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	enums "go.temporal.io/api/enums/v1"
	history "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// ended returns the error of a run whose workflow was terminated, failed or
// exceeded its time. It returns nil if the run continues or ended normally.
func ended(ctx context.Context, t client.Client, id string) (*event.Error, error) {
	last, err := t.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT).Next()
	if err != nil {
		return nil, err
	}
	switch a := last.GetAttributes().(type) {
	case *history.HistoryEvent_WorkflowExecutionTerminatedEventAttributes:
		by := a.WorkflowExecutionTerminatedEventAttributes
		return &event.Error{Code: engine.Cancelled, Message: "terminated on Temporal" + prefixed(" by ", by.GetIdentity()) + prefixed(": ", by.GetReason())}, nil
	case *history.HistoryEvent_WorkflowExecutionTimedOutEventAttributes:
		return &event.Error{Code: engine.Failed, Message: "Temporal ended it: the time is over that its workflow was given"}, nil
	case *history.HistoryEvent_WorkflowExecutionFailedEventAttributes:
		return &event.Error{Code: engine.Failed, Message: "Temporal ended it" + prefixed(": ", a.WorkflowExecutionFailedEventAttributes.GetFailure().GetMessage())}, nil
	}
	return nil, nil
}

// prefixed returns a word after its prefix, or "" without a word.
func prefixed(lead, word string) string {
	if word == "" {
		return ""
	}
	return lead + word
}

// overHead is the query for runs that Temporal ended.
const overHead = "WorkflowType = '" + WorkflowRun + "' AND ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed')"

// late is the maximum delay with which Temporal's lists show an ended run.
const late = time.Minute

// Watch records the ends of runs that Temporal ended, because such runs cannot
// record their own end. It returns when the context is over. It retries after
// an error, and reports an error only if it differs from the previous error.
func (crew *Workers) Watch(ctx context.Context, t client.Client, report func(error)) {
	k, keeps := crew.Log.(Keeper)
	if !keeps {
		return
	}
	w := &watch{Keeper: k, temporal: t}
	last := ""
	for {
		err := w.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && err.Error() != last {
			report(fmt.Errorf("runs that Temporal ended: %w", err))
		}
		if last = ""; err != nil {
			last = err.Error()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(beat):
		}
	}
}

// A watch has the ends that were already recorded.
type watch struct {
	Keeper
	temporal client.Client
	newest   time.Time       // the latest end, by the clock of the cluster
	seen     map[string]bool // the runs that ended shortly before it
}

// look records the runs that have ended since the last call.
func (w *watch) look(ctx context.Context) error {
	query := overHead
	if !w.newest.IsZero() {
		query += fmt.Sprintf(" AND CloseTime >= '%s'", w.newest.Add(-late).UTC().Format(time.RFC3339Nano))
	}
	seen, newest := map[string]bool{}, w.newest
	var all error
	for next := []byte(nil); ; {
		page, err := w.temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Query: query, NextPageToken: next})
		if err != nil {
			return err
		}
		for _, e := range page.GetExecutions() {
			id, one := e.GetExecution().GetWorkflowId(), e.GetExecution().GetRunId()
			if !w.seen[one] {
				if err := w.EndLost(id, func() (*event.Error, error) { return ended(ctx, w.temporal, id) }); err != nil {
					all = errors.Join(all, fmt.Errorf("run %s: %w", id, err))
					continue
				}
			}
			seen[one] = true
			if at := e.GetCloseTime().AsTime(); at.After(newest) {
				newest = at
			}
		}
		if next = page.GetNextPageToken(); len(next) == 0 {
			break
		}
	}
	if w.seen = seen; all == nil {
		w.newest = newest
	}
	return all
}

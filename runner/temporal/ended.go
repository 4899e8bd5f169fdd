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

// ended says why Temporal ended a run over its head: somebody terminated its
// workflow, or gave it a time that is over. It is nil where the run goes on, or has
// ended as runs do.
func ended(ctx context.Context, t client.Client, id string) (*event.Error, error) {
	last, err := t.GetWorkflowHistory(ctx, id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT).Next()
	if err != nil {
		return nil, err
	}
	switch a := last.GetAttributes().(type) {
	case *history.HistoryEvent_WorkflowExecutionTerminatedEventAttributes:
		by := a.WorkflowExecutionTerminatedEventAttributes
		return &event.Error{Code: engine.Cancelled, Message: "terminated on Temporal" + among(" by ", by.GetIdentity()) + among(": ", by.GetReason())}, nil
	case *history.HistoryEvent_WorkflowExecutionTimedOutEventAttributes:
		return &event.Error{Code: engine.Failed, Message: "Temporal ended it: the time is over that its workflow was given"}, nil
	case *history.HistoryEvent_WorkflowExecutionFailedEventAttributes:
		return &event.Error{Code: engine.Failed, Message: "Temporal ended it" + among(": ", a.WorkflowExecutionFailedEventAttributes.GetFailure().GetMessage())}, nil
	}
	return nil, nil
}

// among is a word where there is one, behind what leads to it.
func among(lead, word string) string {
	if word == "" {
		return ""
	}
	return lead + word
}

// overHead finds the runs that Temporal ended over their heads.
const overHead = "WorkflowType = '" + WorkflowRun + "' AND ExecutionStatus IN ('Terminated', 'TimedOut', 'Failed')"

// late is how long after the end of a run Temporal's lists may first show it.
const late = time.Minute

// Watch has the log hear of runs that Temporal ended over their heads, which cannot
// tell it themselves, until the context is over. What cannot be asked or noted is
// reported, once where it stays the same, and tried again.
func (crew *Crew) Watch(ctx context.Context, t client.Client, report func(error)) {
	k, keeps := crew.Log.(Keeper)
	if !keeps {
		return
	}
	w := &watch{Keeper: k, temporal: t}
	said := ""
	for {
		err := w.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && err.Error() != said {
			report(fmt.Errorf("runs that Temporal ended: %w", err))
		}
		if said = ""; err != nil {
			said = err.Error()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(beat):
		}
	}
}

// A watch remembers what it has seen end.
type watch struct {
	Keeper
	temporal client.Client
	newest   time.Time       // end, by the cluster's clock
	seen     map[string]bool // those that ended not long before it
}

// look notes what has ended since the last time.
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
				if err := w.Gone(id, func() (*event.Error, error) { return ended(ctx, w.temporal, id) }); err != nil {
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

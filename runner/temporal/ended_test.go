package temporal

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	common "go.temporal.io/api/common/v1"
	enums "go.temporal.io/api/enums/v1"
	history "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
)

// A page is a client that lists one run on each of two pages. The first run was
// terminated. The second run was reset and continues.
type page struct {
	client.Client
	queries []string
	fails   error
	of      string
}

func (p *page) ListWorkflow(_ context.Context, r *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	p.queries = append(p.queries, r.Query)
	id, next := "reset", []byte(nil)
	if len(r.NextPageToken) == 0 {
		id, next = "run", []byte("more")
	}
	return &workflowservice.ListWorkflowExecutionsResponse{NextPageToken: next, Executions: []*workflowpb.WorkflowExecutionInfo{{
		Execution: &common.WorkflowExecution{WorkflowId: id, RunId: id + "-1"}, CloseTime: timestamppb.New(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)),
	}}}, p.fails
}

func (p *page) GetWorkflowHistory(_ context.Context, id, _ string, _ bool, _ enums.HistoryEventFilterType) client.HistoryEventIterator {
	p.of = id
	return p
}

func (p *page) HasNext() bool { return true }

func (p *page) Next() (*history.HistoryEvent, error) {
	if p.of == "reset" {
		return &history.HistoryEvent{Attributes: &history.HistoryEvent_WorkflowTaskScheduledEventAttributes{}}, nil
	}
	return &history.HistoryEvent{Attributes: &history.HistoryEvent_WorkflowExecutionTerminatedEventAttributes{
		WorkflowExecutionTerminatedEventAttributes: &history.WorkflowExecutionTerminatedEventAttributes{Reason: "too dear", Identity: "kim"},
	}}, nil
}

// TestTerminatedIsNoted checks that the worker records a terminated run with
// its actor and reason. It does not record a run that was reset. It requests
// nothing twice.
func TestTerminatedIsNoted(t *testing.T) {
	j, err := journal.Open(filepath.Join(t.TempDir(), "runs.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	guest := j.External("Temporal")
	for _, id := range []string{"run", "reset"} {
		if err := guest.Begin(runner.Start{RunID: id, CascadeID: "c"}); err != nil {
			t.Fatal(err)
		}
	}
	cluster := &page{fails: errors.New("away")}
	w := &watch{Keeper: guest, temporal: cluster}
	if err := w.look(t.Context()); err == nil {
		t.Error("a cluster that is away is no error")
	}
	cluster.fails = nil
	for range 2 {
		cluster.of = ""
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if cluster.of != "" {
		t.Errorf("%s was asked for again", cluster.of)
	}
	if q := cluster.queries; q[1] != overHead || !strings.HasSuffix(q[len(q)-1], "CloseTime >= '2026-03-02T11:59:00Z'") {
		t.Errorf("asked for %q", q)
	}
	run, err := j.Run(t.Context(), "run")
	if err != nil || run.Status != engine.Cancelled || run.Error == nil || run.Error.Message != "terminated on Temporal by kim: too dear" {
		t.Errorf("got %+v, %v", run, err)
	}
	if run, err := j.Run(t.Context(), "reset"); err != nil || run.Status != "running" {
		t.Errorf("the one that goes on is %+v, %v", run, err)
	}
}

// TestWatchTellsOnce checks that retries do not report the same error. After a
// success, the error is reported again.
func TestWatchTellsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*beat-1)
		defer cancel()
		cluster, reports := &page{fails: errors.New("away")}, 0
		crew := &Workers{Log: deaf{}}
		time.AfterFunc(3*beat-1, func() { cluster.fails = nil })
		time.AfterFunc(6*beat-1, func() { cluster.fails = errors.New("away") })
		crew.Watch(ctx, cluster, func(error) { reports++ })
		if reports != 2 {
			t.Errorf("%d reports", reports)
		}
	})
}

// deaf is a Keeper without runs.
type deaf struct{ Keeper }

func (deaf) EndLost(string, func() (*event.Error, error)) error { return nil }

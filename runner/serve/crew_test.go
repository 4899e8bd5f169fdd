package serve_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

func few(n int) func(*serve.Options) {
	return func(o *serve.Options) { o.Limit = n }
}

func TestACrewHasALimit(t *testing.T) {
	var log bytes.Buffer
	w := servetest.New(t, few(2), func(o *serve.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "a"}`)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "b"}`)
	for _, order := range []string{`{"cascade": "slow", "run_id": "c"}`, `{"cascade": "wrong"}`, `{"cascade": "post"}`} { // nothing is read or checked first
		if r := w.Problem(429, "full", "POST", "/v1/runs", order); r.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	w.Want(200, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "a"}`) // repeated
	if logged := log.String(); strings.Contains(logged, "ERROR") || strings.Count(logged, "status=429") != 3 {
		t.Error(logged)
	}
	w.Problem(404, "no_run", "GET", "/v1/runs/c", nil)
	close(w.Hold)
	<-w.Done
	<-w.Done
	for range 3 { // a failed order leaves its place
		w.Problem(422, "invalid_cascade", "POST", "/v1/runs", `{"cascade": "wrong"}`)
		w.Problem(422, "invalid_input", "POST", "/v1/runs", `{"cascade": "post"}`)
	}
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "c"}`)
	<-w.Done
}

// TestAnAnswerIsKeptWhereNoHandIsFree checks that a full server stores an answer.
func TestAnAnswerIsKeptWhereNoHandIsFree(t *testing.T) {
	w := servetest.New(t, few(1))
	id := w.Start("ask", nil)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`)
	w.Problem(503, "answered_not_resumed", "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
	close(w.Hold)
	<-w.Done
	w.Want(202, "POST", "/v1/runs/"+id+"/resume", nil)
	<-w.Done
	if s := w.Run(id).Status; s != "succeeded" {
		t.Errorf("status %s", s)
	}
}

// TestClosing checks that a shutdown waits for runs, then cancels them, and that they can be
// resumed.
func TestClosing(t *testing.T) {
	w := servetest.New(t)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "late"}`)
	ctx, cancel := context.WithCancel(t.Context())
	closed := make(chan struct{})
	go func() {
		w.Server.Close(ctx)
		close(closed)
	}()
	for { // wait for the shutdown
		if r := w.Ask("POST", "/v1/runs", `{"cascade": "ask"}`); r.StatusCode == 503 {
			if r.JSON(t)["code"] != "closing" {
				t.Error(r.Text)
			}
			break
		}
	}
	select {
	case <-closed:
		t.Fatal("it did not wait")
	default:
	}
	cancel()
	<-closed
	if s := w.Run("late").Status; s != "cancelled" {
		t.Errorf("status %s", s)
	}
	w.Problem(409, "not_running_here", "POST", "/v1/runs/late/cancel", nil)
}

func TestClosingWaits(t *testing.T) {
	w := servetest.New(t)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "soon"}`)
	close(w.Hold)
	w.Server.Close(t.Context())
	if s := w.Run("soon").Status; s != "succeeded" {
		t.Errorf("status %s", s)
	}
}

// TestAPanicEndsARunAlone checks that a panic of a provider ends one run and frees its place.
func TestAPanicEndsARunAlone(t *testing.T) {
	w := servetest.New(t, few(1))
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) { panic("odd") })
	w.Start("ask", nil)
	w.Model = nil
	if id := w.Start("ask", nil); w.Run(id).Status != engine.Waiting {
		t.Errorf("%+v", w.Run(id).Summary)
	}
}

// TestManyOrdersOfOneName checks that concurrent orders with one name start one run.
func TestManyOrdersOfOneName(t *testing.T) {
	w := servetest.New(t)
	var wg sync.WaitGroup
	statuses := make(chan int, 20)
	for range 20 {
		wg.Go(func() {
			statuses <- w.Send("POST", "/v1/runs", `{"cascade": "slow", "run_id": "one"}`).StatusCode
		})
	}
	wg.Wait()
	close(statuses)
	count := map[int]int{}
	for s := range statuses {
		count[s]++
	}
	if count[202] != 1 || count[200] != 19 {
		t.Errorf("%v", count)
	}
	close(w.Hold)
	<-w.Done
	// A refused order is refused each time, and a different order with the name is a conflict.
	for range 10 {
		wg.Go(func() {
			w.Problem(422, "invalid_input", "POST", "/v1/runs", `{"cascade": "post", "run_id": "two"}`)
		})
		wg.Go(func() {
			w.Problem(409, "run_exists", "POST", "/v1/runs", `{"cascade": "slow", "run_id": "one", "input": {"x": 1}}`)
		})
	}
	wg.Wait()
}

// TestManyResumes checks that only one of several concurrent requests resumes the run.
func TestManyResumes(t *testing.T) {
	w := servetest.New(t, few(50))
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "one"}`)
	w.Want(202, "POST", "/v1/runs/one/cancel", nil)
	<-w.Done
	var wg sync.WaitGroup
	statuses := make(chan int, 20)
	for range 20 {
		wg.Go(func() { statuses <- w.Send("POST", "/v1/runs/one/resume", nil).StatusCode })
	}
	wg.Wait()
	close(statuses)
	count := map[int]int{}
	for s := range statuses {
		count[s]++
	}
	if count[202] != 1 || count[409] != 19 {
		t.Fatalf("%v", count)
	}
	close(w.Hold)
	<-w.Done
	if s := w.Run("one").Status; s != "succeeded" {
		t.Errorf("status %s", s)
	}
}

// TestAnAnswerAtOnce checks that a run can be resumed before its first job has ended.
func TestAnAnswerAtOnce(t *testing.T) {
	stored, leave := make(chan bool), make(chan bool)
	w := servetest.New(t, func(o *serve.Options) {
		o.Store = &lingering{Store: o.Store, ended: stored, leave: leave}
	})
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "ask"}`).JSON(t)["run_id"].(string)
	<-stored
	w.Want(202, "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
	<-stored
	leave <- true
	leave <- true
	<-w.Done
	<-w.Done
	if s := w.Run(id).Status; s != "succeeded" {
		t.Errorf("status %s", s)
	}
}

// A lingering journal delays the end of a run.
type lingering struct {
	serve.Store
	ended, leave chan bool
}

func (l *lingering) Begin(s runner.Start) (runner.Recording, error) {
	r, err := l.Store.Begin(s)
	return &lingeringRecording{r, l}, err
}

func (l *lingering) Reopen(id string) (runner.Recording, error) {
	r, err := l.Store.Reopen(id)
	return &lingeringRecording{r, l}, err
}

type lingeringRecording struct {
	runner.Recording
	l *lingering
}

func (r *lingeringRecording) End(result engine.Result, failure *engine.Error) error {
	err := r.Recording.End(result, failure)
	r.l.ended <- true
	<-r.l.leave
	return err
}

func TestManyRunsAtOnce(t *testing.T) {
	w := servetest.New(t, few(50))
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			w.Want(202, "POST", "/v1/runs", fmt.Sprintf(`{"cascade": "post", "input": {"topic": "owls %d"}}`, i))
		})
	}
	wg.Wait()
	for range 50 {
		<-w.Done
	}
	runs := w.Want(200, "GET", "/v1/runs?status=succeeded&limit=100", nil).JSON(t)["runs"].([]any)
	if len(runs) != 50 {
		t.Errorf("%d succeeded", len(runs))
	}
}

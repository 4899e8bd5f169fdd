package temporal

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	enums "go.temporal.io/api/enums/v1"
	history "go.temporal.io/api/history/v1"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/internal/effects"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// record is a directory for the history of the run and its texts. Every later
// version replays the histories of releases.
var record = os.Getenv("CAPSTAN_RECORD_HISTORY")

const all = `
cascade_id: all
phases:
  - name: draft
    instructions: "Write of {{ input.topic }}."
    rules: {max_turns: 2}
    wards: {post: [{judge: "good?"}, {expr: "len(content) > 1"}]}
  - {name: each, each: {in: "{{ input.list }}", as: one, max_parallel: 2}, tool: look, inputs: {x: "{{ one }}"}}
  - name: tries
    instructions: Try.
    soundings: {factor: 2, evaluator_instructions: the best}
    rules: {timeout: 1h}
  - {name: ask, compose: "{{ outputs.tries }}", human_input: {type: confirmation, prompt: "ok?"}}
  - {name: send, tool: mail, inputs: {to: kim}}
`

func mind(_ context.Context, r model.Request) (model.Response, error) {
	text := r.Messages[len(r.Messages)-1].Content
	switch {
	case r.Role != "":
		text = `{"winner": 1, "reason": "the best"}`
	case r.Validator != "":
		text = `{"valid": true, "reason": "good"}`
	}
	return model.Response{Text: text, Usage: model.Usage{Calls: 1}}, nil
}

type x struct {
	X int `json:"x"`
}

// TestRunOnServer runs all kinds of effects on a server. A person answers, and
// each event is stored once.
func TestRunOnServer(t *testing.T) {
	address, namespace, there := strings.Cut(os.Getenv("CAPSTAN_TEMPORAL"), " ")
	if !there {
		t.Skip("CAPSTAN_TEMPORAL does not say where a server is")
	}
	server, err := client.Dial(client.Options{HostPort: address, Namespace: namespace, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	dir := t.TempDir()
	if record != "" {
		dir = record
	}
	texts, err := effects.NewFolder(filepath.Join(dir, "texts"))
	if err != nil {
		t.Fatal(err)
	}
	log, err := NewFolderLog(filepath.Join(t.TempDir(), "events"))
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int32
	r, err := runner.New(runner.WithModel(model.Func(mind)), runner.WithTools(
		tool.New("look", "Looks.", func(_ context.Context, a x) (any, error) { return a.X, nil }).WithEffect(tool.Reads),
		tool.New("mail", "Sends.", func(_ context.Context, a struct {
			To string `json:"to"`
		}) (any, error) {
			sent.Add(1)
			return "sent to " + a.To, nil
		}).WithEffect(tool.Writes),
	))
	if err != nil {
		t.Fatal(err)
	}
	crew := NewWorkers(r, texts, log)
	for range 2 {
		w := worker.New(server, "q", worker.Options{})
		crew.Register(w)
		if err := w.Start(); err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
	}
	c, err := r.Parse("all.yaml", []byte(all))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	runs := &Client{Temporal: server, Texts: texts, Queue: "q"}
	order := Request{RunID: runner.NewRunID(time.Now()), Cascade: c, Input: map[string]any{"topic": "owls", "list": []any{1, 2, 3}}}
	if err := runs.Begin(ctx, order); err != nil {
		t.Fatal(err)
	}
	if err := runs.Begin(ctx, order); err == nil {
		t.Error("a run of that name began twice")
	}
	for {
		if list, err := runs.Questions(ctx, order.RunID); err == nil && len(list) == 1 {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("nothing was asked")
		}
	}
	if err := runs.Answer(ctx, order.RunID, Answer{Value: "perhaps"}); err == nil || !strings.Contains(err.Error(), "want true or false") {
		t.Errorf("a wrong answer: %v", err)
	}
	if err := runs.Answer(ctx, order.RunID, Answer{Value: "yes", By: "kim"}); err != nil {
		t.Fatal(err)
	}
	result, err := runs.Wait(ctx, order.RunID)
	if err != nil || result.Status != "succeeded" || result.Output != "sent to kim" || sent.Load() != 1 {
		t.Errorf("%+v, sent %d times: %v", result, sent.Load(), err)
	}
	events, err := log.Events(order.RunID)
	if err != nil || len(events) < 40 {
		t.Errorf("%d events: %v", len(events), err)
	}
	whole := order.RunID
	order.RunID = runner.NewRunID(time.Now())
	if err := errors.Join(runs.Begin(ctx, order), runs.Cancel(ctx, order.RunID)); err != nil {
		t.Fatal(err)
	}
	if result, err := runs.Wait(ctx, order.RunID); err != nil || result.Status != "cancelled" {
		t.Errorf("%+v: %v", result, err)
	}
	if record != "" {
		write(t, server, whole, filepath.Join(record, "history.json"))
	}
}

func write(t *testing.T, c client.Client, id, file string) {
	var h history.History
	events := c.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	raw, err := protojson.MarshalOptions{Indent: " "}.Marshal(&h)
	if err == nil {
		err = os.WriteFile(file, raw, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

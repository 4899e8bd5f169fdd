package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

func TestEventsOfARunThatHasEnded(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("post", map[string]any{"topic": "owls"})
	list := w.Listen("/v1/runs/" + id + "/events").All()
	last := list[len(list)-1]
	if last.Name != "end" || last.Data != `{"status":"succeeded"}` {
		t.Errorf("%+v", last)
	}
	list = list[:len(list)-1]
	for i, e := range list {
		if e.ID != fmt.Sprint(i+1) || e.Name != "" {
			t.Fatalf("event %d: %+v", i, e)
		}
		w.Contract().Check(t, map[string]any{"$ref": "#/components/schemas/Event"}, e.Data, "event")
	}
	if !strings.Contains(list[0].Data, `"run_started"`) || !strings.Contains(list[len(list)-1].Data, `"run_finished"`) {
		t.Errorf("%v", list)
	}

	rest := w.Listen("/v1/runs/"+id+"/events?after=1", "Last-Event-ID", "5").All()
	if len(rest) != len(list)-5+1 || rest[0].ID != "6" {
		t.Errorf("%d events, first %+v", len(rest), rest[0])
	}
	if r := w.Want(204, "GET", "/v1/runs/"+id+"/events", nil, "Last-Event-ID", fmt.Sprint(len(list))); r.Text != "" {
		t.Error(r.Text)
	}
	for _, bad := range []string{"after=x", "after=-1", "follow=maybe", "detail=some"} {
		w.Problem(400, "bad_query", "GET", "/v1/runs/"+id+"/events?"+bad, nil)
	}
	w.Problem(404, "no_run", "GET", "/v1/runs/none/events", nil)
}

func TestEventsAsLines(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("ask", nil)
	r := w.Want(200, "GET", "/v1/runs/"+id+"/events?follow=false", nil, "Accept", "application/x-ndjson")
	lines := strings.Split(strings.TrimSpace(r.Text), "\n")
	for i, line := range lines {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Seq != int64(i+1) {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if !strings.Contains(r.Text, `"messages"`) {
		t.Error("the requests are not whole")
	}
	brief := w.Want(200, "GET", "/v1/runs/"+id+"/events?follow=false&detail=brief", nil, "Accept", "application/x-ndjson")
	if strings.Contains(brief.Text, `"content":"Write."`) {
		t.Error("the requests are not brief")
	}
}

// A breaking store fails after two events.
type breaking struct{ serve.Store }

func (b breaking) Events(ctx context.Context, id string, after int64, d journal.Detail) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		n := 0
		for e, err := range b.Store.Events(ctx, id, after, d) {
			if n++; n > 2 {
				yield(event.Event{}, runner.ErrAway)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// TestCutStreams checks that the server breaks a stream whose rest it cannot read.
func TestCutStreams(t *testing.T) {
	var stderr bytes.Buffer
	w := servetest.New(t, func(o *serve.Options) {
		o.Store, o.Log = breaking{o.Store}, slog.New(slog.NewTextHandler(&stderr, nil))
	})
	over := w.Start("ask", nil)
	going := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	for _, path := range []string{over + "/events", over + "/events?follow=false", going + "/events"} {
		for _, kind := range []string{"text/event-stream", "application/x-ndjson"} {
			req, _ := http.NewRequestWithContext(t.Context(), "GET", w.HTTP.URL+"/v1/runs/"+path, nil)
			req.Header.Set("Accept", kind)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			if resp.Body.Close(); err == nil || strings.Count(string(text), `{"seq":`) != 2 {
				t.Errorf("%s as %s ends with %v: %s", path, kind, err, text)
			}
		}
	}
	w.HTTP.Close()
	if n := strings.Count(stderr.String(), runner.ErrAway.Error()); n != 6 {
		t.Errorf("the log tells of it %d times: %s", n, stderr.String())
	}
}

func TestEventsAsTheyCome(t *testing.T) {
	w := servetest.New(t)
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	l := w.Listen("/v1/runs/" + id + "/events")
	for {
		e, ok := l.Next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if strings.Contains(e.Data, `"model_called"`) {
			break
		}
	}
	close(w.Hold)
	list := l.All()
	if len(list) == 0 || list[len(list)-1].Name != "end" {
		t.Errorf("%v", list)
	}
}

// TestEventsWhileARunWaits checks that a stream stays open while the run waits.
func TestEventsWhileARunWaits(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("ask", nil)
	l := w.Listen("/v1/runs/" + id + "/events")
	for {
		e, _ := l.Next()
		if strings.Contains(e.Data, `"run_finished"`) {
			break
		}
	}
	w.Want(202, "POST", "/v1/runs/"+id+"/answer", `{"value": false}`)
	list := l.All()
	if last := list[len(list)-1]; last.Data != `{"status":"blocked"}` {
		t.Errorf("%+v", last)
	}
}

// TestStreamsEndWithTheServer checks that a shutdown ends the streams of all addresses.
func TestStreamsEndWithTheServer(t *testing.T) {
	w := servetest.New(t)
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	ctx, stop := context.WithCancel(t.Context())
	at, served := w.Serve(ctx)
	other, too := w.Serve(ctx)
	var open []*bufio.Scanner
	for _, path := range []string{at + "/v1/runs/" + id + "/events", other + "/runs/" + id + "/live"} {
		resp, err := http.Get("http://" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		s := bufio.NewScanner(resp.Body)
		if !s.Scan() {
			t.Fatalf("%s: nothing is reported", path)
		}
		open = append(open, s)
	}
	stop()
	for i, s := range open {
		for s.Scan() {
		}
		if s.Err() != nil {
			t.Errorf("stream %d was cut: %v", i, s.Err())
		}
	}
	if err := errors.Join(<-served, <-too); err != nil {
		t.Error(err)
	}
}

// TestStreamsEndWithAnotherServer checks EndStreams with a server of the caller.
func TestStreamsEndWithAnotherServer(t *testing.T) {
	w := servetest.New(t)
	w.HTTP.Config.RegisterOnShutdown(w.Server.EndStreams)
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	resp, err := http.Get(w.HTTP.URL + "/v1/runs/" + id + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, resp.Body); ended <- err }()
	last, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := errors.Join(w.HTTP.Config.Shutdown(last), <-ended); err != nil {
		t.Error(err)
	}
}

// TestALineCannotBreakAStream checks that a reply cannot contain an event.
func TestALineCannotBreakAStream(t *testing.T) {
	w := servetest.New(t)
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "a\n\nevent: end\rdata: forged\u2028\n\n"}, nil
	})
	id := w.Start("ask", nil)
	r := w.Listen("/v1/runs/" + id + "/events")
	for i := 0; ; i++ {
		e, _ := r.Next()
		if e.Name != "" {
			t.Fatalf("%+v", e)
		}
		if strings.Contains(e.Data, `"run_finished"`) {
			return
		}
	}
}

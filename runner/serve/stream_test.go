package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
)

// A line-wise reader of a stream.
type listener struct {
	*world
	*bufio.Scanner
	resp *http.Response
	stop context.CancelFunc
}

func (w *world) listen(path string, header ...string) *listener {
	w.Helper()
	ctx, stop := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "GET", w.http.URL+path, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { stop(); resp.Body.Close() })
	s := bufio.NewScanner(resp.Body)
	s.Buffer(nil, 16<<20)
	return &listener{w, s, resp, stop}
}

// An sse is one server-sent event.
type sse struct{ id, name, data string }

// next reads one event; false at the end.
func (l *listener) next() (e sse, ok bool) {
	for l.Scan() {
		field, value, _ := strings.Cut(l.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data += value + "\n"
		case "":
			if e.data != "" {
				e.data = strings.TrimSuffix(e.data, "\n")
				return e, true
			}
		}
	}
	return e, false
}

func (l *listener) all() (list []sse) {
	for e, ok := l.next(); ok; e, ok = l.next() {
		list = append(list, e)
	}
	return list
}

func TestEventsOfARunThatHasEnded(t *testing.T) {
	w := newWorld(t)
	id := w.start("post", map[string]any{"topic": "owls"})
	list := w.listen("/v1/runs/" + id + "/events").all()
	last := list[len(list)-1]
	if last.name != "end" || last.data != `{"status":"succeeded"}` {
		t.Errorf("%+v", last)
	}
	list = list[:len(list)-1]
	for i, e := range list {
		if e.id != fmt.Sprint(i+1) || e.name != "" {
			t.Fatalf("event %d: %+v", i, e)
		}
		theContract(t).check(t, map[string]any{"$ref": "#/components/schemas/Event"}, e.data, "event")
	}
	if !strings.Contains(list[0].data, `"run_started"`) || !strings.Contains(list[len(list)-1].data, `"run_finished"`) {
		t.Errorf("%v", list)
	}

	rest := w.listen("/v1/runs/"+id+"/events?after=1", "Last-Event-ID", "5").all()
	if len(rest) != len(list)-5+1 || rest[0].id != "6" {
		t.Errorf("%d events, first %+v", len(rest), rest[0])
	}
	if r := w.want(204, "GET", "/v1/runs/"+id+"/events", nil, "Last-Event-ID", fmt.Sprint(len(list))); r.text != "" {
		t.Error(r.text)
	}
	for _, bad := range []string{"after=x", "after=-1", "follow=maybe", "detail=some"} {
		w.problem(400, "bad_query", "GET", "/v1/runs/"+id+"/events?"+bad, nil)
	}
	w.problem(404, "no_run", "GET", "/v1/runs/none/events", nil)
}

func TestEventsAsLines(t *testing.T) {
	w := newWorld(t)
	id := w.start("ask", nil)
	r := w.want(200, "GET", "/v1/runs/"+id+"/events?follow=false", nil, "Accept", "application/x-ndjson")
	lines := strings.Split(strings.TrimSpace(r.text), "\n")
	for i, line := range lines {
		var e event.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Seq != int64(i+1) {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if !strings.Contains(r.text, `"messages"`) {
		t.Error("the requests are not whole")
	}
	brief := w.want(200, "GET", "/v1/runs/"+id+"/events?follow=false&detail=brief", nil, "Accept", "application/x-ndjson")
	if strings.Contains(brief.text, `"content":"Write."`) {
		t.Error("the requests are not brief")
	}
}

func TestEventsAsTheyCome(t *testing.T) {
	w := newWorld(t)
	id := w.want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).json(t)["run_id"].(string)
	l := w.listen("/v1/runs/" + id + "/events")
	for {
		e, ok := l.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if strings.Contains(e.data, `"model_called"`) {
			break
		}
	}
	close(w.hold)
	list := l.all()
	if len(list) == 0 || list[len(list)-1].name != "end" {
		t.Errorf("%v", list)
	}
}

// TestEventsWhileARunWaits holds that a stream stays open for the answer.
func TestEventsWhileARunWaits(t *testing.T) {
	w := newWorld(t)
	id := w.start("ask", nil)
	l := w.listen("/v1/runs/" + id + "/events")
	for {
		e, _ := l.next()
		if strings.Contains(e.data, `"run_finished"`) {
			break
		}
	}
	w.want(202, "POST", "/v1/runs/"+id+"/answer", `{"value": false}`)
	list := l.all()
	if last := list[len(list)-1]; last.data != `{"status":"blocked"}` {
		t.Errorf("%+v", last)
	}
}

// TestThePageAsItComes holds that a run's page is sent what changes, and that
// it is told when there is no more.
func TestThePageAsItComes(t *testing.T) {
	w := newWorld(t)
	id := w.want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).json(t)["run_id"].(string)
	l := w.listen("/runs/" + id + "/live?after=0")
	first, _ := l.next()
	if first.name != "update" || !strings.Contains(first.data, `hx-swap-oob="true"`) {
		t.Errorf("%+v", first)
	}
	begun := []sse{first}
	for !strings.Contains(begun[len(begun)-1].data, "beforeend:#phases") {
		e, ok := l.next()
		if !ok {
			t.Fatal("the phase is never added")
		}
		begun = append(begun, e)
	}
	close(w.hold)
	list := append(begun, l.all()...)
	if last := list[len(list)-1]; last.name != "end" {
		t.Errorf("%+v", last)
	}
	text := fmt.Sprint(list)
	if !strings.Contains(text, "beforeend:#phases") || !strings.Contains(text, "At last.") || !strings.Contains(text, "s-succeeded") {
		t.Error(text)
	}
	if strings.Count(text, "beforeend:#phases") != 1 {
		t.Error("the phase is added more than once")
	}
}

// TestStreamsEndWithTheServer holds that nobody waits for a reader that never
// goes.
func TestStreamsEndWithTheServer(t *testing.T) {
	w := newWorld(t)
	id := w.want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).json(t)["run_id"].(string)
	ctx, stop := context.WithCancel(t.Context())
	at, served := w.serve(ctx)
	resp, err := http.Get("http://" + at + "/v1/runs/" + id + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s := bufio.NewScanner(resp.Body)
	if !s.Scan() {
		t.Fatal("nothing is told")
	}
	stop()
	for s.Scan() {
	}
	if s.Err() != nil {
		t.Errorf("the stream was cut: %v", s.Err())
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// TestALineCannotBreakAStream holds that what a model says cannot forge an
// event.
func TestALineCannotBreakAStream(t *testing.T) {
	w := newWorld(t)
	w.model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		return model.Response{Text: "a\n\nevent: end\rdata: forged\u2028\n\n"}, nil
	})
	id := w.start("ask", nil)
	r := w.listen("/v1/runs/" + id + "/events")
	for i := 0; ; i++ {
		e, _ := r.next()
		if e.name != "" {
			t.Fatalf("%+v", e)
		}
		if strings.Contains(e.data, `"run_finished"`) {
			return
		}
	}
}

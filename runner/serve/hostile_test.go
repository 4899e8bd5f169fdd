package serve_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// TestManyReadersThatGo holds that a stream is sent to each of many readers, and
// that nothing is left of those who go.
func TestManyReadersThatGo(t *testing.T) {
	w := newWorld(t)
	id := w.want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).json(t)["run_id"].(string)
	paths := []string{"/v1/runs/" + id + "/events", "/runs/" + id + "/live", "/live"}
	var readers []*listener
	for i := range 60 {
		l := w.listen(paths[i%len(paths)])
		if _, ok := l.next(); !ok {
			t.Fatalf("%s: nothing is told", paths[i%len(paths)])
		}
		readers = append(readers, l)
	}
	// The followers of the run's events have one who watches for them all.
	if n, want := w.server.Watching(), len(readers)/3*2+1; n != want {
		t.Errorf("%d of %d watch, want %d", n, len(readers), want)
	}
	for _, l := range readers[3:] {
		l.stop()
		l.resp.Body.Close()
	}
	for w.server.Watching() > 3 {
		runtime.Gosched()
	}
	close(w.hold)
	for _, l := range readers[:2] {
		if list := l.all(); len(list) == 0 || list[len(list)-1].name != "end" {
			t.Errorf("the end is not told: %v", list)
		}
	}
	readers[2].stop()
	for w.server.Watching() > 0 {
		runtime.Gosched()
	}
}

// TestTheHeaderOfAStream holds that who asks for the header alone holds nothing:
// the connection takes the next request.
func TestTheHeaderOfAStream(t *testing.T) {
	w := newWorld(t)
	id := w.start("ask", nil)
	c, err := net.Dial("tcp", w.http.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := bufio.NewReader(c)
	for _, path := range []string{"/live", "/runs/" + id + "/live", "/v1/runs/" + id + "/events", "/v1/runs"} {
		if _, err := io.WriteString(c, "HEAD "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(in, &http.Request{Method: "HEAD"})
		if err != nil || resp.StatusCode != 200 {
			t.Fatalf("%s: %v %v", path, resp, err)
		}
	}
}

// TestManyAnswers holds that of answers that come at the same time one counts.
func TestManyAnswers(t *testing.T) {
	w := newWorld(t)
	id := w.start("ask", nil)
	var wg sync.WaitGroup
	statuses := make(chan int, 20)
	for range 20 {
		wg.Go(func() {
			statuses <- w.send("POST", "/v1/runs/"+id+"/answer", `{"value": true}`).StatusCode
		})
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
	<-w.done
	if s := w.run(id).Status; s != "succeeded" {
		t.Errorf("status %s", s)
	}
}

// TestNamesOfRunsThatAreNone holds that no name of a run leads anywhere else.
func TestNamesOfRunsThatAreNone(t *testing.T) {
	w := newWorld(t)
	w.start("ask", nil)
	for _, id := range []string{"%00", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%ff%fe", "%F0%9F%A6%89", "%27%20OR%201=1--", "%25", "_", "a%0d%0ab", "last%20", strings.Repeat("x", 30_000)} {
		for _, rest := range []string{"", "/events", "/events?follow=false"} {
			w.problem(404, "no_run", "GET", "/v1/runs/"+id+rest, nil)
		}
		for _, rest := range []string{"/answer", "/cancel", "/resume"} {
			w.problem(404, "no_run", "POST", "/v1/runs/"+id+rest, `{"value": true}`)
		}
		for _, rest := range []string{"", "/phase?at=x", "/call?at=x", "/text?what=input", "/raw?what=input", "/diff?a=x&b=y", "/graph", "/graph.svg", "/proof.svg", "/live"} {
			if r := w.send("GET", "/runs/"+id+rest, nil); r.StatusCode != 404 {
				t.Errorf("%s%s: %d", id, rest, r.StatusCode)
			}
		}
	}
	for _, method := range []string{"PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"} {
		for _, path := range []string{"/", "/v1/runs", "/start", "/live"} {
			if r := w.send(method, path, nil); r.StatusCode != 405 || r.Header.Get("Allow") == "" || r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: %d %v", method, path, r.StatusCode, r.Header)
			}
		}
	}
}

// TestARunThatWasCutOff holds that nothing of a run whose process is gone looks
// as if it went on, and that a check that broke is not called a no.
func TestARunThatWasCutOff(t *testing.T) {
	w := madeUp(t)
	r := &shelved{summary: journal.Summary{RunID: "cut", CascadeID: "post", Status: journal.Running}}
	w.shelf.add(r)
	said := "the program is gone"
	for _, e := range []event.Event{
		{Kind: event.RunStarted, RunID: "cut"},
		{Kind: event.PhaseStarted, Path: "draft", Phase: "draft"},
		{Kind: event.VerdictGiven, Path: "draft/pre[0]", Verdict: &event.Verdict{Path: "draft/pre[0]", Phase: "draft", Moment: "pre", Validator: "odd", Mode: "advisory", Error: &said}},
		{Kind: event.AttemptStarted, Path: "draft/attempt[1]", Phase: "draft", Attempt: 1},
		{Kind: event.TurnStarted, Path: "draft/attempt[1]/turn[0]", Phase: "draft", Attempt: 1, Turn: new(0)},
		{Kind: event.ModelCalled, Path: "draft/attempt[1]/turn[0]/model", Request: &model.Request{Model: "m"}},
	} {
		w.shelf.tell(r, e)
	}
	page := w.send("GET", "/runs/cut", nil).text
	for _, want := range []string{"s-running", "asking", "1 error: odd"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q while it runs: %s", want, page)
		}
	}
	if strings.Contains(page, "1 no") {
		t.Error("what could not say is called a no")
	}
	live := w.listen("/runs/cut/live?after=1")
	live.next()
	w.shelf.mu.Lock()
	r.summary.Status = "cancelled"
	w.shelf.version++
	w.shelf.mu.Unlock()
	all := live.all()
	page = w.send("GET", "/runs/cut", nil).text
	for name, page := range map[string]string{"page": page, "live": all[0].data} {
		if strings.Contains(page, "s-running") || strings.Contains(page, "asking") || strings.Count(page, "s-cancelled") < 3 {
			t.Errorf("%s: it goes on: %s", name, page)
		}
	}
	if !strings.Contains(page, "the run ended before there was an answer") {
		t.Error(page)
	}
}

// TestBarsAsTimeGoesOn holds that the bars of phases that have ended are sent
// too as the run grows longer, and of a long run at its end.
func TestBarsAsTimeGoesOn(t *testing.T) {
	for phases, bars := range map[int]int{3: 2, 200: 0} {
		w := madeUp(t)
		w.shelf.longRun("long", phases, "Owls.")
		r := w.shelf.find("long")
		r.summary.Status, r.summary.Finished = journal.Running, nil
		after := len(r.events) - 2 // all but the end of the last phase and of the run
		r.events = r.events[:len(r.events)-1]
		l := w.listen("/runs/long/live?status=running&after=" + strconv.Itoa(after))
		first, _ := l.next()
		if n := strings.Count(first.data, "innerHTML:#"); n != bars {
			t.Errorf("of %d phases, %d bars are sent", phases, n)
		}
		w.shelf.tell(r, event.Event{Kind: event.RunFinished, Status: "succeeded"})
		w.shelf.mu.Lock()
		r.summary.Status = "succeeded"
		w.shelf.version++
		w.shelf.mu.Unlock()
		n := 0
		for _, e := range l.all() {
			n = strings.Count(e.data, "innerHTML:#") + n
		}
		if n < phases-1 {
			t.Errorf("of %d phases, %d bars are sent at the end", phases, n)
		}
	}
}

// TestTheBarOfWhatGoesOn holds that a phase that goes on has taken the time since
// the last event too.
func TestTheBarOfWhatGoesOn(t *testing.T) {
	w := madeUp(t)
	now := time.Now()
	r := &shelved{summary: journal.Summary{RunID: "on", CascadeID: "post", Status: journal.Running, Started: now.Add(-2 * time.Hour)}}
	w.shelf.add(r)
	w.shelf.tell(r, event.Event{Kind: event.RunStarted, RunID: "on", Time: now.Add(-2 * time.Hour)})
	w.shelf.tell(r, event.Event{Kind: event.PhaseStarted, Path: "draft", Phase: "draft", Time: now.Add(-time.Hour)})
	if page := w.send("GET", "/runs/on", nil).text; !regexp.MustCompile(`class="span" x="(500\.0|499\.\d)" y="1" width="(500\.\d)"`).MatchString(page) {
		t.Error(page)
	}
}

// An overtaken store is one in which somebody else is always the faster one.
type overtaken struct{ serve.Store }

func (o overtaken) Answer(ctx context.Context, id string, a runner.Answer) error {
	if err := o.Store.Answer(ctx, id, a); err != nil {
		return err
	}
	return o.Store.Answer(ctx, id, a)
}

// TestAnAnswerThatComesTooLate holds that it is told that it does not count.
func TestAnAnswerThatComesTooLate(t *testing.T) {
	w := newWorld(t, func(o *serve.Options, _ *orders.CrewOptions) { o.Store = overtaken{o.Store} })
	id := w.start("ask", nil)
	w.problem(409, "not_waiting", "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
}

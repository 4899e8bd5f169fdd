package serve_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/serve"
)

// TestManyReadersThatGo checks that the server sends a stream to many clients, and
// releases the memory of disconnected clients.
func TestManyReadersThatGo(t *testing.T) {
	w := servetest.New(t)
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	paths := []string{"/v1/runs/" + id + "/events", "/runs/" + id + "/live", "/live"}
	var readers []*servetest.Listener
	for i := range 60 {
		l := w.Listen(paths[i%len(paths)])
		if _, ok := l.Next(); !ok {
			t.Fatalf("%s: nothing is reported", paths[i%len(paths)])
		}
		readers = append(readers, l)
	}
	if n := w.Server.Subscribers(); n != len(readers) {
		t.Errorf("%d of %d readers are subscribed", n, len(readers))
	}
	for _, l := range readers[3:] {
		l.Stop()
		l.Resp.Body.Close()
	}
	for w.Server.Subscribers() > 3 {
		runtime.Gosched()
	}
	close(w.Hold)
	for _, l := range readers[:2] {
		if list := l.All(); len(list) == 0 || list[len(list)-1].Name != "end" {
			t.Errorf("the end is not reported: %v", list)
		}
	}
	readers[2].Stop()
	for w.Server.Subscribers() > 0 {
		runtime.Gosched()
	}
}

// TestTheHeaderOfAStream checks that a HEAD request leaves the connection free.
func TestTheHeaderOfAStream(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("ask", nil)
	c, err := net.Dial("tcp", w.HTTP.Listener.Addr().String())
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

// TestManyAnswers checks that only one of several concurrent answers counts.
func TestManyAnswers(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("ask", nil)
	var wg sync.WaitGroup
	statuses := make(chan int, 20)
	for range 20 {
		wg.Go(func() {
			statuses <- w.Send("POST", "/v1/runs/"+id+"/answer", `{"value": true}`).StatusCode
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
	<-w.Done
	if s := w.Run(id).Status; s != "succeeded" {
		t.Errorf("status %s", s)
	}
}

// TestNamesOfRunsThatAreNone checks that invalid names of runs lead nowhere.
func TestNamesOfRunsThatAreNone(t *testing.T) {
	w := servetest.New(t)
	w.Start("ask", nil)
	for _, id := range []string{"%00", "%2e%2e", "..%2f..%2fetc%2fpasswd", "%ff%fe", "%F0%9F%A6%89", "%27%20OR%201=1--", "%25", "_", "a%0d%0ab", "last%20", strings.Repeat("x", 30_000)} {
		for _, rest := range []string{"", "/events", "/events?follow=false"} {
			w.Problem(404, "no_run", "GET", "/v1/runs/"+id+rest, nil)
		}
		for _, rest := range []string{"/answer", "/cancel", "/resume"} {
			w.Problem(404, "no_run", "POST", "/v1/runs/"+id+rest, `{"value": true}`)
		}
		for _, rest := range []string{"", "/phase?at=x", "/call?at=x", "/text?what=input", "/raw?what=input", "/diff?a=x&b=y", "/graph", "/graph.svg", "/proof.svg", "/live"} {
			if r := w.Send("GET", "/runs/"+id+rest, nil); r.StatusCode != 404 {
				t.Errorf("%s%s: %d", id, rest, r.StatusCode)
			}
		}
	}
	for _, method := range []string{"PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"} {
		for _, path := range []string{"/", "/v1/runs", "/start", "/live"} {
			if r := w.Send(method, path, nil); r.StatusCode != 405 || r.Header.Get("Allow") == "" || r.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: %d %v", method, path, r.StatusCode, r.Header)
			}
		}
	}
}

// An overtaken store has received another answer already.
type overtaken struct{ serve.Store }

func (o overtaken) Answer(ctx context.Context, id string, question event.Path, a engine.Answer) error {
	if err := o.Store.Answer(ctx, id, question, a); err != nil {
		return err
	}
	return o.Store.Answer(ctx, id, question, a)
}

// TestAnAnswerThatComesTooLate checks that a late answer is refused.
func TestAnAnswerThatComesTooLate(t *testing.T) {
	w := servetest.New(t, func(o *serve.Options) { o.Store = overtaken{o.Store} })
	id := w.Start("ask", nil)
	w.Problem(409, "not_waiting", "POST", "/v1/runs/"+id+"/answer", `{"value": true}`)
}

package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

// unasked makes a server that almost never polls its store.
func unasked(o *serve.Options) { o.Every = time.Hour }

// TestMain collects garbage less often, because the servers hold little data.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// storedEvents returns the events of a run as a stream sends them.
func storedEvents(w *servetest.World, id string, d journal.Detail) (list []string) {
	w.Helper()
	for e, err := range w.Store.Events(w.Context(), id, 0, d) {
		if err != nil {
			w.Fatal(err)
		}
		if d == journal.Whole {
			e.Before = 0
		}
		text, err := json.Marshal(e)
		if err != nil {
			w.Fatal(err)
		}
		list = append(list, string(text))
	}
	return list
}

// followed follows a run from an event on. It reconnects after a few events, until the end.
func followed(w *servetest.World, ctx context.Context, id, detail string, after int64, few int) (list []string, err error) {
	for {
		req, _ := http.NewRequestWithContext(ctx, "GET", w.HTTP.URL+"/v1/runs/"+id+"/events?detail="+detail, nil)
		req.Header.Set("Last-Event-ID", strconv.FormatInt(after, 10))
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode == http.StatusNoContent {
			return list, err
		}
		l := &servetest.Listener{Scanner: bufio.NewScanner(resp.Body)}
		l.Buffer(nil, 16<<20)
		for n := 0; n < few; n++ {
			e, ok := l.Next()
			if !ok || e.Name == "end" {
				resp.Body.Close()
				return list, l.Err()
			}
			if after++; e.ID != fmt.Sprint(after) {
				resp.Body.Close()
				return list, fmt.Errorf("event %s comes where %d should", e.ID, after)
			}
			list = append(list, e.Data)
		}
		resp.Body.Close()
	}
}

// TestEveryFollowerHearsAllOnce checks that each client receives all events in order and
// without repetition, wherever it joins and reconnects.
func TestEveryFollowerHearsAllOnce(t *testing.T) {
	w := servetest.New(t, unasked)
	step := make(chan bool)
	w.Model = model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		<-step
		return model.Response{Text: "Said: " + r.Messages[0].Content}, nil
	})
	list := make([]any, 60)
	for i := range list {
		list[i] = fmt.Sprint("item ", i)
	}
	id := w.Want(202, "POST", "/v1/runs", map[string]any{"cascade": "fan", "input": map[string]any{"list": list}}).JSON(t)["run_id"].(string)
	details := map[string]journal.Detail{"news": journal.News, "whole": journal.Whole, "brief": journal.Brief}
	type follower struct {
		detail string
		after  int64
		list   []string
	}
	var mu sync.Mutex
	var all []follower
	var followers sync.WaitGroup
	join := func(detail string, after int64, few int) {
		followers.Go(func() {
			list, err := followed(w, t.Context(), id, detail, after, few)
			if err != nil {
				t.Errorf("%s after %d, %d at a time: %v", detail, after, few, err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, follower{detail, after, list})
		})
	}
	for i := range 62 {
		for detail := range details {
			if i%10 == 0 {
				join(detail, 0, math.MaxInt)
				join(detail, 0, 7+i)
				join(detail, int64(i), 50)
			}
		}
		step <- true
	}
	<-w.Done
	join("news", 3, 1000) // of an ended run
	followers.Wait()
	wants := map[string][]string{}
	for name, detail := range details {
		wants[name] = storedEvents(w, id, detail)
	}
	for _, f := range all {
		if want := wants[f.detail][f.after:]; !slices.Equal(f.list, want) {
			t.Errorf("%s after %d: %d events, want %d", f.detail, f.after, len(f.list), len(want))
		}
	}
	w.HTTP.CloseClientConnections()
	for w.Server.Subscribers() > 0 { // the server notices disconnected clients
		runtime.Gosched()
	}
}

// TestASlowFollower checks that a slow client delays neither the run nor other clients, and
// receives all events.
func TestASlowFollower(t *testing.T) {
	w := servetest.New(t, unasked)
	text := strings.Repeat("owl ", 50_000)
	begin := make(chan bool)
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		<-begin
		return model.Response{Text: text}, nil
	})
	list := make([]any, 20) // 16 MB of events, more than the sockets buffer
	for i := range list {
		list[i] = i
	}
	id := w.Want(202, "POST", "/v1/runs", map[string]any{"cascade": "fan", "input": map[string]any{"list": list}}).JSON(t)["run_id"].(string)
	slow := w.Listen("/v1/runs/" + id + "/events")
	first, ok := slow.Next()
	if !ok {
		t.Fatal("nothing is reported")
	}
	quick := make(chan []string)
	go func() {
		list, _ := followed(w, t.Context(), id, "news", 0, math.MaxInt)
		quick <- list
	}()
	close(begin)
	<-w.Done
	want := storedEvents(w, id, journal.News)
	if got := <-quick; !slices.Equal(got, want) {
		t.Errorf("the quick one hears %d events of %d", len(got), len(want))
	}
	got := []string{first.Data}
	for e, ok := slow.Next(); ok && e.Name == ""; e, ok = slow.Next() {
		got = append(got, e.Data)
	}
	// A client that takes half a minute is disconnected, and reconnects.
	rest, err := followed(w, t.Context(), id, "news", int64(len(got)), math.MaxInt)
	if got = append(got, rest...); err != nil || !slices.Equal(got, want) {
		t.Errorf("the slow one hears %d events of %d: %v", len(got), len(want), err)
	}
}

// TestARunOfAnotherProcess checks that clients can follow a run of another process.
func TestARunOfAnotherProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "runs.db")
	open := func() *journal.Journal {
		j, err := journal.Open(file, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		return j
	}
	w := servetest.Over(t, open())
	other := servetest.Over(t, open())
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "one"}`)
	l := other.Listen("/v1/runs/one/events")
	for e, ok := l.Next(); !strings.Contains(e.Data, string(event.ModelCalled)); e, ok = l.Next() {
		if !ok {
			t.Fatal("it is not heard of")
		}
	}
	close(w.Hold)
	if list := l.All(); len(list) == 0 || list[len(list)-1].Data != `{"status":"succeeded"}` {
		t.Errorf("%v", list)
	}
}

// TestAfterWhatIsNotThere checks the stream of a client whose last event does not exist yet.
func TestAfterWhatIsNotThere(t *testing.T) {
	w := servetest.New(t, unasked)
	w.Want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "one"}`)
	var streams []*servetest.Listener
	for _, last := range []int64{100, math.MaxUint32, 1 << 33, math.MaxInt64} {
		streams = append(streams, w.Listen("/v1/runs/one/events", "Last-Event-ID", fmt.Sprint(last)))
	}
	w.Problem(400, "bad_query", "GET", "/v1/runs/one/events", nil, "Last-Event-ID", "9223372036854775808")
	close(w.Hold)
	for _, l := range streams {
		if list := l.All(); len(list) != 1 || list[0].Name != "end" {
			t.Errorf("%v", list)
		}
	}
}

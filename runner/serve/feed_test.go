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
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
	"github.com/seed61713e19/capstan/runner/serve/orders"
)

// unasked is a server that asks the store for news so seldom that what is heard
// was told.
func unasked(o *serve.Options, _ *orders.CrewOptions) { o.Every = time.Hour }

// kept are a run's events as a stream has them.
func (w *world) kept(id string, d journal.Detail) (list []string) {
	w.Helper()
	for e, err := range w.store.Events(w.Context(), id, 0, d) {
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

// heard follows a run from an event on, breaking off every few events and going
// on after the last that came, until its end.
func (w *world) heard(ctx context.Context, id, detail string, after int64, few int) (list []string, err error) {
	for {
		req, _ := http.NewRequestWithContext(ctx, "GET", w.http.URL+"/v1/runs/"+id+"/events?detail="+detail, nil)
		req.Header.Set("Last-Event-ID", strconv.FormatInt(after, 10))
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode == http.StatusNoContent {
			return list, err
		}
		l := &listener{Scanner: bufio.NewScanner(resp.Body)}
		l.Buffer(nil, 16<<20)
		for n := 0; n < few; n++ {
			e, ok := l.next()
			if !ok || e.name == "end" {
				resp.Body.Close()
				return list, l.Err()
			}
			if after++; e.id != fmt.Sprint(after) {
				resp.Body.Close()
				return list, fmt.Errorf("event %s comes where %d should", e.id, after)
			}
			list = append(list, e.data)
		}
		resp.Body.Close()
	}
}

// TestEveryFollowerHearsAllOnce holds that wherever followers join, break off
// and come back, each hears every event once, in order, as the store has it; and
// that the server does without a look at the store but for them.
func TestEveryFollowerHearsAllOnce(t *testing.T) {
	w := newWorld(t, unasked)
	step := make(chan bool)
	w.model = model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		<-step
		return model.Response{Text: "Said: " + r.Messages[0].Content}, nil
	})
	list := make([]any, 60)
	for i := range list {
		list[i] = fmt.Sprint("item ", i)
	}
	id := w.want(202, "POST", "/v1/runs", map[string]any{"cascade": "fan", "input": map[string]any{"list": list}}).json(t)["run_id"].(string)
	details := map[string]journal.Detail{"news": journal.News, "whole": journal.Whole, "brief": journal.Brief}
	type told struct {
		detail string
		after  int64
		list   []string
	}
	var mu sync.Mutex
	var all []told
	var followers sync.WaitGroup
	join := func(detail string, after int64, few int) {
		followers.Go(func() {
			list, err := w.heard(t.Context(), id, detail, after, few)
			if err != nil {
				t.Errorf("%s after %d, %d at a time: %v", detail, after, few, err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, told{detail, after, list})
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
	<-w.done
	join("news", 3, 1000) // of a run that is over
	followers.Wait()
	for _, f := range all {
		if want := w.kept(id, details[f.detail])[f.after:]; !slices.Equal(f.list, want) {
			t.Errorf("%s after %d: %d events, want %d", f.detail, f.after, len(f.list), len(want))
		}
	}
	w.http.CloseClientConnections()
	for w.server.Feeds() > 0 || w.server.Watching() > 0 { // those who broke off are found out
		runtime.Gosched()
	}
}

// TestASlowFollower holds that who does not read holds up neither the run nor
// others, and hears all in the end.
func TestASlowFollower(t *testing.T) {
	w := newWorld(t, unasked)
	said := strings.Repeat("owl ", 50_000)
	begin := make(chan bool)
	w.model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		<-begin
		return model.Response{Text: said}, nil
	})
	list := make([]any, 40) // 32 MB of events
	for i := range list {
		list[i] = i
	}
	id := w.want(202, "POST", "/v1/runs", map[string]any{"cascade": "fan", "input": map[string]any{"list": list}}).json(t)["run_id"].(string)
	slow := w.listen("/v1/runs/" + id + "/events")
	first, ok := slow.next()
	if !ok {
		t.Fatal("nothing is told")
	}
	quick := make(chan []string)
	go func() {
		list, _ := w.heard(t.Context(), id, "news", 0, math.MaxInt)
		quick <- list
	}()
	close(begin)
	<-w.done
	want := w.kept(id, journal.News)
	if got := <-quick; !slices.Equal(got, want) {
		t.Errorf("the quick one hears %d events of %d", len(got), len(want))
	}
	got := []string{first.data}
	for e, ok := slow.next(); ok && e.name == ""; e, ok = slow.next() {
		got = append(got, e.data)
	}
	// Where it took half a minute it was let go of, and comes back.
	rest, err := w.heard(t.Context(), id, "news", int64(len(got)), math.MaxInt)
	if got = append(got, rest...); err != nil || !slices.Equal(got, want) {
		t.Errorf("the slow one hears %d events of %d: %v", len(got), len(want), err)
	}
}

// TestARunOfAnotherProcess holds that its followers hear of it all the same.
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
	w := makeWorld(t, &world{TB: t, store: open()})
	other := makeWorld(t, &world{TB: t, store: open()})
	w.want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "one"}`)
	l := other.listen("/v1/runs/one/events")
	for e, ok := l.next(); !strings.Contains(e.data, string(event.ModelCalled)); e, ok = l.next() {
		if !ok {
			t.Fatal("it is not heard of")
		}
	}
	close(w.hold)
	if list := l.all(); len(list) == 0 || list[len(list)-1].data != `{"status":"succeeded"}` {
		t.Errorf("%v", list)
	}
}

// TestAfterWhatIsNotThere holds that who claims to have heard what was never
// told hears nothing twice, and of the end.
func TestAfterWhatIsNotThere(t *testing.T) {
	w := newWorld(t, unasked)
	w.want(202, "POST", "/v1/runs", `{"cascade": "slow", "run_id": "one"}`)
	var streams []*listener
	for _, last := range []int64{100, math.MaxUint32, 1 << 33, math.MaxInt64} {
		streams = append(streams, w.listen("/v1/runs/one/events", "Last-Event-ID", fmt.Sprint(last)))
	}
	w.problem(400, "bad_query", "GET", "/v1/runs/one/events", nil, "Last-Event-ID", "9223372036854775808")
	close(w.hold)
	for _, l := range streams {
		if list := l.all(); len(list) != 1 || list[0].name != "end" {
			t.Errorf("%v", list)
		}
	}
}

package pages_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/serve"
)

// A counted store counts how often events are read.
type counted struct {
	serve.Store
	reads atomic.Int64
}

func (c *counted) Events(ctx context.Context, id string, after int64, d journal.Detail) iter.Seq2[event.Event, error] {
	c.reads.Add(1)
	return c.Store.Events(ctx, id, after, d)
}

func counting(c *counted) func(*serve.Options) {
	return func(o *serve.Options) { c.Store, o.Store = o.Store, c }
}

// read returns how often a page reads events.
func (c *counted) read(w *servetest.World, path string) int64 {
	w.Helper()
	before := c.reads.Load()
	if r := w.Send("GET", path, nil); r.StatusCode != 200 {
		w.Fatalf("%s: %d", path, r.StatusCode)
	}
	return c.reads.Load() - before
}

// TestARunThatIsOverIsReadOnce checks that the pages of an ended run share its tree, and that a
// resumed run is read again.
func TestARunThatIsOverIsReadOnce(t *testing.T) {
	c := &counted{}
	w := servetest.New(t, counting(c))
	fails := true
	w.Model = model.Func(func(context.Context, model.Request) (model.Response, error) {
		if fails {
			return model.Response{}, &model.Failure{Class: model.Rejected, Message: "no such day"}
		}
		return model.Response{Text: "An owl."}, nil
	})
	id := w.Start("blocked", nil)
	for i, page := range []string{"", "/phase?at=draft", "/call?at=draft/attempt[1]/turn[0]/model", "/text?what=input", "/graph"} {
		if n := c.read(w, "/runs/"+id+page); (n == 1) != (i == 0) || n > 1 {
			t.Errorf("%s: events were read %d times", page, n)
		}
	}
	fails = false
	w.Want(202, "POST", "/v1/runs/"+id+"/resume", nil)
	<-w.Done
	if page := w.Send("GET", "/runs/"+id, nil).Text; !strings.Contains(page, "An owl.") || !strings.Contains(page, "succeeded") {
		t.Error(page)
	}
	if n := c.read(w, "/runs/"+id); n != 0 {
		t.Errorf("events were read %d times", n)
	}
}

// TestARunThatGoesOnIsReadAnew checks that nothing is stored of a running run.
func TestARunThatGoesOnIsReadAnew(t *testing.T) {
	c := &counted{}
	w := servetest.New(t, counting(c))
	ask := w.Start("ask", nil)
	for range 2 {
		if n := c.read(w, "/runs/"+ask); n != 1 {
			t.Errorf("events were read %d times", n)
		}
	}
}

// TestTreesAreBounded checks that the trees that were used last are stored, up to a number and
// a size.
func TestTreesAreBounded(t *testing.T) {
	c := &counted{}
	w := servetest.MadeUp(t, counting(c))
	for i := range 17 {
		w.Shelf.LongRun(fmt.Sprintf("run%d", i), 1, "Owls.")
	}
	for i := range 16 {
		c.read(w, fmt.Sprintf("/runs/run%d", i))
	}
	c.read(w, "/runs/run0")
	c.read(w, "/runs/run16")
	for i, id := range []string{"run0", "run16", "run2", "run1"} { // run1 was removed
		if n := c.read(w, "/runs/"+id); n != int64(i/3) {
			t.Errorf("%s: events were read %d times", id, n)
		}
	}
	big := strings.Repeat("x", 7<<20) // five of them in a run
	w.Shelf.LongRun("big", 1, big)
	w.Shelf.LongRun("bigger", 1, big)
	w.Shelf.LongRun("biggest", 3, big)
	for i, want := range []int64{1, 0, 1, 1, 0, 1, 1, 0} {
		id := []string{"big", "big", "bigger", "big", "big", "biggest", "biggest", "big"}[i]
		if n := c.read(w, "/runs/"+id+"/raw?what=input"); n != want {
			t.Errorf("%d: %s: events were read %d times", i, id, n)
		}
	}
}

// TestTreesAreShared checks concurrent readers of one tree.
func TestTreesAreShared(t *testing.T) {
	w := servetest.New(t)
	id := w.Start("post", map[string]any{"topic": "owls"})
	if w.Run(id).Status != engine.Succeeded {
		t.Fatal(w.Run(id).Status)
	}
	want := map[string]string{}
	paths := []string{"/runs/" + id, "/runs/" + id + "/phase?at=draft", "/runs/" + id + "/diff?a=draft/attempt[1]&b=draft/attempt[2]", "/compare?all=1&a=" + id + "&b=" + id, "/runs/" + id + "/graph.svg"}
	for _, path := range paths {
		want[path] = w.Send("GET", path, nil).Text
	}
	var wg sync.WaitGroup
	for range 4 {
		for _, path := range paths {
			wg.Go(func() {
				if got := w.Send("GET", path, nil).Text; got != want[path] {
					t.Errorf("%s has changed", path)
				}
			})
		}
	}
	wg.Wait()
}

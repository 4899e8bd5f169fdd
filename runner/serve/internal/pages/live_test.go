package pages_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/internal/servetest"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
)

// TestARunThatWasCutOff checks that a run without a process is not shown as running.
func TestARunThatWasCutOff(t *testing.T) {
	w := servetest.MadeUp(t)
	r := &servetest.Shelved{Summary: journal.Summary{RunID: "cut", CascadeID: "post", Status: journal.Running}}
	w.Shelf.Add(r)
	reason := "the program is gone"
	for _, e := range []event.Event{
		{Kind: event.RunStarted, RunID: "cut"},
		{Kind: event.PhaseStarted, Path: "draft", Phase: "draft"},
		{Kind: event.VerdictGiven, Path: "draft/pre[0]", Verdict: &event.Verdict{Path: "draft/pre[0]", Phase: "draft", Moment: "pre", Validator: "odd", Mode: "advisory", Error: &reason}},
		{Kind: event.AttemptStarted, Path: "draft/attempt[1]", Phase: "draft", Attempt: 1},
		{Kind: event.TurnStarted, Path: "draft/attempt[1]/turn[0]", Phase: "draft", Attempt: 1, Turn: new(0)},
		{Kind: event.ModelCalled, Path: "draft/attempt[1]/turn[0]/model", Request: &model.Request{Model: "m"}},
	} {
		w.Shelf.Tell(r, e)
	}
	page := w.Send("GET", "/runs/cut", nil).Text
	for _, want := range []string{"s-running", "asking", "1 error: odd"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q while it runs: %s", want, page)
		}
	}
	if strings.Contains(page, "1 no") {
		t.Error("what could not say is called a no")
	}
	live := w.Listen("/runs/cut/live?after=1")
	live.Next()
	w.Shelf.Change(func() { r.Summary.Status = "cancelled" })
	all := live.All()
	page = w.Send("GET", "/runs/cut", nil).Text
	for name, page := range map[string]string{"page": page, "live": all[0].Data} {
		if strings.Contains(page, "s-running") || strings.Contains(page, "asking") || strings.Count(page, "s-cancelled") < 3 {
			t.Errorf("%s: it goes on: %s", name, page)
		}
	}
	if !strings.Contains(page, "the run ended before there was an answer") {
		t.Error(page)
	}
}

// TestBarsAsTimeGoesOn checks when the bars of ended phases are sent.
func TestBarsAsTimeGoesOn(t *testing.T) {
	t.Parallel()
	for phases, bars := range map[int]int{3: 2, 200: 0} {
		w := servetest.MadeUp(t)
		w.Shelf.LongRun("long", phases, "Owls.")
		r := w.Shelf.Find("long")
		r.Summary.Status, r.Summary.Finished = journal.Running, nil
		after := len(r.Events) - 2 // all except the end of the last phase and of the run
		r.Events = r.Events[:len(r.Events)-1]
		l := w.Listen("/runs/long/live?status=running&after=" + strconv.Itoa(after))
		first, _ := l.Next()
		if n := strings.Count(first.Data, "innerHTML:#"); n != bars {
			t.Errorf("of %d phases, %d bars are sent", phases, n)
		}
		w.Shelf.Tell(r, event.Event{Kind: event.RunFinished, Status: "succeeded"})
		w.Shelf.Change(func() { r.Summary.Status = "succeeded" })
		n := 0
		for _, e := range l.All() {
			n = strings.Count(e.Data, "innerHTML:#") + n
		}
		if n < phases-1 {
			t.Errorf("of %d phases, %d bars are sent at the end", phases, n)
		}
	}
}

// TestTheBarOfWhatGoesOn checks the duration of a running phase.
func TestTheBarOfWhatGoesOn(t *testing.T) {
	w := servetest.MadeUp(t)
	now := time.Now()
	r := &servetest.Shelved{Summary: journal.Summary{RunID: "on", CascadeID: "post", Status: journal.Running, Started: now.Add(-2 * time.Hour)}}
	w.Shelf.Add(r)
	w.Shelf.Tell(r, event.Event{Kind: event.RunStarted, RunID: "on", Time: now.Add(-2 * time.Hour)})
	w.Shelf.Tell(r, event.Event{Kind: event.PhaseStarted, Path: "draft", Phase: "draft", Time: now.Add(-time.Hour)})
	if page := w.Send("GET", "/runs/on", nil).Text; !regexp.MustCompile(`class="span" x="(500\.0|499\.\d)" y="1" width="(500\.\d)"`).MatchString(page) {
		t.Error(page)
	}
}

// TestThePageAsItComes checks that the page receives changes, and the end.
func TestThePageAsItComes(t *testing.T) {
	t.Parallel()
	w := servetest.New(t)
	id := w.Want(202, "POST", "/v1/runs", `{"cascade": "slow"}`).JSON(t)["run_id"].(string)
	l := w.Listen("/runs/" + id + "/live?after=0")
	first, _ := l.Next()
	if first.Name != "update" || !strings.Contains(first.Data, `hx-swap-oob="true"`) {
		t.Errorf("%+v", first)
	}
	begun := []servetest.Event{first}
	for !strings.Contains(begun[len(begun)-1].Data, "beforeend:#phases") {
		e, ok := l.Next()
		if !ok {
			t.Fatal("the phase is never added")
		}
		begun = append(begun, e)
	}
	close(w.Hold)
	list := append(begun, l.All()...)
	if last := list[len(list)-1]; last.Name != "end" {
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

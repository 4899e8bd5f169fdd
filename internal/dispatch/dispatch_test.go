package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/internal/dispatch"
	"github.com/seed61713e19/capstan/validators/request"
)

// events returns the events of a task's record in one line.
func events(t *testing.T, d *dispatch.Dispatcher, task string) string {
	t.Helper()
	r, err := d.Status(task)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range r.Record {
		if e.Time.IsZero() || e.Attempt == 0 {
			t.Errorf("got %+v", e)
		}
		words = append(words, fmt.Sprintf("%s/%d", e.Event, e.Attempt))
	}
	return strings.Join(words, " ")
}

// script returns a constructor of validators. They answer with say, which receives the number of
// the call.
func script(calls *atomic.Int32, say func(ctx context.Context, call int, repair *request.ProtocolError) ([]byte, error)) func() dispatch.Validate {
	return func() dispatch.Validate {
		return (func(ctx context.Context, _ *request.Request, repair *request.ProtocolError) ([]byte, error) {
			return say(ctx, int(calls.Add(1)), repair)
		})
	}
}

func TestDispatcherDo(t *testing.T) {
	pass := text(t, with(answer("PASS", "a", "PASS"), object{"validator_id": "v"}))
	hang := func(ctx context.Context) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }
	for name, c := range map[string]struct {
		say     func(ctx context.Context, call int, repair *request.ProtocolError) ([]byte, error)
		verdict request.Verdict
		events  string
		took    time.Duration
	}{
		"a response": {func(context.Context, int, *request.ProtocolError) ([]byte, error) { return pass, nil },
			"PASS", "opened/1 asked/1 accepted/1", 0},
		"a BLOCKED response is a response": {func(context.Context, int, *request.ProtocolError) ([]byte, error) {
			return text(t, answer("BLOCKED", "a", "BLOCKED")), nil
		}, "BLOCKED", "opened/1 asked/1 accepted/1", 0},
		"a crash, and a fresh validator": {func(_ context.Context, call int, _ *request.ProtocolError) ([]byte, error) {
			if call == 1 {
				return nil, errors.New("out of memory")
			}
			return pass, nil
		}, "PASS", "opened/1 asked/1 crashed/1 asked/1 accepted/1", 0},
		"two crashes": {func(context.Context, int, *request.ProtocolError) ([]byte, error) { panic("broken") },
			"BLOCKED", "opened/1 asked/1 crashed/1 asked/1 crashed/1 given_up/1", 0},
		"a timeout, and a fresh validator": {func(ctx context.Context, call int, _ *request.ProtocolError) ([]byte, error) {
			if call == 1 {
				return hang(ctx)
			}
			return pass, nil
		}, "PASS", "opened/1 asked/1 timed_out/1 asked/1 accepted/1", 60 * time.Second},
		"two timeouts": {func(ctx context.Context, _ int, _ *request.ProtocolError) ([]byte, error) { return hang(ctx) },
			"BLOCKED", "opened/1 asked/1 timed_out/1 asked/1 timed_out/1 given_up/1", 120 * time.Second},
		"a response in the last second": {func(ctx context.Context, _ int, _ *request.ProtocolError) ([]byte, error) {
			time.Sleep(59 * time.Second)
			return pass, nil
		}, "PASS", "opened/1 asked/1 accepted/1", 59 * time.Second},
		"a late response of the first": {func(ctx context.Context, call int, _ *request.ProtocolError) ([]byte, error) {
			if call == 1 {
				time.Sleep(70 * time.Second) // ignores its context
				return text(t, answer("FAIL", "a", "FAIL")), nil
			}
			time.Sleep(20 * time.Second)
			return pass, nil
		}, "PASS", "opened/1 asked/1 timed_out/1 asked/1 late/1 accepted/1", 80 * time.Second},
		"a repair": {func(_ context.Context, _ int, repair *request.ProtocolError) ([]byte, error) {
			if repair == nil {
				return []byte("PASS!"), nil
			}
			if !strings.Contains(repair.Error(), "there is no JSON") {
				return nil, repair
			}
			return pass, nil
		}, "PASS", "opened/1 asked/1 refused/1 repair/1 accepted/1", 0},
		"one repair alone": {func(context.Context, int, *request.ProtocolError) ([]byte, error) { return []byte("{}"), nil },
			"BLOCKED", "opened/1 asked/1 refused/1 repair/1 refused/1 given_up/1", 0},
		"the wrong task": {func(_ context.Context, _ int, repair *request.ProtocolError) ([]byte, error) {
			if repair != nil && repair.Problems[0].Field == "task_id" {
				return pass, nil
			}
			return text(t, with(answer("PASS", "a", "PASS"), object{"task_id": "other"})), nil
		}, "PASS", "opened/1 asked/1 refused/1 repair/1 accepted/1", 0},
		"a crash, then a repair": {func(_ context.Context, call int, repair *request.ProtocolError) ([]byte, error) {
			switch {
			case call == 1:
				return nil, errors.New("broken")
			case repair == nil:
				return nil, nil
			}
			return pass, nil
		}, "PASS", "opened/1 asked/1 crashed/1 asked/1 refused/1 repair/1 accepted/1", 0},
		"a repair in the rest of the time": {func(ctx context.Context, call int, repair *request.ProtocolError) ([]byte, error) {
			if call == 1 {
				time.Sleep(40 * time.Second)
				return nil, nil
			}
			if repair == nil {
				return pass, nil
			}
			return hang(ctx)
		}, "PASS", "opened/1 asked/1 refused/1 repair/1 timed_out/1 asked/1 accepted/1", 60 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				d := dispatch.New(dispatch.Config{Fresh: script(&calls, c.say)})
				defer d.Close()
				start := time.Now()
				r := asked(t, with(ask("a"), object{"timeout_seconds": 60}))
				o, err := d.Do(t.Context(), r)
				if err != nil || o.Judgement.Effective != c.verdict || o.Attempt != 1 {
					t.Fatalf("got %+v %v", o, err)
				}
				if took := time.Since(start); took != c.took {
					t.Errorf("took %s", took)
				}
				if got := events(t, d, "task-1"); got != c.events {
					t.Errorf("got %s", got)
				}
				given, err := request.ParseResponse(text(t, o.Response))
				if err != nil || o.Synthetic != strings.HasSuffix(c.events, "given_up/1") || o.Synthetic != (given.ValidatorID == "capstan") {
					t.Errorf("got %+v %v", o, err)
				}
				if j := request.Judge(r, given, request.Options{}); j.Effective != c.verdict || slices.ContainsFunc(j.Flags, func(f string) bool { return f != "unverified_evidence" }) {
					t.Errorf("the response read again: %+v", j)
				}
			})
		})
	}
}

// TestDispatcherDeliver checks a dispatcher without validators, which waits for delivered
// responses.
func TestDispatcherDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New(dispatch.Config{})
		defer d.Close()
		r := asked(t, ask("a"))
		pass, fail := text(t, answer("PASS", "a", "PASS")), text(t, answer("FAIL", "a", "FAIL"))
		deliver := func(response []byte, event dispatch.Event, attempt int, valid bool) {
			t.Helper()
			got, err := d.Deliver(response)
			if err != nil || got.Event != event || got.Attempt != attempt || got.Judgement.Valid != valid {
				t.Errorf("got %+v %v", got, err)
			}
		}
		if _, err := d.Deliver(pass); !errors.Is(err, dispatch.ErrUnknown) {
			t.Errorf("an unknown task: %v", err)
		}
		if n, err := d.Open(r); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if _, err := d.Open(r); !errors.Is(err, dispatch.ErrOpen) {
			t.Errorf("opened twice: %v", err)
		}
		before, _ := d.Status("task-1")
		for _, none := range [][]byte{nil, []byte("PASS"), []byte("{}"), bytes.Repeat([]byte(" "), 9<<20)} {
			var broken *request.ProtocolError
			if _, err := d.Deliver(none); !errors.As(err, &broken) {
				t.Errorf("no response: %v", err)
			}
		}
		for _, verdict := range []string{"PASS", "FAIL", "PARTIAL", "BLOCKED"} {
			if _, err := d.Deliver(text(t, with(answer(verdict), object{"task_id": "task-2"}))); !errors.Is(err, dispatch.ErrUnknown) {
				t.Errorf("another task's %s: %v", verdict, err)
			}
		}
		if after, err := d.Status("task-1"); err != nil || !reflect.DeepEqual(after, before) || !after.Open {
			t.Errorf("the state has changed from %+v to %+v", before, after)
		}
		deliver(pass, dispatch.Accepted, 1, true)
		deliver(fail, dispatch.Duplicate, 1, false)
		deliver(pass, dispatch.Duplicate, 1, false)
		if o, err := d.Wait(t.Context(), "task-1"); err != nil || o.Judgement.Effective != "PASS" || o.Synthetic {
			t.Errorf("got %+v %v", o, err)
		}
		if n, err := d.Open(r); n != 2 || err != nil {
			t.Fatal(n, err)
		}
		time.Sleep(301 * time.Second)
		deliver(pass, dispatch.Late, 2, false)
		if o, _ := d.Wait(t.Context(), "task-1"); o.Judgement.Effective != "BLOCKED" || !o.Synthetic || !strings.Contains(o.Response.Reasoning, "within 5m0s") {
			t.Errorf("got %+v", o)
		}
		if n, err := d.Open(r); n != 3 || err != nil {
			t.Fatal(n, err)
		}
		deliver(fail, dispatch.Accepted, 3, false)
		want := "opened/1 accepted/1 duplicate/1 duplicate/1 opened/2 timed_out/2 given_up/2 late/2 opened/3 accepted/3"
		if got := events(t, d, "task-1"); got != want {
			t.Errorf("got %s", got)
		}
		rec, _ := d.Status("task-1")
		if e := rec.Record[2]; e.Judgement.Effective != "FAIL" || e.Text != string(fail) || e.Response != nil {
			t.Errorf("got %+v", e)
		}
		if e := rec.Record[7]; !slices.Equal(e.Judgement.Flags, []string{"late", "unverified_evidence"}) || e.Judgement.Valid {
			t.Errorf("got %+v", e.Judgement)
		}
		if e := rec.Record[1]; e.Response == nil || e.Response.Verdict != "PASS" {
			t.Errorf("got %+v", e)
		}
	})
}

// TestDispatcherDeliverBeforeValidator checks that a delivered response cancels the running
// validator.
func TestDispatcherDeliverBeforeValidator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan struct{})
		d := dispatch.New(dispatch.Config{Fresh: func() dispatch.Validate {
			return (func(ctx context.Context, _ *request.Request, _ *request.ProtocolError) ([]byte, error) {
				<-ctx.Done()
				close(stopped)
				return text(t, answer("FAIL", "a", "FAIL")), nil
			})
		}})
		if _, err := d.Open(asked(t, ask("a"))); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Deliver(text(t, answer("PASS", "a", "PASS"))); err != nil {
			t.Fatal(err)
		}
		<-stopped
		d.Close()
		if got := events(t, d, "task-1"); got != "opened/1 asked/1 accepted/1 duplicate/1" {
			t.Errorf("got %s", got)
		}
	})
}

func TestDispatcherCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := dispatch.New(dispatch.Config{Fresh: func() dispatch.Validate {
			return (func(ctx context.Context, _ *request.Request, _ *request.ProtocolError) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
		}})
		r := asked(t, ask("a"))
		if _, err := d.Open(r); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := d.Wait(ctx, "task-1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if s, _ := d.Status("task-1"); !s.Open {
			t.Error("a cancelled Wait has settled the task")
		}
		if _, err := d.Deliver(text(t, answer("BLOCKED", "a", "BLOCKED"))); err != nil {
			t.Fatal(err)
		}
		again, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		if _, err := d.Do(again, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if got := events(t, d, "task-1"); got != "opened/1 asked/1 accepted/1 opened/2 asked/2 cancelled/2" {
			t.Errorf("got %s", got)
		}
		if n, err := d.Open(r); n != 3 || err != nil {
			t.Errorf("got %d %v", n, err)
		}
		d.Close()
		if o, err := d.Wait(t.Context(), "task-1"); err != nil || !o.Synthetic {
			t.Errorf("got %+v %v", o, err)
		}
		if _, err := d.Open(asked(t, with(ask("a"), object{"task_id": "x"}))); !errors.Is(err, dispatch.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDispatcherBounds(t *testing.T) {
	d := dispatch.New(dispatch.Config{Keep: 2, MaxOpen: 1})
	defer d.Close()
	named := func(id string) (*request.Request, []byte) {
		return asked(t, with(ask("a"), object{"task_id": id})), text(t, with(answer("PASS", "a", "PASS"), object{"task_id": id}))
	}
	for _, id := range []string{"one", "two", "one", "three"} {
		r, response := named(id)
		if _, err := d.Open(r); err != nil {
			t.Fatal(err)
		}
		if other, _ := named("other"); true {
			if _, err := d.Open(other); !errors.Is(err, dispatch.ErrFull) {
				t.Errorf("got %v", err)
			}
		}
		for range 150 {
			if _, err := d.Deliver(response); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := d.Status("two"); !errors.Is(err, dispatch.ErrUnknown) {
		t.Errorf("the oldest task is still stored: %v", err)
	}
	rec, err := d.Status("one")
	if err != nil || len(rec.Record) != 100 || rec.Dropped != 302-100 || rec.Record[0].Event != dispatch.Opened || rec.Record[99].Event != dispatch.Duplicate {
		t.Errorf("got %d entries, %d dropped, %v", len(rec.Record), rec.Dropped, err)
	}
	var broken *request.ProtocolError
	if _, err := d.Open(&request.Request{TaskID: "../x"}); !errors.As(err, &broken) {
		t.Errorf("a malformed request: %v", err)
	}
}

// TestDispatcherKeepsTasks checks that Keep counts tasks, not attempts, and that open tasks do
// not count.
func TestDispatcherKeepsTasks(t *testing.T) {
	d := dispatch.New(dispatch.Config{Keep: 2})
	defer d.Close()
	settle := func(id string) {
		t.Helper()
		if _, err := d.Open(asked(t, with(ask("a"), object{"task_id": id}))); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Deliver(text(t, with(answer("PASS", "a", "PASS"), object{"task_id": id}))); err != nil {
			t.Fatal(err)
		}
	}
	wantTasks := func(want string) {
		t.Helper()
		var got []string
		for _, id := range []string{"a", "b", "c", "d"} {
			if _, err := d.Status(id); err == nil {
				got = append(got, id)
			} else if !errors.Is(err, dispatch.ErrUnknown) {
				t.Error(err)
			}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("stored %s, want %s", s, want)
		}
	}
	for _, id := range []string{"a", "b", "b", "b"} {
		settle(id)
	}
	wantTasks("a b")
	settle("a")
	settle("c") // b was settled before a
	wantTasks("a c")
	settle("d")
	wantTasks("c d")
	if _, err := d.Open(asked(t, with(ask("a"), object{"task_id": "c"}))); err != nil { // an open task does not count
		t.Fatal(err)
	}
	settle("b")
	wantTasks("b c d")
}

// TestDispatcherCopies checks that the dispatcher copies a request: later changes by the caller
// have no effect.
func TestDispatcherCopies(t *testing.T) {
	d := dispatch.New(dispatch.Config{})
	defer d.Close()
	r := asked(t, ask("a"))
	if _, err := d.Open(r); err != nil {
		t.Fatal(err)
	}
	r.Criteria[0].ID, r.TaskID = "b", "other"
	got, err := d.Deliver(text(t, answer("PASS", "a", "PASS")))
	if err != nil || got.Event != dispatch.Accepted || !got.Judgement.Valid {
		t.Errorf("got %+v %v", got, err)
	}
}

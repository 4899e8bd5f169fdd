package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// slow is a host of which models take so long that what was told ahead is written,
// and validators stop the run.
type slow struct{ quick }

func (s slow) Model(at event.Path, req model.Request) (model.Response, error) {
	time.Sleep(2 * delay)
	return s.quick.Model(at, req)
}

func (slow) Validate(event.Path, engine.Validation) (engine.Finding, error) {
	return engine.Finding{}, engine.ErrSuspended
}

// What a run that nobody disturbs has its store do is this and no more: whose it is
// is asked where that has not been seen for a while, a text is written once, and what
// is told waits for what comes next, unless that is slow, stops it, or ends a phase.
func TestStatementsOfARun(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) { // time passes where one sleeps
		j := journalAt(t, file, Options{})
		b := breaking(j)
		var told strings.Builder
		said := func(what string, err error) {
			t.Helper()
			if synctest.Wait(); err != nil {
				t.Fatal(what, err)
			}
			fmt.Fprintf(&told, "%s:", what)
			for _, text := range b.said() {
				words := strings.Fields(text)
				fmt.Fprintf(&told, " %s;", strings.Join(words[:min(3, len(words))], " "))
			}
			told.WriteString("\n")
			b.next(0)
		}
		long := strings.Repeat("long ", 200)
		r := begin(t, j, runner.Start{RunID: "run", Input: map[string]any{"a": long}})
		said("begin", nil)
		h, slow := r.Host(quick{long}), r.Host(slow{quick{long}})
		for _, at := range []event.Path{"p/model[0]", "p/model[1]"} {
			h.Emit(event.Event{Kind: event.ModelCalled, Path: at, Request: &model.Request{}})
			_, err := h.Model(at, model.Request{})
			said("model", err)
		}
		_, err := h.Tool("p/tool", engine.Job{Tool: tool.Tool{Effect: tool.Writes}})
		said("tool", err)
		_, err = h.Validate("p/ward", engine.Validation{Pure: true})
		said("ward", err)
		_, err = slow.Model("p/model[2]", model.Request{})
		said("slow", err)
		h.Emit(event.Event{Kind: event.Feedback, Path: "p"})
		time.Sleep(2 * delay)
		said("told", nil)
		h.Emit(event.Event{Kind: event.PhaseFinished, Path: "p"})
		time.Sleep(2 * delay)
		said("phase", nil)
		_, err = h.Model("p/model[3]", model.Request{})
		said("model", err)
		h.Emit(event.Event{Kind: event.Feedback, Path: "p"})
		if _, err := slow.Validate("p/ward", engine.Validation{Pure: true}); err == nil {
			t.Error("it does not stop")
		}
		time.Sleep(2 * delay)
		said("stop", nil)
		said("look", failed(j.Events(t.Context(), "run", 0, Whole)))
		said("end", r.End(engine.Result{RunID: "run", Status: engine.Succeeded, Output: long}, nil))
		said("another", func() error {
			_, err := j.Begin(runner.Start{RunID: "another", Input: map[string]any{"a": long}})
			return err
		}())
		said("close", j.Close())
		enginetest.Same(t, "statements", told.String(), `begin: BEGIN IMMEDIATE; INSERT INTO run; INSERT INTO text; INSERT INTO start; COMMIT;
model: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
model: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
tool: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT; BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
ward:
slow: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT; BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
told:
phase: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
model: SELECT epoch, owner; BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
stop: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
look: BEGIN; SELECT n, id; SELECT run, last,;
end: BEGIN IMMEDIATE; INSERT INTO result; UPDATE run SET; COMMIT;
another: BEGIN IMMEDIATE; INSERT INTO run; INSERT INTO start; COMMIT;
close:
`)
	})
}

// What was written is copied from SQLite's log when there is enough of it, and by a
// connection that is made then.
func TestLogIsCopied(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) {
		j := journalAt(t, file, Options{})
		back := j.writer.back
		for range 2 {
			for n := range checkpointAfter {
				if back.c != nil {
					t.Fatalf("it is copied after %d jobs", n)
				}
				if err := j.writer.do(func(*conn) error { return nil }); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			if back.c == nil {
				t.Fatalf("it is not copied after %d jobs", checkpointAfter)
			}
			back.c.Close()
			back.c = nil // as if it had not been
		}
		// Who closes waits for what is being copied, and that for nobody who writes.
		back.most = 0
		j.writer.turn <- struct{}{}
		closed := make(chan error, 1)
		go func() { closed <- j.Close() }()
		synctest.Wait()
		back.ask()
		synctest.Wait()
		<-j.writer.turn
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// What a conversation's rows say is new in each: of a request what it adds to the one
// before it, of a reply where it is, of a verdict in the result the same.
func TestRowsOfAConversation(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"}).(*recording)
	h := r.Host(quick{"yes to {turn}"})
	k := newTalker(h, "run", "more")
	for range 3 {
		k.take(t)
	}
	if n := r.talks.threads[k.thread].count; n != 5 { // as many as were sent
		t.Errorf("%d messages are not digested again", n)
	}
	if _, err := h.Tool("p/tool", engine.Job{}); err != nil {
		t.Fatal(err)
	}
	h.Emit(event.Event{Kind: event.ToolReplied, Path: "p/tool", Result: &tool.Result{Value: "done"}})
	v := event.Verdict{Path: "p/ward", Phase: "p", Moment: "post", Validator: "tone", Valid: new(bool), Reason: "so"}
	h.Emit(event.Event{Kind: event.VerdictGiven, Path: v.Path, Verdict: &v})
	if err := r.End(engine.Result{RunID: "run", Status: engine.Succeeded, Verdicts: []event.Verdict{v}}, nil); err != nil {
		t.Fatal(err)
	}
	var told strings.Builder
	err := j.reading(t.Context(), func(c *conn) error {
		rows, err := j.readRows(t.Context(), c, r.n)
		for _, l := range rows {
			fmt.Fprintln(&told, strings.TrimSpace(fmt.Sprintf("%d %s %s %s", l.row, l.kind, l.path, l.json())))
		}
		found, e := c.one(t.Context(), "SELECT data FROM result WHERE run = ?", r.n)
		fmt.Fprintf(&told, "%s\n", word(found[0]))
		return errors.Join(err, e)
	})
	if err != nil {
		t.Fatal(err)
	}
	enginetest.Same(t, "rows", told.String(), `1 leg
2 run_started  {"run_id":"run","cascade_id":"bench"}
3 phase_started talk {"phase":"talk"}
4 attempt_started talk/attempt[1] {"phase":"talk","attempt":1}
5 turn_started talk/attempt[1]/turn[0] {"phase":"talk","attempt":1,"turn":0}
6 model_called talk/attempt[1]/turn[0]/model {"phase":"talk","attempt":1,"turn":0,"request":{"model":"m","phase":"talk","attempt":1,"said":[{"role":"user","content":"Let us talk."}]}}
7 effect:model talk/attempt[1]/turn[0]/model {"model":"m","phase":"talk","attempt":1,"response":{"text":"yes to 0","usage":{"model_calls":1,"input_tokens":100,"output_tokens":50,"cost_usd":0.001}}}
8 model_replied talk/attempt[1]/turn[0]/model {"phase":"talk","attempt":1,"turn":0,"effect":7}
9 turn_started talk/attempt[1]/turn[1] {"phase":"talk","attempt":1,"turn":1}
10 model_called talk/attempt[1]/turn[1]/model {"phase":"talk","attempt":1,"turn":1,"request":{"model":"m","phase":"talk","attempt":1,"turn":1,"on":6,"keep":1,"first":"talk/attempt[1]/turn[0]/model","before":1,"reply":7,"said":[{"role":"user","content":"Turn 1: more"}]}}
11 effect:model talk/attempt[1]/turn[1]/model {"model":"m","phase":"talk","attempt":1,"turn":1,"response":{"text":"yes to 1","usage":{"model_calls":1,"input_tokens":100,"output_tokens":50,"cost_usd":0.001}}}
12 model_replied talk/attempt[1]/turn[1]/model {"phase":"talk","attempt":1,"turn":1,"effect":11}
13 turn_started talk/attempt[1]/turn[2] {"phase":"talk","attempt":1,"turn":2}
14 model_called talk/attempt[1]/turn[2]/model {"phase":"talk","attempt":1,"turn":2,"request":{"model":"m","phase":"talk","attempt":1,"turn":2,"on":10,"keep":3,"first":"talk/attempt[1]/turn[0]/model","before":3,"reply":11,"said":[{"role":"user","content":"Turn 2: more"}]}}
15 effect:model talk/attempt[1]/turn[2]/model {"model":"m","phase":"talk","attempt":1,"turn":2,"response":{"text":"yes to 2","usage":{"model_calls":1,"input_tokens":100,"output_tokens":50,"cost_usd":0.001}}}
16 model_replied talk/attempt[1]/turn[2]/model {"phase":"talk","attempt":1,"turn":2,"effect":15}
17 begun p/tool
18 effect:tool p/tool {"result":{"value":"done"}}
19 tool_replied p/tool {"effect":18}
20 verdict p/ward {"verdict":{"path":"p/ward","phase":"p","attempt":0,"turn":0,"moment":"post","validator":"tone","mode":"","valid":false,"reason":"so","error":null}}
{"run_id":"run","cascade_id":"","status":"succeeded","output":null,"outputs":null,"phases":null,"verdicts":[],"usage":{"model_calls":0,"input_tokens":0,"output_tokens":0,"cost_usd":0},"error":null,"degraded":null,"verdict_rows":[20]}
`)
}

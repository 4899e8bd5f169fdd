package journal

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// soon is longer than the delay of scheduled writes.
const soon = 100 * time.Millisecond

// slow is a host whose models take longer than the delay of scheduled writes,
// and whose validators stop the run.
type slow struct{ quick }

func (s slow) Model(at event.Path, req model.Request) (model.Response, error) {
	time.Sleep(soon)
	return s.quick.Model(at, req)
}

func (slow) Validate(event.Path, engine.Validation) (engine.Finding, error) {
	return engine.Finding{}, engine.ErrSuspended
}

// An undisturbed run executes exactly these statements. It checks its epoch only after
// a while and writes each text once. It writes events with the next effect, unless that
// is slow, stops the run, or ends a phase.
func TestStatementsOfARun(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) { // time passes only during sleeps
		j := journalAt(t, file, Options{})
		b := breaking(j)
		var reported strings.Builder
		content := func(what string, err error) {
			t.Helper()
			if synctest.Wait(); err != nil {
				t.Fatal(what, err)
			}
			fmt.Fprintf(&reported, "%s:", what)
			for _, text := range b.statements() {
				words := strings.Fields(text)
				fmt.Fprintf(&reported, " %s;", strings.Join(words[:min(3, len(words))], " "))
			}
			reported.WriteString("\n")
			b.next(0)
		}
		long := strings.Repeat("long ", 200)
		r := begin(t, j, runner.Start{RunID: "run", Input: map[string]any{"a": long}})
		content("begin", nil)
		h, slow := r.Host(quick{long}), r.Host(slow{quick{long}})
		for _, at := range []event.Path{"p/model[0]", "p/model[1]"} {
			h.Emit(event.Event{Kind: event.ModelCalled, Path: at, Request: &model.Request{}})
			_, err := h.Model(at, model.Request{})
			content("model", err)
		}
		_, err := h.Tool("p/tool", engine.Job{Tool: tool.Tool{Effect: tool.Writes}})
		content("tool", err)
		_, err = h.Validate("p/ward", engine.Validation{Pure: true})
		content("ward", err)
		_, err = slow.Model("p/model[2]", model.Request{})
		content("slow", err)
		h.Emit(event.Event{Kind: event.Feedback, Path: "p"})
		time.Sleep(soon)
		content("told", nil)
		h.Emit(event.Event{Kind: event.PhaseFinished, Path: "p"})
		time.Sleep(soon)
		content("phase", nil)
		_, err = h.Model("p/model[3]", model.Request{})
		content("model", err)
		h.Emit(event.Event{Kind: event.Feedback, Path: "p"})
		if _, err := slow.Validate("p/ward", engine.Validation{Pure: true}); err == nil {
			t.Error("it does not stop")
		}
		time.Sleep(soon)
		content("stop", nil)
		content("look", failed(j.Events(t.Context(), "run", 0, Whole)))
		content("end", r.End(engine.Result{RunID: "run", Status: engine.Succeeded, Output: long}, nil))
		content("another", func() error {
			_, err := j.Begin(runner.Start{RunID: "another", Input: map[string]any{"a": long}})
			return err
		}())
		content("close", j.Close())
		storytest.Same(t, "statements", reported.String(), `begin: BEGIN IMMEDIATE; INSERT INTO run; INSERT INTO text; INSERT INTO start; COMMIT;
model: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
model: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
tool: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT; BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
ward:
slow: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT; BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
told:
phase: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
model: SELECT epoch, owner; BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
stop: BEGIN IMMEDIATE; INSERT INTO pack; COMMIT;
look: BEGIN; SELECT n, id; SELECT id, first,;
end: BEGIN IMMEDIATE; INSERT INTO result; UPDATE run SET; COMMIT;
another: BEGIN IMMEDIATE; INSERT INTO run; INSERT INTO start; COMMIT;
close:
`)
	})
}

// SQLite's log is copied once it is long enough, on a connection that is opened
// then.
func TestLogIsCopied(t *testing.T) {
	onFile(t)
	file := filepath.Join(t.TempDir(), "j.db")
	synctest.Test(t, func(t *testing.T) {
		j := journalAt(t, file, Options{})
		back := j.db.Writer.Checkpointer
		for range 2 {
			for n := range stores.CheckpointAfter {
				if back.C != nil {
					t.Fatalf("it is copied after %d jobs", n)
				}
				if err := j.db.Writer.Do(func(*stores.Conn) error { return nil }); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			if back.C == nil {
				t.Fatalf("it is not copied after %d jobs", stores.CheckpointAfter)
			}
			back.C.Close()
			back.C = nil // simulates the state before the first copy
		}
		// Close waits for the copy, and the copy does not wait for writers.
		back.RestartPages = 0
		j.db.Writer.Turn <- struct{}{}
		closed := make(chan error, 1)
		go func() { closed <- j.Close() }()
		synctest.Wait()
		back.Request()
		synctest.Wait()
		<-j.db.Writer.Turn
		if err := <-closed; err != nil {
			t.Error(err)
		}
	})
}

// Each row of a conversation has only new data: a request has its new messages,
// and a verdict in the result refers to its row.
func TestRowsOfAConversation(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "run"})
	h := r.Host(quick{"yes to {turn}"})
	k := newTalker(h, "run", "more")
	for range 3 {
		k.take(t)
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
	var reported strings.Builder
	for _, l := range storedRows(t, j, 1) {
		fmt.Fprintln(&reported, strings.TrimSpace(fmt.Sprintf("%d %s %s %s", l.Row, l.Kind, l.Path, l.JSON())))
	}
	err := j.db.Read(t.Context(), func(c *stores.Conn) error {
		found, err := c.One(t.Context(), "SELECT data FROM result WHERE run = 1")
		fmt.Fprintf(&reported, "%s\n", stores.Text(found[0]))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	storytest.Same(t, "rows", reported.String(), `1 process_started
2 run_started  {"run_id":"run","cascade_id":"bench"}
3 phase_started talk {"phase":"talk"}
4 attempt_started talk/attempt[1] {"phase":"talk","attempt":1}
5 turn_started talk/attempt[1]/turn[0] {"phase":"talk","attempt":1,"turn":0}
6 model_called talk/attempt[1]/turn[0]/model {"phase":"talk","attempt":1,"turn":0,"request":{"model":"m","phase":"talk","attempt":1,"messages":[{"role":"user","content":"Let us talk."}]}}
7 effect:model talk/attempt[1]/turn[0]/model {"model":"m","phase":"talk","attempt":1,"response":{"text":"yes to 0","usage":{"model_calls":1,"input_tokens":100,"output_tokens":50,"cost_usd":0.001}}}
8 model_replied talk/attempt[1]/turn[0]/model {"phase":"talk","attempt":1,"turn":0,"effect":7}
9 turn_started talk/attempt[1]/turn[1] {"phase":"talk","attempt":1,"turn":1}
10 model_called talk/attempt[1]/turn[1]/model {"phase":"talk","attempt":1,"turn":1,"request":{"model":"m","phase":"talk","attempt":1,"turn":1,"base":6,"base_count":1,"first":"talk/attempt[1]/turn[0]/model","before":1,"reply":7,"messages":[{"role":"user","content":"Turn 1: more"}]}}
11 effect:model talk/attempt[1]/turn[1]/model {"model":"m","phase":"talk","attempt":1,"turn":1,"response":{"text":"yes to 1","usage":{"model_calls":1,"input_tokens":100,"output_tokens":50,"cost_usd":0.001}}}
12 model_replied talk/attempt[1]/turn[1]/model {"phase":"talk","attempt":1,"turn":1,"effect":11}
13 turn_started talk/attempt[1]/turn[2] {"phase":"talk","attempt":1,"turn":2}
14 model_called talk/attempt[1]/turn[2]/model {"phase":"talk","attempt":1,"turn":2,"request":{"model":"m","phase":"talk","attempt":1,"turn":2,"base":10,"base_count":3,"first":"talk/attempt[1]/turn[0]/model","before":3,"reply":11,"messages":[{"role":"user","content":"Turn 2: more"}]}}
15 effect:model talk/attempt[1]/turn[2]/model {"model":"m","phase":"talk","attempt":1,"turn":2,"response":{"text":"yes to 2","usage":{"model_calls":1,"input_tokens":100,"output_tokens":50,"cost_usd":0.001}}}
16 model_replied talk/attempt[1]/turn[2]/model {"phase":"talk","attempt":1,"turn":2,"effect":15}
17 write_started p/tool
18 effect:tool p/tool {"result":{"value":"done"}}
19 tool_replied p/tool {"effect":18}
20 verdict p/ward {"verdict":{"path":"p/ward","phase":"p","attempt":0,"turn":0,"moment":"post","validator":"tone","mode":"","valid":false,"reason":"so","error":null}}
{"run_id":"run","cascade_id":"","status":"succeeded","output":null,"outputs":null,"phases":null,"verdicts":[],"usage":{"model_calls":0,"input_tokens":0,"output_tokens":0,"cost_usd":0},"error":null,"degraded":null,"verdict_rows":[20]}
`)
}

package journal

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A write of which nobody heard the end is not made again where the run goes on:
// it is said that nobody knows. What may be called twice is, and what came to an
// end is not called at all.
func TestWriteWithoutAnEnd(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	post := engine.Job{Tool: tool.Tool{Effect: tool.Writes}}
	again := engine.Job{Tool: tool.Tool{Effect: tool.Writes, Idempotent: true}}
	r := begin(t, j, runner.Start{RunID: "run"})
	first := &calls{err: errors.New("cut off")}
	for _, job := range []engine.Job{post, again} {
		if _, err := r.Host(first).Tool(event.Path("p").At("tool", len(first.made)), job); err != first.err {
			t.Fatalf("got %v", err)
		}
	}
	if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	for start := range 3 {
		r, now := reopen(t, j, "run"), &calls{}
		_, e1 := r.Host(now).Tool("p/tool[0]", post)
		_, e2 := r.Host(now).Tool("p/tool[1]", again)
		_, e3 := r.Host(now).Tool("p/tool[2]", post)
		if !errors.Is(e1, engine.ErrUnfinished) || e2 != nil || e3 != nil {
			t.Errorf("start %d: got %v, %v, %v", start, e1, e2, e3)
		}
		if want := []event.Path{"p/tool[1]", "p/tool[2]"}; start == 0 && !slices.Equal(now.made, want) || start > 0 && now.made != nil {
			t.Errorf("start %d: called %v", start, now.made)
		}
		if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A step is one start of a run, which is over with it: it goes on with its run where
// there is one of the name.
type step struct {
	runner.Start
	call string // what is written at p/tool, unless the place is another; "" for nothing
	at   event.Path
	cut  bool   // the process dies in the write
	ends string // the status; "" where it waits with its question, or is cut
	says any    // the answer to the question, where it is asked
	want string // what becomes of the write: called, kept, asked; answered where the answer is there already
}

var write = engine.Job{Tool: tool.Tool{Effect: tool.Writes}}

// takes makes the step.
func (s *step) take(t *testing.T, j *Journal) string {
	t.Helper()
	at, job := s.at, write
	if at == "" {
		at = "p/tool"
	}
	job.Call.Arguments = map[string]any{"text": s.call}
	var r runner.Recording
	if _, err := j.Run(t.Context(), s.RunID); err == nil {
		r = reopen(t, j, s.RunID)
	} else {
		r = begin(t, j, s.Start)
	}
	world := &calls{}
	if s.cut {
		world.err = errors.New("cut off")
	}
	came := ""
	host := r.Host(world)
	if s.call != "" {
		err := host.Each(1, 0, func(h engine.Host, _ int) error {
			_, err := h.Tool(at, job)
			return err
		})
		switch {
		case errors.Is(err, engine.ErrUnfinished) && len(world.made) == 0:
			came = "answered"
			world.answer = s.says
			if answer, err := host.Ask(engine.Unfinished(at), engine.Question{Prompt: "Did it happen?"}); err != nil || world.asked > 0 {
				came = "asked"
			} else if s.says != nil && answer.Value != s.says {
				t.Errorf("the answer is %v", answer.Value)
			}
		case err != nil && err != world.err:
			t.Fatal(err)
		case len(world.made) > 0:
			came = "called"
		default:
			came = "kept"
		}
	}
	if s.ends == "" {
		s.ends = engine.Cancelled
	}
	if err := r.End(engine.Result{RunID: s.RunID, Status: s.ends}, nil); err != nil {
		t.Fatal(err)
	}
	return came
}

// A new run knows of a write that the run before it did not hear the end of, as long
// as it shares the place with it and asks for the same, and of what a person has said
// of it. What is another call, or is to be done anew, is made.
func TestWriteOfAnotherRun(t *testing.T) {
	run := func(id, parent, from string) runner.Start { return runner.Start{RunID: id, Parent: parent, From: from} }
	old := step{Start: run("old", "", ""), call: "x", cut: true, want: "called"}
	said := func(id, parent, answer string) step {
		return step{Start: run(id, parent, ""), call: "x", says: answer, want: "asked"}
	}
	for name, steps := range map[string][]step{
		"the same":          {old, {Start: run("new", "old", ""), call: "x", want: "asked"}},
		"before the phase":  {old, {Start: run("new", "old", "q"), call: "x", want: "asked"}},
		"again and again":   {old, {Start: run("new", "old", "q"), call: "x", want: "asked"}, {Start: run("new", "", ""), call: "x", want: "asked"}},
		"from the phase on": {old, {Start: run("new", "old", "p"), call: "x", want: "called"}},
		"another call":      {old, {Start: run("new", "old", ""), call: "y", want: "called"}},
		"another place":     {old, {Start: run("new", "old", ""), call: "x", at: "p[2]/tool", want: "called"}},
		"no parent":         {old, {Start: run("new", "", ""), call: "x", want: "called"}},
		"finished":          {{Start: run("old", "", ""), call: "x", want: "called"}, {Start: run("new", "old", ""), call: "x", want: "kept"}},
		"answered":          {old, said("old", "", "done"), {Start: run("new", "old", "q"), call: "x", says: "done", want: "answered"}},
		"answered, another": {old, said("old", "", "done"), {Start: run("new", "old", "q"), call: "y", want: "called"}},
		"answered, then its own": {old, said("old", "", "done"), {Start: run("new", "old", "q"), call: "y", cut: true, want: "called"},
			{Start: run("new", "", ""), call: "y", want: "asked"}},
		"stopped":            {old, said("old", "", "stop"), {Start: run("old", "", ""), call: "x", says: "stop", want: "answered"}, said("new", "old", "done")},
		"answered meanwhile": {old, {Start: run("new", "old", "q"), call: "x", want: "asked"}, said("old", "", "done"), {Start: run("new", "", ""), call: "x", says: "done", want: "answered"}},

		"a chain":                   {old, {Start: run("mid", "old", "q"), call: "x", want: "asked"}, {Start: run("new", "mid", "q"), call: "x", want: "asked"}},
		"a chain, answered":         {old, said("mid", "old", "done"), {Start: run("new", "mid", ""), call: "x", says: "done", want: "answered"}},
		"answered at its end":       {old, said("old", "", "done"), {Start: run("mid", "old", ""), call: "x", want: "answered"}, {Start: run("new", "mid", ""), call: "x", says: "done", want: "answered"}},
		"another, then the first":   {old, {Start: run("mid", "old", ""), call: "y", cut: true, want: "called"}, {Start: run("new", "mid", ""), call: "x", want: "called"}},
		"died before it":            {old, {Start: run("mid", "old", "q")}, {Start: run("new", "mid", "q"), call: "x", want: "asked"}},
		"died before the end of it": {{Start: run("old", "", ""), call: "x", want: "called"}, {Start: run("mid", "old", "q")}, {Start: run("new", "mid", "q"), call: "x", want: "kept"}},
		"died before, answered":     {old, said("old", "", "done"), {Start: run("mid", "old", "q")}, {Start: run("new", "mid", ""), call: "x", says: "done", want: "answered"}},
		"died before, anew":         {old, {Start: run("mid", "old", "p")}, {Start: run("new", "mid", "q"), call: "x", want: "called"}},
		"died behind, anew":         {old, {Start: run("mid", "old", "q"), call: "z", at: "q/tool", want: "called"}, {Start: run("new", "mid", "r"), call: "x", want: "called"}},
		"blocked before it":         {old, {Start: run("mid", "old", "q"), ends: engine.Blocked}, {Start: run("new", "mid", ""), call: "x", want: "asked"}},
		"ended without it":          {old, {Start: run("mid", "old", "q"), ends: engine.Succeeded}, {Start: run("new", "mid", ""), call: "x", want: "called"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			for i, s := range steps {
				if came := s.take(t, j); came != s.want {
					t.Fatalf("step %d: %q, want %q", i, came, s.want)
				}
			}
		})
	}
}

// A write that may be made again has the key that it was first called with, also where
// another run goes on from it: a tool that knows it by its key does it once.
func TestKeyOfAWriteOfAnotherRun(t *testing.T) {
	type start struct{ id, parent, from, call, key string }
	old := start{"old", "", "", "x", "old"}
	for name, starts := range map[string][]start{
		"the same run":          {old, {"old", "", "", "x", "old"}},
		"the same":              {old, {"new", "old", "", "x", "old"}},
		"before the phase":      {old, {"new", "old", "q", "x", "old"}},
		"again and again":       {old, {"new", "old", "q", "x", "old"}, {"new", "", "", "x", "old"}, {"new", "", "", "x", "old"}},
		"a chain":               {old, {"mid", "old", "q", "x", "old"}, {"new", "mid", "q", "x", "old"}},
		"died before it":        {old, {"mid", "old", "q", "", ""}, {"new", "mid", "q", "x", "old"}},
		"from the phase on":     {old, {"new", "old", "p", "x", "new"}},
		"another call":          {old, {"new", "old", "", "y", "new"}},
		"no parent":             {old, {"new", "", "", "x", "new"}},
		"another, then its own": {old, {"mid", "old", "", "y", "mid"}, {"new", "mid", "", "y", "mid"}, {"end", "mid", "", "x", "end"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			for i, s := range starts {
				var r runner.Recording
				if _, err := j.Run(t.Context(), s.id); err == nil {
					r = reopen(t, j, s.id)
				} else {
					r = begin(t, j, runner.Start{RunID: s.id, Parent: s.parent, From: s.from})
				}
				world := &calls{err: errors.New("cut off")}
				job := engine.Job{Tool: tool.Tool{Effect: tool.Writes, Idempotent: true}}
				job.Call.Arguments, job.Call.Key = map[string]any{"text": s.call}, engine.Key(s.id, "p/tool")
				if s.call != "" {
					if _, err := r.Host(world).Tool("p/tool", job); err != world.err {
						t.Fatalf("start %d: %v", i, err)
					}
				}
				if want := []string{s.key + ":p/tool"}; s.call != "" && !slices.Equal(world.keys, want) {
					t.Errorf("start %d: called with %v, want %v", i, world.keys, want)
				}
				if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := j.Query(t.Context(), "SELECT count(*) FROM attempts", 0); err != nil {
				t.Error(err)
			}
		})
	}
}

// What an older version began did not keep what was asked: it may have been the same.
func TestWriteOfAnOlderRun(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	r := begin(t, j, runner.Start{RunID: "old"}).(*recording)
	r.mu.Lock()
	r.put(row{kind: writeBegins, path: "p/tool"})
	r.mu.Unlock()
	if err := r.End(engine.Result{Status: engine.Cancelled}, nil); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"old", "new"} {
		s := step{Start: runner.Start{RunID: id, Parent: "old"}, call: "x"}
		if came := s.take(t, j); came != "asked" {
			t.Errorf("%s: %s", id, came)
		}
	}
}

// A run that shares with one whose own parent is not kept any more shares with that one alone.
func TestParentOfAParentIsGone(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	for _, s := range []step{{Start: runner.Start{RunID: "old"}}, {Start: runner.Start{RunID: "mid", Parent: "old"}, call: "x"}} {
		s.take(t, j)
	}
	if err := j.writer.do(func(c *conn) error { return c.send("DELETE FROM run WHERE id = 'old'") }); err != nil {
		t.Fatal(err)
	}
	s := step{Start: runner.Start{RunID: "new", Parent: "mid"}, call: "x"}
	if came := s.take(t, j); came != "kept" {
		t.Error(came)
	}
}

// calls is a host that says which tools were called.
type calls struct {
	quick
	made   []event.Path
	keys   []string
	err    error
	answer any // to questions; nil where nobody is there
	asked  int
}

func (c *calls) Each(n, _ int, body func(engine.Host, int) error) error {
	for i := range n {
		if err := body(c, i); err != nil {
			return err
		}
	}
	return nil
}

func (c *calls) Ask(event.Path, engine.Question) (engine.Answer, error) {
	if c.asked++; c.answer == nil {
		return engine.Answer{}, engine.ErrSuspended
	}
	return engine.Answer{Value: c.answer}, nil
}

func (c *calls) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	c.made, c.keys = append(c.made, at), append(c.keys, job.Call.Key)
	return tool.Result{Value: "done"}, c.err
}

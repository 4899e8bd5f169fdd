package journal

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A write without a known end is not repeated after a resume: its result is
// reported as unknown. A repeatable write is repeated, and a finished one is
// not called again.
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

// A step is one start of a run. It resumes the run if that exists.
type step struct {
	runner.Start
	call string // the text written at p/tool, or elsewhere; "" for nothing
	at   event.Path
	cut  bool   // the process ends in the write
	ends string // the status; "" if it waits with its question, or was interrupted
	says any    // the answer to the question, if asked
	want string // result of the write: called, kept or asked; answered if the answer exists already
}

var write = engine.Job{Tool: tool.Tool{Effect: tool.Writes}}

// take runs the step.
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
	result := ""
	host := r.Host(world)
	if s.call != "" {
		err := host.Each(1, 0, func(h engine.Host, _ int) error {
			_, err := h.Tool(at, job)
			return err
		})
		switch {
		case errors.Is(err, engine.ErrUnfinished) && len(world.made) == 0:
			result = "answered"
			world.answer = s.says
			if answer, err := host.Ask(engine.Unfinished(at), engine.Question{Prompt: "Did it happen?"}); err != nil || world.asked > 0 {
				result = "asked"
			} else if s.says != nil && answer.Value != s.says {
				t.Errorf("the answer is %v", answer.Value)
			}
		case err != nil && err != world.err:
			t.Fatal(err)
		case len(world.made) > 0:
			result = "called"
		default:
			result = "kept"
		}
	}
	if s.ends == "" {
		s.ends = engine.Cancelled
	}
	if err := r.End(engine.Result{RunID: s.RunID, Status: s.ends}, nil); err != nil {
		t.Fatal(err)
	}
	return result
}

// A new run knows the unfinished write of its parent while it shares the place
// and makes the same call. It also knows the answer of a person about it. Other
// and repeated calls are made.
func TestWriteOfAnotherRun(t *testing.T) {
	onFile(t)
	run := func(id, parent, from string) runner.Start { return runner.Start{RunID: id, Parent: parent, From: from} }
	old := step{Start: run("old", "", ""), call: "x", cut: true, want: "called"}
	words := func(id, parent, answer string) step {
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
		"answered":          {old, words("old", "", "done"), {Start: run("new", "old", "q"), call: "x", says: "done", want: "answered"}},
		"answered, another": {old, words("old", "", "done"), {Start: run("new", "old", "q"), call: "y", want: "called"}},
		"answered, then its own": {old, words("old", "", "done"), {Start: run("new", "old", "q"), call: "y", cut: true, want: "called"},
			{Start: run("new", "", ""), call: "y", want: "asked"}},
		"stopped":            {old, words("old", "", "stop"), {Start: run("old", "", ""), call: "x", says: "stop", want: "answered"}, words("new", "old", "done")},
		"answered meanwhile": {old, {Start: run("new", "old", "q"), call: "x", want: "asked"}, words("old", "", "done"), {Start: run("new", "", ""), call: "x", says: "done", want: "answered"}},

		"a chain":                   {old, {Start: run("mid", "old", "q"), call: "x", want: "asked"}, {Start: run("new", "mid", "q"), call: "x", want: "asked"}},
		"a chain, answered":         {old, words("mid", "old", "done"), {Start: run("new", "mid", ""), call: "x", says: "done", want: "answered"}},
		"answered at its end":       {old, words("old", "", "done"), {Start: run("mid", "old", ""), call: "x", want: "answered"}, {Start: run("new", "mid", ""), call: "x", says: "done", want: "answered"}},
		"another, then the first":   {old, {Start: run("mid", "old", ""), call: "y", cut: true, want: "called"}, {Start: run("new", "mid", ""), call: "x", want: "called"}},
		"died before it":            {old, {Start: run("mid", "old", "q")}, {Start: run("new", "mid", "q"), call: "x", want: "asked"}},
		"died before the end of it": {{Start: run("old", "", ""), call: "x", want: "called"}, {Start: run("mid", "old", "q")}, {Start: run("new", "mid", "q"), call: "x", want: "kept"}},
		"died before, answered":     {old, words("old", "", "done"), {Start: run("mid", "old", "q")}, {Start: run("new", "mid", ""), call: "x", says: "done", want: "answered"}},
		"died before, anew":         {old, {Start: run("mid", "old", "p")}, {Start: run("new", "mid", "q"), call: "x", want: "called"}},
		"died behind, anew":         {old, {Start: run("mid", "old", "q"), call: "z", at: "q/tool", want: "called"}, {Start: run("new", "mid", "r"), call: "x", want: "called"}},
		"blocked before it":         {old, {Start: run("mid", "old", "q"), ends: engine.Blocked}, {Start: run("new", "mid", ""), call: "x", want: "asked"}},
		"ended without it":          {old, {Start: run("mid", "old", "q"), ends: engine.Succeeded}, {Start: run("new", "mid", ""), call: "x", want: "called"}},
	} {
		t.Run(name, func(t *testing.T) {
			j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
			for i, s := range steps {
				if result := s.take(t, j); result != s.want {
					t.Fatalf("step %d: %q, want %q", i, result, s.want)
				}
			}
		})
	}
}

// A repeatable write keeps the key of its first call, even in a run that continues from
// another. A tool that knows the key ignores the repetition.
func TestKeyOfAWriteOfAnotherRun(t *testing.T) {
	onFile(t)
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

// If the parent's own parent was pruned, a run shares with the parent alone.
func TestParentOfAParentIsGone(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	for _, s := range []step{{Start: runner.Start{RunID: "old"}}, {Start: runner.Start{RunID: "mid", Parent: "old"}, call: "x"}} {
		s.take(t, j)
	}
	if err := j.db.Writer.Do(func(c *stores.Conn) error { return c.Queue("DELETE FROM run WHERE id = 'old'") }); err != nil {
		t.Fatal(err)
	}
	s := step{Start: runner.Start{RunID: "new", Parent: "mid"}, call: "x"}
	if result := s.take(t, j); result != "kept" {
		t.Error(result)
	}
}

// calls is a host that records calls of tools.
type calls struct {
	quick
	made   []event.Path
	keys   []string
	err    error
	answer any // to questions; nil if nobody answers
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

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

// calls is a host that says which tools were called.
type calls struct {
	quick
	made []event.Path
	err  error
}

func (c *calls) Tool(at event.Path, _ engine.Job) (tool.Result, error) {
	c.made = append(c.made, at)
	return tool.Result{Value: "done"}, c.err
}

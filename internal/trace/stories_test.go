package trace_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// TestMain makes garbage collection rarer, because the tests allocate much and store
// little.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// A story is a transcript of the engine with the events and the result of its run.
type story struct {
	*storytest.Story
	events []event.Event
	result engine.Result
}

// stories returns all transcripts of the engine. The first call runs them.
func stories(t *testing.T) []story {
	t.Helper()
	ran.Do(func() {
		for _, s := range append(storytest.Stories(t), storytest.RandomStories(t, 60)...) {
			ran.list = append(ran.list, runStory(t, s))
		}
	})
	return ran.list
}

var ran struct {
	sync.Once
	list []story
}

func runStory(t *testing.T, source *storytest.Story) story {
	t.Helper()
	s := story{Story: source}
	sink := event.Func(func(e event.Event) { s.events = append(s.events, e) })
	s.result, _ = engine.Run(s.Host(t, runner.WithSink(sink)), s.Cascade, s.Start())
	return s
}

// A tree writes the tree of a run as readable lines.
type tree struct{ strings.Builder }

func shown(r *trace.Run) string {
	t := &tree{}
	t.line(0, "run %s of %s: %s", r.RunID, r.CascadeID, orOpen(r.Status))
	t.line(1, "spent %d calls", r.Usage.Calls)
	if r.Error != nil {
		t.line(1, "error %s in %s", r.Error.Code, r.Error.Phase)
	}
	if r.Question != "" {
		t.line(1, "waits for %q", r.Question)
	}
	t.phases(1, r.Phases)
	return t.String()
}

func orOpen(status string) string {
	if status == "" {
		return "goes on"
	}
	return status
}

func (t *tree) line(depth int, format string, args ...any) {
	fmt.Fprintf(t, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (t *tree) phases(d int, list []*trace.Phase) {
	for _, p := range list {
		name := p.Name
		if p.Cascade != "" {
			name = p.Cascade + ": " + name
		}
		t.line(d, "phase %s (%s) %s, %d calls", name, p.Path, orOpen(p.Status), p.Usage().Calls)
		if p.Question != "" {
			t.line(d+1, "asks %q", p.Question)
		}
		t.verdicts(d+1, p.Verdicts)
		t.calls(d+1, p.Calls)
		t.phases(d+1, p.Phases)
		for _, a := range p.Texts() {
			t.attempt(d+1, a)
		}
		for _, row := range p.Matrix().Rows {
			line := ""
			for _, v := range row.Cells {
				line += " " + cell(v)
			}
			t.line(d+1, "row %s %s:%s", row.Moment, row.Validator, line)
		}
		if p.Next != "" {
			t.line(d+1, "to %s", p.Next)
		}
	}
}

func (t *tree) attempt(d int, a *trace.Attempt) {
	where := ""
	if a.Sounding >= 0 {
		where = fmt.Sprintf(" of sounding %d", a.Sounding)
	}
	t.line(d, "attempt %d%s %s: %q", a.Number, where, orOpen(a.Status), a.Text)
	for _, u := range a.Turns {
		t.line(d+1, "turn %d: %q", u.Number, u.Text())
		t.calls(d+2, u.Calls)
		t.tools(d+2, u.Tools)
		t.verdicts(d+2, u.Verdicts)
	}
	t.tools(d+1, a.Tools)
	t.phases(d+1, a.Phases)
	t.calls(d+1, a.Calls)
	t.verdicts(d+1, a.Verdicts)
	for _, f := range a.Feedback {
		first, _, _ := strings.Cut(f, "\n")
		t.line(d+1, "told %q", first)
	}
}

func (t *tree) calls(d int, list []*trace.Call) {
	for _, c := range list {
		who := "the author"
		if c.Validator != "" {
			who = "judge " + c.Validator
		} else if c.Role != "" {
			who = c.Role
		}
		answered := "no answer"
		if c.Response != nil {
			answered = fmt.Sprintf("%q", c.Response.Text)
		}
		t.line(d, "call %s by %s: %.60s", c.Path, who, answered)
	}
}

func (t *tree) tools(d int, list []*trace.Use) {
	for _, u := range list {
		result := "no result"
		if u.Result != nil {
			result = u.Result.Text()
		}
		t.line(d, "tool %s %s: %.60s", u.Path, u.Call.Name, result)
	}
}

func (t *tree) verdicts(d int, list []trace.Verdict) {
	for i := range list {
		t.line(d, "verdict %s %s: %s", list[i].Path, list[i].Validator, cell(&list[i]))
	}
}

func cell(v *trace.Verdict) string {
	switch {
	case v == nil:
		return "-"
	case v.Error != nil:
		return "error"
	case v.Skipped():
		return "skipped"
	case *v.Valid:
		return "yes"
	}
	return "no"
}

package trace_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

var update = flag.Bool("update", false, "rewrite the trees")

func fold(events []event.Event) *trace.Run {
	f := trace.NewFolder()
	for _, e := range events {
		f.Add(e)
	}
	return f.Run()
}

// TestTrees compares the trees of the engine's transcripts with the golden file. A
// new transcript needs no golden tree, because the other tests check it too.
func TestTrees(t *testing.T) {
	const golden = "testdata/trees.txtar"
	var got txtar.Archive
	for _, s := range stories(t) {
		got.Files = append(got.Files, txtar.File{Name: s.Name, Data: []byte(shown(fold(s.events)))})
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(&got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	trees := map[string]string{}
	for _, f := range want.Files {
		trees[f.Name] = string(f.Data)
	}
	for _, f := range got.Files {
		if tree, known := trees[f.Name]; known && string(f.Data) != tree {
			t.Errorf("%s: got\n%s\nwant\n%s", f.Name, f.Data, tree)
		}
		delete(trees, f.Name)
	}
	for name := range trees {
		t.Errorf("%s has a tree and no transcript", name)
	}
}

// TestTreesMatchResults compares each tree with the result and the events of the
// run. The tree must contain each effect exactly once.
func TestTreesMatchResults(t *testing.T) {
	for _, s := range stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			r := fold(s.events)
			if r.Status != s.result.Status || r.Usage != s.result.Usage || r.CascadeID != s.result.CascadeID || r.RunID != "run" {
				t.Errorf("got %s %+v, want %s %+v", r.Status, r.Usage, s.result.Status, s.result.Usage)
			}
			phases := recordedVisits(r.Phases)
			if len(phases) == 1 && phases[0].Name == keywords.Tries && phases[0].Status == engine.Succeeded {
				phases = recordedVisits(phases[0].Last().Phases) // the phases of the winning try
			}
			if len(phases) != len(s.result.Phases) {
				t.Fatalf("%d phases, want %d", len(phases), len(s.result.Phases))
			}
			for i, want := range s.result.Phases {
				p := phases[i]
				attempts, turns := p.Counts()
				if p.Name != want.Name || p.Status != want.Status || attempts != want.Attempts || turns != want.Turns || p.Usage().Calls != want.ModelCalls {
					t.Errorf("phase %s: %s, %d attempts, %d turns, %d calls; want %+v", p.Path, p.Status, attempts, turns, p.Usage().Calls, want)
				}
			}
			checkCounts(t, s.events, r)
		})
	}
}

// recordedVisits returns the visits of the result. The phases of a group precede the group.
func recordedVisits(list []*trace.Phase) []*trace.Phase {
	var out []*trace.Phase
	for _, p := range list {
		for _, b := range p.Branches {
			if b.Item < 0 {
				out = append(out, b)
			}
		}
		out = append(out, p)
	}
	return out
}

// checkCounts checks that the tree contains every effect of the events once.
func checkCounts(t *testing.T, events []event.Event, r *trace.Run) {
	t.Helper()
	want, got := map[string]int{}, map[string]int{}
	for _, e := range events {
		switch e.Kind {
		case event.ModelCalled, event.ToolCalled, event.VerdictGiven, event.PhaseFinished, event.AttemptStarted, event.TurnStarted, event.Feedback, event.ModelReplied, event.ToolReplied:
			want[string(e.Kind)]++
		}
	}
	calls := func(list []*trace.Call) {
		got["model_called"] += len(list)
		for _, c := range list {
			if c.Response != nil {
				got["model_replied"]++
			}
			if c.Request == nil || c.Path == "" || c.Finished.Before(c.Started) && c.Response != nil {
				t.Errorf("call %+v", c)
			}
		}
	}
	uses := func(list []*trace.Use) {
		got["tool_called"] += len(list)
		for _, u := range list {
			if u.Result != nil {
				got["tool_replied"]++
			}
		}
	}
	for p := range r.All() {
		got["phase_finished"]++
		got["verdict"] += len(p.Verdicts)
		calls(p.Calls)
		for _, a := range p.Texts() {
			got["attempt_started"]++
			got["verdict"] += len(a.Verdicts)
			got["feedback"] += len(a.Feedback)
			calls(a.Calls)
			uses(a.Tools)
			for _, turn := range a.Turns {
				got["turn_started"]++
				got["verdict"] += len(turn.Verdicts)
				calls(turn.Calls)
				uses(turn.Tools)
			}
		}
	}
	for kind, n := range want {
		if got[kind] != n {
			t.Errorf("%d of %s, want %d", got[kind], kind, n)
		}
	}
}

// TestFoldRepeatedEvents checks that the events after a restart do not change the tree.
func TestFoldRepeatedEvents(t *testing.T) {
	for _, s := range stories(t) {
		want := shown(fold(s.events))
		for k := range s.events {
			if got := shown(fold(slices.Concat(s.events[:k], s.events))); got != want {
				t.Fatalf("%s broken off at %d: got\n%s\nwant\n%s", s.Name, k, got, want)
			}
		}
		// The same holds if an event reports the interruption.
		for k := 1; k < len(s.events); k++ {
			cut := event.Event{Kind: event.RunFinished, Status: "cancelled", Usage: &model.Usage{}}
			if got := shown(fold(slices.Concat(s.events[:k], []event.Event{cut}, s.events))); got != want {
				t.Fatalf("%s cancelled at %d: got\n%s\nwant\n%s", s.Name, k, got, want)
			}
		}
	}
}

// TestFoldFromTheMiddle checks the status and the names in the tree of the last events.
func TestFoldFromTheMiddle(t *testing.T) {
	for _, s := range stories(t) {
		for k := range s.events {
			r := fold(s.events[k:])
			if r.Status != s.result.Status || r.CascadeID != s.result.CascadeID {
				t.Fatalf("%s from %d: %s %s", s.Name, k, r.Status, r.CascadeID)
			}
			for p := range r.All() {
				if p.Name == "" || p.Path == "" {
					t.Fatalf("%s from %d: a phase without a name: %+v", s.Name, k, p)
				}
				for _, a := range p.Texts() {
					if !strings.HasPrefix(string(a.Path), string(p.Path)+"/") || a.Number < 1 {
						t.Fatalf("%s from %d: attempt %+v of %s", s.Name, k, a, p.Path)
					}
				}
			}
		}
	}
}

// TestUnfinished checks the tree of a run that has not finished or waits for an answer.
func TestUnfinished(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	f := trace.NewFolder()
	for i, e := range []event.Event{
		{Kind: event.RunStarted, RunID: "r", CascadeID: "c"},
		{Kind: event.PhaseStarted, Path: "ask", Phase: "ask"},
		{Kind: event.AttemptStarted, Path: "ask/attempt[1]", Phase: "ask", Attempt: 1},
		{Kind: event.ModelCalled, Path: "ask/attempt[1]/turn[0]/model", Request: &model.Request{}},
	} {
		e.Time = at(i + 1)
		f.Add(e)
	}
	r := f.Run()
	call := r.Phases[0].Attempts[0].Turns[0].Calls[0]
	if r.Status != "" || r.Phases[0].Status != "" || call.Response != nil || call.Took() != 0 {
		t.Errorf("under way: %+v", r)
	}
	more := []event.Event{
		{Kind: event.ModelReplied, Path: "ask/attempt[1]/turn[0]/model", Response: &model.Response{Text: "x", Usage: model.Usage{Calls: 1, InputTokens: 5}}},
		{Kind: event.AttemptFinished, Path: "ask/attempt[1]", Status: "succeeded", Text: "x"},
		{Kind: event.Waiting, Path: "ask/human_input", Message: "Really?"},
	}
	for i, e := range more {
		e.Time = at(i + 10)
		f.Add(e)
	}
	if call.Took() != 6*time.Second || r.Usage.InputTokens != 5 || r.Question != "Really?" {
		t.Errorf("took %v, spent %+v, asks %q", call.Took(), r.Usage, r.Question)
	}
	f.Add(event.Event{Kind: event.PhaseFinished, Path: "ask", Status: "waiting", Time: at(13)})
	f.Add(event.Event{Kind: event.RunFinished, Status: "waiting", Time: at(14), Usage: &model.Usage{Calls: 1}})
	if r.Status != "waiting" || r.Question != "Really?" || r.Phases[0].Status != "waiting" {
		t.Errorf("waiting: %+v", r)
	}
	f.Add(event.Event{Kind: event.Waiting, Path: "ask/human_input", Message: "Really?", Time: at(20)})
	if r.Status != "" || r.Phases[0].Status != "" {
		t.Errorf("resumed: %+v", r)
	}
	f.Add(event.Event{Kind: event.PhaseFinished, Path: "ask", Status: "succeeded", Output: "x", Time: at(21)})
	if r.Question != "" || r.Phases[0].Question != "Really?" {
		t.Errorf("answered, but it waits for %q", r.Question)
	}
	f.Add(event.Event{Kind: event.RunFinished, Status: "succeeded", Output: "x", Time: at(22), Usage: &model.Usage{Calls: 1}})
	if r.Status != "succeeded" || r.Question != "" || len(r.Phases) != 1 || r.Phases[0].Took() != 19*time.Second || r.Finished != at(22) {
		t.Errorf("answered: %+v", r)
	}
}

// TestSpentOnce checks that an unfinished run counts a repeated call once.
func TestSpentOnce(t *testing.T) {
	f := trace.NewFolder()
	const at = "a/attempt[1]/turn[0]/model"
	called := event.Event{Kind: event.ModelCalled, Path: at, Request: &model.Request{}}
	replied := event.Event{Kind: event.ModelReplied, Path: at, Response: &model.Response{Usage: model.Usage{Calls: 1, CostUSD: 0.5}}}
	for i, c := range []struct {
		e    event.Event
		want int
	}{{called, 0}, {replied, 1}, {replied, 1}, {called, 0}, {replied, 1}} {
		f.Add(c.e)
		if got := f.Run().Usage; got.Calls != c.want || f.Run().Phases[0].Usage() != got {
			t.Errorf("after %d: %+v, want %d calls", i, got, c.want)
		}
	}
}

// TestNestedPlaces checks the places of the phases of nested cascades.
func TestNestedPlaces(t *testing.T) {
	for path, where := range map[event.Path]string{
		"a/sub[0]/c/p":                             "visit",
		"a/pre[1]/c/p":                             "visit",
		"a/attempt[1]/turn[0]/tool[2]/c/p":         "attempt",
		"a/attempt[1]/turn[0]/redo[1]/tool[0]/c/p": "attempt",
		"a/attempt[1]/turn[0]/ward[0]/c/p":         "attempt",
		"a/attempt[1]/turn[0]/redo[1]/ward[0]/c/p": "attempt",
		"a/attempt[1]/turn[0]/loop_until/c/p":      "attempt",
		"a/attempt[1]/loop_until/c/p":              "attempt",
		"a/attempt[1]/post[3]/c/p[2]":              "attempt",
		"a/attempt[1]/tool/c/p":                    "attempt",
		"a/attempt[1]/tool/post[0]/c/p":            "attempt",
		"a/sounding[1]/attempt[1]/post[0]/c/p":     "attempt",
		"a/attempt[1]/post[0]/model/p":             "attempt", // the name of a cascade
		"attempt[2]/attempt[1]/tool/sub/sub[3]":    "attempt", // the names of phases
	} {
		f := trace.NewFolder()
		f.Add(event.Event{Kind: event.PhaseStarted, Path: path})
		f.Add(event.Event{Kind: event.ModelCalled, Path: path + "/attempt[1]/turn[0]/model", Request: &model.Request{}})
		outer := f.Run().Phases[0]
		inner := outer.Phases
		if where == "attempt" {
			inner = outer.Attempts[0].Phases
		}
		if len(f.Run().Phases) != 1 || len(inner) != 1 || inner[0].Path != path || inner[0].Cascade == "" || len(inner[0].Attempts) != 1 || len(inner[0].Attempts[0].Turns[0].Calls) != 1 {
			t.Errorf("%s: got\n%s", path, shown(f.Run()))
		}
	}
}

// TestFoldStopsAtAnError checks that Fold returns the tree of the events before an error.
func TestFoldStopsAtAnError(t *testing.T) {
	broken := errors.New("broken")
	r, err := trace.Fold(func(yield func(event.Event, error) bool) {
		if yield(event.Event{Kind: event.RunStarted, RunID: "r"}, nil) {
			yield(event.Event{}, broken)
		}
	})
	if !errors.Is(err, broken) || r.RunID != "r" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestInvalidPaths checks that an invalid path causes no panic.
func TestInvalidPaths(t *testing.T) {
	long := event.Path(strings.Repeat("a/", 1<<20))
	f := trace.NewFolder()
	for _, path := range []event.Path{"", "/", "//", "a//b", "/a", "a/", "[", "]", "a[", "a[]", "a[-1]", "a[99999999999999999999]", "attempt[1]", "a/attempt[x]/turn[0]",
		"a/turn[0]/model", "a/sounding[0]/filter/post[0]", "a/sounding[1]/sounding[2]/attempt[1]", "a/attempt[1]/attempt[2]", "\xff/\x00", long} {
		for _, kind := range []event.Kind{event.RunStarted, event.PhaseStarted, event.AttemptStarted, event.TurnStarted, event.ModelCalled, event.ModelReplied, event.ToolCalled,
			event.ToolReplied, event.VerdictGiven, event.Feedback, event.AttemptFinished, event.PhaseFinished, event.Route, event.Waiting, event.RunFinished, "", "unheard_of"} {
			f.Add(event.Event{Kind: kind, Path: path})
			f.Add(event.Event{Kind: kind, Path: path, Verdict: &event.Verdict{Path: path}, Response: &model.Response{}, Result: &tool.Result{}})
		}
	}
	for p := range f.Run().All() {
		p.Matrix()
		p.Usage()
		p.Versions()
	}
}

func FuzzFold(f *testing.F) {
	f.Add("draft/attempt[1]/turn[0]/model\nmodel_called\ndraft[2]/sounding[1]/filter/post[0]\nverdict")
	f.Add("a/attempt[1]/turn[0]/tool[0]/c/b/attempt[1]\nattempt_finished\na/sub[0]/c/b\nphase_finished")
	f.Fuzz(func(t *testing.T, script string) {
		f := trace.NewFolder()
		lines := strings.Split(script, "\n")
		for i := 0; i+1 < len(lines); i += 2 {
			path := event.Path(lines[i])
			f.Add(event.Event{Kind: event.Kind(lines[i+1]), Path: path, Verdict: &event.Verdict{Path: path}, Response: &model.Response{}})
		}
		for p := range f.Run().All() {
			p.Matrix()
			p.Usage()
		}
	})
}

// longRun returns at least n events of a run that visits a phase many times.
func longRun(n int) []event.Event {
	yes := true
	var events []event.Event
	add := func(e event.Event) { events = append(events, e) }
	for visit := 1; len(events) < n; visit++ {
		phase := event.Path("").At("draft", visit)
		add(event.Event{Kind: event.PhaseStarted, Path: phase, Phase: "draft"})
		for attempt := 1; attempt <= 3; attempt++ {
			path := phase.At("attempt", attempt)
			add(event.Event{Kind: event.AttemptStarted, Path: path, Attempt: attempt})
			for turn := range 3 {
				at := path.At("turn", turn)
				add(event.Event{Kind: event.TurnStarted, Path: at})
				add(event.Event{Kind: event.ModelCalled, Path: at.Join("model"), Request: &model.Request{}})
				add(event.Event{Kind: event.ModelReplied, Path: at.Join("model"), Response: &model.Response{}})
				add(event.Event{Kind: event.VerdictGiven, Path: at.At("ward", 0), Verdict: &event.Verdict{Path: at.At("ward", 0), Valid: &yes}})
			}
			add(event.Event{Kind: event.AttemptFinished, Path: path})
		}
		add(event.Event{Kind: event.PhaseFinished, Path: phase})
	}
	return events
}

func BenchmarkFold(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		events := longRun(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				fold(events)
			}
		})
	}
}

// TestManyVerdictsInOneAttempt checks that an event does not cause a search of a list.
func TestManyVerdictsInOneAttempt(t *testing.T) {
	f := trace.NewFolder()
	started := time.Now()
	for i := range 200_000 {
		at := event.Path("a/attempt[1]").At("post", i%100_000)
		f.Add(event.Event{Kind: event.VerdictGiven, Path: at, Verdict: &event.Verdict{Path: at}})
	}
	if n := len(f.Run().Phases[0].Attempts[0].Verdicts); n != 100_000 {
		t.Errorf("%d verdicts", n)
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

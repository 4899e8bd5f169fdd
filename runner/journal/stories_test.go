package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Every story has the same result with and without a journal, and can be
// resumed after an interruption at any place.
func TestStories(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	spare := &pairs{of: t}
	for i, s := range stories(t) {
		t.Run(s.Name, func(t *testing.T) {
			var w finished
			t.Run("recorded", func(t *testing.T) { w = recorded(t, j, s) })
			sampled := among(i, s)
			if !sampled && (onServer != nil || testing.Short()) {
				return
			}
			if w.effects == nil { // the other tests run alone
				w = recorded(t, j, s)
			}
			t.Parallel()
			p := spare.lent(t)
			if sampled || i%2 == 0 {
				t.Run("broken off", func(t *testing.T) { brokenOff(t, p, s, w) })
			}
			if sampled || i%2 == 1 {
				t.Run("not written", func(t *testing.T) { notWritten(t, p, s, w) })
			}
		})
	}
}

// among reports whether the i-th story is interrupted at every place in both ways. Over a
// file that is a sample, and TestSuite and one of the ways interrupt every story. With
// CAPSTAN_SLOW it is every story. Over a server, where a start costs ten times as much,
// the sample covers each kind of row and each statement.
func among(i int, s *story) bool {
	switch {
	case onServer != nil:
		return i%30 == 0 || s.Name == "human_expired" || s.Name == "token_budget_prune"
	case os.Getenv("CAPSTAN_SLOW") != "":
		return true
	}
	return i%5 == 0
}

// A finished run is an undisturbed run.
type finished struct {
	result  engine.Result
	effects map[event.Path]Effect
	events  []event.Event // as stored; their transcript is that of the story
}

// recorded checks that transcript and result are the same live, from the
// events, and from the journal.
func recorded(t *testing.T, j *Journal, s *story) finished {
	emptied(t, j)
	var live collector
	result, _ := s.run(t, begin(t, j, s.start("run")), s.world(t, &live), true)
	storytest.Same(t, "live", transcriptOf(t, live.events, result), s.Want())
	stored := eventsOf(t, j, "run", Whole)
	same(t, "kept events", stored, live.events)
	storytest.Same(t, "kept", transcriptOf(t, stored, result), s.Want())
	same(t, "kept requests", requests(stored), requests(live.events))
	same(t, "kept news", eventsOf(t, j, "run", News), live.events)
	from, err := j.Result(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "kept result", from, result)
	run, err := j.Run(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	if waits := result.Status == engine.Waiting; waits != (run.Finished == nil) || waits != (run.Pending != nil) {
		t.Errorf("%s: it finished at %v and asks for %+v", result.Status, run.Finished, run.Pending)
	}
	same(t, "kept summary", run.Summary, s.summary(live.events, result, run.Summary))
	return finished{result, madeOf(t, j, "run"), stored}
}

// summary returns the expected summary of the story's run, except for times.
func (s *story) summary(events []event.Event, r engine.Result, shown Summary) Summary {
	want := Summary{
		Only:  s.Last,
		RunID: "run", CascadeID: s.Cascade.ID, File: s.Cascade.Files[0].Name, Status: r.Status, Events: int64(len(events)), Error: r.Error,
		Usage:   model.Usage{Calls: r.Usage.Calls, InputTokens: r.Usage.InputTokens, OutputTokens: r.Usage.OutputTokens, CostUSD: r.Usage.CostUSD},
		Started: shown.Started, Finished: shown.Finished,
	}
	for _, e := range events {
		if e.Kind == event.PhaseFinished && !strings.Contains(string(e.Path), "/") {
			want.Phases++
		}
	}
	return want
}

// requests returns the complete requests of events.
func requests(events []event.Event) (list []*model.Request) {
	for _, e := range events {
		if e.Request != nil {
			list = append(list, e.Request)
		}
	}
	return list
}

// A counter counts the effects, except those of pure validators, which are not
// waited for.
type counter struct {
	engine.Host
	mu   *sync.Mutex
	made map[event.Path]int
}

func counting(h engine.Host) counter { return counter{h, new(sync.Mutex), map[event.Path]int{}} }

func (c counter) count(at event.Path, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.made[at]++
	}
}

func (c counter) Model(at event.Path, req model.Request) (model.Response, error) {
	resp, err := c.Host.Model(at, req)
	c.count(at, err)
	return resp, err
}

func (c counter) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	result, err := c.Host.Tool(at, job)
	c.count(at, err)
	return result, err
}

func (c counter) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	found, err := c.Host.Validate(at, v)
	if !v.Pure {
		c.count(at, err)
	}
	return found, err
}

func (c counter) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	answer, err := c.Host.Ask(at, q)
	c.count(at, err)
	return answer, err
}

func (c counter) Each(n, limit int, body func(engine.Host, int) error) error {
	return c.Host.Each(n, limit, func(h engine.Host, i int) error { return body(counter{h, c.mu, c.made}, i) })
}

func (c counter) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	return c.Host.Within(at, d, func(h engine.Host) error { return body(counter{h, c.mu, c.made}) })
}

// Recalled marks replies of an earlier start as used in the story's script.
func (c counter) Recalled(req model.Request) {
	c.Host.(storytest.Serial).Host.(interface{ Recalled(model.Request) }).Recalled(req)
}

// next returns the world for another start: its people and its script continue.
func (s *story) next(t *testing.T, j *Journal) counter {
	t.Helper()
	if len(s.Answers) == 0 {
		return counting(s.world(t, &collector{}))
	}
	answered := 0
	for at := range madeOf(t, j, "run") {
		if strings.HasSuffix(string(at), "/human_input") || strings.HasSuffix(string(at), "/question") {
			answered++
		}
	}
	return counting(s.worldAfter(t, &collector{}, answered))
}

// brokenOff ends the process at every effect in turn, with a last message, and
// resumes. Sudden ends are in notWritten and TestSuite.
func brokenOff(t *testing.T, p pair, s *story, w finished) {
	for k := range len(w.effects) {
		emptied(t, p.first)
		world := counting(s.world(t, &collector{}))
		r := begin(t, p.first, s.start("run"))
		_, err := s.run(t, r, storytest.NewFault(world, int64(k+1)), true)
		if !errors.Is(err, storytest.ErrFault) {
			t.Fatalf("gone at effect %d: got %v", k+1, err)
		}
		loseProcess(t, p.first, r)
		next := s.next(t, p.second)
		goOn(t, p.second, s, next, w)
		for at := range next.made {
			if world.made[at] > 0 {
				t.Errorf("gone at effect %d: %s was made again", k+1, at)
			}
		}
	}
}

// notWritten makes the journal fail after the first n commits, for all n, and
// resumes.
func notWritten(t *testing.T, p pair, s *story, w finished) {
	errGone := errors.New("the disk is gone")
	for n := 1; ; n++ {
		emptied(t, p.first)
		commits := 0
		p.first.db.Writer.Before = func() error {
			if commits++; commits > n {
				return errGone
			}
			return nil
		}
		world := counting(s.world(t, &collector{}))
		r := begin(t, p.first, s.start("run"))
		result, err := engine.Run(r.Host(world), s.Cascade, s.Start())
		var cause *engine.Error
		if errors.As(err, &cause) && errors.Is(err, errGone) && (result.Status != engine.Failed || !strings.Contains(err.Error(), "journal: the disk is gone")) {
			t.Errorf("after %d commits: the run ended as %s: %v", n, result.Status, err)
		}
		ended := r.End(result, cause)
		if commits > n != (ended != nil) {
			t.Fatalf("after %d of %d commits End gave %v", n, commits, ended)
		}
		p.first.db.Writer.Before = nil
		if loseProcess(t, p.first, r); ended == nil {
			return
		}
		// The last effect may be repeated if it was not stored.
		next, lost := s.next(t, p.second), 0
		goOn(t, p.second, s, next, w)
		for at := range next.made {
			lost += world.made[at]
		}
		if lost > 1 {
			t.Errorf("after %d commits %d effects were made again", n, lost)
		}
		if t.Failed() {
			return
		}
	}
}

// goOn resumes the run and checks that it ends as if undisturbed: with the same
// result, effects and events, none of them twice.
func goOn(t *testing.T, j *Journal, s *story, world counter, w finished) {
	t.Helper()

	run, err := j.Run(t.Context(), "run")
	last := run.Events - 1
	if n := len(eventsAfter(t, j, "run", last, News)); err != nil || int64(n) != min(run.Events, 1) {
		t.Errorf("it is reported to have %d events, and after the last but one are %d, %v", run.Events, n, err)
	}
	result, _ := s.run(t, reopen(t, j, "run"), world, true)
	same(t, "result", result, w.result)
	same(t, "effects", madeOf(t, j, "run"), w.effects)
	for at, n := range world.made {
		if n > 1 {
			t.Errorf("%s was made %d times", at, n)
		}
	}
	// The interruption of a start is an event too.
	var events []event.Event
	all := eventsOf(t, j, "run", Whole)
	news := eventsAfter(t, j, "run", last, News) // the earlier ones have not changed
	first := len(all) - len(news)
	if int64(first) != max(last, 0) {
		t.Fatalf("there is news of %d events of %d", len(news), len(all))
	}
	for i, e := range all {
		if e.Seq != int64(i+1) {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
		if i >= first {
			same(t, "news", news[i-first], cut(e))
		}
		if e.Status != engine.Cancelled && (e.Error == nil || !strings.Contains(e.Error.Message, "journal: ")) {
			events = append(events, e)
		}
	}
	events = slices.DeleteFunc(events, func(e event.Event) bool {
		if e.Error != nil && strings.Contains(e.Error.Message, storytest.ErrFault.Error()) {
			return true
		}
		if e.Status != engine.Failed || w.result.Status == engine.Failed {
			return false
		}
		return !breaks(t, w, e.Path) && !strings.Contains(s.Want(), fmt.Sprintf("\n%s %s failed\n", e.Kind, e.Path))
	})
	if slices.EqualFunc(events, w.events, storytest.SameEvent) {
		return // their transcript is the same
	}
	got, want := transcriptOf(t, events, result), s.Want()
	if !strings.Contains(want, "sounding[") && !slices.Contains([]string{"together", "error_advisory", "cascade_verdicts"}, s.Name) {
		storytest.Same(t, "events", got, want)
		return
	}
	// Other branches continued after the interruption, so the order is random,
	// and a started call may be missing now.
	count := map[string]int{}
	for line := range strings.Lines(want) {
		count[line]++
	}
	for line := range strings.Lines(got) {
		if count[line]--; count[line] < 0 && !strings.HasPrefix(line, "model_called") {
			t.Errorf("reported beside the story: %s", line)
		}
	}
	for line, n := range count {
		if n > 0 {
			t.Errorf("not reported: %s", line)
		}
	}
}

// cut returns an event in the form of News.
func cut(e event.Event) event.Event {
	if e.Kind == event.ModelCalled {
		req := *e.Request
		req.Messages = req.Messages[e.Before:]
		e.Request, e.Partial = &req, true
	}
	return e
}

// breaks reports whether something fails below a path in the story itself.
func breaks(t *testing.T, w finished, at event.Path) bool {
	for _, p := range w.result.Phases {
		for _, f := range p.Failures {
			if item := string(event.Path(p.Name).At("item", f.Index)); strings.HasPrefix(string(at)+"/", item+"/") {
				return true
			}
		}
	}
	for path := range w.effects {
		if !strings.HasPrefix(string(path), string(at)+"/") {
			continue
		}
		made := asJSON(t, w.effects[path])
		if strings.Contains(made, `"failure"`) || strings.Contains(made, `"failed"`) || strings.Contains(made, `"expired"`) {
			return true
		}
	}
	return false
}

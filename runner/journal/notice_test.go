package journal

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

const noticing = `-- cascade.yaml --
cascade_id: noticing
phases:
  - {name: draft, instructions: Write., human_input: {prompt: "Publish?", expires: 24h, notify: {exec: [tell]}}}
`

// tellers are a person who is not there and is told of questions. What comes of
// it is for the test to say.
type tellers struct {
	keys    []string
	expires []time.Time
	done    []func(error)
}

func (s *tellers) ask(_ context.Context, q runner.Question) (runner.Answer, error) {
	if q.Notice != nil {
		s.keys, s.expires, s.done = append(s.keys, q.Notice.Key), append(s.expires, q.Notice.Expires), append(s.done, q.Notice.Done)
	}
	return runner.Answer{}, runner.ErrNobody
}

// A question is told of once, however often its run is resumed; where the process
// was gone before it knew that it had told, once more with the same key.
func TestNotice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	told := &tellers{}
	s := storyOf(t, noticing)
	start := func(r runner.Recording) {
		t.Helper()
		model, err := runner.New(runner.WithModel(&says{answers: map[string]string{"Write.": "a text"}}))
		if err != nil {
			t.Fatal(err)
		}
		if result, _ := s.run(t, r, &asksOnly{model.Host(t.Context()), told}, true); result.Status != runner.Waiting {
			t.Fatalf("got %+v", result)
		}
	}
	again := func(j *Journal) {
		t.Helper()
		r, err := j.Reopen("run")
		if err != nil {
			t.Fatal(err)
		}
		start(r)
	}
	j := journalAt(t, file, Options{})
	r, err := j.Begin(s.start("run"))
	if err != nil {
		t.Fatal(err)
	}
	start(r)
	again(j) // it is under way in this process
	if len(told.keys) != 1 || told.keys[0] != "run:draft/human_input" || told.expires[0].IsZero() {
		t.Fatalf("told %+v", told)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = journalAt(t, file, Options{}) // the process that was at it is gone
	again(j)
	if !slices.Equal(told.keys, []string{"run:draft/human_input", "run:draft/human_input"}) || !told.expires[1].Equal(told.expires[0]) {
		t.Fatalf("told %+v", told)
	}
	told.done[1](errors.New("nobody listens"))
	run, err := j.Run(t.Context(), "run")
	if err != nil || len(run.Pending) != 1 || run.Pending[0].Untold != "nobody listens" {
		t.Errorf("got %+v, %v", run.Pending, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = journalAt(t, file, Options{})
	again(j)
	again(j)
	if len(told.keys) != 2 {
		t.Errorf("told %d times", len(told.keys))
	}
	if err := j.Answer(t.Context(), "run", "", runner.Answer{Value: true}); err != nil {
		t.Error(err)
	}
	told.done[1](nil) // too late for anybody
	if result, err := runnerOver(t, j, &says{}).Resume(t.Context(), "run"); err != nil || result.Output != "a text" || len(told.keys) != 2 {
		t.Errorf("got %+v, %v", result, err)
	}
}

// asksOnly hands questions to the test.
type asksOnly struct {
	engine.Host
	people *tellers
}

func (a *asksOnly) Ask(_ event.Path, q engine.Question) (engine.Answer, error) {
	return a.people.ask(context.Background(), q)
}

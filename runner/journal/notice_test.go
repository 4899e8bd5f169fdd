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

// tellers stand for an absent person who receives notices. The test decides the
// result of each.
type tellers struct {
	keys    []string
	expires []time.Time
	done    []func(error)
}

func (s *tellers) ask(_ context.Context, q engine.Question) (engine.Answer, error) {
	if q.Notice != nil {
		s.keys, s.expires, s.done = append(s.keys, q.Notice.Key), append(s.expires, q.Notice.Expires), append(s.done, q.Notice.Done)
	}
	return engine.Answer{}, runner.ErrNobody
}

// A question has one notice, however often its run resumes. If the process
// ended before it stored the result, the notice is sent again with the same
// key.
func TestNotice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	reported := &tellers{}
	s := storyOf(t, noticing)
	start := func(r runner.Recording) {
		t.Helper()
		model, err := runner.New(runner.WithModel(&says{answers: map[string]string{"Write.": "a text"}}))
		if err != nil {
			t.Fatal(err)
		}
		if result, _ := s.run(t, r, &asksOnly{model.Host(t.Context()), reported}, true); result.Status != engine.Waiting {
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
	again(j) // this process is sending it
	if len(reported.keys) != 1 || reported.keys[0] != "run:draft/human_input" || reported.expires[0].IsZero() {
		t.Fatalf("reported %+v", reported)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = journalAt(t, file, Options{}) // the sending process is gone
	again(j)
	if !slices.Equal(reported.keys, []string{"run:draft/human_input", "run:draft/human_input"}) || !reported.expires[1].Equal(reported.expires[0]) {
		t.Fatalf("reported %+v", reported)
	}
	reported.done[1](errors.New("nobody listens"))
	run, err := j.Run(t.Context(), "run")
	if err != nil || len(run.Pending) != 1 || run.Pending[0].NoticeError != "nobody listens" {
		t.Errorf("got %+v, %v", run.Pending, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = journalAt(t, file, Options{})
	again(j)
	again(j)
	if len(reported.keys) != 2 {
		t.Errorf("reported %d times", len(reported.keys))
	}
	if err := j.Answer(t.Context(), "run", "", engine.Answer{Value: true}); err != nil {
		t.Error(err)
	}
	reported.done[1](nil) // too late to count
	if result, err := runnerOver(t, j, &says{}).Resume(t.Context(), "run"); err != nil || result.Output != "a text" || len(reported.keys) != 2 {
		t.Errorf("got %+v, %v", result, err)
	}
}

// asksOnly passes questions to the test.
type asksOnly struct {
	engine.Host
	people *tellers
}

func (a *asksOnly) Ask(_ event.Path, q engine.Question) (engine.Answer, error) {
	return a.people.ask(context.Background(), q)
}

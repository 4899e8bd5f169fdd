package testcases_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/measures/testcases"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/internal/storytest"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// Less frequent garbage collection, because the tests allocate much memory and use it only
// briefly.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// A storage has the effects of a run, converted through JSON.
type storage struct {
	mu       sync.Mutex
	effects  []journal.Effect
	requests map[event.Path]string
}

func plain[T any](v T) T {
	var out T
	text, err := json.Marshal(v)
	if err == nil {
		err = schema.Unmarshal(text, &out)
	}
	if err != nil {
		panic(err)
	}
	return out
}

func (j *storage) add(e journal.Effect) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.effects = append(j.effects, e)
}

func (j *storage) request(at event.Path) (*model.Request, error) {
	text, ok := j.requests[at]
	if !ok {
		return nil, fmt.Errorf("no request at %s", at)
	}
	r := new(model.Request)
	return r, schema.Unmarshal([]byte(text), r)
}

// A recorder is a host that stores the effects of another host.
type recorder struct {
	engine.Host
	j *storage
}

func (r recorder) Model(at event.Path, req model.Request) (model.Response, error) {
	text, _ := json.Marshal(req)
	r.j.mu.Lock()
	r.j.requests[at] = string(text)
	r.j.mu.Unlock()
	v, err := r.Host.Model(at, req)
	if err == nil {
		v = plain(v)
		r.j.add(journal.Effect{Path: at, Response: &v})
	}
	return v, err
}

func (r recorder) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	v, err := r.Host.Tool(at, job)
	if err == nil {
		stored := v
		text, _ := json.Marshal(v.Value)
		stored.Value, _ = schema.Parse(text)
		r.j.add(journal.Effect{Path: at, Result: &stored})
	}
	return v, err
}

func (r recorder) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	f, err := r.Host.Validate(at, v)
	if err == nil {
		stored := plain(f)
		r.j.add(journal.Effect{Path: at, Finding: &stored})
	}
	return f, err
}

func (r recorder) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	v, err := r.Host.Ask(at, q)
	if err == nil {
		stored := plain(v)
		r.j.add(journal.Effect{Path: at, Answer: &stored})
	}
	return v, err
}

func (r recorder) Each(n, limit int, body func(engine.Host, int) error) error {
	return r.Host.Each(n, limit, func(h engine.Host, i int) error { return body(recorder{h, r.j}, i) })
}

func (r recorder) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	err := r.Host.Within(at, d, func(h engine.Host) error { return body(recorder{h, r.j}) })
	if engine.IsOver(err, at) {
		r.j.add(journal.Effect{Path: at, TimedOut: true})
	}
	return err
}

// A story is a cascade with the answers of models, tools and people.
type story struct {
	files   []cascades.File
	model   model.Model
	input   map[string]any
	answers []any
	known   cascades.Known
	host    func(engine.Host) engine.Host // of the recording, nil for the runner's own
}

func (s *story) open(name string) ([]byte, error) { return cascades.Unpacked(s.files)(name) }

// newStory returns a story of one cascade file. The model returns the replies in order, and judges
// pass every text.
func newStory(t testing.TB, source string, replies ...string) *story {
	t.Helper()
	n := 0
	var mu sync.Mutex
	return &story{files: []cascades.File{{Name: "cascade.yaml", Text: []byte(source)}}, known: storytest.Known(), model: model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if r.Validator != "" {
			return model.Response{Text: `{"valid": true, "reason": "warm"}`, Usage: model.Usage{Calls: 1}}, nil
		}
		n++
		if n > len(replies) {
			return model.Response{}, &model.Failure{Class: model.Unscripted, Message: "nothing left"}
		}
		return model.Response{Text: replies[n-1], Usage: model.Usage{Calls: 1, InputTokens: 10, OutputTokens: 5}}, nil
	})}
}

// record runs the story.
func (s *story) record(t testing.TB) testcases.Run {
	t.Helper()
	c, err := cascades.Load(s.files[0].Name, s.open, s.known)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.WithModel(s.model), storytest.People(s.answers...))
	if err != nil {
		t.Fatal(err)
	}
	host := r.Host(t.Context())
	if s.host != nil {
		host = s.host(host)
	}
	j := &storage{requests: map[event.Path]string{}}
	result, _ := engine.Run(recorder{host, j}, c, engine.State{RunID: "20260102-150405-1a2b3c4d", Input: s.input})
	return testcases.Run{
		ID: result.RunID, Files: c.Files, Input: s.input, Result: plain(result), Request: j.request,
		Effects: func(yield func(journal.Effect, error) bool) {
			for _, e := range j.effects {
				if !yield(e, nil) {
					return
				}
			}
		},
	}
}

// freeze records the story as a test case.
func (s *story) freeze(t testing.TB) (*testcases.Case, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "story")
	c, err := testcases.Record(t.Context(), s.record(t), testcases.Options{Dir: dir, Known: s.known})
	if err != nil {
		var u *testcases.ReplayError
		if errors.As(err, &u) {
			t.Log(text(u.Outcome))
		}
		t.Fatal(err)
	}
	return c, dir
}

// test runs the test case in the folder.
func (s *story) test(t testing.TB, dir string) (*testcases.Case, testcases.Outcome) {
	t.Helper()
	c, err := testcases.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, c.Run(t.Context(), s.known)
}

// transcript returns a story of the engine.
func transcript(t testing.TB, s *storytest.Story) *story {
	t.Helper()
	return &story{files: s.Cascade.Files, model: s.Script(t), input: s.Input, answers: s.Answers, known: s.Known}
}

// text returns the outcome as text.
func text(o testcases.Outcome) string {
	return o.Text().String()
}

package cases_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/cases"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/schema"
)

// What the tests hold is little, and they make much that nobody keeps.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	os.Exit(m.Run())
}

// A journal keeps what a run comes to, as JSON would.
type journal struct {
	mu       sync.Mutex
	effects  []cases.Effect
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

func (j *journal) add(e cases.Effect) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.effects = append(j.effects, e)
}

func (j *journal) request(at event.Path) (*model.Request, error) {
	text, ok := j.requests[at]
	if !ok {
		return nil, fmt.Errorf("no request at %s", at)
	}
	r := new(model.Request)
	return r, schema.Unmarshal([]byte(text), r)
}

// A recorder is a host that keeps the effects of the one within.
type recorder struct {
	engine.Host
	j *journal
}

func (r recorder) Model(at event.Path, req model.Request) (model.Response, error) {
	text, _ := json.Marshal(req)
	r.j.mu.Lock()
	r.j.requests[at] = string(text)
	r.j.mu.Unlock()
	v, err := r.Host.Model(at, req)
	if err == nil {
		v = plain(v)
		r.j.add(cases.Effect{Path: at, Response: &v})
	}
	return v, err
}

func (r recorder) Tool(at event.Path, job engine.Job) (tool.Result, error) {
	v, err := r.Host.Tool(at, job)
	if err == nil {
		kept := v
		text, _ := json.Marshal(v.Value)
		kept.Value, _ = schema.Parse(text)
		r.j.add(cases.Effect{Path: at, Result: &kept})
	}
	return v, err
}

func (r recorder) Validate(at event.Path, v engine.Validation) (engine.Finding, error) {
	f, err := r.Host.Validate(at, v)
	if err == nil {
		kept := plain(f)
		r.j.add(cases.Effect{Path: at, Finding: &kept})
	}
	return f, err
}

func (r recorder) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	v, err := r.Host.Ask(at, q)
	if err == nil {
		kept := plain(v)
		r.j.add(cases.Effect{Path: at, Answer: &kept})
	}
	return v, err
}

func (r recorder) Each(n, limit int, body func(engine.Host, int) error) error {
	return r.Host.Each(n, limit, func(h engine.Host, i int) error { return body(recorder{h, r.j}, i) })
}

func (r recorder) Within(at event.Path, d time.Duration, body func(engine.Host) error) error {
	err := r.Host.Within(at, d, func(h engine.Host) error { return body(recorder{h, r.j}) })
	if engine.IsOver(err, at) {
		r.j.add(cases.Effect{Path: at, TimedOut: true})
	}
	return err
}

// A story is a cascade with what the world says to it.
type story struct {
	files   []cascades.File
	model   model.Model
	input   map[string]any
	answers []any
	known   cascades.Known
	host    func(engine.Host) engine.Host // of the recording, nil for the runner's own
}

func (s *story) open(name string) ([]byte, error) { return cascades.Unpacked(s.files)(name) }

// told is a story of one cascade file, whose model says the replies in turn;
// judges find every text warm.
func told(t testing.TB, source string, replies ...string) *story {
	t.Helper()
	n := 0
	var mu sync.Mutex
	return &story{files: []cascades.File{{Name: "cascade.yaml", Text: []byte(source)}}, known: enginetest.Known(), model: model.Func(func(_ context.Context, r model.Request) (model.Response, error) {
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

// record runs the story for real.
func (s *story) record(t testing.TB) cases.Run {
	t.Helper()
	c, err := cascades.Load(s.files[0].Name, s.open, s.known)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runner.New(runner.WithModel(s.model), enginetest.People(s.answers...))
	if err != nil {
		t.Fatal(err)
	}
	host := r.Host(t.Context())
	if s.host != nil {
		host = s.host(host)
	}
	j := &journal{requests: map[event.Path]string{}}
	result, _ := engine.Run(recorder{host, j}, c, engine.State{RunID: "20260102-150405-1a2b3c4d", Input: s.input})
	return cases.Run{
		ID: result.RunID, Files: c.Files, Input: s.input, Result: plain(result), Request: j.request,
		Effects: func(yield func(cases.Effect, error) bool) {
			for _, e := range j.effects {
				if !yield(e, nil) {
					return
				}
			}
		},
	}
}

// freeze makes a case of the story.
func (s *story) freeze(t testing.TB) (*cases.Case, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "story")
	c, err := cases.Freeze(t.Context(), s.record(t), cases.Options{Dir: dir, Known: s.known})
	if err != nil {
		var u *cases.Unfaithful
		if errors.As(err, &u) {
			u.Outcome.Text(os.Stderr)
		}
		t.Fatal(err)
	}
	return c, dir
}

// test runs the case in the directory.
func (s *story) test(t testing.TB, dir string) (*cases.Case, cases.Outcome) {
	t.Helper()
	c, err := cases.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, c.Run(t.Context(), s.known)
}

// transcript is a story of the engine's.
func transcript(t testing.TB, s *enginetest.Story) *story {
	t.Helper()
	return &story{files: s.Cascade.Files, model: s.Script(t), input: s.Input, answers: s.Answers, known: s.Known}
}

// text is the outcome as a person reads it.
func text(o cases.Outcome) string {
	var b strings.Builder
	o.Text(&b)
	return b.String()
}

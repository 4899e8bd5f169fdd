package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
)

// A story is one of the engine's transcripts, or one like them.
type story struct{ *enginetest.Story }

func stories(t *testing.T) []*story {
	t.Helper()
	var list []*story
	for _, s := range append(enginetest.Stories(t), enginetest.Randoms(t, 12)...) {
		list = append(list, &story{s})
	}
	return list
}

// world gives the host of the story's script and people.
func (s *story) world(t testing.TB, sink event.Sink) engine.Host { return s.worldAfter(t, sink, 0) }

// worldAfter is a world whose people have answered some questions already.
func (s *story) worldAfter(t testing.TB, sink event.Sink, answered int) engine.Host {
	t.Helper()
	rest := *s.Story
	rest.Answers = rest.Answers[min(answered, len(rest.Answers)):]
	return rest.Host(t, runner.WithSink(sink))
}

func (s *story) start(id string) runner.Start {
	return runner.Start{RunID: id, CascadeID: s.Cascade.ID, Files: s.Cascade.Files, Input: s.Input}
}

// run runs the story over a recording, as a runner does. Without end the
// process is gone before it could say how the run ended.
func (s *story) run(t testing.TB, r runner.Recording, inner engine.Host, end bool) (engine.Result, error) {
	t.Helper()
	start := r.Start()
	state := engine.State{RunID: start.RunID, Model: start.Model, Input: start.Input, Elapsed: start.Elapsed}
	result, err := engine.Run(r.Host(inner), s.Cascade, state)
	if end {
		var why *engine.Error
		errors.As(err, &why)
		if e := r.End(result, why); e != nil {
			t.Fatalf("end: %v", e)
		}
	}
	return result, err
}

// heard keeps events.
type heard struct{ events []event.Event }

func (h *heard) Emit(e event.Event) { h.events = append(h.events, e) }

// told is the transcript of a run with its result, as the stories have it.
func told(t testing.TB, events []event.Event, r engine.Result) string {
	t.Helper()
	var transcript enginetest.Transcript
	for _, e := range events {
		transcript.Emit(e)
	}
	return transcript.Told(t, r)
}

func journalAt(t testing.TB, file string, o Options) *Journal {
	t.Helper()
	o.careless = !o.Power
	if file = at(t, file); onServer != nil {
		// There is no copying of schemas.
	} else if _, err := os.Stat(file); err != nil {
		_ = os.WriteFile(file, empty(), 0o600) // quicker than to make the tables
	}
	j, err := Open(at(t, file), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// empty is a journal that has kept nothing yet.
var empty = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "j.db")
	j, err := Open(file, Options{})
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		panic(err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return raw
})

func begin(t testing.TB, j *Journal, s runner.Start) runner.Recording {
	t.Helper()
	r, err := j.Begin(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reopen(t testing.TB, j *Journal, id string) runner.Recording {
	t.Helper()
	r, err := j.Reopen(id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func eventsOf(t testing.TB, j *Journal, id string, d Detail) []event.Event {
	t.Helper()
	return eventsAfter(t, j, id, 0, d)
}

func eventsAfter(t testing.TB, j *Journal, id string, after int64, d Detail) (list []event.Event) {
	t.Helper()
	for e, err := range j.Events(t.Context(), id, after, d) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func effectsOf(t testing.TB, j *Journal, id string) map[event.Path]string {
	t.Helper()
	list := map[event.Path]string{}
	for at, e := range madeOf(t, j, id) {
		list[at] = asJSON(t, e)
	}
	return list
}

func madeOf(t testing.TB, j *Journal, id string) map[event.Path]Effect {
	t.Helper()
	list := map[event.Path]Effect{}
	for e, err := range j.Effects(t.Context(), id) {
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := list[e.Path]; twice {
			t.Errorf("%s is there twice", e.Path)
		}
		list[e.Path] = e
	}
	return list
}

// same holds a value against another: their JSON, where they are not equal. It is
// laid out for who reads of a difference alone.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	if a, b := asJSON(t, got), asJSON(t, want); a != b {
		enginetest.Same(t, what, laidOut(a), laidOut(b))
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func laidOut(text string) string {
	var b bytes.Buffer
	_ = json.Indent(&b, []byte(text), "", " ")
	return b.String()
}

// fileOf is the file of a journal that is kept in one.
func fileOf(j *Journal) string { return j.store.(*fileStore).file }

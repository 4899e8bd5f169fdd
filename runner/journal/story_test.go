package journal

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/engine/enginetest"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/codec"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// A story is one of the engine's transcripts, or a similar one.
type story struct{ *enginetest.Story }

func stories(t *testing.T) []*story {
	t.Helper()
	var list []*story
	for _, s := range append(enginetest.Stories(t), enginetest.RandomStories(t, 12)...) {
		list = append(list, &story{s})
	}
	return list
}

// world returns the host with the story's script and people.
func (s *story) world(t testing.TB, sink event.Sink) engine.Host { return s.worldAfter(t, sink, 0) }

// worldAfter returns a world whose people have already answered some questions.
func (s *story) worldAfter(t testing.TB, sink event.Sink, answered int) engine.Host {
	t.Helper()
	rest := *s.Story
	rest.Answers = rest.Answers[min(answered, len(rest.Answers)):]
	return rest.Host(t, runner.WithSink(sink))
}

func (s *story) start(id string) runner.Start {
	return runner.Start{RunID: id, CascadeID: s.Cascade.ID, Files: s.Cascade.Files, Input: s.Input, Only: s.Last}
}

// run runs the story over a recording, as a runner does. Without end, the
// process ends before it stores the end of the run.
func (s *story) run(t testing.TB, r runner.Recording, inner engine.Host, end bool) (engine.Result, error) {
	t.Helper()
	start := r.Start()
	state := engine.State{RunID: start.RunID, Model: start.Model, Input: start.Input, Elapsed: start.Elapsed, Last: start.Only}
	result, err := engine.Run(r.Host(inner), s.Cascade, state)
	if end {
		var cause *engine.Error
		errors.As(err, &cause)
		if e := r.End(result, cause); e != nil {
			t.Fatalf("end: %v", e)
		}
	}
	return result, err
}

// heard collects events.
type heard struct{ events []event.Event }

func (h *heard) Emit(e event.Event) { h.events = append(h.events, e) }

// transcriptOf returns the transcript of a run with its result, in the form of the stories.
func transcriptOf(t testing.TB, events []event.Event, r engine.Result) string {
	t.Helper()
	var transcript enginetest.Transcript
	for _, e := range events {
		transcript.Emit(e)
	}
	return transcript.Format(t, r)
}

func journalAt(t testing.TB, file string, o Options) *Journal {
	t.Helper()
	o.noSync = !o.Power
	if file = at(t, file); onServer != nil {
		// Schemas cannot be copied.
	} else if _, err := os.Stat(file); err != nil {
		_ = os.WriteFile(file, empty(), 0o600) // faster than creating the tables
	}
	j, err := Open(at(t, file), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// empty returns the file of an empty journal.
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

// storedRows returns the rows of the n-th run.
func storedRows(t testing.TB, j *Journal, n int64) (rows []codec.StoredRow) {
	t.Helper()
	err := j.db.Read(t.Context(), func(c *stores.Conn) error {
		return c.Each(t.Context(), func(v []driver.Value) error {
			list, ok := (&codec.Pack{
				Run: n, First: stores.Integer(v[0]), Last: stores.Integer(v[1]), Seq: stores.Integer(v[2]), Time: stores.Integer(v[3]),
				Path: stores.Text(v[4]), Data: stores.Text(v[5]), Sum: stores.Integer(v[6]),
			}).Rows(nil)
			if rows = append(rows, list...); !ok {
				return fmt.Errorf("pack %v is damaged", v)
			}
			return nil
		}, "SELECT first, id & 4294967295, seq, time, path, data, sum FROM pack WHERE id >> 32 = ? ORDER BY id", n)
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// requestOf returns the request of the model call at a path.
func requestOf(ctx context.Context, j *Journal, id string, at event.Path) (*model.Request, error) {
	request, err := j.Requests(ctx, id)
	if err != nil {
		return nil, err
	}
	return request(at)
}

// same compares two values as JSON. Formatting is done only after a difference.
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

// fileOf returns the file of a journal.
func fileOf(j *Journal) string { return j.db.Store.(*stores.SQLite).File }

package journal

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/internal/stores"
	"github.com/seed61713e19/capstan/runner/model"
)

// A conversation is stored message by message, however often it is sent. The size of
// the file depends on the messages and not on the number of requests.
func TestGrowth(t *testing.T) {
	onFile(t)
	oneByOne(t)
	for name, size := range map[string]int{"short": 1, "long": 20} {
		t.Run(name, func(t *testing.T) {
			many := max(300/size, 50) // so many short ones that one page more does not matter
			bytes := map[int]int64{}
			for _, turns := range []int{2 * many, 3 * many, 5 * many} {
				file := filepath.Join(t.TempDir(), "j.db")
				j := journalAt(t, file, Options{})
				r := begin(t, j, runner.Start{RunID: "run"})
				text := strings.Repeat(sentence, size)
				k := newTalker(r.Host(quick{"Reply {turn}: " + text}), "run", text)
				for range turns {
					k.take(t)
				}
				if err := r.End(engine.Result{Status: engine.Succeeded}, nil); err != nil {
					t.Fatal(err)
				}
				once(t, j, k.thread.Messages())
				lastRequest(t, j, turns, k.thread.Messages())
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				info, err := os.Stat(file)
				if err != nil {
					t.Fatal(err)
				}
				bytes[turns] = info.Size()
			}
			if a, b := bytes[3*many]-bytes[2*many], bytes[5*many]-bytes[3*many]; float64(b) > 2.2*float64(a) {
				t.Errorf("bytes by turns: %v", bytes)
			}
		})
	}
}

// once checks that each message is stored once.
func once(t *testing.T, j *Journal, said []model.Message) {
	t.Helper()
	var all strings.Builder
	err := j.db.Read(t.Context(), func(c *stores.Conn) error {
		return c.Each(t.Context(), func(v []driver.Value) error {
			all.WriteString(stores.Text(v[0]) + "\n")
			return nil
		}, "SELECT text FROM text UNION ALL SELECT data FROM pack")
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range said[1 : len(said)-1] { // the last reply was not sent
		mark := m.Content[:strings.Index(m.Content, ":")+1] // such as "Turn 7:"
		if n := strings.Count(all.String(), mark); n != 1 {
			t.Fatalf("message %d is there %d times", i, n)
		}
	}
}

func lastRequest(t *testing.T, j *Journal, turns int, said []model.Message) {
	t.Helper()
	req, err := requestOf(t.Context(), j, "run", event.Path("talk/attempt[1]").At("turn", turns-1).Join("model"))
	if err != nil {
		t.Fatal(err)
	}
	same(t, "last request", req.Messages, said[:2*turns-1])
}

// A conversation without its thread is stored in the same way, and rows contain
// none of its long messages.
func TestGrowthWithoutThread(t *testing.T) {
	onFile(t)
	j := journalAt(t, filepath.Join(t.TempDir(), "j.db"), Options{})
	h := begin(t, j, runner.Start{RunID: "run"}).Host(quick{sentence})
	words := []model.Message{{Content: "Let us talk."}}
	at := func(turn int) event.Path { return event.Path("p").At("turn", turn).Join("model") }
	const turns = 4
	for turn := range turns {
		words = append(words, model.Message{Role: model.User, Content: fmt.Sprintf("Turn %d: %s", turn, strings.Repeat(sentence, 20))})
		req := model.Request{Messages: slices.Clone(words)}
		h.Emit(event.Event{Kind: event.ModelCalled, Path: at(turn), Request: &req})
		if _, err := h.Model(at(turn), req); err != nil {
			t.Fatal(err)
		}
	}
	for turn := range turns {
		req, err := requestOf(t.Context(), j, "run", at(turn))
		if err != nil {
			t.Fatal(err)
		}
		same(t, string(at(turn)), req.Messages, words[:turn+2])
	}
	once(t, j, append(words, model.Message{}))
	err := j.db.Read(t.Context(), func(c *stores.Conn) error {
		n, err := c.Number("SELECT max(length(value)) FROM pack, json_each(pack.data)")
		if n >= 1024 {
			t.Errorf("a row has %d bytes", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// The same is true for external runs, even after a change of workers or a failed write.
func TestGrowthOfGuests(t *testing.T) {
	where := filepath.Join(t.TempDir(), "j.db")
	one, two := journalAt(t, where, Options{}), journalAt(t, where, Options{})
	guests := []*ExternalRuns{one.External("e"), two.External("e")}
	if err := guests[0].Begin(runner.Start{RunID: "run"}); err != nil {
		t.Fatal(err)
	}
	at := func(turn int) event.Path { return event.Path("p").At("turn", turn).Join("model") }
	var words []model.Message
	const turns = 40
	for turn := range turns {
		g := guests[min(turn/30, 1)]
		before := len(words)
		words = append(words, model.Message{Role: model.User, Content: fmt.Sprintf("Turn %d: what?", turn)})
		e := event.Event{Run: "run", Seq: int64(turn + 1), Kind: event.ModelCalled, Path: at(turn), Conversation: at(0), Before: before, Request: &model.Request{Messages: slices.Clone(words)}}
		if turn == 20 {
			one.db.Writer.Before = func() error { return errors.New("no") }
			if err := g.Append(e); err == nil {
				t.Error("it was taken")
			}
			one.db.Writer.Before = nil
		}
		if err := g.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for turn := range turns {
		req, err := requestOf(t.Context(), two, "run", at(turn))
		if err != nil {
			t.Fatal(err)
		}
		same(t, string(at(turn)), req.Messages, words[:turn+1])
	}
	err := one.db.Read(t.Context(), func(c *stores.Conn) error {
		return c.Each(t.Context(), func(v []driver.Value) error {
			if n := strings.Count(stores.Text(v[0]), "Turn "); n > 1 && n != 21 && n != 31 {
				t.Errorf("a row has %d messages", n)
			}
			return nil
		}, "SELECT data FROM pack")
	})
	if err != nil {
		t.Error(err)
	}
}

// Concurrent runs are separate, and each keeps all of its data.
func TestManyRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "j.db")
	j := journalAt(t, file, Options{})
	const runs, turns = 64, 12
	var all sync.WaitGroup
	for i := range runs {
		id := fmt.Sprintf("run%d", i)
		r := begin(t, j, runner.Start{RunID: id, CascadeID: "talk"})
		all.Go(func() {
			k := newTalker(r.Host(quick{id + sentence}), id, id)
			for range turns {
				k.take(t)
			}
			if err := r.End(engine.Result{RunID: id, Status: engine.Succeeded, Usage: model.Usage{Calls: turns}}, nil); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list, err := j.Runs(t.Context(), Filter{})
	if err != nil || len(list) != runs {
		t.Fatalf("%d runs, %v", len(list), err)
	}
	for _, s := range list {
		events := eventsOf(t, j, s.RunID, Whole)
		if len(events) != 3+3*turns || s.Events != int64(len(events)) || len(effectsOf(t, j, s.RunID)) != turns {
			t.Errorf("%s: %d events, %+v", s.RunID, len(events), s)
		}
		for i, e := range events {
			if e.Seq != int64(i+1) || e.Run != s.RunID || e.Response != nil && !strings.HasPrefix(e.Response.Text, s.RunID+sentence) {
				t.Fatalf("%s: event %+v", s.RunID, e)
			}
		}
	}
}
